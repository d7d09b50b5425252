"""The 311 golden rows through the public API: three forms, the score and every order."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import refsim
from shared import golden_rows

if TYPE_CHECKING:
    from refsim.metrics.charsim import Form


FORMS: tuple[Form, ...] = ("main", "base", "median")


def close(value: float | list[float]) -> object:
    """Within 1e-12, absolutely."""
    return pytest.approx(value, rel=0, abs=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_the_score_of_every_row(form: Form) -> None:
    """One call a row gives the golden score."""
    assert len(golden_rows()) == 311
    for row in golden_rows():
        metric = refsim.Charsim(form=form, max_order=row["max_order"])
        assert metric.score(row["candidate"], row["references"]) == close(row[form]["score"]), row


@pytest.mark.parametrize("form", FORMS)
def test_every_order_of_every_row(form: Form) -> None:
    """rho(n) for n = 1..N, to the last bit but one."""
    for row in golden_rows():
        metric = refsim.Charsim(form=form, max_order=row["max_order"])
        orders = metric.per_order(row["candidate"], row["references"])
        assert orders.dtype == np.float64
        assert orders.shape == (len(row[form]["per_order"]),), row
        assert orders.tolist() == close(row[form]["per_order"]), row


@pytest.mark.parametrize("form", FORMS)
def test_all_rows_in_one_batch(form: Form) -> None:
    """One batch for each top order gives the bits of one call each, which are golden."""
    by_order: dict[int | None, list[dict[str, Any]]] = defaultdict(list)
    for row in golden_rows():
        by_order[row["max_order"]].append(row)
    for max_order, rows in by_order.items():
        metric = refsim.Charsim(form=form, max_order=max_order)
        scores = metric.score_batch([row["candidate"] for row in rows], [row["references"] for row in rows])
        assert scores.tolist() == [metric.score(row["candidate"], row["references"]) for row in rows]


@pytest.mark.parametrize("form", FORMS)
def test_every_row_compiled(form: Form) -> None:
    """A compiled set gives the golden score."""
    for row in golden_rows():
        scorer = refsim.Charsim(form=form, max_order=row["max_order"]).compile(row["references"])
        assert len(scorer) == len(row["references"])
        assert scorer.score_batch([row["candidate"]]).tolist() == close([row[form]["score"]]), row
