"""Matrix, consensus and ceiling against their definitions: every pair, every one against the others."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refsim
import strategies
from oracles import charsim as oracle
from refsim import Charsim, InputError
from refsim.metrics import _matrix, _threads

if TYPE_CHECKING:
    from refsim.metrics.charsim import Form


FORMS: tuple[Form, ...] = ("main", "base", "median")
every_form = pytest.mark.parametrize("form", FORMS)
max_orders = strategies.max_orders


def pools(min_size: int = 2, max_size: int = 5) -> st.SearchStrategy[list[str]]:
    """Return lists of texts over one small alphabet, equal ones among them."""
    return st.sampled_from(["ab", "a^\0", "é\ud800😀"]).flatmap(
        lambda alphabet: st.lists(st.text(st.sampled_from(alphabet), max_size=8), min_size=min_size, max_size=max_size)
    )


def floats(values: list[Fraction]) -> object:
    """The doubles nearest to exact values, within 1e-12."""
    return pytest.approx([float(value) for value in values], rel=0, abs=1e-12)


# ---------------------------------------------------------------------------------------------------
# Matrix


@every_form
@given(candidates=pools(1), references=pools(1), max_order=max_orders)
def test_a_matrix_holds_the_score_of_every_pair(
    form: Form, candidates: list[str], references: list[str], max_order: int | None
) -> None:
    """Each cell has the bits of that pair scored alone, next to the oracle's value."""
    metric = Charsim(form=form, max_order=max_order)
    matrix = metric.score_matrix(candidates, references)
    assert matrix.dtype == np.float64
    assert matrix.shape == (len(candidates), len(references))
    assert matrix.tolist() == [[metric.score(c, [r]) for r in references] for c in candidates]
    for row, exact in zip(matrix.tolist(), oracle.matrix(candidates, references, form, max_order), strict=True):
        assert row == floats(exact)


@given(texts=pools(1), form=strategies.forms)
def test_a_matrix_of_texts_with_themselves_is_symmetric(texts: list[str], form: Form) -> None:
    """And exactly 1 on the diagonal."""
    matrix = Charsim(form=form).score_matrix(texts, texts)
    assert np.array_equal(matrix, matrix.T)
    assert np.all(np.diagonal(matrix) == 1.0)


@given(candidates=pools(1), references=pools(1, 7), k=st.integers(1, 9))
def test_the_best_k_are_those_of_the_whole_matrix(candidates: list[str], references: list[str], k: int) -> None:
    """Best first, the earlier reference first among equals; with fewer than k references, all of them."""
    metric = Charsim()
    matrix = metric.score_matrix(candidates, references)
    order = np.argsort(-matrix, axis=1, kind="stable")[:, :k]
    top = metric.score_matrix(candidates, references, top_k=k)
    assert top.indices.tolist() == order.tolist()
    assert top.scores.tolist() == np.take_along_axis(matrix, order, axis=1).tolist()


@given(candidates=pools(1), references=pools(3, 9), k=st.integers(1, 4), data=st.data())
def test_a_matrix_in_small_blocks_is_the_same(
    candidates: list[str], references: list[str], k: int, data: st.DataObject
) -> None:
    """However few columns, candidates or cells fit at once, and pair by pair where none do."""
    metric = Charsim()
    expected, best = metric.score_matrix(candidates, references), metric.score_matrix(candidates, references, top_k=k)
    limits = {
        "_WIDEST_BLOCK": data.draw(st.integers(1, 4)),
        "_NARROWEST_BLOCK": data.draw(st.integers(1, 3)),
        "_CANDIDATES_AT_ONCE": data.draw(st.integers(1, 3)),
        "_MOST_STEPS": data.draw(st.sampled_from([1, 20, 2**22])),
        "_MOST_CELLS": data.draw(st.sampled_from([1, 8, 2**26])),
    }
    with mock.patch.dict(vars(_matrix), limits), mock.patch.object(_threads, "_WORTH_A_THREAD", 1):
        assert metric.score_matrix(candidates, references, threads=2).tolist() == expected.tolist()
        top = metric.score_matrix(candidates, references, top_k=k, threads=2)
    assert top.indices.tolist() == best.indices.tolist()
    assert top.scores.tolist() == best.scores.tolist()


def test_a_wide_matrix_with_equal_scores() -> None:
    """More references than one block takes, of many lengths, with ties: the best are the first of them."""
    references = [f"{i % 50:b}" for i in range(1300)]
    candidates = ["101", "11001", ""]
    matrix = Charsim().score_matrix(candidates, references)
    assert matrix[:, :50].tolist() == [[refsim.charsim(c, [r]) for r in references[:50]] for c in candidates]
    assert np.array_equal(matrix, matrix[:, np.arange(1300) % 50])
    top = Charsim().score_matrix(candidates, references, top_k=40)
    assert top.indices.tolist() == np.argsort(-matrix, axis=1, kind="stable")[:, :40].tolist()


# ---------------------------------------------------------------------------------------------------
# Consensus


@every_form
@given(candidates=pools(), max_order=max_orders)
def test_each_candidate_against_all_the_others(form: Form, candidates: list[str], max_order: int | None) -> None:
    """The candidate itself is left out, but not others that equal it."""
    metric = Charsim(form=form, max_order=max_order)
    scores = metric.consensus(candidates)
    assert scores.tolist() == floats(oracle.consensus(candidates, form=form, max_order=max_order))
    assert scores.tolist() == [metric.score(c, candidates[:i] + candidates[i + 1 :]) for i, c in enumerate(candidates)]


@every_form
@given(candidates=pools(1))
def test_each_candidate_against_all_with_itself(form: Form, candidates: list[str]) -> None:
    """The other school counts the candidate too; then one alone scores 1."""
    metric = Charsim(form=form)
    scores = metric.consensus(candidates, leave_one_out=False)
    assert scores.tolist() == [metric.score(c, candidates) for c in candidates]


@every_form
@given(candidates=pools(1), support=pools(1))
def test_candidates_against_a_support(form: Form, candidates: list[str], support: list[str]) -> None:
    """A support is a set of references, from which nothing is left out."""
    metric = Charsim(form=form)
    scores = metric.consensus(candidates, support=support)
    assert scores.tolist() == [metric.score(c, support) for c in candidates]


@pytest.mark.parametrize("form", ["main", "base"])
@given(candidates=pools(2), data=st.data())
def test_integer_weights_are_repeats(form: Form, candidates: list[str], data: st.DataObject) -> None:
    """To the bit; one repeat of the candidate is left out."""
    weights = data.draw(st.lists(st.integers(1, 4), min_size=len(candidates), max_size=len(candidates)))
    metric = Charsim(form=form)
    repeated = [text for text, times in zip(candidates, weights, strict=True) for _ in range(times)]
    first = np.cumsum([0, *weights[:-1]])
    assert metric.consensus(candidates, weights=weights).tolist() == metric.consensus(repeated)[first].tolist()
    together = metric.consensus(candidates, weights=weights, leave_one_out=False)
    assert together.tolist() == metric.consensus(repeated, leave_one_out=False)[first].tolist()
    assert metric.consensus(candidates, weights=weights).tolist() == floats(
        oracle.consensus(candidates, weights=weights, form=form)
    )


shares = st.sampled_from([0.25, 0.1, 1 / 3, 0.75, 1.5, 2.5])


@pytest.mark.parametrize("form", ["main", "base"])
@given(candidates=pools(2), data=st.data())
def test_other_weights_are_shares(form: Form, candidates: list[str], data: st.DataObject) -> None:
    """To 1e-12; the candidate's whole share is left out."""
    weights = data.draw(st.lists(shares, min_size=len(candidates), max_size=len(candidates)))
    exact = [Fraction(weight) for weight in weights]
    metric = Charsim(form=form)
    assert metric.consensus(candidates, weights=weights).tolist() == floats(
        oracle.consensus(candidates, weights=exact, form=form)
    )
    assert metric.consensus(candidates, weights=weights, leave_one_out=False).tolist() == floats(
        oracle.consensus(candidates, weights=exact, form=form, leave_one_out=False)
    )


@pytest.mark.parametrize("form", ["main", "base"])
@pytest.mark.parametrize("weights", [[0.99999999, 3e-9, 7e-9], [1.0, 1.7e-13, 3.1e-13], [1e-300, 0.3, 0.7]])
def test_weights_as_uneven_as_probabilities(form: Form, weights: list[float]) -> None:
    """To 1e-12 also for the candidate that holds nearly all of the weight, once it is left out."""
    candidates = ["the cat sat", "a cat sat there", "cats sit"]
    assert Charsim(form=form).consensus(candidates, weights=weights).tolist() == floats(
        oracle.consensus(candidates, weights=[Fraction(weight) for weight in weights], form=form)
    )


@pytest.mark.parametrize("form", ["main", "base"])
@given(candidates=pools(1), support=pools(1), data=st.data())
def test_weights_of_a_support(form: Form, candidates: list[str], support: list[str], data: st.DataObject) -> None:
    """They belong to the support's texts: repeats or shares."""
    times = data.draw(st.lists(st.integers(1, 3), min_size=len(support), max_size=len(support)))
    metric = Charsim(form=form)
    repeated = [text for text, count in zip(support, times, strict=True) for _ in range(count)]
    assert metric.consensus(candidates, support=support, weights=times).tolist() == [
        metric.score(candidate, repeated) for candidate in candidates
    ]
    weights = data.draw(st.lists(shares, min_size=len(support), max_size=len(support)))
    assert metric.consensus(candidates, support=support, weights=weights).tolist() == floats(
        oracle.consensus(candidates, support=support, weights=[Fraction(weight) for weight in weights], form=form)
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"candidates": ["one"]}, "consensus of (1|one) candidate"),
        ({"candidates": []}, "candidates"),
        ({"candidates": "abc"}, "candidates"),
        ({"candidates": ["a", None]}, r"candidates\[1\]"),
        ({"candidates": ["a", "b"], "support": []}, "support"),
        ({"candidates": ["a", "b"], "support": "ab"}, "support"),
        ({"candidates": ["a", "b"], "support": ["a", 3]}, r"support\[1\]"),
        ({"candidates": ["a", "b"], "support": ["a"], "leave_one_out": True}, "leave_one_out"),
        ({"candidates": ["a", "b"], "support": ["a"], "leave_one_out": False}, "leave_one_out"),
        ({"candidates": ["a", "b"], "weights": [1]}, "weights"),
        ({"candidates": ["a", "b"], "weights": [1, -1]}, r"weights\[1\]"),
        ({"candidates": ["a", "b"], "weights": [1.0, float("nan")]}, r"weights\[1\]"),
        ({"candidates": ["a", "b"], "weights": [float("inf"), 1.0]}, r"weights\[0\]"),
        ({"candidates": ["a", "b"], "weights": ["1", "2"]}, "weights"),
        ({"candidates": ["a", "b"], "weights": [True, 2]}, r"weights\[0\]"),
        ({"candidates": ["a", "b"], "weights": [0, 0]}, "weights"),
        ({"candidates": ["a", "b"], "weights": [10**400, 1]}, "weights"),
        ({"candidates": ["a", "b"], "weights": 5}, "weights"),
        ({"candidates": ["a", "b"], "leave_one_out": "yes"}, "leave_one_out"),
        ({"candidates": ["a", "b"], "leave_one_out": 0}, "leave_one_out"),
    ],
)
def test_what_consensus_refuses(arguments: dict[str, object], said: str) -> None:
    """An error that names the argument and the place in it."""
    with pytest.raises(InputError, match=said):
        Charsim().consensus(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("form", ["main", "base"])
@pytest.mark.parametrize("weight", [10**6, 10**15, 2**60])
def test_large_whole_weights_are_repeats_or_an_error(form: Form, weight: int) -> None:
    """Never something else: one repeat of the first leaves, and the rest of it keeps its weight."""
    try:
        scores = Charsim(form=form).consensus(["ab", "b", "a"], weights=[weight, 1, 1])
    except InputError as error:
        assert "weights" in str(error)  # noqa: PT017  either outcome is right
        return
    assert scores[0] == pytest.approx(1.0, rel=0, abs=max(3 / weight, 1e-14))


def test_the_median_form_takes_no_weights() -> None:
    """A median of weighted lengths is not defined here."""
    with pytest.raises(InputError, match=r"median.*weights|weights.*median"):
        Charsim(form="median").consensus(["a", "b"], weights=[1, 2])


# ---------------------------------------------------------------------------------------------------
# Ceiling


@every_form
@given(references=pools(2), max_order=max_orders)
def test_the_ceiling_is_the_mean_consensus_of_the_references(
    form: Form, references: list[str], max_order: int | None
) -> None:
    """What a reference scores against the others, on average, repeats counted."""
    metric = Charsim(form=form, max_order=max_order)
    ceiling = metric.compile(references).ceiling()
    assert ceiling == pytest.approx(float(oracle.ceiling(references, form, max_order)), rel=0, abs=1e-12)
    assert ceiling == pytest.approx(float(metric.consensus(references).mean()), rel=0, abs=1e-12)


def test_equal_references_have_a_ceiling_of_one() -> None:
    """They all support one another."""
    assert Charsim().compile(["the cat"] * 3).ceiling() == 1.0


def test_an_ordinary_set_has_a_ceiling_below_one() -> None:
    """Of two texts it is the score of one against the other."""
    assert Charsim().compile(["cat", "cats"]).ceiling() == refsim.charsim("cat", ["cats"])


def test_a_candidate_with_nearly_all_the_weight_meets_the_others() -> None:
    """However little those weigh, they are what is left."""
    scores = Charsim().consensus(["the cat", "the dog", "a cat"], weights=[0.5, 1e-20, 3e-20])
    others = Charsim().consensus(["the cat"], support=["the dog", "a cat"], weights=[1e-20, 3e-20])
    assert scores[0] == pytest.approx(others[0], rel=0, abs=1e-12)


def test_an_interrupted_call_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """The room that a thread keeps is dropped, so the next score is right."""
    expected = Charsim().score("the cat sat", ["the cat sat on the mat"])

    class Interrupted:
        def score_rows(self, *arguments: memoryview) -> int:
            arguments[-3][1] = 5  # slopes, as a row leaves them halfway
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("refsim.metrics._rows.kernel", Interrupted())
        with pytest.raises(KeyboardInterrupt):
            Charsim().score("the cat sat", ["the cat sat on the mat"])
    assert Charsim().score("the cat sat", ["the cat sat on the mat"]) == expected


def test_an_order_beyond_every_text_is_an_error() -> None:
    """The kernel counts in 32 bits there."""
    with pytest.raises(InputError, match="max_order"):
        Charsim(max_order=2**63)
