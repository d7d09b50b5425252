"""References on which the work is done once: a frozen automaton, and what each form reads off it.

    distinct texts, weights  --grow, freeze-->  Automaton  --count-->  SumSet   (main, median: one sum per state)
                                                                       CellSet  (base: a sum per reference length)

A thin caller of `_automaton.py`: it sizes arrays, hands them over, spreads candidates over threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from refsim.errors import InputError
from refsim.metrics._kernel import kernel
from refsim.metrics._threads import spread
from refsim.metrics._workspace import Growth, Tables, landing_room, order_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Longs = NDArray[np.int64]
    Floats = NDArray[np.float64]

# States and edges are numbered in 32 bits, three edges a character at most.
_MOST_CHARACTERS = 600_000_000
_NO_INTS = np.empty(0, np.int32).data
_NO_LONGS = np.empty(0, np.int64).data
_NO_FLOATS = np.empty(0).data


@dataclass(frozen=True, eq=False)
class Texts:
    """R different texts: `codes` (total,), `offsets` (R + 1,), how often each counts, `weights` (R,)."""

    codes: Ints
    offsets: Longs
    weights: Longs

    @cached_property
    def lengths(self) -> Longs:
        """Lengths (R,) in characters."""
        return np.diff(self.offsets)

    @cached_property
    def longest(self) -> int:
        """The length of the longest text that counts."""
        return int(self.lengths[self.weights > 0].max(initial=0))

    def __len__(self) -> int:
        """Return R."""
        return len(self.weights)


def check_size(characters: int) -> None:
    """Raise InputError if references of so many characters are too many for one set."""
    if characters > _MOST_CHARACTERS:
        message = f"the references hold {characters:,} characters; one set takes {_MOST_CHARACTERS:,}, so split it"
        raise InputError(message)


@dataclass(frozen=True, eq=False)
class Automaton:
    """A frozen suffix automaton of V states: arrays as `_automaton.py` lays them out."""

    states: Ints
    more: Ints
    root: Ints

    @classmethod
    def of(cls, texts: Texts) -> Automaton:
        """Build the automaton of all the texts. Linear in their characters."""
        characters = len(texts.codes)
        check_size(characters)
        growth = Growth(characters, int(texts.codes.max(initial=0)), characters // 16)
        given = (texts.codes.data, texts.offsets.data)
        while not kernel.extend(*given, *growth.views()):
            growth.root[:] = 0
            growth.hash_room(2 * len(growth.keys))
        count, further = growth.tally[:2].tolist()
        frozen = cls(np.empty(8 * count, np.int32), np.empty(2 * further, np.int32), growth.root)
        nodes, edges, root, _, _, tally = growth.views()
        scratch = np.empty(5 * count, np.int32).data
        kernel.freeze(nodes, edges, root, tally, scratch, *(a.data for a in (frozen.states, frozen.more)))
        return frozen

    def __len__(self) -> int:
        """Return V."""
        return len(self.states) // 8

    def views(self) -> tuple[memoryview, ...]:
        """Return states, more, root, as the kernel's functions take them."""
        return tuple(array.data for array in (self.states, self.more, self.root))

    def trace(self, codes: Ints) -> Trace:
        """Return where one text lands, character by character."""
        where, lengths = np.empty(len(codes), np.int64), np.empty(len(codes), np.int64)
        held = np.zeros(len(self), np.int8)
        kernel.trace(codes.data, *self.views(), where.data, lengths.data, held.data)
        return Trace(where, lengths, held)


def _count_in(
    kind: int,
    texts: Texts,
    columns: Longs,
    automaton: Automaton,
    totals: Longs,
    room: tuple[memoryview, ...] = (),
    **given: memoryview,
) -> bool:
    """Call the kernel's `count`; arrays that this kind does not use are empty."""
    return bool(
        kernel.count(
            kind,
            *(array.data for array in (texts.codes, texts.offsets, texts.weights, columns)),
            *automaton.views(),
            totals.data,
            given.get("begins", _NO_LONGS),
            given.get("finishes", _NO_LONGS),
            given.get("ends", _NO_INTS),
            given.get("seen", _NO_LONGS),
            given.get("sums", _NO_LONGS),
            given.get("tally", np.zeros(2, np.int64).data),
            given.get("cell_start", _NO_LONGS),
            given.get("cells", _NO_INTS),
            given.get("masses", _NO_FLOATS),
            *(room or landing_room(int(texts.lengths.max(initial=0)))),
        )
    )


@dataclass(frozen=True, eq=False)
class Trace:
    """Where the T prefixes of a text land in a set: `where` and `lengths` (T,), and which states it `held` (V,)."""

    where: Longs
    lengths: Longs
    held: NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Shared:
    """Strings of a set: `states`, `lengths`, `weights` of the references that hold them, `ends` in the set's codes."""

    states: NDArray[np.intp]
    lengths: Longs
    weights: Longs
    ends: Longs


@dataclass(frozen=True, eq=False)
class SumSet:
    """A compiled set for the main and the median form: sums over all references per state."""

    texts: Texts
    automaton: Automaton
    table_start: Longs
    table: Longs
    begins: Longs
    finishes: Longs
    whole: Longs

    @classmethod
    def of(cls, texts: Texts) -> SumSet:
        """Compile the texts."""
        automaton = Automaton.of(texts)
        count = len(automaton)
        totals, begins, finishes = (np.zeros(count, np.int64) for _ in range(3))
        ends = np.zeros(len(texts), np.int32)
        room, done = max(256, len(texts.codes) // 16), False
        while not done:
            size = 1 << (2 * room - 1).bit_length()
            seen, sums = np.zeros(size, np.int64), np.empty(size, np.int64)
            done = _count_in(
                0, texts, np.zeros(len(texts), np.int64), automaton, totals,
                begins=begins.data, finishes=finishes.data, ends=ends.data,
                seen=seen.data, sums=sums.data,
            )  # fmt: skip
            if not done:
                room *= 4
                for array in (totals, begins, finishes):
                    array[:] = 0
        table_start, table = _tabulate(automaton.states, totals, seen, sums)
        order = np.argsort(ends, kind="stable")
        whole = np.stack([ends[order].astype(np.int64), texts.weights[order]], axis=1).ravel()
        return cls(texts, automaton, table_start, table, begins, finishes, whole)

    def score(
        self, codes: Ints, offsets: Longs, bounds: Longs, scale: int, max_order: int | None, threads: int | None
    ) -> Floats:
        """Return scores (C,); `bounds` (C, 4) and `scale` say what the overlaps are divided by."""
        out = np.empty(len(offsets) - 1)
        self._run(codes, offsets, bounds, scale, max_order, threads, np.empty(0, np.int64), out)
        return out

    def overlaps(self, codes: Ints, bounds: Longs, scale: int, orders: int) -> tuple[float, Longs]:
        """Return one candidate's score over `orders` orders, and its summed overlaps o(1) .. o(`orders`)."""
        overlaps, score = np.zeros(orders, np.int64), np.empty(1)
        offsets = np.array([0, len(codes)], np.int64)
        self._run(codes, offsets, bounds, scale, orders, 1, overlaps, score)
        return float(score[0]), overlaps

    def trace(self, codes: Ints) -> Trace:
        """Return where one text lands, character by character."""
        return self.automaton.trace(codes)

    @property
    def different(self) -> int:
        """How many different characters there are."""
        return int(np.count_nonzero(self.automaton.root))

    def holders(self, states: Longs) -> Longs:
        """Return the weight of the references that hold the strings of each of these states; 0 for the root."""
        grid = self.automaton.states.reshape(-1, 8)
        weights: Longs = grid[states, 2].astype(np.int64)
        large = np.flatnonzero(weights < 0)
        if len(large):
            rows = self.table_start[grid[states[large], 3]]
            weights[large] = self.table[3 * rows + 1] + self.table[3 * rows + 2]
        return weights

    def shared(self, least: int) -> Shared:
        """Return the longest strings that references of weight `least` or more hold: none can be longer either way."""
        grid = self.automaton.states.reshape(-1, 8)
        frequent = self.holders(np.arange(len(grid))) >= max(1, least)
        frequent[0] = False
        extended = np.zeros(len(grid), bool)
        # To the left: a longer string of the same ends is in a state below. To the right: along an edge.
        extended[grid[frequent, 0]] = True
        extended |= frequent[grid[:, 5]]
        owners = np.repeat(np.arange(len(grid)), grid[:, 7])
        extended[owners[frequent[self.automaton.more[1::2][_ranges(grid[:, 6], grid[:, 7])]]]] = True
        states = np.flatnonzero(frequent & ~extended)
        ends = np.zeros(len(grid), np.int64)
        kernel.sites(self.texts.codes.data, self.texts.offsets.data, *self.automaton.views(), ends.data)
        return Shared(states, grid[states, 1].astype(np.int64), self.holders(states), ends[states])

    def _run(
        self, codes: Ints, offsets: Longs, bounds: Longs, scale: int, max_order: int | None, threads: int | None,
        overlaps: Longs, out: Floats,
    ) -> None:  # fmt: skip
        sizes = np.diff(offsets)
        longest = self.texts.longest
        weights = order_weights(max(longest, int(sizes.max(initial=0))))
        tables = (self.table_start, self.table, self.begins, self.finishes, self.whole)
        fixed = (*self.automaton.views(), *(array.data for array in tables), longest, max_order or 0, scale)

        def work(start: int, stop: int) -> None:
            room = int(sizes[start:stop].max(initial=0))
            steps, slopes = np.zeros(room + 3, np.int64), np.zeros(room + 3, np.int64)
            kernel.score_set(
                codes.data, offsets[start : stop + 1].data, *fixed,
                bounds[start:stop].reshape(-1).data, *weights, *landing_room(room),
                steps.data, slopes.data, overlaps.data, out[start:stop].data,
            )  # fmt: skip

        spread(work, sizes, threads)


def _ranges(starts: Ints, counts: Ints) -> Longs:
    """Return the numbers start .. start + count - 1 of every range, one after the other."""
    total = np.cumsum(counts, dtype=np.int64)
    places: Longs = np.arange(total[-1] if len(total) else 0) + np.repeat(starts - total + counts, counts)
    return places


def _tabulate(states: Ints, totals: Longs, seen: Longs, sums: Longs) -> tuple[Longs, Longs]:
    """Write weights into `states`, and return the table of states that some reference holds twice or more.

    Rows (count, A, B) a state, ascending: for m hits, from that count on, the overlap is A + m B.
    """
    taken = np.flatnonzero(seen)
    taken = taken[np.argsort(seen[taken])]
    large = int(np.count_nonzero(totals > np.iinfo(np.int32).max))
    start = np.empty(len(taken) + large + 1, np.int64)
    table = np.empty(3 * (2 * len(taken) + large), np.int64)
    groups = kernel.tabulate(seen[taken].data, sums[taken].data, totals.data, states.data, start.data, table.data)
    return start[: groups + 1].copy(), table[: 3 * start[groups]].copy()


@dataclass(frozen=True, eq=False)
class CellSet:
    """A compiled set with sums per column: lengths of references (base form) or single ones (matrix)."""

    texts: Texts
    automaton: Automaton
    columns: Longs
    lengths: Longs
    cell_start: Longs
    cells: Ints
    masses: Floats

    @classmethod
    def by_length(cls, texts: Texts) -> CellSet:
        """Compile the texts with one column per length, as the base form needs it."""
        texts = _sorted_by_length(texts, longest_first=False)
        lengths, columns = np.unique(texts.lengths, return_inverse=True)
        made = cls._of(texts, columns.astype(np.int64).ravel(), lengths, weighted=True)
        assert made is not None  # noqa: S101 - only a limit on cells makes it None
        return made

    @classmethod
    def each(cls, texts: Texts, *, most_cells: int) -> CellSet | None:
        """Compile the texts with a column for each, or return None if it would take more cells than that.

        They must come longest first, with weight 1.
        """
        return cls._of(texts, np.arange(len(texts)), texts.lengths, weighted=False, most_cells=most_cells)

    @classmethod
    def _of(
        cls, texts: Texts, columns: Longs, lengths: Longs, *, weighted: bool, most_cells: int | None = None
    ) -> CellSet | None:
        automaton = Automaton.of(texts)
        marks = np.zeros(len(automaton), np.int64)
        sizes = np.zeros(len(automaton) + 1, np.int64)
        room = landing_room(int(texts.lengths.max(initial=0)))
        room = (np.empty(len(texts.codes), np.int64).data, *room[1:])
        _count_in(1, texts, columns, automaton, marks, room, cell_start=sizes.data)
        ends = np.cumsum(sizes)
        cell_start = np.concatenate([[0], ends[:-1]])
        total = int(ends[-1])
        if most_cells is not None and total > most_cells and len(texts) > 1:
            return None
        cells, masses = np.empty(2 * total, np.int32), np.empty(total if weighted else 0)
        marks[:] = 0
        cursor = cell_start.copy()
        _count_in(
            2, texts, columns, automaton, marks, room,
            cell_start=cursor.data, cells=cells.data, masses=masses.data,
        )  # fmt: skip
        return cls(texts, automaton, columns, lengths, cell_start, cells, masses)

    def _fixed(self) -> tuple[memoryview, ...]:
        arrays = (self.texts.codes, self.texts.offsets, self.texts.weights, self.columns)
        return tuple(array.data for array in arrays)

    def _cells(self) -> tuple[memoryview, ...]:
        return tuple(array.data for array in (self.cell_start, self.cells, self.masses))

    def score_base(
        self, codes: Ints, offsets: Longs, bounds: Longs, max_order: int | None, threads: int | None,
        per_order: Floats | None = None,
    ) -> Floats:  # fmt: skip
        """Return base scores (C,); `per_order`, where given, gets rho(1), rho(2), ... of the last candidate."""
        sizes = np.diff(offsets)
        out = np.empty(len(sizes))
        weights = order_weights(max(int(self.lengths.max()), int(sizes.max(initial=0))))
        rhos = np.empty(0) if per_order is None else per_order.data

        def work(start: int, stop: int) -> None:
            room = int(sizes[start:stop].max(initial=0))
            kernel.score_base(
                codes.data, offsets[start : stop + 1].data, *self._fixed(), self.lengths.data,
                *self.automaton.views(), *self._cells(), max_order or 0, bounds[start:stop].reshape(-1).data,
                *weights, *landing_room(room), *Tables().views(len(self.lengths) * (room + 3)),
                np.empty(len(self.lengths) + 1).data, rhos, out[start:stop].data,
            )  # fmt: skip

        spread(work, sizes * max(1, len(self.texts) // 100), threads)
        return out

    def score_each(
        self, codes: Ints, offsets: Longs, max_order: int | None, threads: int | None, tables: Tables
    ) -> Floats:
        """Return the scores (C, R) of each candidate against each text alone."""
        sizes, width = np.diff(offsets), len(self.texts)
        out = np.empty((len(sizes), width))
        weights = order_weights(max(int(self.lengths.max(initial=0)), int(sizes.max(initial=0))))

        def work(start: int, stop: int) -> None:
            room = int(sizes[start:stop].max(initial=0))
            kernel.score_cells(
                codes.data, offsets[start : stop + 1].data, *self._fixed(),
                *self.automaton.views(), *self._cells(), max_order or 0,
                *weights, *landing_room(room), *tables.views(width * (room + 3)),
                np.empty(6 * width + 1).data, out[start:stop].reshape(-1).data,
            )  # fmt: skip

        spread(work, sizes * max(1, width // 10), threads)
        return out


def _sorted_by_length(texts: Texts, *, longest_first: bool) -> Texts:
    """Return the same texts in order of length, equal lengths as they came."""
    order = np.argsort(-texts.lengths if longest_first else texts.lengths, kind="stable")
    return take(texts, order)


def take(texts: Texts, order: NDArray[np.intp]) -> Texts:
    """Return the texts numbered by `order`, in that order."""
    lengths = texts.lengths[order]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    gather = np.repeat(texts.offsets[order] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return Texts(texts.codes[gather], offsets, texts.weights[order])
