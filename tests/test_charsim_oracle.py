"""The oracle against golden rows computed elsewhere from the definition, and against facts done by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from oracles import charsim as oracle
from shared import golden_rows

FORMS = ("main", "base", "median")


def test_all_golden_rows_are_there() -> None:
    """The file holds 311 rows, so that none is lost without notice."""
    assert len(golden_rows()) == 311


@pytest.mark.parametrize("form", FORMS)
def test_the_oracle_equals_the_golden_fraction_exactly(form: str) -> None:
    """Every row: the score as a fraction, the double nearest to it, and every order."""
    for row in golden_rows():
        arguments = row["candidate"], row["references"], form, row["max_order"]
        exact = oracle.score(*arguments)
        assert exact == Fraction(row[form]["exact"]), row
        assert float(exact) == pytest.approx(row[form]["score"], rel=0, abs=1e-15), row
        assert [float(rho) for rho in oracle.per_order(*arguments)] == row[form]["per_order"], row


def test_windows_of_cat_are_those_of_the_definition() -> None:
    """The 3-grams of "cat" are ^^c, ^ca, cat, at$, t$$."""
    assert list(oracle.windows("cat", 3)) == [
        (oracle.START, oracle.START, "c"),
        (oracle.START, "c", "a"),
        ("c", "a", "t"),
        ("a", "t", oracle.END),
        ("t", oracle.END, oracle.END),
    ]


@pytest.mark.parametrize("text", ["a", "ab", "aaaa", "^$", "\0"])
@pytest.mark.parametrize("order", [1, 2, 3, 7])
def test_a_text_has_its_length_plus_order_minus_one_windows(text: str, order: int) -> None:
    """The count of windows is the formula |x| + n - 1, beyond the text's length too."""
    assert oracle.length(text, order) == len(text) + order - 1


def test_an_empty_text_has_no_windows() -> None:
    """Its windows would be marks alone."""
    assert [oracle.length("", order) for order in (1, 2, 5)] == [0, 0, 0]


def test_integer_weights_are_repeats_and_one_repeat_is_left_out() -> None:
    """Weights (2, 1) on (a, b): "ab" against [ab, bc], "bc" against [ab, ab]."""
    assert oracle.consensus(["ab", "bc"], weights=[2, 1]) == [
        oracle.score("ab", ["ab", "bc"]),
        oracle.score("bc", ["ab", "ab"]),
    ]


def test_other_weights_leave_out_the_whole_share() -> None:
    """With fractions for weights, "ab" is scored against the others alone, in their proportions."""
    weights = [Fraction(1, 2), Fraction(1, 4), Fraction(3, 4)]
    assert oracle.consensus(["ab", "bc", "abc"], weights=weights)[0] == oracle.score("ab", ["bc", "abc", "abc", "abc"])


@pytest.mark.parametrize("form", ["main", "base"])
def test_fractional_weights_agree_with_repeats_in_proportion(form: str) -> None:
    """Without leaving out, weights 1/2 and 3/2 are one and three repeats."""
    weighted = oracle.consensus(["ab", "bcb"], weights=[Fraction(1, 2), Fraction(3, 2)], leave_one_out=False, form=form)
    assert weighted == [oracle.score(c, ["ab", "bcb", "bcb", "bcb"], form) for c in ("ab", "bcb")]


def test_the_ceiling_is_the_mean_of_each_against_the_others() -> None:
    """Of two references it is their score against each other."""
    assert oracle.ceiling(["cat", "cats"]) == oracle.score("cat", ["cats"]) == Fraction(556, 875)


@pytest.mark.parametrize("form", FORMS)
def test_windows_as_slices_give_the_same_scores(form: str) -> None:
    """The quicker counting, for longer texts, agrees on the golden rows."""
    for row in golden_rows():
        arguments = row["candidate"], row["references"], form, row["max_order"]
        assert oracle.score_by_slices(*arguments) == pytest.approx(float(oracle.score(*arguments)), rel=0, abs=1e-14), (
            row
        )
