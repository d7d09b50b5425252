"""Files of rows, written batch by batch: JSON lines, TSV or Parquet, by the file's name.

    columns, columns, ...  --RowFile.write-->  temporary file  --end of the block-->  scores.jsonl

The file takes its name when it is complete. Memory holds one batch, though Parquet and TSV need all columns
and their types before the first row: those rows wait in an unnamed file beside the target.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from refsim._atomic import is_stream, naming, replacing
from refsim._columns import conform, json_lines, json_text, to_table, unify_schemas
from refsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import BinaryIO

    import pyarrow as pa

    from refsim._columns import Columns

# pyarrow reads a row group as a whole; groups of one batch would make a file slow to read.
_ROWS_OF_A_GROUP: Final = 65_536
# A tab or a line break would end the cell or the row. The backslash itself stays single, so that a text without
# them is written as it is: what needs an exact way back is written as JSON lines or Parquet.
_ESCAPES: Final = str.maketrans({"\t": "\\t", "\n": "\\n", "\r": "\\r"})


class RowFile(Protocol):
    """A file that takes columns of rows; later columns may be others than the first."""

    def write(self, columns: Columns) -> None:
        """Append the rows."""
        ...


def check_output(path: str, inputs: Sequence[str] = (), *, also: Sequence[str] = ()) -> None:
    """Raise InputError if a name says no format, nor ends as in `also`; has no directory; or is one of the inputs."""
    target = Path(path)
    if target.suffix.lower() not in also:
        _find_writer(target)
    if target.is_dir():
        raise InputError(f"{path}: is a directory; expected the name of a file to write")
    if not target.parent.is_dir():
        raise InputError(f"{path}: there is no directory {target.parent}; create it first")
    if target.exists() and any(_reads(name, target) for name in inputs):
        raise InputError(f"{path}: is an input of this command; write to another file")


def _reads(name: str, target: Path) -> bool:
    """Whether an input is the target, or a directory that holds it, or standard input that comes from it."""
    if name in {"-", "<stdin>"}:
        with suppress(OSError, ValueError):  # in tests standard input is no file of the system
            return os.path.samestat(os.fstat(sys.stdin.fileno()), target.stat())
        return False
    source = Path(name)
    if not source.exists():
        return False
    return source.resolve() in target.resolve().parents if source.is_dir() else target.samefile(source)


@contextmanager
def row_file(path: str) -> Iterator[RowFile]:
    """Open a file of rows, of the format that its name ends in: .jsonl, .tsv or .parquet.

    A file of that name is replaced when the block ends without an error, and stays as it is otherwise.
    """
    writer = _find_writer(Path(path))
    with replacing(path) as file, _spool(path) as spool:
        rows = writer(file, spool)
        yield _Named(rows, path)
        with naming(path):
            rows.finish()


class _Named:
    """A file of rows whose failures name it, where it is the unnamed file beside it that cannot be written, too."""

    def __init__(self, rows: RowFile, path: str) -> None:
        self._rows = rows
        self._path = path

    def write(self, columns: Columns) -> None:
        with naming(self._path):
            self._rows.write(columns)


class _JsonLines:
    def __init__(self, file: BinaryIO, spool: BinaryIO) -> None:  # noqa: ARG002  rows need not wait
        self._file = file

    def write(self, columns: Columns) -> None:
        self._file.writelines(json_lines(columns))

    def finish(self) -> None:
        """Do nothing more: each row was complete."""


class _TabSeparated:
    def __init__(self, file: BinaryIO, spool: BinaryIO) -> None:
        self._file = file
        self._spool = spool
        self._names: dict[str, None] = {}

    def write(self, columns: Columns) -> None:
        self._names |= dict.fromkeys(columns)
        self._spool.writelines(json_lines(columns))

    def finish(self) -> None:
        self._write_row(list(self._names))
        self._spool.seek(0)
        for line in self._spool:
            row = json.loads(line)
            self._write_row([row.get(name) for name in self._names])

    def _write_row(self, cells: Sequence[Any]) -> None:
        self._file.write(("\t".join(map(_cell, cells)) + "\n").encode("utf-8", "backslashreplace"))


class _Parquet:
    def __init__(self, file: BinaryIO, spool: BinaryIO) -> None:
        self._file = file
        self._spool = spool
        self._parts: list[tuple[int, pa.Schema]] = []

    def write(self, columns: Columns) -> None:
        import pyarrow as pa  # noqa: PLC0415  0.1 s to load, for this format alone

        table = to_table(columns)
        self._parts.append((self._spool.tell(), table.schema))
        with pa.ipc.new_stream(self._spool, table.schema) as stream:
            stream.write_table(table)

    def finish(self) -> None:
        import pyarrow as pa  # noqa: PLC0415  as above
        import pyarrow.parquet as pq  # noqa: PLC0415  as above

        schema = unify_schemas([schema for _, schema in self._parts])
        with pq.ParquetWriter(self._file, schema) as writer:
            group: list[pa.Table] = []
            for start, _ in self._parts:
                self._spool.seek(start)
                group.append(conform(pa.ipc.open_stream(self._spool).read_all(), schema))
                if sum(map(len, group)) >= _ROWS_OF_A_GROUP:
                    writer.write_table(pa.concat_tables(group))
                    group.clear()
            if group:
                writer.write_table(pa.concat_tables(group))


_WRITERS: Final[Mapping[str, type[_JsonLines | _TabSeparated | _Parquet]]] = {
    ".jsonl": _JsonLines,
    ".tsv": _TabSeparated,
    ".parquet": _Parquet,
}


def _find_writer(path: Path) -> type[_JsonLines | _TabSeparated | _Parquet]:
    if path.suffix.lower() in _WRITERS:
        return _WRITERS[path.suffix.lower()]
    if is_stream(path):
        return _JsonLines  # which has no say in its name: /dev/stdout, >(process)
    raise InputError(f"{path}: expected a name that ends in {', '.join(_WRITERS)}, which says the format")


@contextmanager
def _spool(path: str) -> Iterator[BinaryIO]:
    """Open an unnamed file, beside the target so that a full disk is the disk that the message speaks of."""
    folder = None if is_stream(path) else Path(path).resolve().parent
    with naming(path):
        spool = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  closed below, where to fail is no news
    try:
        yield cast("BinaryIO", spool)
    finally:
        # What could not be written before cannot be now; and nobody reads it any more.
        with suppress(OSError):
            spool.close()


def _cell(value: object) -> str:
    if value is None:
        return ""
    return (value if isinstance(value, str) else json_text(value)).translate(_ESCAPES)
