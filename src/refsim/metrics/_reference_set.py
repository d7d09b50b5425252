"""One fixed list of references, compiled for one form, and everything that can be asked of it.

    references  --distinct texts with weights-->  Texts  -->  SumSet (main, median) or CellSet (base)

The bounds that the kernel divides by are worked out here, per candidate, in integers:

    main     sum_i o_i / max(K L_t, sum_i L_i)              L(n) = length + n - 1, and 0 for an empty text
    median   2 sum_i o_i / (K max(2 L_t, L_low + L_high))   the two middle lengths, the same one if K is odd
    base     by denominators d = max(L_t, L_i): sum o_i / (K d), summed in ascending d
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from refsim.metrics._compiled import CellSet, SumSet, Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Longs = NDArray[np.int64]
    Floats = NDArray[np.float64]


def distinct(texts: Sequence[str]) -> tuple[list[str], Longs, Longs]:
    """Return the different texts in order of first sight, how often each occurs, and each text's number."""
    numbers: dict[str, int] = {}
    places = np.fromiter((numbers.setdefault(text, len(numbers)) for text in texts), np.int64, len(texts))
    return list(numbers), np.bincount(places, minlength=len(numbers)).astype(np.int64), places


@dataclass(frozen=True, eq=False)
class ReferenceSet:
    """References compiled for one form: `texts` are the different ones."""

    form: str
    compiled: SumSet | CellSet

    @classmethod
    def of(cls, form: str, texts: Texts) -> ReferenceSet:
        """Compile the texts for a form."""
        return cls(form, CellSet.by_length(texts) if form == "base" else SumSet.of(texts))

    @property
    def texts(self) -> Texts:
        """The different references."""
        return self.compiled.texts

    @cached_property
    def heads(self) -> int:
        """The number K of references, repeats counted."""
        return int(self.texts.weights.sum())

    @cached_property
    def nbytes(self) -> int:
        """Bytes held by the arrays."""
        parts = [self.texts, self.compiled.automaton, self.compiled]
        return sum(value.nbytes for part in parts for value in vars(part).values() if isinstance(value, np.ndarray))

    @cached_property
    def _by_length(self) -> tuple[Longs, Longs]:
        """Lengths (R,) in ascending order, and the weight of all references up to each (R,)."""
        order = np.argsort(self.texts.lengths, kind="stable")
        return self.texts.lengths[order], np.cumsum(self.texts.weights[order])

    def score(
        self, codes: Ints, offsets: Longs, *, max_order: int | None, threads: int | None, own: Longs | None = None
    ) -> Floats:
        """Return scores (C,); `own` (C,) is how much of each candidate's own weight leaves the set first."""
        bounds = self.bounds(np.diff(offsets), own)
        if isinstance(self.compiled, CellSet):
            return self.compiled.score_base(codes, offsets, bounds, max_order, threads)
        return self.compiled.score(codes, offsets, bounds, self.scale, max_order, threads)

    @property
    def scale(self) -> int:
        """What overlaps are multiplied by before they meet the bounds: 2 where a median may be half of two lengths."""
        return 2 if self.form == "median" else 1

    def bounds(self, sizes: Longs, own: Longs | None = None) -> Longs:
        """Return, per candidate of these lengths, the four numbers that the kernel's functions ask for."""
        own = np.zeros(len(sizes), np.int64) if own is None else own
        left = self.heads - own
        if isinstance(self.compiled, CellSet):
            column = np.searchsorted(self.compiled.lengths, sizes)
            empty = self.texts.weights[self.texts.lengths == 0].sum() - np.where(sizes == 0, own, 0)
            return np.stack([own, column, left, empty], axis=1)
        if self.form == "median":
            low = self._length_at((left - 1) // 2, sizes, own)
            high = self._length_at(left // 2, sizes, own)
            step = (low > 0).astype(np.int64) + (high > 0)
            return np.stack([own, left, left * (low + high), left * step], axis=1)
        characters = int((self.texts.lengths * self.texts.weights).sum())
        filled = int(self.texts.weights[self.texts.lengths > 0].sum())
        return np.stack([own, left, characters - own * sizes, filled - np.where(sizes > 0, own, 0)], axis=1)

    def _length_at(self, place: Longs, sizes: Longs, own: Longs) -> Longs:
        """Return the length at a place of the sorted list of references, each candidate's own copies taken out."""
        lengths, upto = self._by_length
        before = np.concatenate([[0], upto])[np.searchsorted(lengths, sizes)]
        place = np.where(place >= before, place + own, place)
        found: Longs = lengths[np.searchsorted(upto, place, side="right")]
        return found
