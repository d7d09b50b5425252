"""What each order of a charsim score gives, and what of it is lost to length and to content.

Take one term of the average: a the candidate's n-grams, b the references' (main: their mean, median: their median,
base: of one reference, and averaged over these), S the overlap, m = max(a, b), k = max(min(a, b), S). Then

    1 - S/m  =  (m - k)/m  +  (k - S)/m
                 |              content: n-grams there was room for, and that were others
                 shortness if a < b, excess if a > b: length alone

Weighted with 1/(n H_N) and summed over orders: 1 = score + shortness + excess + content. In the median form S may
exceed the median length, else k is min(a, b).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from refsim.metrics._compiled import CellSet, SumSet
from refsim.metrics._workspace import order_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from refsim.metrics._reference_set import ReferenceSet

    Ints = NDArray[np.int32]
    Longs = NDArray[np.int64]
    Floats = NDArray[np.float64]

ORDER_COLUMNS = (
    *("overlap", "candidate_length", "reference_length", "rho", "weight", "precision", "recall"),
    *("recall_binds", "precision_binds", "shortness", "excess", "content"),
)

# Orders times lengths that are worked on at once, in the base form.
_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Parts:
    """Where 1 went: `score` + `shortness` + `excess` + `content` is 1, to 1e-12, and none is negative."""

    score: float
    shortness: float
    excess: float
    content: float

    @property
    def largest(self) -> str | None:
        """The name of the largest loss, None where nothing was lost; of equal ones the first."""
        losses = {name: getattr(self, name) for name in ("shortness", "excess", "content")}
        name = max(losses, key=lambda name: losses[name])
        return name if losses[name] > 0 else None


@dataclass(frozen=True)
class Band:
    """Orders `first` to `last` together: their weight, what they add, and means weighted as the score weights them."""

    first: int
    last: int
    rho: float
    weight: float
    contribution: float
    recall_binds: float
    precision_binds: float


def band_edges(orders: int) -> list[tuple[int, int]]:
    """Return the first and the last order of each band of N orders: 1, 2, 3, 4, and from there on twice as far."""
    edges = [(n, n) for n in range(1, min(orders, 4) + 1)]
    while edges and edges[-1][1] < orders:
        last = edges[-1][1]
        edges.append((last + 1, min(2 * last, orders)))
    return edges


@dataclass(frozen=True, eq=False)
class Sides:
    """Precision and recall of each order, and for which share of the references each is the smaller one (N,)."""

    precision: Floats
    recall: Floats
    recall_binds: Floats
    precision_binds: Floats


@dataclass(frozen=True, eq=False)
class Orders:
    """Orders n = 1 .. N of one score, as arrays (N,).

    `overlap`: common n-grams, mean over references. `candidate_length`, `reference_length`: n-grams of either side, the
    latter as the form averages it. `rho` in [0, 1]; `weight` 1/(n H_N). `shortness`, `excess` and `content` are parts
    of 1 - `rho`. `precision` and `recall` are means over references, of which `rho` takes the smaller one each.
    """

    overlap: Floats
    candidate_length: Floats
    reference_length: Floats
    rho: Floats
    weight: Floats
    shortness: Floats
    excess: Floats
    content: Floats
    sides: Sides | None = None

    @property
    def precision(self) -> Floats:
        """The share of the candidate's n-grams that a reference has, mean over references (N,)."""
        return self._sides.precision

    @property
    def recall(self) -> Floats:
        """The share of a reference's n-grams that the candidate has (N,)."""
        return self._sides.recall

    @property
    def recall_binds(self) -> Floats:
        """For which share of the references the candidate is shorter, so that `rho` is recall (N,)."""
        return self._sides.recall_binds

    @property
    def precision_binds(self) -> Floats:
        """For which share of the references the candidate is longer, so that `rho` is precision (N,)."""
        return self._sides.precision_binds

    @cached_property
    def _sides(self) -> Sides:
        """As given, else from the lengths, as they are in every form but base."""
        if self.sides is not None:
            return self.sides
        own, theirs = self.candidate_length, self.reference_length
        # Where a side has no n-grams there is nothing to take a share of.
        precision = np.divide(self.overlap, own, out=self.rho.copy(), where=own > 0)
        recall = np.divide(self.overlap, theirs, out=self.rho.copy(), where=theirs > 0)
        return Sides(precision, recall, (own < theirs).astype(np.float64), (own > theirs).astype(np.float64))

    def __len__(self) -> int:
        """Return the number of orders N."""
        return len(self.rho)

    @property
    def contribution(self) -> Floats:
        """What each order adds to the score (N,)."""
        return self.rho * self.weight

    def bands(self) -> list[Band]:
        """Return the orders in bands 1, 2, 3, 4, 5 to 8, 9 to 16, ...; the last ones that add nothing are one band."""
        edges = band_edges(len(self))
        adds = [float(self.contribution[first - 1 : last].sum()) for first, last in edges]
        while len(edges) > 1 and adds[-1] == adds[-2] == 0:
            (first, _), (_, last) = edges[-2:]
            edges[-2:], adds[-2:] = [(first, last)], [0.0]
        return [self._band(first, last, added) for (first, last), added in zip(edges, adds, strict=True)]

    def _band(self, first: int, last: int, added: float) -> Band:
        part = slice(first - 1, last)
        weight = float(self.weight[part].sum())
        recall, precision = (
            float(np.dot(binds[part], self.weight[part])) / weight
            for binds in (self.recall_binds, self.precision_binds)
        )
        return Band(first, last, added / weight, weight, added, recall, precision)

    def lost(self, part: str) -> float:
        """Return "shortness", "excess" or "content", weighted and summed over orders."""
        return float(np.dot(getattr(self, part), self.weight))


def score_orders(references: ReferenceSet, codes: Ints, max_order: int | None) -> tuple[float, Orders]:
    """Return one candidate's score, to the last bit that of every other way, and what its orders say."""
    longest = max(len(codes), references.texts.longest)
    orders = longest if max_order is None else min(longest, max_order)
    if isinstance(references.compiled, CellSet):
        return _base(references, references.compiled, codes, orders)
    return _averaged(references, references.compiled, codes, orders)


def _averaged(references: ReferenceSet, compiled: SumSet, codes: Ints, orders: int) -> tuple[float, Orders]:
    """Main and median form: numerators and denominators are integers, `scale` times the references' weight K."""
    bounds, scale = references.bounds(np.array([len(codes)], np.int64)), references.scale
    _, heads, first, step = bounds[0].tolist()
    unit = scale * heads
    steps = np.arange(orders, dtype=np.int64)
    theirs = first + step * steps
    if len(codes):
        score, overlap = compiled.overlaps(codes, bounds, scale, orders)
        overlap *= scale
        own = unit * (len(codes) + steps)
    else:
        # No n-grams at all, as many as the references have if those are empty too.
        score, overlap = float(first == step == 0), np.zeros(orders, np.int64)
        own = overlap
    return score, order_shares(overlap, own, theirs, unit=unit)


def order_shares(overlap: Longs, own: Longs, theirs: Longs, *, unit: int) -> Orders:
    """Return what orders say from whole numbers (N,), each `unit` times the n-grams: in common, ours, theirs."""
    most = np.maximum(own, theirs)
    if len(own) and most[-1] == 0:
        return _nothing_lost(len(own))
    kept = np.maximum(np.minimum(own, theirs), overlap)
    length = (most - kept) / most
    excess = np.where(own > theirs, length, 0.0)
    return Orders(
        overlap=overlap / unit,
        candidate_length=own / unit,
        reference_length=theirs / unit,
        rho=overlap / most,
        weight=_weights(len(own)),
        shortness=length - excess,
        excess=excess,
        content=(kept - overlap) / most,
    )


def _nothing_lost(orders: int) -> Orders:
    """Return what the orders of two empty texts say, the median reference being one of them."""
    none = np.zeros(orders)
    return Orders(none, none, none, none + 1.0, _weights(orders), none, none, none)


def _base(references: ReferenceSet, compiled: CellSet, codes: Ints, orders: int) -> tuple[float, Orders]:
    """Base form: each reference has a denominator of its own, and the parts are means over references."""
    size, heads = len(codes), references.heads
    told = np.zeros(3 * orders)
    bounds = references.bounds(np.array([size], np.int64))
    score = float(compiled.score_base(codes, np.array([0, size], np.int64), bounds, orders, 1, told)[0])
    rho, precision, recall = told.reshape(3, orders)
    lengths, weights = references.texts.lengths, references.texts.weights
    own = (size + np.arange(orders, dtype=np.float64)) * (size > 0)
    filled, empty = int(weights[lengths > 0].sum()), int(weights[lengths == 0].sum())
    characters = int((lengths * weights).sum())
    longer, shorter = lengths > size, (lengths < size) & (lengths > 0)
    shortness = _mean_shortness(lengths[longer], weights[longer], size, orders) / heads
    excess = np.full(orders, empty / heads if size else 0.0)
    if size:
        excess += int(((size - lengths) * weights)[shorter].sum()) / own / heads
    return score, Orders(
        overlap=precision * own,
        candidate_length=own,
        reference_length=(characters + filled * np.arange(orders)) / heads,
        rho=rho,
        weight=_weights(orders),
        shortness=shortness,
        excess=excess,
        content=np.maximum(1.0 - shortness - excess - rho, 0.0),
        sides=Sides(
            precision,
            recall,
            np.full(orders, weights[longer].sum() / heads),
            np.full(orders, weights[lengths < size].sum() / heads),
        ),
    )


def _mean_shortness(lengths: Longs, weights: Longs, size: int, orders: int) -> Floats:
    """Return, per order, the sum over longer references of weight times (b - a)/b."""
    sums = np.zeros(orders)
    lengths, weights = _by_length(lengths, weights)
    for start in range(0, orders, max(1, _AT_ONCE // max(1, len(lengths)))):
        steps = np.arange(start, min(orders, start + max(1, _AT_ONCE // max(1, len(lengths)))))
        theirs = lengths[:, None] + steps
        missing = (lengths - size)[:, None] if size else theirs
        sums[steps] = (weights[:, None] * (missing / theirs)).sum(axis=0)
    return sums


def _by_length(lengths: Longs, weights: Longs) -> tuple[Longs, Longs]:
    """Return the different lengths, and the weight of each."""
    different, places = np.unique(lengths, return_inverse=True)
    return different, np.bincount(places.ravel(), weights, len(different)).astype(np.int64)


def _weights(orders: int) -> Floats:
    """Return 1/(n H_N) for n = 1 .. N."""
    inverse, harmonic = order_weights(orders)
    weights: Floats = np.asarray(inverse)[1 : orders + 1] / (harmonic[orders] if orders else 1.0)
    return weights
