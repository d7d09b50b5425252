"""charsim by its definition, slow on purpose: every window of every order is counted, in exact fractions.

    text --windows--> Counter of n-grams, n = 1..N --overlap--> o_i(n) --per_order--> rho(n) --score--> Fraction

Nothing here is shared with the library: no automaton, no families of windows, no floats. A text is a
`str`, or a tuple of grapheme clusters; a boundary mark is an integer, which no character equals.
Definition: docs/charsim.md.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Text = str | tuple[str, ...]

START, END = 0, 1


@lru_cache(maxsize=100_000)
def windows(text: Text, order: int) -> Counter[tuple[str | int, ...]]:
    """Return the multiset of n-grams of one order, without those made of marks alone."""
    padded = (START,) * (order - 1) + tuple(text) + (END,) * (order - 1)
    grams = (padded[i : i + order] for i in range(len(padded) - order + 1))
    return Counter(gram for gram in grams if any(isinstance(symbol, str) for symbol in gram))


def length(text: Text, order: int) -> int:
    """Return L(n), counted, not computed by the formula |x| + n - 1."""
    return windows(text, order).total()


def overlap(candidate: Text, reference: Text, order: int) -> int:
    """Return o(n), the size of the common part of two multisets."""
    return (windows(candidate, order) & windows(reference, order)).total()


def top_order(candidate: Text, references: Sequence[Text], max_order: int | None = None) -> int:
    """Return N, over the candidate and all references."""
    longest = max(len(candidate), *map(len, references))
    return longest if max_order is None else min(longest, max_order)


def per_order(
    candidate: Text,
    references: Sequence[Text],
    form: str = "main",
    max_order: int | None = None,
    weights: Sequence[Fraction] | None = None,
) -> list[Fraction]:
    """Return rho(n) for n = 1..N; weights (K,) replace the plain means of `main` and `base`."""
    if not references:
        raise ValueError("charsim needs at least one reference")
    shares = [Fraction(1)] * len(references) if weights is None else list(weights)
    rho = _FORMS[form]
    return [
        rho(
            length(candidate, n),
            [length(reference, n) for reference in references],
            [overlap(candidate, reference, n) for reference in references],
            shares,
        )
        for n in range(1, top_order(candidate, references, max_order) + 1)
    ]


def _mean(values: Sequence[int | Fraction], weights: Sequence[Fraction]) -> Fraction:
    return sum((w * v for w, v in zip(weights, values, strict=True)), Fraction()) / sum(weights, Fraction())


def _main(own: int, lengths: list[int], overlaps: list[int], weights: list[Fraction]) -> Fraction:
    # Both lengths 0 cannot be: then every text is empty and there is no order.
    return _mean(overlaps, weights) / max(Fraction(own), _mean(lengths, weights))


def _base(own: int, lengths: list[int], overlaps: list[int], weights: list[Fraction]) -> Fraction:
    terms = [
        Fraction(shared, max(own, other)) if max(own, other) else Fraction(1)
        for shared, other in zip(overlaps, lengths, strict=True)
    ]
    return _mean(terms, weights)


def _median(own: int, lengths: list[int], overlaps: list[int], weights: list[Fraction]) -> Fraction:
    denominator = max(Fraction(own), Fraction(median(map(Fraction, lengths))))
    return _mean(overlaps, weights) / denominator if denominator else Fraction(1)


_FORMS = {"main": _main, "base": _base, "median": _median}


def score(
    candidate: Text,
    references: Sequence[Text],
    form: str = "main",
    max_order: int | None = None,
    weights: Sequence[Fraction] | None = None,
) -> Fraction:
    """Return charsim, exactly."""
    rhos = per_order(candidate, references, form, max_order, weights)
    if not rhos:
        return Fraction(1)
    harmonic = sum(Fraction(1, n) for n in range(1, len(rhos) + 1))
    return sum((rho / n for n, rho in enumerate(rhos, 1)), Fraction()) / harmonic


def matrix(
    candidates: Sequence[Text], references: Sequence[Text], form: str = "main", max_order: int | None = None
) -> list[list[Fraction]]:
    """Return the scores (C, R) of each candidate against each single reference."""
    return [[score(c, [r], form, max_order) for r in references] for c in candidates]


def consensus(  # noqa: PLR0913  the metric's parameters and the method's, side by side
    candidates: Sequence[Text],
    support: Sequence[Text] | None = None,
    weights: Sequence[int | Fraction] | None = None,
    *,
    leave_one_out: bool = True,
    form: str = "main",
    max_order: int | None = None,
) -> list[Fraction]:
    """Return the scores (C,) of the candidates against the support, or against one another.

    Weights that are all `int` count as repeats: leaving a candidate out takes one repeat of it away.
    Other weights are shares: leaving a candidate out takes its whole share away.
    """
    pool = list(candidates if support is None else support)
    shares: list[int | Fraction] = [1] * len(pool) if weights is None else list(weights)
    leaves = support is None and leave_one_out
    return [
        score(candidate, references, form, max_order, weights=left)
        for i, candidate in enumerate(candidates)
        for references, left in [_remaining(pool, shares, i if leaves else None)]
    ]


def _remaining(
    pool: list[Text], shares: list[int | Fraction], left_out: int | None
) -> tuple[list[Text], list[Fraction] | None]:
    """Return the references and weights that remain; a share of 0 is an absent reference."""
    if all(isinstance(share, int) for share in shares):
        repeats = [int(share) - (i == left_out) for i, share in enumerate(shares)]
        return [text for text, times in zip(pool, repeats, strict=True) for _ in range(times)], None
    kept = [i for i, share in enumerate(shares) if i != left_out and share]
    return [pool[i] for i in kept], [Fraction(shares[i]) for i in kept]


def ceiling(references: Sequence[Text], form: str = "main", max_order: int | None = None) -> Fraction:
    """Return the mean score of the references, each against the others."""
    return sum(consensus(references, form=form, max_order=max_order), Fraction()) / len(references)


def overlaps_by_slices(candidate: str, reference: str, orders: int) -> list[int]:
    """Return o(n) for n = 1..orders, with windows as slices of one string: for hundreds of characters.

    The marks are two characters that neither text has.
    """
    start, end = islice((c for c in map(chr, range(0x10FFFF, 0, -1)) if c not in candidate and c not in reference), 2)
    return [
        (_slices(candidate, n, start, end) & _slices(reference, n, start, end)).total() for n in range(1, orders + 1)
    ]


def _slices(text: str, order: int, start: str, end: str) -> Counter[str]:
    padded = start * (order - 1) + text + end * (order - 1)
    # With order - 1 marks on a side, a window of marks alone needs an empty text between them.
    return Counter(padded[i : i + order] for i in range(len(text) + order - 1 if text else 0))


def score_by_slices(
    candidate: str, references: Sequence[str], form: str = "main", max_order: int | None = None
) -> float:
    """Return charsim of texts of hundreds of characters: the overlaps of slices, combined in fractions."""
    orders = top_order(candidate, references, max_order)
    table = [overlaps_by_slices(candidate, reference, orders) for reference in references]
    rho = _FORMS[form]
    total, harmonic = Fraction(), Fraction()
    for n in range(1, orders + 1):
        own, *lengths = (len(text) + n - 1 if text else 0 for text in (candidate, *references))
        overlaps = [row[n - 1] for row in table]
        total += Fraction(float(rho(own, lengths, overlaps, [Fraction(1)] * len(references)) / n))
        harmonic += Fraction(1.0 / n)
    return float(total / harmonic) if orders else 1.0
