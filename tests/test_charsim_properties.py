"""What holds exactly, compared with ==, and how the score behaves where the definition's text says how.

The exact part is docs/charsim.md, "What holds exactly"; the behaviours are those that make the score readable:
prefix, padding, linearity in the overlap, the neighbourhood of a perfect match, repetition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest import mock

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

import refsim
import strategies
from oracles import charsim as oracle
from refsim import Charsim, Preparation
from refsim.metrics import _threads

if TYPE_CHECKING:
    from refsim.metrics.charsim import Form


METRICS = [Charsim(form=form, max_order=top) for form in strategies.FORMS for top in (None, 3)]
every_metric = pytest.mark.parametrize("metric", METRICS, ids=str)
every_form = pytest.mark.parametrize("metric", METRICS[::2], ids=str)
distinct_letters = st.lists(st.characters(exclude_characters="\0"), min_size=1, max_size=30, unique=True).map("".join)


@every_metric
@given(text=strategies.texts(), times=st.integers(1, 4))
def test_identical_texts_score_one(metric: Charsim, text: str, times: int) -> None:
    """Exactly 1.0, the empty text included, however often the reference is repeated."""
    assert metric.score(text, [text] * times) == 1.0


@every_metric
@given(row=strategies.rows(), data=st.data())
def test_the_order_of_references_changes_nothing(
    metric: Charsim, row: tuple[str, list[str]], data: st.DataObject
) -> None:
    """Any permutation gives the same bits."""
    candidate, references = row
    shuffled = data.draw(st.permutations(references))
    assert metric.score(candidate, shuffled) == metric.score(candidate, references)
    assert metric.compile(shuffled).score_batch([candidate]) == metric.score(candidate, references)


@every_metric
@given(row=strategies.rows(), times=st.integers(2, 7))
def test_repeating_the_whole_list_changes_nothing(metric: Charsim, row: tuple[str, list[str]], times: int) -> None:
    """Two or seven times all references give the same bits, in turn or side by side."""
    candidate, references = row
    expected = metric.score(candidate, references)
    assert metric.score(candidate, references * times) == expected
    assert metric.score(candidate, [text for text in references for _ in range(times)]) == expected


@every_metric
@given(row=strategies.rows())
def test_a_candidate_and_a_single_reference_may_change_places(metric: Charsim, row: tuple[str, list[str]]) -> None:
    """Swapped, they give the same bits."""
    candidate, references = row
    assert metric.score(candidate, references[:1]) == metric.score(references[0], [candidate])


@given(row=strategies.rows())
def test_the_forms_coincide_for_one_reference(row: tuple[str, list[str]]) -> None:
    """Dividing first or last is the same for one."""
    candidate, references = row
    assert len({metric.score(candidate, references[:1]) for metric in METRICS[::2]}) == 1


@every_metric
@given(row=strategies.rows())
def test_scores_lie_from_zero_to_one(metric: Charsim, row: tuple[str, list[str]]) -> None:
    """So does every order."""
    candidate, references = row
    orders = metric.per_order(candidate, references)
    assert 0.0 <= metric.score(candidate, references) <= 1.0
    assert np.all((orders >= 0.0) & (orders <= 1.0))


@every_metric
@given(row=strategies.rows())
def test_the_score_is_the_weighted_mean_of_the_orders(metric: Charsim, row: tuple[str, list[str]]) -> None:
    """With weights 1/n over N orders; no order at all scores 1."""
    candidate, references = row
    orders = metric.per_order(candidate, references)
    assert len(orders) == oracle.top_order(candidate, references, metric.max_order)
    weights = 1.0 / np.arange(1, len(orders) + 1)
    expected = float(orders @ weights / weights.sum()) if len(orders) else 1.0
    assert metric.score(candidate, references) == pytest.approx(expected, rel=0, abs=1e-12)


@every_form
@given(text=strategies.texts(), other=strategies.texts())
def test_only_the_same_text_scores_one(metric: Charsim, text: str, other: str) -> None:
    """Against a single reference, 1.0 means identical."""
    assert (metric.score(text, [other]) == 1.0) == (text == other)


@given(row=strategies.rows(), form=strategies.forms)
def test_texts_of_one_length_make_main_and_base_the_mean_of_pairs(row: tuple[str, list[str]], form: Form) -> None:
    """With all lengths equal the forms differ in nothing, and the score is the mean over single references."""
    width = 6
    candidate, *references = ((text + "abcabc")[:width] for text in (row[0], *row[1]))
    pairs = [Charsim().score(candidate, [reference]) for reference in references]
    assert Charsim(form=form).score(candidate, references) == pytest.approx(float(np.mean(pairs)), rel=0, abs=1e-12)


@given(row=strategies.rows(), order=st.integers(1, 40))
def test_a_top_order_beyond_the_texts_is_none(row: tuple[str, list[str]], order: int) -> None:
    """max_order cuts N, and does nothing from N on."""
    candidate, references = row
    longest = oracle.top_order(candidate, references)
    cut, whole = Charsim(max_order=order), Charsim()
    assert cut.per_order(candidate, references).tolist() == whole.per_order(candidate, references).tolist()[:order]
    assert order < longest or cut.score(candidate, references) == whole.score(candidate, references)


# ---------------------------------------------------------------------------------------------------
# Preparation


@given(row=strategies.rows(), form=strategies.forms)
def test_a_preparation_is_applied_to_both_sides(row: tuple[str, list[str]], form: Form) -> None:
    """Scores are those of the prepared texts, in one call, in a batch and compiled."""
    candidate, references = row
    preparation = Preparation(unicode="NFKD", casefold=True, whitespace="collapse")
    expected = Charsim(form=form).score(preparation.apply([candidate])[0], list(preparation.apply(references)))
    metric = Charsim(form=form, preparation=preparation)
    assert metric.score(candidate, references) == expected
    assert metric.score_batch(["", candidate], [["a"], references])[1] == expected
    assert metric.compile(references).score_batch([candidate]) == expected


clusters = st.lists(
    st.sampled_from(
        ["e\u0301", "e", "é", "\u0301", "👩\u200d🦰", "👩", "🦰", "\u200d", "\r\n", "\r", "\n", "🇩🇪", "🇩", "a"]
    ),
    max_size=8,
).map("".join)


@given(candidate=clusters, references=st.lists(clusters, min_size=1, max_size=4), form=strategies.forms)
def test_grapheme_clusters_count_as_characters(candidate: str, references: list[str], form: Form) -> None:
    """The oracle, given tuples of clusters, agrees with every way to score them."""
    metric = Charsim(form=form, preparation=Preparation(unit="grapheme"))
    split = [tuple(regex.findall(r"\X", text)) for text in (candidate, *references)]
    expected = pytest.approx(float(oracle.score(split[0], split[1:], form)), rel=0, abs=1e-12)
    score = metric.score(candidate, references)
    assert score == expected
    assert metric.score_batch([candidate, "a"], [references, ["a"]])[0] == score
    assert metric.compile(references).score_batch(["\r\n", candidate])[1] == score
    assert metric.per_order(candidate, references).tolist() == pytest.approx(
        [float(rho) for rho in oracle.per_order(split[0], split[1:], form)], rel=0, abs=1e-12
    )
    assert metric.score_matrix([candidate], references)[0].tolist() == pytest.approx(
        [float(oracle.score(split[0], [other])) for other in split[1:]], rel=0, abs=1e-12
    )


def test_threads_number_clusters_alike() -> None:
    """Pieces of a batch that meet the same clusters in another order score as one piece does."""
    metric = Charsim(preparation=Preparation(unit="grapheme"))
    families = ["e\u0301", "👩\u200d🦰", "👩\u200d👩\u200d👦", "🇩🇪", "a\u0308"]
    candidates = ["".join(families[i % 5 :] + families[: i % 3]) for i in range(40)]
    references = ["".join(families[i % 4 :] + ["e"] * (i % 2)) for i in range(40)]
    with mock.patch.object(_threads, "_WORTH_A_THREAD", 1):
        scores = metric.score_batch(candidates, references, threads=4)
    assert scores.tolist() == [metric.score(c, [r]) for c, r in zip(candidates, references, strict=True)]


def test_a_family_is_one_grapheme_and_many_code_points() -> None:
    """Of "a" plus a family, half the characters agree with "a" plus another one."""
    graphemes = Charsim(max_order=1, preparation=Preparation(unit="grapheme"))
    assert graphemes.score("a👩\u200d👩\u200d👦", ["a👨\u200d👩\u200d👦"]) == 0.5
    assert Charsim(max_order=1).score("a👩\u200d👩\u200d👦", ["a👨\u200d👩\u200d👦"]) == 5 / 6


# ---------------------------------------------------------------------------------------------------
# How the score behaves


@every_form
@given(text=strategies.texts(), more=strategies.texts())
def test_a_prefix_is_penalised_as_recall(metric: Charsim, text: str, more: str) -> None:
    """A candidate that is the beginning of the reference scores about its share of the length, at every order."""
    reference = text + more
    orders = metric.per_order(text, [reference])
    n = np.arange(1, len(orders) + 1)
    assert np.all(orders <= (len(text) + n - 1) / (len(reference) + n - 1) + 1e-15)
    # All its windows but those that reach into the end marks are in the reference.
    assert np.all(orders >= len(text) / (len(reference) + n - 1) - 1e-15)
    assert (metric.score(text, [reference]) < 1.0) == bool(more)


@every_form
@given(text=strategies.texts(), before=strategies.texts(), after=strategies.texts())
def test_padding_is_penalised_as_precision(metric: Charsim, text: str, before: str, after: str) -> None:
    """A candidate that holds the whole reference and more scores at most their ratio of lengths, at every order."""
    candidate = before + text + after
    orders = metric.per_order(candidate, [text])
    n = np.arange(1, len(orders) + 1)
    own = len(text) + n - 1 if text else 0 * n
    assert np.all(orders <= own / (len(candidate) + n - 1) + 1e-15)
    assert np.all(orders >= (len(text) - n + 1) / (len(candidate) + n - 1) - 1e-15)


@every_form
@pytest.mark.parametrize("text", strategies.SENTENCES)
def test_more_padding_is_worse(metric: Charsim, text: str) -> None:
    """Each further character that the reference lacks lowers the score."""
    scores = metric.score_batch([text + "#" * k for k in range(20)], [text] * 20)
    assert scores[0] == 1.0
    assert np.all(np.diff(scores) < 0)


@every_form
@given(reference=strategies.texts(), data=st.data())
def test_the_score_is_linear_in_the_overlap(metric: Charsim, reference: str, data: st.DataObject) -> None:
    """At one length, each order falls by exactly the share of windows that are lost."""
    candidate = "".join(data.draw(st.permutations(reference)))
    orders = metric.per_order(candidate, [reference])
    for n, rho in enumerate(orders.tolist(), 1):
        lost = oracle.length(reference, n) - oracle.overlap(candidate, reference, n)
        assert rho == pytest.approx(1 - lost / (len(reference) + n - 1), rel=0, abs=1e-15)


@every_form
@given(reference=distinct_letters, data=st.data())
def test_one_typing_mistake_costs_n_windows_of_order_n(metric: Charsim, reference: str, data: st.DataObject) -> None:
    """Wherever it stands: every window over that place is lost, no other, so the score does not depend on the place."""
    place = data.draw(st.integers(0, len(reference) - 1))
    candidate = reference[:place] + "\0" + reference[place + 1 :]
    n = np.arange(1, len(reference) + 1)
    rho = 1 - n / (len(reference) + n - 1)
    assert metric.per_order(candidate, [reference]).tolist() == pytest.approx(rho.tolist(), rel=0, abs=1e-15)
    expected = float(np.sum(rho / n) / np.sum(1 / n))
    assert metric.score(candidate, [reference]) == pytest.approx(expected, rel=0, abs=1e-12)


@every_form
@given(reference=strategies.texts(), letter=st.characters(), data=st.data())
def test_near_a_perfect_match_the_score_is_near_one(
    metric: Charsim, reference: str, letter: str, data: st.DataObject
) -> None:
    """One changed character loses at most n windows of order n, in any text."""
    reference += "."
    place = data.draw(st.integers(0, len(reference) - 1))
    orders = metric.per_order(reference[:place] + letter + reference[place + 1 :], [reference])
    n = np.arange(1, len(orders) + 1)
    assert np.all(orders >= 1 - n / (len(reference) + n - 1) - 1e-15)


@every_form
@given(reference=distinct_letters, data=st.data())
def test_each_further_difference_lowers_the_score(metric: Charsim, reference: str, data: st.DataObject) -> None:
    """Characters changed one after another, in any order, from a perfect match down to nothing."""
    candidate, scores = list(reference), []
    for place in data.draw(st.permutations(range(len(reference)))):
        scores.append(metric.score("".join(candidate), [reference]))
        candidate[place] = "\0"
    assert scores[0] == 1.0
    assert np.all(np.diff(scores) < 0)
    assert metric.score("".join(candidate), [reference]) == 0.0


@every_form
@pytest.mark.parametrize("unit", ["a", "ab", "the cat "])
def test_repetition_counts_as_often_as_the_reference_has_it(metric: Charsim, unit: str) -> None:
    """A repeated piece gains up to the reference's number of repeats; every one beyond that costs."""
    scores = metric.score_batch([unit * k for k in range(1, 13)], [unit * 6] * 12)
    assert np.all(np.diff(scores[:6]) > 0)
    assert scores[5] == 1.0
    assert np.all(np.diff(scores[5:]) < 0)


def test_a_reference_added_again_moves_the_mean_towards_it() -> None:
    """One of several references twice does change the score: it weighs twice."""
    for metric in METRICS[:4:2]:
        assert metric.score("cat", ["cat", "dog", "cat"]) > metric.score("cat", ["cat", "dog"])


def test_a_candidate_next_to_one_reference_alone_is_not_overrated() -> None:
    """Support is a mean: matching one of four references scores a quarter, the others sharing nothing."""
    assert refsim.charsim("cat", ["cat", "dug", "hip", "fob"]) == pytest.approx(0.25, rel=0, abs=1e-15)
