"""JSON lines and JSON: references, faults by line and column, arrays read in pieces."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from reading import failure, jsonl, pairs, put, rows

if TYPE_CHECKING:
    from pathlib import Path


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


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        (
            "f.jsonl",
            '{"mt": "a", "ref": "x"}\n{"mt": "b", "ref": "x", "mt": "c"}\n',
            "f.jsonl:2: key 'mt' stands twice",
        ),
        ("f.jsonl", '{"mt": "a", "ref": "x", "more": [{"n": {"k": 1, "k": 1}}]}\n', "f.jsonl:1: key 'k' stands twice"),
        ("f.json", '[{"mt": "a", "ref": "x"},\n {"mt": "b",\n "ref": "x", "ref": "y"}]', "f.json:2: key 'ref' stands"),
        (
            "f.json",
            '{"s": [{"mt": "a", "ref": "x"},\n{"mt": "b", "\\u006dt": "c"}]}',
            "f.json:2: key 'mt' stands twice",
        ),
    ],
)
def test_a_key_that_an_object_has_twice_is_an_error(tmp_path: Path, name: str, content: str, expected: str) -> None:
    """A second text would take the place of the first without a word, at any depth."""
    for size in (1, 1024):
        assert expected in failure(put(tmp_path, name, content), batch_size=size)


def test_rows_may_have_the_same_keys(tmp_path: Path) -> None:
    """One object is looked at alone: objects side by side and within each other share names."""
    made = [{"mt": "a", "ref": "x", "more": {"mt": "b", "list": [{"mt": 1}, {"mt": 1}]}}] * 2
    assert pairs(put(tmp_path, "f.jsonl", jsonl(*made))) == [("a", ("x",))] * 2
