"""pfgen-bench's fluency and truthfulness against one group of references, from their rules, slow on purpose.

Written from a description of the rules in words; nothing of refsim's is used.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

NOT_COUNTED = set("^$、。・「」『』（）【】［］〈〉《》")  # noqa: RUF001  the wide ones are meant


def document_counts(references: list[str]) -> Counter[str]:
    """Return how many references hold each n-gram of 1 to 10 characters."""
    counts: Counter[str] = Counter()
    for text in references:
        cut = text[:200]
        counts.update({cut[i : i + n] for n in range(1, 11) for i in range(len(cut) - n + 1)})
    return counts


def unscaled_fluency(counts: Counter[str], text: str) -> Fraction:
    """Return the largest faded sum, before it is divided by the references' mean of the same."""
    cut, seen, total, best = text[:200], set[str](), 0, Fraction(0)
    for n in range(1, len(cut) + 1):
        for size in range(1, min(n, 10) + 1):
            gram = cut[n - size : n]
            if gram not in seen:
                seen.add(gram)
                total += counts[gram]
        best = max(best, total * (1 - Fraction(max(n - 100, 0), 50)))
    return best


def fluency(references: list[str], text: str) -> float:
    """Return the fluency; 0 where references have no character at all."""
    counts = document_counts(references)
    baseline = sum((unscaled_fluency(counts, one) for one in references), Fraction(0)) / len(references)
    return float(unscaled_fluency(counts, text) / baseline) if baseline else 0.0


def truthfulness(references: list[str], text: str) -> float:
    """Return the truthfulness."""
    counts, size = document_counts(references), len(references)
    marked = f"^{text}$"[:202]
    starts = range(1, min(len(text), 201) - 1)  # a trigram with a mark counts nothing
    held = {start: counts[marked[start : start + 3]] for start in starts}
    total, counted, best, last = Fraction(0), 0, Fraction(-1), Fraction(0)
    for n, character in enumerate(marked):
        if character in NOT_COUNTED:
            continue
        most = max(held.get(start, 0) for start in (n - 2, n - 1, n))
        total, counted = total + min(Fraction(1), Fraction(200 * most, size)), counted + 1
        last = total / counted * (1 - Fraction(max(n - 100, 0), 50))
        best = max(best, last) if n >= 100 else best
    return float(max(best, last))
