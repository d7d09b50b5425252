"""Which layer of a model agrees best with people: correlations of every layer's scores with human ones.

    PRF of arrays (L + 1, S), human scores (S,), groups  --tune-->  Tuning: a row for each layer, the best

With groups, such as language pairs, correlations are taken within each and averaged: people are strict in one and
lenient in another, and a metric that only told the groups apart would look good otherwise. Pearson's r of F1 on WMT16
is what the published layers were chosen by (Zhang et al. 2020, appendix B).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from refsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Statistic = Literal["pearson", "spearman", "kendall"]
STATISTICS: Final[tuple[Statistic, ...]] = ("pearson", "spearman", "kendall")
MEASURES: Final = ("precision", "recall", "f1")
# Two points are always on a line.
_FEWEST: Final = 3


@dataclass(frozen=True, slots=True)
class LayerRow:
    """The correlations of one layer: `values[measure][statistic]`, None where scores do not differ."""

    layer: int
    values: dict[str, dict[str, float | None]]

    def record(self) -> dict[str, Any]:
        """Return the row as a dictionary."""
        return {"layer": self.layer, **self.values}


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One group: its name, its rows, and F1's correlation (the chosen statistic) layer by layer."""

    name: str
    count: int
    f1: list[float | None]

    def record(self) -> dict[str, Any]:
        """Return the group as a dictionary."""
        return {"group": self.name, "count": self.count, "f1": self.f1}


@dataclass(frozen=True, slots=True)
class Tuning:
    """What was found: layers from 0 on, groups, groups that were left out with the reason, and the best layer.

    `best` has the highest correlation of F1 by `statistic`; of equal ones it is the lowest layer, which is the fastest.
    """

    rows: list[LayerRow]
    groups: list[GroupRow]
    left_out: dict[str, str]
    statistic: Statistic
    best: LayerRow

    def curve(self, measure: str = "f1", statistic: str | None = None) -> list[float | None]:
        """Return one correlation, layer by layer."""
        return [row.values[measure][statistic or self.statistic] for row in self.rows]


def tune(
    scores: Sequence[NDArray[np.float64]], human: Sequence[float], groups: Sequence[object] | None = None,
    statistic: Statistic = "pearson",
) -> Tuning:  # fmt: skip
    """Return how far each layer agrees with people, and the best.

    `scores` are precision, recall and F1, each (L + 1, S); `human` (S,), more is better; `groups` (S,) or None for all
    in one. A group of fewer than three rows, or whose human scores do not differ, is left out. Raises InputError if no
    group is left.
    """
    table = np.stack([np.asarray(values, np.float64) for values in scores], axis=1)
    people = _numbers_of(human)
    found: dict[str, NDArray[np.float64]] = {}
    left_out: dict[str, str] = {}
    counts: dict[str, int] = {}
    for name, places in _places(groups, len(people)).items():
        reason = _unusable(people[places])
        if reason:
            left_out[name] = reason
            continue
        found[name], counts[name] = _correlations(table[:, :, places], people[places]), len(places)
    if not found:
        which, reason = next(iter(left_out.items()), ("", "there are no rows"))
        raise InputError(f"human scores: {which + ': ' if groups else ''}{reason}; expected three rows that differ")
    means = np.mean(list(found.values()), axis=0)
    rows = [LayerRow(layer, _named(values)) for layer, values in enumerate(means)]
    column = STATISTICS.index(statistic)
    told = [GroupRow(name, counts[name], _numbers(values[:, 2, column])) for name, values in found.items()]
    best = rows[_first_highest(means[:, 2, column])]
    return Tuning(rows, told if groups is not None else [], left_out, statistic, best)


def _numbers_of(human: object) -> NDArray[np.float64]:
    try:
        people = np.asarray(human, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"human scores: {error}; expected a number for each row") from error
    if people.ndim != 1:
        raise InputError(f"human scores: an array of {people.ndim} dimensions; expected a number for each row")
    return people


def _places(groups: Sequence[object] | None, count: int) -> dict[str, list[int]]:
    if groups is None:
        return {"": list(range(count))}
    found: dict[str, list[int]] = {}
    for place, name in enumerate(groups):
        found.setdefault(str(name), []).append(place)
    return found


def _unusable(people: NDArray[np.float64]) -> str:
    """Say why nothing correlates with these scores; "" if something may."""
    if len(people) < _FEWEST:
        return f"has {len(people)} {'row' if len(people) == 1 else 'rows'} with a human score, too few to correlate"
    return "all human scores are equal" if np.ptp(people) == 0 else ""


def _correlations(table: NDArray[np.float64], people: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the correlations (L + 1, 3 measures, 3 statistics) of scores (L + 1, 3, S) with human ones (S,)."""
    found: NDArray[np.float64] = np.array(
        [[_correlate(scores, people) for scores in measures] for measures in table], np.float64
    )
    return found


def _correlate(scores: NDArray[np.float64], people: NDArray[np.float64]) -> tuple[float, float, float]:
    from scipy import stats  # noqa: PLC0415  half a second to load, for this command alone

    if np.ptp(scores) == 0:
        return np.nan, np.nan, np.nan
    with warnings.catch_warnings():
        # Scores that hardly differ: the number says so by itself.
        warnings.simplefilter("ignore")
        return tuple(
            float(method(scores, people).statistic) for method in (stats.pearsonr, stats.spearmanr, stats.kendalltau)
        )  # type: ignore[return-value]  # three of them


def _named(values: NDArray[np.float64]) -> dict[str, dict[str, float | None]]:
    return {
        measure: dict(zip(STATISTICS, _numbers(row), strict=True))
        for measure, row in zip(MEASURES, values, strict=True)
    }


def _numbers(values: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _first_highest(values: NDArray[np.float64]) -> int:
    if np.isnan(values).all():
        raise InputError("no layer's scores differ from row to row, so none agrees with people; check the columns")
    return int(np.nanargmax(values))
