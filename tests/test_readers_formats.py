"""Parquet, and how formats are told apart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reading import failure, jsonl, pairs, put, rows
from refsim.readers import read

if TYPE_CHECKING:
    from pathlib import Path


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
