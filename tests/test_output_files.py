"""Files of rows: complete under their name or not there, whatever the rows hold."""

from __future__ import annotations

import json
import re
import resource
import stat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refsim._columns import Columns, json_lines, json_text, to_arrow
from refsim.errors import InputError, RefsimError
from refsim.output.files import check_output, row_file

VALUES = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats() | st.text()
ENDINGS = ["jsonl", "tsv", "parquet"]


def write(path: Path, *parts: Columns) -> None:
    with row_file(str(path)) as rows:
        for columns in parts:
            rows.write(columns)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_has_no_name_before_it_is_complete(tmp_path: Path, ending: str) -> None:
    """While rows come, nothing stands under the name; afterwards only the file is there."""
    path = tmp_path / f"rows.{ending}"
    with row_file(str(path)) as rows:
        rows.write({"id": ["a"]})
        assert not path.exists()
    assert names(tmp_path) == [path.name]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("failure", [KeyboardInterrupt, ValueError])
def test_a_failure_leaves_what_was_there_before(tmp_path: Path, ending: str, failure: type[BaseException]) -> None:
    """An interrupt or an error in the middle keeps the old file and leaves no temporary one."""
    path = tmp_path / f"rows.{ending}"
    path.write_text("old")
    with pytest.raises(failure), row_file(str(path)) as rows:  # noqa: PT012  the failure comes in the middle
        rows.write({"id": ["a"]})
        raise failure
    assert path.read_text() == "old"
    assert names(tmp_path) == [path.name]


def test_a_replaced_file_keeps_its_mode_and_a_link_its_target(tmp_path: Path) -> None:
    """Replacing follows links, and who may read the file stays as it was."""
    target, link = tmp_path / "target.jsonl", tmp_path / "link.jsonl"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    write(link, {"id": ["a"]})
    assert link.is_symlink()
    assert target.read_text() == '{"id": "a"}\n'
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_full_disk_is_an_error_that_names_the_file() -> None:
    """What the system says comes with the name, also when it says so only at the end."""
    with pytest.raises(RefsimError, match="/dev/full: cannot be written: No space left on device"):
        write(Path("/dev/full"), {"id": ["a"]})


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_disk_that_fills_up_leaves_nothing(tmp_path: Path, ending: str) -> None:
    """The temporary file is removed, so that its space is free again. Here a limit stands for the disk's end."""
    path = tmp_path / f"x.{ending}"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(RefsimError, match=f"{re.escape(str(path))}: cannot be written: File too large"):
            write(path, {"text": [str(i) * 100 for i in range(10_000)]})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert names(tmp_path) == []


def test_a_missing_directory_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    """The name in the message is the one that was given."""
    with pytest.raises(RefsimError, match=r"nowhere/x\.jsonl: cannot be written: No such file"):
        write(tmp_path / "nowhere" / "x.jsonl", {"id": ["a"]})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x.csv", "expected a name that ends in .jsonl, .tsv, .parquet"),
        ("nowhere/x.tsv", "there is no directory"),
        ("folder.tsv", "is a directory"),
        ("input.tsv", "is an input of this command"),
    ],
)
def test_a_name_that_cannot_be_written_is_known_before_any_work(tmp_path: Path, name: str, message: str) -> None:
    """A wrong ending, no directory, a directory, an input: each is told at once."""
    (tmp_path / "folder.tsv").mkdir()
    (tmp_path / "input.tsv").touch()
    with pytest.raises(InputError, match=message):
        check_output(str(tmp_path / name), [str(tmp_path / "input.tsv")])


def test_a_table_has_the_columns_of_all_parts(tmp_path: Path) -> None:
    """A column that comes up late is empty in the rows before it; nothing is lost, in any format."""
    parts: tuple[Columns, ...] = ({"id": ["a"], "score": [0.5]}, {"id": ["b"], "note": ["new"]})
    for ending in ENDINGS:
        write(tmp_path / f"rows.{ending}", *parts)
    assert (tmp_path / "rows.tsv").read_text() == "id\tscore\tnote\na\t0.5\t\nb\t\tnew\n"
    assert (tmp_path / "rows.jsonl").read_text() == '{"id": "a", "score": 0.5}\n{"id": "b", "note": "new"}\n'
    assert pq.read_table(tmp_path / "rows.parquet").to_pylist() == [
        {"id": "a", "score": 0.5, "note": None},
        {"id": "b", "score": None, "note": "new"},
    ]


def test_a_cell_of_tsv_stays_in_its_cell(tmp_path: Path) -> None:
    """Tabs and line breaks are written as escapes, nested values as JSON, nothing as an empty cell."""
    write(tmp_path / "x.tsv", {"a": ["1\t2\n3\r4"], "b": [{"k": [1, None]}], "c": [None], "d": ["\\"]})
    assert (tmp_path / "x.tsv").read_bytes() == b'a\tb\tc\td\n1\\t2\\n3\\r4\t{"k": [1, null]}\t\t\\\n'


def test_many_batches_become_few_row_groups(tmp_path: Path) -> None:
    """Parquet is read by the row group, so batches are joined into large ones."""
    with row_file(str(tmp_path / "x.parquet")) as rows:
        for _ in range(70):
            rows.write({"n": list(range(1000))})
    file = pq.ParquetFile(tmp_path / "x.parquet")
    assert (file.metadata.num_rows, file.metadata.num_row_groups) == (70_000, 2)


def test_columns_of_changing_types_become_text(tmp_path: Path) -> None:
    """Whole numbers widen to floats; what has no common type is JSON text, strings as they are."""
    write(tmp_path / "x.parquet", {"a": [1], "b": [1], "c": [None]}, {"a": [0.5], "b": ["x"], "c": [[1]]})
    assert pq.read_table(tmp_path / "x.parquet").to_pydict() == {
        "a": [1.0, 0.5],
        "b": ["1", "x"],
        "c": [None, [1]],
    }


@given(st.lists(st.lists(VALUES, min_size=1, max_size=3), max_size=4))
def test_any_values_make_a_table(columns: list[list[Any]]) -> None:
    """Mixed types, huge integers, lone surrogates: no row is lost and nothing fails."""
    table = to_arrow({"x": values} for values in columns)
    assert len(table) == sum(map(len, columns))


@given(st.dictionaries(st.text(st.characters(codec=None)), VALUES, min_size=1))
def test_a_line_of_json_is_one_line_that_reads_back(row: dict[str, Any]) -> None:
    """Also with lone surrogates; NaN and infinities stay what they are, as Python's json reads and writes them."""
    (line,) = json_lines({name: [value] for name, value in row.items()})
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert repr(json.loads(line.decode())) == repr(row)


def test_json_keeps_characters_readable() -> None:
    """Only what UTF-8 cannot hold is escaped."""
    assert json_text({"a": "猫 שלום"}) == '{"a": "猫 שלום"}'
    assert json_text({"a": "\ud800"}) == '{"a": "\\ud800"}'


def test_an_arrow_table_of_nothing_is_empty() -> None:
    """No chunks, no columns."""
    assert to_arrow([]) == pa.table({})
