"""The rows with the lowest scores, found as a stream goes by, each with a sentence that says why.

scores of batches  --Worst.add-->  at most N rows, the lowest first
"""

from __future__ import annotations

from bisect import insort
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from refsim.metric import Metric
    from refsim.results import SegmentScores
    from refsim.segments import Batch


@dataclass(frozen=True, slots=True)
class WorstRow:
    """A row with a low score: where it stands, whose it is, the score, and why, if the metric can tell."""

    place: str
    id: str
    system: str
    sample: int
    score: float
    reason: str | None

    def record(self) -> dict[str, Any]:
        """Return the row as a dictionary."""
        return asdict(self)


class Worst:
    """Keeps the N rows with the lowest headline score of the first metric; of equal ones those that came first."""

    def __init__(self, count: int, language: str = "en") -> None:
        """Start with none."""
        self._count = count
        self._language = language
        self._kept: list[tuple[float, int, WorstRow]] = []
        self._seen = 0

    def add(self, part: SegmentScores) -> None:
        """Look at the rows of a batch. Only those that are kept, for now, are judged."""
        label, metric = next(iter(part.metrics.items()))
        scores, batch = part.scores[label], part.batch
        for i in np.argsort(scores, kind="stable")[: self._count].tolist():
            score = float(scores[i])
            if len(self._kept) == self._count and score >= self._kept[-1][0]:
                break
            reason = _reason(metric, batch, i, self._language)
            row = WorstRow(batch.place(i), batch.ids[i], batch.systems[i], batch.samples[i], score, reason)
            insort(self._kept, (score, self._seen + i, row), key=lambda kept: kept[:2])
            del self._kept[self._count :]
        self._seen += len(batch)

    def rows(self) -> list[WorstRow]:
        """Return the rows, the lowest score first."""
        return [row for _, _, row in self._kept]


def _reason(metric: Metric, batch: Batch, i: int, language: str) -> str | None:
    if hasattr(metric, "judge_segment"):
        return str(metric.judge_segment(batch, i, language=language).reason)
    if hasattr(metric, "judge"):
        return str(metric.judge(batch.candidates[i], batch.references[i], language=language).reason)
    return None
