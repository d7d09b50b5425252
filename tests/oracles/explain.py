"""Explanations of charsim by their definitions, slow on purpose: every substring is looked at, in exact fractions.

Nothing here is shared with the library. A text is a `str`, or a tuple of grapheme clusters. Definitions:
docs/explain.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import median
from typing import TYPE_CHECKING

from oracles import charsim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracles.charsim import Text

PARTS = ("shortness", "excess", "content")


def _split(own: Fraction, theirs: Fraction, overlap: Fraction) -> dict[str, Fraction]:
    """Return the parts of 1 - S/m for one term of the average."""
    most = max(own, theirs)
    if not most:
        return dict.fromkeys(PARTS, Fraction(0))
    kept = max(min(own, theirs), overlap)
    length = (most - kept) / most
    return {
        "shortness": length if own < theirs else Fraction(0),
        "excess": length if own > theirs else Fraction(0),
        "content": (kept - overlap) / most,
    }


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction()) / len(values)


def orders(
    candidate: Text, references: Sequence[Text], form: str = "main", max_order: int | None = None
) -> list[dict[str, Fraction]]:
    """Return, for n = 1 .. N, the mean overlap, the lengths, and the parts that are lost."""
    told = []
    for n in range(1, charsim.top_order(candidate, references, max_order) + 1):
        own = Fraction(charsim.length(candidate, n))
        lengths = [Fraction(charsim.length(reference, n)) for reference in references]
        overlaps = [Fraction(charsim.overlap(candidate, reference, n)) for reference in references]
        overlap, mean = _mean(overlaps), _mean(lengths)
        theirs = Fraction(median(lengths)) if form == "median" else mean
        if form == "base":
            terms = [_split(own, other, shared) for other, shared in zip(lengths, overlaps, strict=True)]
            parts = {name: _mean([term[name] for term in terms]) for name in PARTS}
        else:
            parts = _split(own, theirs, overlap)
        told.append({"overlap": overlap, "candidate_length": own, "reference_length": theirs, **parts})
    return told


def lost(candidate: Text, references: Sequence[Text], form: str, max_order: int | None, part: str) -> Fraction:
    """Return what is lost to one part, weighted and summed over orders."""
    told = orders(candidate, references, form, max_order)
    if not told:
        return Fraction(0)
    harmonic = sum(Fraction(1, n) for n in range(1, len(told) + 1))
    return sum((order[part] / n for n, order in enumerate(told, 1)), Fraction()) / harmonic


def holds(text: Text, part: Text) -> bool:
    """Whether the part stands somewhere in the text, character by character."""
    return any(text[i : i + len(part)] == part for i in range(len(text) - len(part) + 1))


def count(references: Sequence[Text], part: Text) -> int:
    """Return how many references hold the part."""
    return sum(holds(reference, part) for reference in references)


def support(candidate: Text, references: Sequence[Text]) -> list[tuple[int, int, Fraction]]:
    """Return, for each character, the longest part over it that a reference holds, and the share of those that do."""
    found = []
    for place in range(len(candidate)):
        spans = [(i, j) for i in range(place + 1) for j in range(place + 1, len(candidate) + 1)]
        held = [(i, j) for i, j in spans if count(references, candidate[i:j])]
        if held:
            start, stop = min(held, key=lambda span: (span[0] - span[1], span[0]))
            found.append((start, stop, Fraction(count(references, candidate[start:stop]), len(references))))
        else:
            found.append((place, place, Fraction(0)))
    return found


def missing(candidate: Text, references: Sequence[Text], share: Fraction) -> list[tuple[str, int]]:
    """Return the strings that enough references share and the candidate lacks, longest first by share times length."""
    least = max(1, math.ceil(share * len(references)))
    parts = {
        reference[i:j]
        for reference in references
        for i in range(len(reference))
        for j in range(i + 1, len(reference) + 1)
    }
    shared = {part: count(references, part) for part in parts}
    shared = {part: held for part, held in shared.items() if held >= least}
    longest = [part for part in shared if not any(part != other and holds(other, part) for other in shared)]
    gone = [part for part in longest if len(part) > 1 and not holds(candidate, part)]
    gone.sort(key=lambda part: (-shared[part] * len(part), -shared[part], "".join(part)))
    return [("".join(part), shared[part]) for part in gone[:20]]


def lacking(candidate: Text, text: Text) -> list[bool]:
    """Return, for each character of a text, whether no match with the candidate that is long enough covers it."""
    characters, different = max(2, len(candidate)), max(2, len(set(candidate)))
    least = next(n for n in range(1, characters + 2) if different ** (n - 1) >= characters)
    covered = [False] * len(text)
    for i in range(len(text)):
        for j in range(i + least, len(text) + 1):
            if holds(candidate, text[i:j]):
                covered[i:j] = [True] * (j - i)
    return [not mark for mark in covered]
