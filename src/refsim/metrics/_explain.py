"""Why a charsim score is what it is: order by order, character by character, and what the candidate lacks.

    candidate, compiled references  --_orders.py-->         score, orders, parts
                                    --trace, cover-->       support: the longest match over each character
                                    --shared, not held-->   missing: what most references share
                                    --matrix of one row-->  supporters: the references that support it most

Everything is linear in the texts. What is not asked for is not worked out. Definitions: docs/explain.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from refsim.metrics._arguments import check_text
from refsim.metrics._compiled import SumSet
from refsim.metrics._kernel import kernel
from refsim.metrics._orders import ORDER_COLUMNS, Orders, Parts, band_edges
from refsim.metrics._reference_set import ReferenceSet
from refsim.metrics._single import Single
from refsim.text import NO_SYMBOL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from refsim.metrics._compiled import Shared, Trace
    from refsim.metrics._scorer import CharsimScorer

    Ints = NDArray[np.int32]
    Longs = NDArray[np.int64]
    Floats = NDArray[np.float64]

MOST_MISSING, MOST_SUPPORTERS = 20, 5
_SHORTEST_MISSING = 2
# Strings that tie for the last place are put in order by their text, up to this many.
_MOST_TIES = 1000


@dataclass(frozen=True, eq=False)
class Support:
    """What holds each of the T characters of a candidate, as arrays (T,).

    `start` and `stop` (T,) are the longest part of the candidate over that character which some reference holds, the
    leftmost of equal ones, and `share` in (0, 1] says how many of the references hold it; for a character that no
    reference has, `start` is `stop` and `share` 0.
    """

    start: Longs
    stop: Longs
    share: Floats

    @property
    def length(self) -> Longs:
        """The length of the longest match over each character (T,)."""
        return self.stop - self.start


@dataclass(frozen=True)
class Missing:
    """A string that many references share and the candidate lacks, and that would not be shared if it were longer.

    `count` references hold it, a `share` of them all. `lacking` are the parts `text[start:stop]` that the
    candidate does not hold even in pieces: what is left without matches longer than chance makes them.
    """

    text: str
    count: int
    share: float
    lacking: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Supporter:
    """A reference, its number among the different ones, how often it is there, and the score it gives on its own."""

    index: int
    text: str
    count: int
    score: float


@dataclass(frozen=True, eq=False)
class Change:
    """What another candidate's place took in the score, order by order: ours minus theirs.

    `contribution` (N,) sums to `score`, the difference of both; `shortness`, `excess` and `content` are the differences
    of the losses.
    """

    score: float
    contribution: Floats
    shortness: float
    excess: float
    content: float

    def bands(self) -> list[tuple[int, int, float]]:
        """Return first order, last order and change of each band (as `Orders.bands`), the largest change first."""
        edges = band_edges(len(self.contribution))
        found = [(first, last, float(self.contribution[first - 1 : last].sum())) for first, last in edges]
        return sorted(found, key=lambda band: -abs(band[2]))


class Explanation:
    """One candidate's score and the reasons for it; made by `Charsim.explain` or a Scorer's `explain`.

    `candidate` is the text as prepared, `score` the score to the last bit, `orders` and `parts` where it comes from and
    where the rest went, `against` the explanation of the other candidate if there is one. `support`, `missing`
    and `supporters` are worked out when they are first asked for.
    """

    def __init__(  # noqa: PLR0913  what it explains
        self, scorer: CharsimScorer, candidate: str, codes: Ints, score: float, orders: Orders, *,
        trace: Trace | None, share: float, against: Explanation | None,
    ) -> None:  # fmt: skip
        self.scorer = scorer
        self.candidate = candidate
        self.score = score
        self.orders = orders
        self.share = share
        self.against = against
        self._codes = codes
        if trace is not None:
            self.__dict__["_trace"] = trace

    def __repr__(self) -> str:
        """Return what it is, in one line."""
        return f"<refsim explanation: {self.score:.4f} by {self.scorer.metric} against {len(self.scorer)} references>"

    @property
    def signature(self) -> str:
        """The signature of the metric that the score belongs to."""
        return self.scorer.metric.signature

    @cached_property
    def parts(self) -> Parts:
        """The score, and what was lost to shortness, to excess and to content."""
        losses = {name: self.orders.lost(name) for name in ("shortness", "excess", "content")}
        return Parts(score=self.score, **losses)

    @cached_property
    def symbols(self) -> Sequence[str]:
        """The candidate's characters (T,): code points, or grapheme clusters if the metric counts these."""
        return self.scorer.split(self.candidate)

    @cached_property
    def support(self) -> Support:
        """The longest match over each character of the candidate."""
        found = self._trace
        ends = cover(found.lengths)
        some = ends >= 0
        places = np.arange(len(ends))
        start = np.where(some, ends - found.lengths[ends] + 1, places)
        holders = self._sums.holders(found.where[ends]) if len(ends) else ends
        return Support(start, np.where(some, ends + 1, places), np.where(some, holders, 0) / len(self.scorer))

    @cached_property
    def chance(self) -> int:
        """The least length of a match with the references that is longer than chance makes them."""
        return chance_length(len(self._sums.texts.codes), self._sums.different)

    @cached_property
    def missing(self) -> list[Missing]:
        """What at least `share` of the references share and the candidate lacks: at most 20, by share times length."""
        chosen = self._largest_missing()
        lacking = self._lacking([text for text, _ in chosen])
        heads = len(self.scorer)
        return [
            Missing(text, count, count / heads, parts) for (text, count), parts in zip(chosen, lacking, strict=True)
        ]

    @cached_property
    def supporters(self) -> list[Supporter]:
        """The references that give the candidate the highest scores, each on its own: at most 5, the best first."""
        texts = self._sums.texts
        if len(texts) == 1:
            return [Supporter(0, self.scorer.references[0], len(self.scorer), self.score)]
        # Seen from the other side: what a reference scores against the candidate is the same to the last bit.
        scores = ReferenceSet("main", SumSet.of(self._own.texts)).score(
            texts.codes, texts.offsets, max_order=self.scorer.metric.max_order, threads=None
        )
        references, weights = self.scorer.references, self.scorer.weights
        order = np.argsort(-scores, kind="stable")[:MOST_SUPPORTERS].tolist()
        return [Supporter(i, references[i], weights[i], float(scores[i])) for i in order]

    @cached_property
    def change(self) -> Change | None:
        """What is different from `against`, or None where there is none."""
        if self.against is None:
            return None
        # Where all texts are empty there is no order, and the score stands alone.
        ours, theirs = (e.orders.contribution if len(e.orders) else np.array([e.score]) for e in (self, self.against))
        contribution = np.zeros(max(len(ours), len(theirs)))
        contribution[: len(ours)] = ours
        contribution[: len(theirs)] -= theirs
        parts = {
            name: getattr(self.parts, name) - getattr(self.against.parts, name)
            for name in ("score", "shortness", "excess", "content")
        }
        return Change(contribution=contribution, **parts)

    def held(self, text: str) -> list[bool]:
        """Return which characters of a reference (U,), or of a part of one, the candidate holds.

        A match over a character counts if it is longer than chance makes them. The text is one that is prepared.
        """
        text = check_text(text, "text")
        marks: list[bool] = (~self._lacks([text])[0]).tolist()
        return marks

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON: arrays as lists, one entry an order or a character.

        All of it is the caller's own: what is changed there changes nothing here.
        """
        orders = {name: getattr(self.orders, name).tolist() for name in ORDER_COLUMNS}
        found: dict[str, Any] = {
            "signature": self.signature,
            "candidate": self.candidate,
            "references": len(self.scorer),
            "score": self.score,
            "parts": dict(vars(self.parts)),
            "orders": {"order": list(range(1, len(self.orders) + 1)), **orders},
            "support": {name: values.tolist() for name, values in vars(self.support).items()},
            "missing": [vars(one) | {"lacking": [list(part) for part in one.lacking]} for one in self.missing],
            "supporters": [dict(vars(supporter)) for supporter in self.supporters],
        }
        if self.change is not None and self.against is not None:
            change = vars(self.change) | {"contribution": self.change.contribution.tolist()}
            found |= {"against": self.against.to_dict(), "change": change}
        return found

    @property
    def _sums(self) -> SumSet | Single:
        return self.scorer.sums

    @cached_property
    def _trace(self) -> Trace:
        return self._sums.trace(self._codes)

    @cached_property
    def _own(self) -> Single:
        """The candidate, as the only text of a set."""
        codes = self._codes
        if len(codes) and codes.max() == NO_SYMBOL:
            # Clusters that no reference has are all one symbol here, one that no reference has.
            spare = int(self._sums.texts.codes.max(initial=0)) + 1
            codes = np.where(codes == NO_SYMBOL, np.int32(spare), codes)
        return Single.of(codes)

    def _largest_missing(self) -> list[tuple[str, int]]:
        shared = self.scorer.shared(self.share)
        gone = np.flatnonzero((self._trace.held[shared.states] == 0) & (shared.lengths >= _SHORTEST_MISSING))
        size = shared.lengths[gone] * shared.weights[gone]
        if len(gone) > MOST_MISSING:
            last = np.partition(size, -MOST_MISSING)[-MOST_MISSING]
            gone = gone[size >= last]
            gone = gone[np.argsort(-(shared.lengths[gone] * shared.weights[gone]), kind="stable")][:_MOST_TIES]
        found = [(self._read(shared, i), int(shared.weights[i])) for i in gone.tolist()]
        sizes = (shared.lengths[gone] * shared.weights[gone]).tolist()
        order = sorted(range(len(found)), key=lambda i: (-sizes[i], -found[i][1], found[i][0]))
        return [found[i] for i in order[:MOST_MISSING]]

    def _read(self, shared: Shared, i: int) -> str:
        """Return the string numbered i, read where it stands in a reference."""
        stop, length = int(shared.ends[i]), int(shared.lengths[i])
        offsets = self._sums.texts.offsets
        text = int(np.searchsorted(offsets, stop, side="left")) - 1
        end = stop - int(offsets[text])
        return self.scorer.part(text, end - length, end)

    def _lacking(self, texts: Sequence[str]) -> list[tuple[tuple[int, int], ...]]:
        """Return, for each text, the parts that no match with the candidate covers, as places in code points."""
        marks = self._lacks(texts)
        return [_runs(lacks, self.scorer.split(text)) for text, lacks in zip(texts, marks, strict=True)]

    def _lacks(self, texts: Sequence[str]) -> list[NDArray[np.bool_]]:
        """Return, for each text, over which characters (U,) the candidate has no match longer than chance makes it."""
        if not texts:
            return []
        own = self._own
        least = chance_length(len(self._codes), own.different)
        # One walk over all of them, with a character in between that the candidate does not have.
        apart = np.array([own.texts.codes.max(initial=0) + 1], np.int32)
        pieces = [self.scorer.encode_one(text) for text in texts]
        lengths = own.trace(np.concatenate([part for piece in pieces for part in (piece, apart)])).lengths
        ends = cover(lengths)
        lacks = (ends < 0) | (lengths[ends] < least)
        starts = np.cumsum([0, *(len(piece) + 1 for piece in pieces)]).tolist()
        return [lacks[start : start + len(piece)] for piece, start in zip(pieces, starts[:-1], strict=True)]


def _runs(marks: NDArray[np.bool_], symbols: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return where runs of marked characters begin and end, in code points of the text that the characters make up."""
    edges = np.flatnonzero(np.concatenate([marks, [False]]) != np.concatenate([[False], marks]))
    if not isinstance(symbols, str):
        edges = np.cumsum([0, *map(len, symbols)])[edges]
    places = edges.tolist()
    return tuple(zip(places[::2], places[1::2], strict=True))


def cover(lengths: Longs) -> Longs:
    """Return, for each position (T,), where the longest of the matches over it ends, -1 for none."""
    best = np.empty(len(lengths), np.int64)
    kernel.cover(lengths.data, np.empty(len(lengths), np.int64).data, best.data)
    return best


def chance_length(characters: int, different: int) -> int:
    """Return the length from which on a match in a text of so many characters is hardly by chance.

    A text of T characters out of D holds about D**n of the strings of length n by chance while D**n <= T. One more is
    asked for: the least n with D**(n - 1) >= T.
    """
    length, strings = 1, 1
    # In whole numbers: a quotient of logarithms misses some powers, log 125 / log 5 among them.
    while strings < max(characters, 2):
        strings *= max(different, 2)
        length += 1
    return length
