"""Explanations: the split of what is lost, support, what is missing, supporters, changes; against their definitions."""

from __future__ import annotations

import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refsim
from entry_points import interpreted_kernel
from oracles import charsim as definition
from oracles import explain as oracle
from refsim.errors import InputError
from refsim.metrics._cache import cache as cache_of_sets
from refsim.metrics._explain import chance_length
from shared import golden_rows
from strategies import FORMS, forms, max_orders, rows, texts

if TYPE_CHECKING:
    from refsim.metrics._explain import Explanation
    from refsim.metrics.charsim import Form

PARTS = ("shortness", "excess", "content")


def close(value: object, within: float = 1e-12) -> object:
    """Within 1e-12, absolutely."""
    return pytest.approx(value, rel=0, abs=within)


def check_split(explanation: Explanation) -> None:
    """The score and its losses are 1 together, none is negative, and so it is in each order."""
    parts, orders = explanation.parts, explanation.orders
    assert parts.score + parts.shortness + parts.excess + parts.content == close(1)
    for name in PARTS:
        assert getattr(parts, name) >= 0
        assert (getattr(orders, name) >= 0).all()
    total = orders.rho + orders.shortness + orders.excess + orders.content
    assert total.tolist() == close([1.0] * len(orders))
    assert orders.weight.sum() == close(1.0 if len(orders) else 0.0)
    if len(orders):
        assert orders.contribution.sum() == close(explanation.score)


@pytest.mark.parametrize("form", FORMS)
def test_the_split_of_every_golden_row(form: Form) -> None:
    """1 = score + shortness + excess + content on all golden rows, and the score is the golden one."""
    for row in golden_rows():
        metric = refsim.Charsim(form=form, max_order=row["max_order"])
        explanation = metric.explain(row["candidate"], row["references"])
        check_split(explanation)
        assert explanation.score == metric.score(row["candidate"], row["references"])
        assert explanation.score == close(row[form]["score"])
        assert explanation.orders.rho.tolist() == close(row[form]["per_order"])


@given(row=rows(), form=forms, max_order=max_orders)
def test_orders_and_parts_are_those_of_the_definition(
    row: tuple[str, list[str]], form: Form, max_order: int | None
) -> None:
    """Every order's overlap, lengths and losses equal the oracle's, and the score has the bits of `score`."""
    candidate, references = row
    metric = refsim.Charsim(form=form, max_order=max_order)
    explanation = metric.explain(candidate, references)
    check_split(explanation)
    assert explanation.score == metric.score(candidate, references)
    told = oracle.orders(candidate, references, form, max_order)
    assert len(told) == len(explanation.orders)
    for name in ("overlap", "candidate_length", "reference_length", *PARTS):
        assert getattr(explanation.orders, name).tolist() == close([float(order[name]) for order in told], 1e-11), name
    for name in PARTS:
        assert getattr(explanation.parts, name) == close(
            float(oracle.lost(candidate, references, form, max_order, name))
        )


@given(row=rows(), form=forms)
def test_precision_and_recall_are_means_over_references(row: tuple[str, list[str]], form: Form) -> None:
    """Precision is the overlap's share of the candidate, recall of the reference; rho takes the one that binds."""
    candidate, references = row
    orders = refsim.Charsim(form=form).explain(candidate, references).orders
    for n in range(1, len(orders) + 1):
        own = definition.length(candidate, n)
        lengths = [definition.length(reference, n) for reference in references]
        overlaps = [definition.overlap(candidate, reference, n) for reference in references]
        if own:
            assert orders.precision[n - 1] == close(sum(overlaps) / own / len(references))
        if form == "base":
            assert orders.recall_binds[n - 1] == close(sum(other > own for other in lengths) / len(lengths))
            assert orders.precision_binds[n - 1] == close(sum(other < own for other in lengths) / len(lengths))
            if own and all(lengths):
                recalls = [shared / other for shared, other in zip(overlaps, lengths, strict=True)]
                assert orders.recall[n - 1] == close(sum(recalls) / len(recalls))
        elif form == "main" and own:
            mean = sum(lengths) / len(lengths)
            assert orders.recall_binds[n - 1] == (mean > own)
            assert orders.precision_binds[n - 1] == (mean < own)
            if mean:
                assert orders.rho[n - 1] == close(min(orders.precision[n - 1], orders.recall[n - 1]))


@given(candidate=texts(), reference=texts(), repeats=st.integers(1, 3), max_order=max_orders)
def test_on_one_reference_the_forms_lose_the_same(
    candidate: str, reference: str, repeats: int, max_order: int | None
) -> None:
    """With one reference, however often it is repeated, base, main and median agree in every part."""
    told = [refsim.Charsim(form=form, max_order=max_order).explain(candidate, [reference] * repeats) for form in FORMS]
    for one, other in pairwise(told):
        for name in ("score", *PARTS):
            assert getattr(one.parts, name) == close(getattr(other.parts, name))


@given(row=rows(), form=forms)
def test_support_is_the_longest_match_over_each_character(row: tuple[str, list[str]], form: Form) -> None:
    """Its beginning, its end and the share of references that hold it, the leftmost of equal ones."""
    candidate, references = row
    support = refsim.Charsim(form=form).explain(candidate, references).support
    expected = oracle.support(candidate, references)
    assert list(zip(support.start.tolist(), support.stop.tolist(), strict=True)) == [span[:2] for span in expected]
    assert support.share.tolist() == close([float(share) for _, _, share in expected])


shares = st.sampled_from([Fraction(1, 10), Fraction(3, 10), Fraction(1, 2), Fraction(2, 3), Fraction(1)])


@given(row=rows(), form=forms, share=shares)
def test_missing_strings_and_their_lacking_parts(row: tuple[str, list[str]], form: Form, share: Fraction) -> None:
    """The longest strings that enough references share and the candidate lacks; what of them it has not in pieces."""
    candidate, references = row
    explanation = refsim.Charsim(form=form).explain(candidate, references, share=float(share))
    expected = oracle.missing(candidate, references, share)
    assert [(one.text, one.count) for one in explanation.missing] == expected
    for one in explanation.missing:
        assert one.share == one.count / len(references)
        marks = [False] * len(one.text)
        for start, stop in one.lacking:
            assert start < stop
            marks[start:stop] = [True] * (stop - start)
        assert marks == oracle.lacking(candidate, one.text)


@given(row=rows(), form=forms)
def test_graphemes_are_explained_as_characters(row: tuple[str, list[str]], form: Form) -> None:
    """With clusters as characters, positions count clusters, and lacking parts are places in the text."""
    metric = refsim.Charsim(form=form, preparation=refsim.Preparation(unit="grapheme"))
    candidate, references = row
    scorer = metric.compile(references)
    split = [tuple(scorer.split(text)) for text in references]
    own = tuple(scorer.split(candidate))
    explanation = metric.explain(candidate, references)
    check_split(explanation)
    assert tuple(explanation.symbols) == own
    support = explanation.support
    found = list(zip(support.start.tolist(), support.stop.tolist(), strict=True))
    assert found == [(start, stop) for start, stop, _ in oracle.support(own, split)]
    assert [(one.text, one.count) for one in explanation.missing] == oracle.missing(own, split, Fraction(1, 2))
    for one in explanation.missing:
        clusters = tuple(scorer.split(one.text))
        marks = [mark for mark, cluster in zip(oracle.lacking(own, clusters), clusters, strict=True) for _ in cluster]
        places = {place for start, stop in one.lacking for place in range(start, stop)}
        assert places == {place for place, mark in enumerate(marks) if mark}


@given(row=rows(), form=forms, max_order=max_orders)
def test_supporters_are_the_references_with_the_best_scores(
    row: tuple[str, list[str]], form: Form, max_order: int | None
) -> None:
    """Each with the score it gives on its own, to the last bit, and how often it stands in the list."""
    candidate, references = row
    metric = refsim.Charsim(form=form, max_order=max_order)
    different = list(dict.fromkeys(references))
    scores = [metric.score(candidate, [reference]) for reference in different]
    order = sorted(range(len(different)), key=lambda i: -scores[i])[:5]
    found = metric.explain(candidate, references).supporters
    assert [(one.index, one.text, one.count, one.score) for one in found] == [
        (i, different[i], references.count(different[i]), scores[i]) for i in order
    ]


@given(row=rows(), other=texts(), form=forms)
def test_a_change_is_the_difference_of_both_order_by_order(row: tuple[str, list[str]], other: str, form: Form) -> None:
    """The change of each order sums to the change of the score, also where one text is longer than all others."""
    candidate, references = row
    explanation = refsim.Charsim(form=form).explain(candidate, references, against=other)
    change, against = explanation.change, explanation.against
    assert change is not None
    assert against is not None
    assert change.score == explanation.score - against.score
    assert change.contribution.sum() == close(change.score)
    assert change.shortness + change.excess + change.content == close(-change.score)
    assert refsim.Charsim(form=form).explain(candidate, references).change is None


def test_a_mended_typo_raises_the_orders_that_span_it() -> None:
    """One mended character: no order falls, and low orders, which few of their n-grams span it, gain least."""
    reference = "the committee will review the plan"
    typo = "the committee will reviev the plan"
    change = refsim.Charsim().explain(reference, [reference], against=typo).change
    assert change is not None
    assert (change.contribution >= 0).all()
    orders = refsim.Charsim().explain(typo, [reference]).orders
    # Windows of n characters that span one place are n, of L(n) = 33 + n in all.
    lost = (1 - orders.rho) * orders.candidate_length
    assert lost[:20].tolist() == close([float(n) for n in range(1, 21)], 1e-9)


@given(
    text=st.text(st.sampled_from("abc "), min_size=1, max_size=20),
    place=st.integers(0, 19),
    form=forms,
    repeats=st.integers(1, 2),
)
def test_mending_a_foreign_character_lowers_no_order_and_raises_those_that_span_it(
    text: str, place: int, form: Form, repeats: int
) -> None:
    """Every order has windows over the mended place, so every order gains."""
    place %= len(text)
    typo = f"{text[:place]}#{text[place + 1 :]}"
    change = refsim.Charsim(form=form).explain(text, [text] * repeats, against=typo).change
    assert change is not None
    assert (change.contribution > 0).all()
    assert sum(gain for _, _, gain in change.bands()) == close(change.score)


@given(row=rows(), form=forms, max_order=max_orders)
def test_bands_are_the_orders_put_together(row: tuple[str, list[str]], form: Form, max_order: int | None) -> None:
    """They cover 1 .. N without a gap, and sum to the score; weights to 1."""
    explanation = refsim.Charsim(form=form, max_order=max_order).explain(*row)
    bands = explanation.orders.bands()
    orders = [n for band in bands for n in range(band.first, band.last + 1)]
    assert orders == list(range(1, len(explanation.orders) + 1))
    if bands:
        assert sum(band.contribution for band in bands) == close(explanation.score)
        assert sum(band.weight for band in bands) == close(1)
        assert [band.rho * band.weight for band in bands] == close([band.contribution for band in bands])


@given(row=rows(), text=texts())
def test_what_the_candidate_holds_of_a_text(row: tuple[str, list[str]], text: str) -> None:
    """The characters that a match longer than chance covers, of a reference or of any other text."""
    candidate, references = row
    explanation = refsim.Charsim().explain(candidate, references)
    for other in (*references, text):
        assert explanation.held(other) == [not mark for mark in oracle.lacking(candidate, other)]


@pytest.mark.parametrize(
    ("characters", "different", "length"),
    [(0, 0, 2), (1, 1, 2), (2, 2, 2), (3, 2, 3), (4, 2, 3), (124, 5, 4), (125, 5, 4), (126, 5, 5), (243, 3, 6)],
)
def test_the_length_that_is_not_due_to_chance(characters: int, different: int, length: int) -> None:
    """The least n with D**(n - 1) >= T, at powers too: log 125 / log 5 is a little more than 3 in floats."""
    assert chance_length(characters, different) == length


def test_the_interpreted_kernel_explains_the_same() -> None:
    """Every figure is the same to the last bit."""
    references = ["the cat sat on the mat", "a cat sat there, and slept", "the cat sat on the mat"]
    for form in FORMS:
        for given_references in (references, references[:1], [""]):
            metric = refsim.Charsim(form=form)
            expected = metric.explain("the cat sits", given_references, against="x").to_dict()
            with interpreted_kernel():
                assert metric.explain("the cat sits", list(given_references), against="x").to_dict() == expected


@given(row=rows(), form=forms, max_order=max_orders)
def test_the_interpreted_kernel_explains_every_text_the_same(
    row: tuple[str, list[str]], form: Form, max_order: int | None
) -> None:
    """Whatever the texts are, lone surrogates and marks in them too."""
    candidate, references = row
    metric = refsim.Charsim(form=form, max_order=max_order)
    expected = metric.explain(candidate, references).to_dict()
    with interpreted_kernel():
        assert metric.explain(candidate, references).to_dict() == expected


def test_to_dict_is_json_and_complete() -> None:
    """Plain values only, one entry an order and a character."""
    told = refsim.Charsim().explain("the cat", ["the cat sat", "a cat"], against="a dog").to_dict()
    assert json.loads(json.dumps(told, ensure_ascii=False)) == told
    assert set(told) == {
        *("signature", "candidate", "references", "score", "parts", "orders", "support", "missing", "supporters"),
        *("against", "change"),
    }
    assert told["orders"]["order"] == list(range(1, 12))
    assert {len(values) for values in told["orders"].values()} == {11}
    assert {len(values) for values in told["support"].values()} == {len("the cat")}


def test_empty_texts_are_explained() -> None:
    """An empty candidate loses everything to shortness; between empty texts nothing is lost."""
    for form in FORMS:
        metric = refsim.Charsim(form=form)
        assert metric.explain("", ["cat"]).parts.shortness == close(1)
        assert metric.explain("cat", [""]).parts.excess == close(1)
        nothing = metric.explain("", ["", ""])
        assert (nothing.score, nothing.parts.largest, nothing.missing, len(nothing.orders)) == (1, None, [], 0)
        assert nothing.support.start.shape == (0,)
    assert refsim.Charsim(form="base").explain("", ["", "", "cat"]).parts.shortness == close(1 / 3)


def test_a_scorer_explains_threads_and_pickles() -> None:
    """A compiled set explains as the metric does, before and after pickling."""
    references = ["the cat sat on the mat", "a cat sat down"]
    scorer = refsim.Charsim().compile(references)
    expected = refsim.Charsim().explain("the cat", references).to_dict()
    assert scorer.explain("the cat").to_dict() == expected
    again = pickle.loads(pickle.dumps(scorer))  # noqa: S301  written a moment ago
    assert again.explain("the cat").to_dict() == expected


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [1, 30])
def test_threads_explain_with_one_scorer(form: Form, count: int) -> None:
    """Eight threads, that all find a new scorer and ask it for everything at once, get what one thread gets."""
    references = [f"the cat number {i % 20} sat on mat {i % 7}" for i in range(count)]
    candidates = [f"a cat number {i} lay on the mat" for i in range(40)]
    metric = refsim.Charsim(form=form)
    expected = [metric.explain(candidate, references).to_dict() for candidate in candidates]
    cache_of_sets.clear()
    scorer = metric.compile(references)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda candidate: scorer.explain(candidate).to_dict(), candidates))
    assert found == expected


def test_a_long_text_against_a_changed_copy() -> None:
    """200,000 characters: the sums hold, and a place that was changed is what is lacking, or not supported."""
    letters = np.random.default_rng(7).integers(97, 123, 200_000, dtype=np.uint8)
    changed = letters.copy()
    places = np.arange(1_000, 200_000, 10_000)
    changed[places] = ord("#")
    text, other = letters.tobytes().decode(), changed.tobytes().decode()
    explanation = refsim.Charsim().explain(other, [text])
    check_split(explanation)
    assert np.flatnonzero(explanation.support.share == 0).tolist() == places.tolist()
    (missing,) = refsim.Charsim().explain(text, [other]).missing
    assert [(start, stop) for start, stop in missing.lacking] == [(place, place + 1) for place in places.tolist()]


@pytest.mark.parametrize("share", [0, -1, 1.5, float("nan"), "half", True, None])
def test_a_share_outside_its_range_is_an_error(share: object) -> None:
    """The message has the value and the range."""
    with pytest.raises(InputError, match=r"share is .*; expected a number above 0 and at most 1"):
        refsim.Charsim().explain("a", ["b"], share=share)  # type: ignore[arg-type]


def test_bad_texts_are_named() -> None:
    """As in `score`."""
    with pytest.raises(InputError, match="candidate is None"):
        refsim.Charsim().explain(None, ["b"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="against is int 3"):
        refsim.Charsim().explain("a", ["b"], against=3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="references is one str"):
        refsim.Charsim().explain("a", "b")


def test_a_change_from_and_to_empty_texts_sums_too() -> None:
    """Between empty texts there is no order, yet the score is 1."""
    for candidate, against in (("", "a"), ("a", ""), ("", "")):
        change = refsim.Charsim().explain(candidate, [""], against=against).change
        assert change is not None
        assert change.contribution.sum() == close(change.score)
