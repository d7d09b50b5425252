"""What a metric is: a frozen value with `measure` and `finish`, and statistics that merge.

    Batch  --measure-->  Stats: rows (S, F)  --finish-->  {"name": scores (S,)}, headline first
                           |
                           +-- total() --> Total: exact sums, merged by +  --> the score of a system

A metric is a frozen, picklable dataclass of its parameters; `Metric` is a Protocol, so nothing has
to be inherited. Rows of two batches concatenate and totals add, in any grouping, to the same bits:
that is why memory, streams, threads and clusters give equal numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from refsim.segments import Batch

# Scores are at most a few units and have 53 bits: on a grid of 2**-60 a sum of Python integers is
# exact, hence associative, whatever the order in which parts of a system come in.
_GRID = 2.0**60


@dataclass(frozen=True, slots=True)
class Total:
    """Exact sums of the rows of some segments: `count` of them, `sums` (F,) on a grid of 2**-60."""

    count: int
    sums: tuple[int, ...]

    def __add__(self, other: Total) -> Total:
        """Return the total of both; associative and commutative, for these are integers."""
        if not self.count:
            return other
        if not other.count:
            return self
        return Total(self.count + other.count, tuple(a + b for a, b in zip(self.sums, other.sums, strict=True)))

    def sum(self) -> tuple[float, ...]:
        """Return the sum of the rows (F,): of whole numbers exactly, of others rounded once."""
        return tuple(total / _GRID for total in self.sums)

    def mean(self) -> tuple[float, ...]:
        """Return the mean row (F,); of no rows at all, NaN in every place."""
        if not self.count:
            return tuple(float("nan") for _ in self.sums)
        return tuple(total / self.count / _GRID for total in self.sums)


@dataclass(frozen=True, slots=True)
class Stats:
    """One row of statistics per segment: `rows` is a float64 array (S, F)."""

    rows: NDArray[np.float64]

    @classmethod
    def zero(cls, width: int = 1) -> Stats:
        """Return no rows, which is neutral under `+`."""
        return cls(np.empty((0, width)))

    def __add__(self, other: Stats) -> Stats:
        """Return the rows of both, in order."""
        return Stats(np.concatenate([self.rows, other.rows]))

    def __len__(self) -> int:
        """Return the number of segments S."""
        return len(self.rows)

    def total(self) -> Total:
        """Return the exact sums of the rows."""
        columns = (self.rows * _GRID).T.tolist()
        return Total(len(self.rows), tuple(sum(map(round, column)) for column in columns))


@runtime_checkable
class Metric(Protocol):
    """What `run`, `results` and the command line ask of a metric."""

    @property
    def signature(self) -> str:
        """Everything that a number depends on: metric, parameters, preparation, version."""
        ...

    def measure(self, batch: Batch, *, threads: int | None = None) -> Stats:
        """Return one row of statistics per segment of the batch; `threads` change the time, never a number."""
        ...

    def finish(self, stats: Stats) -> Mapping[str, NDArray[np.float64]]:
        """Return named scores (S,) of the rows, the headline first."""
        ...

    def finish_total(self, total: Total) -> Mapping[str, float]:
        """Return the named scores of a whole system, the headline first."""
        ...


@runtime_checkable
class Scorer(Protocol):
    """A metric together with one fixed set of references, on which the work is done once."""

    @property
    def signature(self) -> str:
        """The signature of the metric; the references are named by their digest."""
        ...

    def score_batch(self, candidates: Sequence[str], *, threads: int | None = None) -> NDArray[np.float64]:
        """Return the scores (C,) of the candidates against the set."""
        ...

    def ceiling(self, *, threads: int | None = None) -> float:
        """Return what a reference of the set scores against the others, on average."""
        ...
