r"""TSV and CSV -> chunks. The first line names the columns.

TSV: tabs separate, and nothing else has a meaning; there are no quotes. CSV: RFC 4180.

The csv module is not used for either: it takes a lone \r for a line end or refuses it, its limit on the size
of a cell is one number for the whole process, and it lets through a quote inside an unquoted cell.
A row may be shorter than the header; a longer one is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from refsim.errors import InputError
from refsim.readers._lines import batched, lines
from refsim.segments import MISSING, Chunk, Fields, Places

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from refsim.readers._open import Input


def tsv(source: Input, size: int, fields: Fields, *, header: bool = True) -> Iterator[Chunk]:
    """Yield the chunks of a TSV file."""

    def rows() -> Iterator[tuple[list[int], list[list[str]]]]:
        first = 1
        for run in batched(lines(source), size):
            yield list(range(first, first + len(run))), [line.split("\t") for line in run]
            first += len(run)

    return _chunks(rows(), source.name, fields, header=header)


def csv(source: Input, size: int, fields: Fields, *, header: bool = True) -> Iterator[Chunk]:
    """Yield the chunks of a CSV file."""

    def rows() -> Iterator[tuple[list[int], list[list[str]]]]:
        numbers: list[int] = []
        made: list[list[str]] = []
        for number, record in _records(source):
            numbers.append(number)
            made.append(_cells(record, source.name, number) if '"' in record else record.split(","))
            if len(made) == size:
                yield numbers, made
                numbers, made = [], []
        if made:
            yield numbers, made

    return _chunks(rows(), source.name, fields, header=header)


def _records(source: Input) -> Iterator[tuple[int, str]]:
    """Yield records with the number of their first line; a line end inside quotes ends no record."""
    number, first, parts, is_open = 0, 0, list[str](), False
    for run in lines(source, ends=True):
        for line in run:
            number += 1
            if not parts:
                first = number
            parts.append(line)
            # Quotes inside a quoted cell are doubled, so an odd count changes the state and an even one does not.
            is_open ^= line.count('"') % 2 == 1
            if not is_open:
                record = "".join(parts)
                yield first, record[:-1].removesuffix("\r") if record.endswith("\n") else record
                parts = []
    if parts:
        raise InputError(f"{source.name}:{first}: a quote is opened and never closed")


def _cells(record: str, name: str, number: int) -> list[str]:
    cells, at = [], 0
    while True:
        if record.startswith('"', at):
            end = _closing_quote(record, at + 1)
            cells.append(record[at + 1 : end].replace('""', '"'))
            at = end + 1
        else:
            end = record.find(",", at)
            end = len(record) if end < 0 else end
            cells.append(record[at:end])
            at = end
            if '"' in cells[-1]:
                raise InputError(f"{name}:{number}: a quote inside cell {len(cells)}, which does not start with one")
        if at == len(record):
            return cells
        if record[at] != ",":
            raise InputError(f"{name}:{number}: text after the closing quote of cell {len(cells)}; a comma is expected")
        at += 1


def _closing_quote(record: str, at: int) -> int:
    """Return where a quoted cell ends. It does end: the record and the cells before have even numbers of quotes."""
    while record.startswith('"', (at := record.index('"', at)) + 1):
        at += 2
    return at


def _chunks(
    runs: Iterator[tuple[list[int], list[list[str]]]], name: str, fields: Fields, *, header: bool
) -> Iterator[Chunk]:
    names: list[str] = []
    done = 0
    for numbers, rows in runs:
        if header and not names:
            names = _header(rows[0], name)
            del numbers[0], rows[0]
        elif not header:
            names = _no_header(max([len(names), *map(len, rows)]), fields)
        if rows:
            places = Places(name, numbers)
            yield Chunk(_columns(names, rows, places), places, range(done, done + len(rows)), ragged=True)
            done += len(rows)
    if header and not names:
        raise InputError(f"{name}: empty; a first line with the names of the columns is expected")


def _header(cells: list[str], name: str) -> list[str]:
    if len(set(cells)) < len(cells):
        again = next(cell for cell in cells if cells.count(cell) > 1)
        raise InputError(f"{name}:1: two columns are named {again!r}")
    return cells


def _no_header(count: int, fields: Fields) -> list[str]:
    """Return names for columns without: their numbers where the user names them so, else candidate, ref1, ref2, ..."""
    if fields.candidate is not None:
        return [str(number + 1) for number in range(count)]
    return ["candidate", *(f"ref{number}" for number in range(1, count))]


def _columns(names: list[str], rows: list[list[str]], places: Sequence[str]) -> dict[str, Sequence[object]]:
    width = len(names)
    if set(map(len, rows)) == {width}:
        return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    padded: list[list[object]] = []
    for row, cells in enumerate(rows):
        if len(cells) > width:
            raise InputError(f"{places[row]}: {len(cells)} cells, but the first line has {width}")
        padded.append([*cells, *[MISSING] * (width - len(cells))])
    return dict(zip(names, map(list, zip(*padded, strict=True)), strict=True))
