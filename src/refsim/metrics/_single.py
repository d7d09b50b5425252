"""One reference, explained without compiling it: what a set of many is asked for, from one pair's kernel.

A compiled set of one text costs several times what it takes to score a pair, and most explanations are asked for once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from refsim.metrics._compiled import Shared, Texts, Trace
from refsim.metrics._orders import Orders, order_shares
from refsim.metrics._rows import overlap_alone

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Longs = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Single:
    """A set of one text, however often it counts. It has one state, 1, for all strings of the text."""

    texts: Texts

    @classmethod
    def of(cls, codes: Ints) -> Single:
        """Return the set of one text that counts once."""
        return cls(Texts(codes, np.array([0, len(codes)], np.int64), np.ones(1, np.int64)))

    @property
    def different(self) -> int:
        """How many different characters there are."""
        return len(set(self.texts.codes.tolist()))

    def score_orders(self, codes: Ints, max_order: int | None) -> tuple[float, Orders, Trace]:
        """Return a candidate's score in any form, what its orders say, and its trace: forms agree on one reference."""
        own, theirs = len(codes), len(self.texts.codes)
        orders = max(own, theirs) if max_order is None else min(max(own, theirs), max_order)
        steps = np.arange(orders, dtype=np.int64)
        score, overlap, lengths = float(own == theirs), np.zeros(orders, np.int64), np.zeros(own, np.int64)
        if own and theirs:
            score, overlap, lengths = overlap_alone(codes, self.texts.codes, orders)
        told = order_shares(overlap, (steps + own) * (own > 0), (steps + theirs) * (theirs > 0), unit=1)
        return score, told, self._trace(lengths)

    def trace(self, codes: Ints) -> Trace:
        """Return where one text lands, character by character."""
        if not len(codes) or not len(self.texts.codes):
            return self._trace(np.zeros(len(codes), np.int64))
        return self._trace(overlap_alone(codes, self.texts.codes, 0)[2])

    def _trace(self, lengths: Longs) -> Trace:
        whole = lengths.max(initial=0) == len(self.texts.codes)
        return Trace((lengths > 0).astype(np.int64), lengths, np.array([0, whole], np.int8))

    def holders(self, states: Longs) -> Longs:
        """Return the weight of the text for the states of its strings, 0 for the root."""
        return np.where(states > 0, self.texts.weights[0], np.int64(0))

    def shared(self, least: int) -> Shared:  # noqa: ARG002  a text always holds what it holds
        """Return the text itself: no longer string is in it."""
        length = np.array([len(self.texts.codes)], np.int64)
        return Shared(np.ones(1, np.intp), length, self.texts.weights, length)
