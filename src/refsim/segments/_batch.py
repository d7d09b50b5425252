"""Batch: columns of segments, all of one length S; Segment: a view of one row.

    candidates (S,) texts      references (S,) lists of texts     ids, systems (S,) texts    samples (S,) ints
    source, group, human, lang (S,) or absent                     extra: name -> (S,)        places (S,) "file:line"

Rows that share references share one and the same list object, so a metric compiles it once; slicing, taking
and concatenating keep that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, overload

from refsim.errors import InputError
from refsim.segments._fields import OPTIONAL

if TYPE_CHECKING:
    from refsim.segments._fields import Fields


class Places(Sequence[str]):
    """Where rows came from: "file:7". Texts for messages, so they are formatted only when one is asked for."""

    __slots__ = ("form", "name", "numbers")

    def __init__(self, name: str, numbers: Sequence[int], form: str = "{}:{}") -> None:
        self.name, self.numbers, self.form = name, numbers, form

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Places: ...
    def __getitem__(self, index: int | slice) -> str | Places:
        """Return the place of one row, or the places of some."""
        if isinstance(index, slice):
            return Places(self.name, self.numbers[index], self.form)
        return self.form.format(self.name, self.numbers[index])

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.numbers)

    def take(self, indices: Sequence[int]) -> Places:
        """Return the places of the rows with these indices."""
        return Places(self.name, [self.numbers[index] for index in indices], self.form)


@dataclass(frozen=True, slots=True)
class Segment:
    """One candidate with its references: a row of a batch."""

    id: str
    system: str
    sample: int
    candidate: str
    references: tuple[str, ...]
    source: str | None = None
    group: str | None = None
    human: float | None = None
    lang: str | None = None
    extra: Mapping[str, object] = field(default_factory=dict)
    place: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Columns of S segments. Made by readers and by the `from_` methods, which check; not by hand."""

    candidates: list[str]
    references: list[list[str]]
    ids: list[str]
    systems: list[str]
    samples: list[int]
    optional: dict[str, list[Any]]
    extra: dict[str, list[object]]
    places: Sequence[str]

    def __len__(self) -> int:
        """Return the number of segments S."""
        return len(self.candidates)

    def __iter__(self) -> Iterator[Segment]:
        """Yield the rows."""
        return map(self.segment, range(len(self)))

    def column(self, name: str) -> Sequence[Any]:
        """Return a column by the name of its part ("human", "place"), or an extra by its own."""
        parts: dict[str, list[Any]] = {
            "id": self.ids,
            "system": self.systems,
            "sample": self.samples,
            "candidate": self.candidates,
        }
        if name in parts:
            return parts[name]
        if name in OPTIONAL:
            return self.optional.get(name, [None] * len(self))
        if name in self.extra:
            return self.extra[name]
        if name in ("references", "place"):
            return self.references if name == "references" else self.places
        raise InputError(f"no column {name!r}; there are {', '.join([*parts, 'references', *OPTIONAL, *self.extra])}")

    def place(self, index: int) -> str:
        """Return where a row came from, for messages: "file:line", "rows[3]"."""
        return self.places[index]

    def segment(self, index: int) -> Segment:
        """Return one row."""
        return Segment(
            id=self.ids[index],
            system=self.systems[index],
            sample=self.samples[index],
            candidate=self.candidates[index],
            references=tuple(self.references[index]),
            extra={name: column[index] for name, column in self.extra.items()},
            place=self.places[index],
            **{name: column[index] for name, column in self.optional.items()},
        )

    def slice(self, start: int, stop: int | None = None) -> Batch:
        """Return the rows from `start` up to `stop`."""
        rows = slice(start, stop)
        return Batch(
            self.candidates[rows],
            self.references[rows],
            self.ids[rows],
            self.systems[rows],
            self.samples[rows],
            {name: column[rows] for name, column in self.optional.items()},
            {name: column[rows] for name, column in self.extra.items()},
            self.places[rows],
        )

    def take(self, indices: Sequence[int]) -> Batch:
        """Return the rows with these indices, in their order; repeats are allowed."""
        places = self.places

        def pick(column: Sequence[Any]) -> list[Any]:
            return [column[index] for index in indices]

        return Batch(
            pick(self.candidates),
            pick(self.references),
            pick(self.ids),
            pick(self.systems),
            pick(self.samples),
            {name: pick(column) for name, column in self.optional.items()},
            {name: pick(column) for name, column in self.extra.items()},
            places.take(indices) if isinstance(places, Places) else pick(places),
        )

    @staticmethod
    def concat(batches: Sequence[Batch]) -> Batch:
        """Return the rows of all, in order; a column that only some have is None in the others' rows."""
        if len(batches) == 1:
            return batches[0]

        def join(columns: Iterator[Sequence[Any]]) -> list[Any]:
            return list(chain.from_iterable(columns))

        def join_named(of: list[dict[str, list[Any]]]) -> dict[str, list[Any]]:
            names = dict.fromkeys(chain.from_iterable(of))
            sizes = [len(batch) for batch in batches]
            return {
                name: join(one.get(name, [None] * size) for one, size in zip(of, sizes, strict=True)) for name in names
            }

        return Batch(
            join(batch.candidates for batch in batches),
            join(batch.references for batch in batches),
            join(batch.ids for batch in batches),
            join(batch.systems for batch in batches),
            join(batch.samples for batch in batches),
            join_named([batch.optional for batch in batches]),
            join_named([batch.extra for batch in batches]),
            join(batch.places for batch in batches),
        )

    @classmethod
    def from_lists(  # noqa: PLR0913  # one argument a column
        cls,
        *,
        candidates: Sequence[str],
        references: Sequence[str | Sequence[str]] | None = None,
        ids: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
        samples: Sequence[int] | None = None,
        sources: Sequence[str | None] | None = None,
        groups: Sequence[str | None] | None = None,
        humans: Sequence[float | None] | None = None,
        langs: Sequence[str | None] | None = None,
        extra: Mapping[str, Sequence[object]] | None = None,
    ) -> Batch:
        """Return a batch of these columns; without `references` every row has none, and no metric can score it."""
        from refsim.segments import _lists  # noqa: PLC0415  # the constructors stand one layer above the value

        given: dict[str, Sequence[Any] | None] = {
            "references": references,
            "ids": ids,
            "systems": systems,
            "samples": samples,
            "sources": sources,
            "groups": groups,
            "humans": humans,
            "langs": langs,
        }
        columns = {name: column for name, column in given.items() if column is not None}
        return _lists.from_lists({"candidates": candidates, **columns}, {} if extra is None else extra)

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, object]], fields: Fields | None = None) -> Batch:
        """Return a batch of dicts; messages name `rows[3]`."""
        from refsim.segments import _assemble, _checks, _chunk  # noqa: PLC0415  # as above

        checked = _checks.rows_of(rows)
        numbers = range(len(checked))
        return _assemble.from_columns(
            _chunk.Chunk.from_rows(checked, Places("rows", numbers, "{}[{}]"), numbers), fields
        )

    @classmethod
    def from_pandas(cls, frame: Any, fields: Fields | None = None) -> Batch:  # noqa: ANN401  # pandas may be absent
        """Return a batch of a pandas DataFrame; NaN, None and NA count as null, rows are named by position."""
        from refsim.segments import _arrow, _assemble  # noqa: PLC0415  # as above

        return _assemble.from_columns(_arrow.chunk_of_frame(frame), fields)

    @classmethod
    def from_arrow(cls, table: Any, fields: Fields | None = None) -> Batch:  # noqa: ANN401  # pyarrow has no types
        """Return a batch of a pyarrow Table: exactly the one that `to_arrow` made it of, or any with usual columns."""
        from refsim.segments import _arrow, _assemble  # noqa: PLC0415  # as above

        if _arrow.is_own(table):
            return _arrow.from_own(table)
        return _assemble.from_columns(_arrow.chunk_of_table(table), fields)

    def to_arrow(self) -> Any:  # noqa: ANN401  # pyarrow has no types
        """Return a pyarrow Table: large strings, references as a dictionary of lists where rows share them."""
        from refsim.segments import _arrow  # noqa: PLC0415  # pyarrow is loaded when first needed

        return _arrow.to_table(self)
