"""TSV, CSV, JSONL, JSON and Parquet: cells, quotes, nulls, types, keys, detection of formats."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reading import failure, pairs, put, rows
from refsim.readers import Fields, read

if TYPE_CHECKING:
    from pathlib import Path


def jsonl(*objects: object) -> str:
    """Return objects as JSON lines."""
    return "".join(f"{json.dumps(one)}\n" for one in objects)


# TSV


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


# CSV


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


# JSON lines


def test_json_references_are_a_list_a_text_or_columns(tmp_path: Path) -> None:
    """Three ways to write them, one for each file."""
    for references in ({"references": ["x", "y"]}, {"refs": ["x", "y"]}, {"ref1": "x", "ref2": "y"}):
        assert pairs(put(tmp_path, "f.jsonl", jsonl({"candidate": "a"} | references))) == [("a", ("x", "y"))]
    assert pairs(put(tmp_path, "f.jsonl", jsonl({"candidate": "a", "reference": "x"}))) == [("a", ("x",))]


def test_columns_of_references_are_found_in_every_row(tmp_path: Path) -> None:
    """A column that only later rows have counts there; ref10 comes after ref2."""
    content = jsonl({"mt": "a", "ref1": "x"}, {"mt": "b", "ref10": "z", "ref2": "y", "ref1": "x"})
    for size in (1, 2):
        assert pairs(put(tmp_path, "f.jsonl", content), batch_size=size)[1] == ("b", ("x", "y", "z"))


def test_blank_lines_between_json_lines_count_as_lines_alone(tmp_path: Path) -> None:
    """They are no rows, but messages count them."""
    path = put(tmp_path, "f.jsonl", '\n{"candidate": "a", "ref": "x"}\n  \n{"candidate": 5, "ref": "x"}\n\n')
    assert "f.jsonl:4: 'candidate' (candidate) is a number (5); a text is expected" in failure(path)


def test_lone_surrogates_and_nul_are_kept(tmp_path: Path) -> None:
    """JSON escapes can write what UTF-8 cannot."""
    path = put(tmp_path, "f.jsonl", '{"candidate": "\\ud800a\\u0000", "ref": "\\udfff"}\n')
    assert pairs(path) == [("\ud800a\0", ("\udfff",))]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"candidate": "a", "ref": }', "f.jsonl:2:27: not JSON: Expecting value"),
        ('  {"candidate": "a"', "f.jsonl:2:20: not JSON: Expecting ',' delimiter"),
        ('{"candidate": "a"} x', "f.jsonl:2:20: not JSON: more text after the value: 'x'"),
        ('{"candidate": "\t"}', "f.jsonl:2:16: not JSON: Invalid control character"),
        ("\u00a0", "f.jsonl:2:1: not JSON"),
        ("[" * 200_000, "f.jsonl:2:1: not JSON: nested too deeply"),
        ('{"candidate": ' + "9" * 5000 + "}", "f.jsonl:2:1: not JSON: Exceeds the limit"),
        ("[1, 2]", "f.jsonl:2: a list of 2; an object is expected on each line"),
        ("null", "f.jsonl:2: null; an object is expected on each line"),
        ("{}", "f.jsonl:2: nothing in 'candidate' (candidate)"),
        ('{"candidate": null, "ref": "x"}', "f.jsonl:2: null in 'candidate' (candidate); --on-missing skip"),
        ('{"candidate": true, "ref": "x"}', "f.jsonl:2: 'candidate' (candidate) is true; a text is expected"),
        ('{"candidate": {}, "ref": "x"}', "f.jsonl:2: 'candidate' (candidate) is an object"),
        ('{"candidate": ["x"], "ref": "x"}', "f.jsonl:2: 'candidate' (candidate) is a list of 1"),
        ('{"candidate": "a"}', "f.jsonl:2: nothing in 'ref' (references)"),
        ('{"candidate": "a", "ref": null}', "f.jsonl:2: null in 'ref' (references)"),
        ('{"candidate": "a", "ref": []}', "f.jsonl:2: no references in ref; at least one is expected"),
        ('{"candidate": "a", "ref": ["x", null]}', "f.jsonl:2: null in ref[1] (references)"),
        ('{"candidate": "a", "ref": ["x", 3]}', "f.jsonl:2: ref[1] is a number (3); a text is expected"),
        ('{"candidate": "a", "ref": [["x"]]}', "f.jsonl:2: ref[0] is a list of 1; a text is expected"),
        ('{"candidate": "a", "ref": 1e3}', "f.jsonl:2: ref is a number (1000.0); a text or a list"),
        ('{"candidate": "a", "ref": "x", "id": 1}', "f.jsonl:2: id (field 'id') stands here, but not in"),
    ],
)
def test_faults_of_json_lines_are_named_by_line(tmp_path: Path, line: str, expected: str) -> None:
    """Line and column where the text is no JSON; what was found where it is the wrong JSON."""
    path = put(tmp_path, "f.jsonl", '{"candidate": "a", "ref": "x"}\n' + line + "\n")
    assert expected in failure(path, batch_size=1)


@pytest.mark.parametrize("size", [1, 2])
def test_what_a_field_means_does_not_change_in_a_file(tmp_path: Path, size: int) -> None:
    """A field that turns up later and could be the candidate is refused, wherever batches end."""
    path = put(tmp_path, "f.jsonl", jsonl({"mt": "a", "ref": "x"}, {"mt": "a", "ref": "x", "hyp": "b"}))
    assert "could" in (text := failure(path, batch_size=size))
    assert "say which with --candidate" in text
    path = put(tmp_path, "f.jsonl", jsonl({"mt": "a", "ref": "x"}, {"mt": "a", "target": "x"}))
    assert "could" in failure(path, batch_size=size)
    path = put(tmp_path, "f.jsonl", jsonl({"mt": "a", "ref": "x"}, {"ref": "x"}, {"mt": "b", "ref": "x"}))
    assert pairs(path, batch_size=size, on_missing="skip") == [("a", ("x",)), ("b", ("x",))]


def test_a_null_among_columns_of_references_is_one_fewer(tmp_path: Path) -> None:
    """Null in ref2 is no reference; null in all of them is an error."""
    assert pairs(put(tmp_path, "f.jsonl", jsonl({"mt": "a", "ref1": "x", "ref2": None}))) == [("a", ("x",))]
    path = put(tmp_path, "f.jsonl", jsonl({"mt": "a", "ref1": None, "ref2": None}))
    assert "f.jsonl:1: no references in ref1, ref2" in failure(path)


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


# JSON


def test_a_json_array_is_read_object_by_object(tmp_path: Path) -> None:
    """Rows are named by the line on which they start, whatever the layout."""
    made = [{"id": number, "mt": "a", "ref": "x\n"} for number in range(5)]
    for indent in (None, 2):
        path = put(tmp_path, "f.json", json.dumps(made, indent=indent))
        found = rows(path, batch_size=2)
        assert [row.id for row in found] == ["0", "1", "2", "3", "4"]
        assert [row.place[-8:] for row in found[:2]] == (
            ["f.json:1", "f.json:1"] if indent is None else ["f.json:2", "f.json:7"]
        )


def test_a_large_json_array_is_read_in_pieces(tmp_path: Path) -> None:
    """Values that span pieces are found whole; places and errors stay right."""
    made = [{"id": number, "mt": "あ" * 1000, "ref": "x"} for number in range(2000)]
    content = json.dumps(made, indent=1, ensure_ascii=False)
    found = rows(put(tmp_path, "f.json", content))
    assert len(found) == 2000
    assert found[1999].candidate == "あ" * 1000
    assert found[1999].place.endswith(f"f.json:{2 + 1999 * 5}")
    broken = failure(put(tmp_path, "f.json", content[:-2] + "!"))
    assert f"f.json:{1 + 2000 * 5}:3: not JSON: '!' where ',' or ']' is expected" in broken


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "f.json:1:1: not JSON: the end of the file where '[' or '{' is expected"),
        ("[", "f.json:1:2: not JSON: Expecting value"),
        ("[1]", "f.json:1: a number (1); an object is expected"),
        ('[{"mt": "a"},\n ]', "f.json:2:2: not JSON: Expecting value"),
        ('[{"mt": "a"', "not JSON"),
        ("[]\n[]", "f.json:2:1: not JSON: more text after the value"),
        ('[\n{"mt": ' + "[" * 200_000, "f.json:2:1: not JSON: nested too deeply"),
        ('{"s" [', "f.json:1:6: not JSON: '[' where ':' is expected"),
        ("{1: []}", "f.json:1: a number (1); the name of a system is expected"),
    ],
)
def test_faults_of_json_files_are_named_by_line_and_column(tmp_path: Path, content: str, expected: str) -> None:
    """As in JSON lines."""
    assert expected in failure(put(tmp_path, "f.json", content), format="json")


def test_an_object_of_arrays_names_systems(tmp_path: Path) -> None:
    """What `comet-score --to_json` writes; rows of all systems have the same ids."""
    made = {name: [{"src": "s", "mt": name, "ref": "x", "COMET": 0.5}] * 2 for name in ("a.txt", "b.txt")}
    for options in ({}, {"format": "comet-json"}):
        for indent in (None, 4):
            found = rows(put(tmp_path, "f.json", json.dumps(made, indent=indent)), **options)
            assert [(row.system, row.id, row.candidate) for row in found] == [
                *(("a.txt", "1", "a.txt"), ("a.txt", "2", "a.txt")),
                *(("b.txt", "1", "b.txt"), ("b.txt", "2", "b.txt")),
            ]
            assert (found[0].source, found[0].extra) == ("s", {"COMET": 0.5})
    assert rows(put(tmp_path, "f.json", "{}"), format="comet-json") == []


# Parquet


def write_parquet(path: Path, columns: dict[str, Any], **options: Any) -> Path:  # noqa: ANN401  # pyarrow's
    """Write columns as a Parquet file."""
    pq.write_table(pa.table(columns), path, **options)
    return path


def test_parquet_is_read_batch_by_batch(tmp_path: Path) -> None:
    """Over row groups; rows are named by number from 1."""
    count = 5000
    columns = {"id": range(count), "mt": ["a"] * count, "references": [["x", "y"]] * count, "human": [0.5] * count}
    columns = {name: list(values) for name, values in columns.items()}
    path = write_parquet(tmp_path / "f.parquet", columns, row_group_size=700)
    sizes = [len(batch) for batch in read(path)]
    assert (sum(sizes), max(sizes)) == (count, 1024)
    row = rows(path)[1]
    assert (row.id, row.references, row.human) == ("1", ("x", "y"), 0.5)
    assert row.place.endswith("f.parquet: row 2")


def test_parquet_is_read_from_compressed_files_and_pipes(tmp_path: Path) -> None:
    """Then it is held in memory, for it is read from its end."""
    import gzip  # noqa: PLC0415  # the one test that needs it
    import io  # noqa: PLC0415  # as above

    path = write_parquet(tmp_path / "f.parquet", {"mt": ["a"], "ref": ["x"]})
    assert pairs(io.BytesIO(path.read_bytes())) == [("a", ("x",))]
    assert pairs(put(tmp_path, "f.gz", gzip.compress(path.read_bytes()))) == [("a", ("x",))]


def test_nulls_in_parquet_are_errors_that_name_the_row(tmp_path: Path) -> None:
    """In the candidate, and inside a list of references; in ref1, ref2, ... they are one reference fewer."""
    path = write_parquet(tmp_path / "f.parquet", {"mt": ["a", None], "ref": ["x", "x"]})
    assert "f.parquet: row 2: null in 'mt' (candidate)" in failure(path)
    path = write_parquet(tmp_path / "f.parquet", {"mt": ["a", "b"], "refs": [["x"], ["x", None]]})
    assert "f.parquet: row 2: null in refs[1] (references)" in failure(path)
    path = write_parquet(tmp_path / "f.parquet", {"mt": ["a"], "ref1": ["x"], "ref2": pa.array([None], pa.string())})
    assert pairs(path) == [("a", ("x",))]


def test_damaged_parquet_is_an_input_error(tmp_path: Path) -> None:
    """Cut, or no Parquet at all."""
    path = write_parquet(tmp_path / "f.parquet", {"mt": ["a"], "ref": ["x"]})
    assert "not a Parquet file, or damaged" in failure(put(tmp_path, "g.parquet", path.read_bytes()[:-9]))
    assert "not a Parquet file, or damaged" in failure(put(tmp_path, "h.parquet", "text\n"))


# Formats


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("f", jsonl({"mt": "a", "ref": "x"})),
        ("f.json", jsonl({"mt": "a", "ref": "x"}, {"mt": "b", "ref": "x"})),
        ("f.json", jsonl({"mt": "a", "ref": ["x"]})),
        ("f", json.dumps([{"mt": "a", "ref": "x"}], indent=1)),
        ("f.jsonl", json.dumps([{"mt": "a", "ref": "x"}], indent=1)),
        ("f", json.dumps({"s": [{"mt": "a", "ref": "x"}]}, indent=1)),
        ("f", "mt\tref\na\tx\n"),
        ("f", "mt,ref1\r\na,x\r\n"),
        ("f.TSV", "mt\tref\na\tx\n"),
        ("f.csv.old", "mt,ref\na,x\n"),
        ("f", "\ufeffmt\tref\na\tx\n"),
    ],
)
def test_formats_are_detected_by_ending_and_content(tmp_path: Path, name: str, content: str) -> None:
    """An ending is believed unless the first bytes say otherwise."""
    assert pairs(put(tmp_path, name, content))[0] == ("a", ("x",))


@pytest.mark.parametrize(
    "content", ["a\tb\n", "{not json}\n", '{"a": 1\n', "[x]\n", "1 ||| a\n", "candidate, he said\n"]
)
def test_what_is_nothing_else_is_plain_text(tmp_path: Path, content: str) -> None:
    """A line of text that looks like something is still a line of text."""
    assert pairs(put(tmp_path, "f", content), need_references=False)[0] == (content[:-1], ())


def test_a_format_that_is_named_is_not_detected(tmp_path: Path) -> None:
    """A file of JSON lines may be scored as text."""
    path = put(tmp_path, "f.jsonl", "{}\n")
    assert pairs(path, format="text", need_references=False) == [("{}", ())]


def test_text_and_tables_do_not_mix(tmp_path: Path) -> None:
    """The message names one of each."""
    files = [put(tmp_path, "a.txt", "a\n"), put(tmp_path, "b.jsonl", jsonl({"mt": "a", "ref": "x"}))]
    assert "b.jsonl is jsonl" in failure(files, references=files[0])
