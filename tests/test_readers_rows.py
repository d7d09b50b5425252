"""Rows of any table: nulls left out, keys that repeat, samples, lists of candidates, ids and scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reading import failure, jsonl, put, rows
from refsim.readers import read

if TYPE_CHECKING:
    from pathlib import Path


def test_rows_with_a_null_are_skipped_where_asked_for_and_listed(tmp_path: Path) -> None:
    """Rows keep the numbers they have in the file."""
    made = [{"mt": "a", "ref": "x"}, {"mt": None, "ref": "x"}, {"mt": "b", "ref": ["x", None]}, {"mt": "c", "ref": "x"}]
    reader = read(put(tmp_path, "f.jsonl", jsonl(*made)), on_missing="skip")
    found = [row for batch in reader for row in batch]
    assert [(row.id, row.candidate, row.place[-9:]) for row in found] == [
        ("1", "a", "f.jsonl:1"),
        ("4", "c", "f.jsonl:4"),
    ]
    assert [line.rsplit("/", 1)[1] for line in reader.skipped] == [
        "f.jsonl:2: null in 'mt' (candidate)",
        "f.jsonl:3: null in ref[1] (references)",
    ]


def test_a_file_of_nulls_skipped_gives_nothing(tmp_path: Path) -> None:
    """Every row may be left out."""
    reader = read(put(tmp_path, "f.jsonl", jsonl({"mt": None, "ref": "x"})), on_missing="skip")
    assert list(reader) == []
    assert len(reader.skipped) == 1


@pytest.mark.parametrize("size", [1, 1024])
def test_a_key_that_comes_again_is_an_error_with_both_lines(tmp_path: Path, size: int) -> None:
    """In one batch or over several."""
    made = [{"id": number, "system": "s", "mt": "a", "ref": "x"} for number in (1, 2, 1)]
    text = failure(put(tmp_path, "f.jsonl", jsonl(*made)), batch_size=size)
    assert "f.jsonl:3: id '1', system 's' again (first on line 1); number repeats with --samples, or rename" in text


def test_a_key_that_comes_again_in_another_file_names_that_file(tmp_path: Path) -> None:
    """Without a system in the rows each file is one, and keys may come again."""
    one, two = ({"id": 1, "mt": "a", "ref": "x"} | more for more in ({"system": "s"}, {"system": "s"}))
    files = [put(tmp_path, "a.jsonl", jsonl(one)), put(tmp_path, "b.jsonl", jsonl(two))]
    assert "again (first " in (text := failure(files))
    assert "a.jsonl:1)" in text
    files = [put(tmp_path, name, jsonl({"id": 1, "mt": "a", "ref": "x"})) for name in ("a.jsonl", "b.jsonl")]
    assert [row.system for row in rows(files)] == ["a", "b"]


def test_repeats_are_numbered_where_asked_for(tmp_path: Path) -> None:
    """The first of an id is sample 0, over batches too."""
    made = [{"id": one, "mt": "a", "ref": "x"} for one in "aabab"]
    path = put(tmp_path, "f.jsonl", jsonl(*made))
    assert [row.sample for row in rows(path, samples=True, batch_size=2)] == [0, 1, 0, 2, 1]


def test_a_sample_field_tells_repeats_apart(tmp_path: Path) -> None:
    """As numbers, or as digits in text files."""
    path = put(tmp_path, "f.tsv", "id\tsample\tmt\tref\n1\t0\ta\tx\n1\t7\tb\tx\n")
    assert [row.sample for row in rows(path)] == [0, 7]
    path = put(tmp_path, "f.tsv", "id\tsample\tmt\tref\n1\tfirst\ta\tx\n")
    assert "f.tsv:2: sample is the text 'first'; a whole number is expected" in failure(path)


@pytest.mark.parametrize("asked", [False, True])
def test_numbers_of_samples_stay_what_they_are(tmp_path: Path, asked: bool) -> None:  # noqa: FBT001  # a parameter
    """`samples` numbers what has no number; lists of one candidate have that of their row."""
    made = [{"id": "q", "trial": number, "mt": "a", "ref": "x"} for number in (7, 3)]
    assert [row.sample for row in rows(put(tmp_path, "f.jsonl", jsonl(*made)), samples=asked)] == [7, 3]
    lists = [one | {"mt": ["a"]} for one in made]
    assert [row.sample for row in rows(put(tmp_path, "f.jsonl", jsonl(*lists)), samples=asked)] == [7, 3]


def test_numbers_of_samples_that_clash_are_errors(tmp_path: Path) -> None:
    """The same number twice, and one number for all of a list; --samples is no way out."""
    made = [{"id": "q", "sample": 7, "mt": text, "ref": "x"} for text in "ab"]
    text = failure(put(tmp_path, "f.jsonl", jsonl(*made)), samples=True)
    assert "f.jsonl:2: id 'q', system 'f', sample 7 again (first on line 1); give each a number of its own" in text
    one = {"id": "q", "trial": 7, "mt": ["a", "b"], "ref": "x"}
    text = failure(put(tmp_path, "f.jsonl", jsonl(one)))
    assert "f.jsonl:1: 2 candidates in one list, and one number (7 in 'trial') for all of them" in text


def test_a_list_of_candidates_gives_a_row_each(tmp_path: Path) -> None:
    """N-best rows: samples by place in the list, references and other columns shared."""
    path = put(tmp_path, "f.jsonl", jsonl({"id": 1, "candidates": ["a", "", "a"], "ref": "x", "note": "n"}))
    for size in (1, 1024):
        found = rows(path, batch_size=size)
        assert [(row.sample, row.candidate, row.extra) for row in found] == [
            (number, text, {"note": "n"}) for number, text in enumerate(("a", "", "a"))
        ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a", "is the text 'a'; earlier rows have a list there"),
        ([], "is an empty list"),
        (["a", None], "[1] is null; a text is expected"),
    ],
)
def test_faults_of_candidate_lists_are_named(tmp_path: Path, value: object, expected: str) -> None:
    """A list of candidates has at least one, and holds texts."""
    made = [{"id": 1, "candidates": ["a"], "ref": "x"}, {"id": 2, "candidates": value, "ref": "x"}]
    assert f"f.jsonl:2: 'candidates' (candidate){expected if expected[0] == '[' else ' ' + expected}" in failure(
        put(tmp_path, "f.jsonl", jsonl(*made))
    )


def test_ids_are_texts_or_whole_numbers(tmp_path: Path) -> None:
    """1 and "1" are the same id; 1.5 is none."""
    assert rows(put(tmp_path, "f.jsonl", jsonl({"id": 1, "mt": "a", "ref": "x"})))[0].id == "1"
    assert "'id' (id) is a number (1.5)" in failure(put(tmp_path, "f.jsonl", jsonl({"id": 1.5, "mt": "a", "ref": "x"})))
    assert "'id' (id) is null" in failure(put(tmp_path, "f.jsonl", jsonl({"id": None, "mt": "a", "ref": "x"})))


def test_an_unpaired_human_score_is_an_error(tmp_path: Path) -> None:
    """Numbers, digits, null and empty cells are fine."""
    content = "mt\tref\thuman\na\tx\t1e2\na\tx\t\na\tx\tnan\na\tx\n"
    assert [row.human for row in rows(put(tmp_path, "f.tsv", content))] == [100.0, None, None, None]
    path = put(tmp_path, "f.tsv", "mt\tref\thuman\na\tx\tgood\n")
    assert "f.tsv:2: human is the text 'good'; a number is expected" in failure(path)
