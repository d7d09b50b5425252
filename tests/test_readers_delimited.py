"""TSV and CSV: cells, quotes, rows that are too short or too long, headers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from reading import failure, pairs, put, rows
from refsim.readers import Fields

if TYPE_CHECKING:
    from pathlib import Path


def test_a_tsv_header_names_the_columns(tmp_path: Path) -> None:
    """Usual names play their parts, the others are carried along."""
    path = put(tmp_path, "f.tsv", "segment_id\tmodel\thyp\tref1\tref2\thuman\tnote\n1\tA\ta\tx\ty\t0.5\tn\n")
    (row,) = rows(path)
    assert (row.id, row.system, row.candidate, row.references, row.human) == ("1", "A", "a", ("x", "y"), 0.5)
    assert (row.extra, row.place[-7:]) == ({"note": "n"}, "f.tsv:2")


def test_tsv_has_no_quotes_and_no_escapes(tmp_path: Path) -> None:
    """Tabs separate, and nothing else means anything."""
    path = put(tmp_path, "f.tsv", 'candidate\tref\n"a\t"b"\n\\t\t\\n\n')
    assert pairs(path) == [('"a', ('"b"',)), ("\\t", ("\\n",))]


def test_empty_cells_are_empty_texts(tmp_path: Path) -> None:
    """An empty last cell, after a trailing tab, is one too."""
    path = put(tmp_path, "f.tsv", "candidate\tref1\tref2\n\tx\t\na\t\t\n")
    assert pairs(path) == [("", ("x", "")), ("a", ("", ""))]


def test_a_shorter_row_has_fewer_references(tmp_path: Path) -> None:
    """As long as it has one."""
    path = put(tmp_path, "f.tsv", "candidate\tref1\tref2\na\tx\nb\tx\ty\n")
    assert pairs(path) == [("a", ("x",)), ("b", ("x", "y"))]
    assert "f.tsv:2: no references in ref1, ref2" in failure(put(tmp_path, "f.tsv", "candidate\tref1\tref2\na\n"))


def test_a_row_too_short_for_its_candidate_is_an_error(tmp_path: Path) -> None:
    """A cut line is no empty answer, and cannot be skipped either."""
    path = put(tmp_path, "f.tsv", "id\tref1\tcandidate\n1\tx\ta\n2\tx\n")
    expected = "f.tsv:3: 2 cells, too few to hold the candidate (column 'candidate')"
    assert expected in failure(path)
    assert expected in failure(path, on_missing="skip")


@pytest.mark.parametrize(("name", "cut"), [("f.tsv", "\t"), ("f.csv", ",")])
def test_a_row_longer_than_the_header_is_an_error(tmp_path: Path, name: str, cut: str) -> None:
    """With the line and both counts."""
    path = put(tmp_path, name, f"candidate{cut}ref\na{cut}b\na{cut}b{cut}c\n")
    assert f"{name}:3: 3 cells, but the first line has 2" in failure(path)


@pytest.mark.parametrize("name", ["f.tsv", "f.csv"])
def test_tables_without_a_header_are_errors(tmp_path: Path, name: str) -> None:
    """An empty file, or one whose first line names no candidate."""
    assert f"{name}: empty" in failure(put(tmp_path, name, ""))
    text = failure(put(tmp_path, name, "a\nb\n"))
    assert "no candidate; found: 'a'; say which field it is with --candidate" in text


def test_a_column_named_twice_is_an_error(tmp_path: Path) -> None:
    """Which of them was meant cannot be known."""
    assert "f.tsv:1: two columns are named 'ref'" in failure(put(tmp_path, "f.tsv", "candidate\tref\tref\n"))


def test_a_header_alone_has_no_rows(tmp_path: Path) -> None:
    """No rows are no error."""
    assert rows(put(tmp_path, "f.tsv", "candidate\tref\n")) == []


def test_tables_can_be_read_without_a_header(tmp_path: Path) -> None:
    """Candidate, then references, as many as a row has; or columns by number."""
    path = put(tmp_path, "f.tsv", "a\tx\nb\tx\ty\n")
    assert pairs(path, header=False, batch_size=1) == [("a", ("x",)), ("b", ("x", "y"))]
    assert pairs(path, header=False, fields=Fields(candidate="2", references="1")) == [("x", ("a",)), ("x", ("b",))]


def test_csv_cells_are_quoted_as_in_rfc_4180(tmp_path: Path) -> None:
    """Commas, line ends and doubled quotes inside quotes; other line ends are text everywhere."""
    path = put(tmp_path, "f.csv", 'candidate,ref\r\n"a,""b""\r\nc",\rx\u2028\r\n"",""""\r\n')
    assert pairs(path) == [('a,"b"\r\nc', ("\rx\u2028",)), ("", ('"',))]


def test_csv_places_count_lines_inside_quotes(tmp_path: Path) -> None:
    """A row is named by its first line."""
    path = put(tmp_path, "f.csv", 'candidate,ref\n"a\n\n",x\nb,y\n')
    assert [row.place[-7:] for row in rows(path)] == ["f.csv:2", "f.csv:5"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('a"b,x', "f.csv:2: a quote is opened and never closed"),
        ('a"b",x', "f.csv:2: a quote inside cell 1, which does not start with one"),
        ('"a"b,x', "f.csv:2: text after the closing quote of cell 1; a comma is expected"),
        ('a,"x', "f.csv:2: a quote is opened and never closed"),
        ("", "f.csv:2: no references in ref"),
    ],
)
def test_csv_quotes_out_of_place_are_errors(tmp_path: Path, line: str, expected: str) -> None:
    """Lenient readers make another text of them."""
    assert expected in failure(put(tmp_path, "f.csv", f"candidate,ref\n{line}\n"))


@pytest.mark.parametrize("name", ["f.csv", "f.tsv", "f.jsonl"])
def test_ten_megabytes_in_one_cell_are_one_text(tmp_path: Path, name: str) -> None:
    """No limit on the size of a cell."""
    text = "あa" * 2_500_000
    content = {
        "f.csv": f'candidate,ref\n"{text}",x\n',
        "f.tsv": f"candidate\tref\n{text}\tx\n",
        "f.jsonl": json.dumps({"candidate": text, "ref": "x"}, ensure_ascii=False),
    }
    assert pairs(put(tmp_path, name, content[name])) == [(text, ("x",))]
