"""References from another file.

    by key    every row of the reference file adds its texts to its key, in order; all are held in memory
    by line   row n of the candidates goes with row n of the reference files

Rows that share references get one and the same list, so that a metric compiles it once.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from refsim._numbers import whole_number
from refsim.errors import InputError
from refsim.readers._detect import detect
from refsim.readers._lines import lines
from refsim.readers._open import Input
from refsim.readers._presets import PLAIN
from refsim.readers._tables import chunks
from refsim.segments import (
    USUAL_IN_REFERENCE_FILES,
    Binding,
    Chunk,
    Fields,
    Places,
    Selector,
    bind_references,
    check_choice,
    check_name,
    labels,
    listed,
    references_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from refsim.readers._open import Target

ROWS = 4096


@dataclass(frozen=True, slots=True)
class ByKey:
    """References by key; `on` is the field of the candidates' rows, None for their id."""

    table: dict[str, list[str]]
    names: str
    on: str | None

    def find(self, chunk: Chunk, ids: Sequence[str]) -> list[list[str]]:
        """Return the references of each row."""
        keys = ids
        if self.on is not None:
            keys = keys_of(chunk, self.on)
        found = [self.table.get(key) for key in keys]
        if None in found:
            row = found.index(None)
            raise InputError(
                f"{chunk.places[row]}: no references for {self.on or 'id'} {keys[row]!r} in {self.names}; "
                f"it has {listed(self.table, 5)}"
            )
        return found  # type: ignore[return-value]  # no None is in it


@dataclass(slots=True)
class ByLine:
    """References by number of row, from 0. `numbered`: the id is that number, as in Moses files."""

    lists: list[list[str]]
    names: str
    numbered: bool = False
    used: int = 0

    def find(self, chunk: Chunk, ids: Sequence[str]) -> list[list[str]]:
        """Return the references of each row."""
        rows = chunk.rows
        if self.numbered:
            numbers = map(whole_number, ids)
            rows = [-1 if number is None else number for number in numbers]
        for number, row in enumerate(rows):
            if not 0 <= row < len(self.lists):
                what = f"id {ids[number]!r}, but" if self.numbered else f"row {row + 1}, but"
                raise InputError(
                    f"{chunk.places[number]}: {what} {self.names} has {len(self.lists)} rows; "
                    "give --on KEY where both files have a key"
                )
        self.used = max(self.used, max(rows, default=-1) + 1)
        return [self.lists[row] for row in rows]

    def check_all_used(self, name: str) -> None:
        """Raise if there are references for more rows than there were."""
        if self.used < len(self.lists):
            raise InputError(f"{name} has {self.used} rows, {self.names} {len(self.lists)}; they must agree")


def keys_of(chunk: Chunk, on: str) -> list[str]:
    """Return the keys of the rows."""
    selector = Selector.find(on, chunk.columns)
    if selector is None:
        raise InputError(f"{chunk.places[0]}: no field {on!r} to join on; found: {listed(chunk.columns)}")
    return labels(chunk.pick(selector), on, chunk.places)


def read_references(
    files: Target | Sequence[Target],
    *,
    on: str,
    format: str | None = None,  # noqa: A002  # what users call it
    field: str | None = None,
    header: bool = True,
) -> dict[str, list[str]]:
    """Return the texts of each key, keys and texts in the order of the files."""
    if on is None:
        raise InputError("on is None; the name of the column of keys is expected")
    check_name(on, "on")
    table: defaultdict[str, list[str]] = defaultdict(list)
    for chunk, texts in _all_rows(files, format, field, header=header):
        for key, more in zip(keys_of(chunk, on), texts, strict=True):
            table[key] += more
    return dict(table)


def read_lists(
    files: Target | Sequence[Target],
    *,
    format: str | None = None,  # noqa: A002  # as above
    field: str | None = None,
    header: bool = True,
) -> list[list[str]]:
    """Return the texts of each row: of one file, or of several row by row, which must then be equally long."""
    targets = _as_files(files)
    each = [[texts for _, lists in _all_rows(one, format, field, header=header) for texts in lists] for one in targets]
    for target, rows in zip(targets, each, strict=True):
        if len(rows) != len(each[0]):
            raise InputError(f"{targets[0]} has {len(each[0])} rows, {target} {len(rows)}; row n goes with row n")
    return each[0] if len(each) == 1 else [list(chain.from_iterable(lists)) for lists in zip(*each, strict=True)]


def read_texts(
    files: Target | Sequence[Target],
    *,
    format: str | None = None,  # noqa: A002  # as above
    field: str | None = None,
    header: bool = True,
) -> list[str]:
    """Return all reference texts of the files, in order: one set, to be compiled."""
    return [text for _, lists in _all_rows(files, format, field, header=header) for texts in lists for text in texts]


def _as_files(files: Target | Sequence[Target]) -> Sequence[Target]:
    return list(files) if isinstance(files, list | tuple) else [files]  # type: ignore[list-item]


def _all_rows(
    files: Target | Sequence[Target],
    format: str | None,  # noqa: A002  # as above
    name: str | None,
    *,
    header: bool,
) -> Iterator[tuple[Chunk, list[list[str]]]]:
    check_choice(format, "format", PLAIN)
    check_name(name, "field")
    for target in _as_files(files):
        source = Input(target)
        try:
            yield from rows_of(source, format or detect(source), name, header=header)
        finally:
            source.close()


def rows_of(source: Input, kind: str, name: str | None, *, header: bool) -> Iterator[tuple[Chunk, list[list[str]]]]:
    """Yield the chunks of a reference file, and the texts of their rows; `name` is the field that holds them."""
    # A reference that looks like "1 ||| a ||| b" is a text all the same.
    return _rows_of_lines(source) if kind in ("text", "moses") else _rows_of_table(source, kind, name, header=header)


def _rows_of_lines(source: Input) -> Iterator[tuple[Chunk, list[list[str]]]]:
    done = 0
    for run in lines(source):
        rows = range(done, done + len(run))
        done = rows.stop
        yield Chunk({"text": run}, Places(source.name, range(rows.start + 1, done + 1)), rows), [[text] for text in run]


def _rows_of_table(
    source: Input, kind: str, name: str | None, *, header: bool
) -> Iterator[tuple[Chunk, list[list[str]]]]:
    fields = Fields(references=name if header else name or "1", candidate=name or "1")
    binding: Binding | None = None
    for chunk in chunks(source, kind, ROWS, fields, header=header):
        place, names = chunk.places[0], list(chunk.columns)
        binding = Binding({}, *bind_references(names, fields, place, binding, USUAL_IN_REFERENCE_FILES))
        if not binding.references:
            raise InputError(f"{place}: no references; found: {listed(names)}; say which field holds them")
        faults: dict[int, str] = {}
        texts = references_of(chunk, binding, faults)
        if faults:
            raise InputError(faults[min(faults)])
        yield chunk, texts
