"""Chunk: some rows of a table as columns of raw values, before anything is known of what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from refsim.segments._checks import MISSING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from refsim.segments._batch import Places
    from refsim.segments._fields import Selector


@dataclass(slots=True)
class Chunk:
    """Some rows of a table as columns; `rows` are their numbers in the file, from 0. A cell that is absent is MISSING.

    `ragged` tables (TSV, CSV) have no null: a cell can only be missing because its row is too short.
    """

    columns: dict[str, Sequence[object]]
    places: Places
    rows: Sequence[int]
    ragged: bool = False

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.places)

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, object]], places: Places, numbers: Sequence[int]) -> Chunk:
        """Return the columns of dicts, which need not have the same keys."""
        shapes = set(map(tuple, rows))
        if len(shapes) == 1:
            return cls({name: [row[name] for row in rows] for name in shapes.pop()}, places, numbers)
        # In the order of first sight, so that what is bound does not hang on hashes.
        names = dict.fromkeys(name for row in rows for name in row)
        return cls({name: [row.get(name, MISSING) for row in rows] for name in names}, places, numbers)

    def pick(self, selector: Selector) -> Sequence[object]:
        """Return what a selector finds in each row."""
        return selector.pick(self.columns.get(selector.column, [MISSING] * len(self)))

    def take(self, rows: Sequence[int]) -> Chunk:
        """Return some of the rows."""
        columns: dict[str, Sequence[object]] = {
            name: [column[row] for row in rows] for name, column in self.columns.items()
        }
        return Chunk(columns, self.places.take(rows), [self.rows[row] for row in rows], self.ragged)


class Lookup(Protocol):
    """References that do not stand in the rows themselves."""

    def find(self, chunk: Chunk, ids: Sequence[str]) -> list[list[str]]:
        """Return the references of each row; rows with equal ones get the same list object."""
        ...
