"""The open cases of the definition, and calls gone wrong: each has one settled outcome.

A wrong call says the place (`references[1][0]`), what was found there, and what to write instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import refsim
from refsim import Charsim, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from refsim.metrics.charsim import Form

FORMS: tuple[Form, ...] = ("main", "base", "median")
NAN = float("nan")

# ---------------------------------------------------------------------------------------------------
# Open cases of the definition


@pytest.mark.parametrize(
    ("candidate", "references", "main", "base", "median"),
    [
        ("", [""], 1.0, 1.0, 1.0),
        ("", ["", ""], 1.0, 1.0, 1.0),
        ("", ["a"], 0.0, 0.0, 0.0),
        ("a", [""], 0.0, 0.0, 0.0),
        ("", ["", "abc"], 0.0, 0.5, 0.0),
        ("", ["", "", "abc"], 0.0, 2 / 3, 1.0),
        ("", ["", "", "", "abc"], 0.0, 0.75, 1.0),
        ("", ["abc", "ab", ""], 0.0, 1 / 3, 0.0),
        ("a", ["", "a"], 0.5, 0.5, 0.5),
        ("a", ["", "", "a"], 1 / 3, 1 / 3, 1 / 3),
    ],
)
def test_empty_texts(candidate: str, references: list[str], main: float, base: float, median: float) -> None:
    """Both empty match; an empty candidate has nothing to offer; an empty typical reference is matched by it."""
    for form, expected in zip(FORMS, (main, base, median), strict=True):
        metric = Charsim(form=form)
        assert metric.score(candidate, references) == pytest.approx(expected, rel=0, abs=1e-15), form
        assert metric.compile(references).score_batch([candidate])[0] == metric.score(candidate, references)
        assert metric.score_batch([candidate], [references])[0] == metric.score(candidate, references)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mark", ["^", "$", "\0", "\x01", "\ud800", "\ue000", "\uffff", "\U0010ffff"])
def test_no_character_is_reserved(form: Form, mark: str) -> None:
    """What may stand for a boundary elsewhere scores as any other letter would in its place."""
    metric = Charsim(form=form)
    pattern = ("{0}a{0}", ["{0}{0}a", "a{0}", "{0}", ""])
    plain, odd = ([text.format(letter) for text in (pattern[0], *pattern[1])] for letter in ("z", mark))
    assert metric.score(odd[0], odd[1:]) == metric.score(plain[0], plain[1:])
    assert metric.compile(odd[1:]).score_batch(odd).tolist() == metric.compile(plain[1:]).score_batch(plain).tolist()
    assert metric.score_matrix(odd, odd).tolist() == metric.score_matrix(plain, plain).tolist()


def test_two_lone_surrogates_are_not_the_character_they_would_pair_to() -> None:
    """U+D83D and U+DE00 side by side are two characters; U+1F600 is one other."""
    assert refsim.charsim("\ud83d\ude00", ["\U0001f600"]) == 0.0
    assert refsim.charsim("\ud83d\ude00", ["\ud83d\ude00"]) == 1.0
    assert Charsim().score_batch(["\ud83d", "\ude00"], ["\ud83d", "\ude00"]).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(("candidate", "reference"), [("Cat", "cat"), ("a b", "a  b"), ("a\n", "a"), ("é", "e\u0301")])
def test_texts_are_compared_as_they_are(candidate: str, reference: str) -> None:
    """Case, white space and Unicode form count, unless a preparation says otherwise."""
    assert refsim.charsim(candidate, [reference]) < 1.0
    prepare = refsim.Preparation(unicode="NFC", casefold=True, whitespace="collapse")
    assert Charsim(preparation=prepare).score(candidate, [reference]) == 1.0


def test_no_rows_give_no_scores() -> None:
    """An empty batch is no error: there is nothing to be wrong about."""
    assert Charsim().score_batch([], []).shape == (0,)
    assert Charsim().compile(["a"]).score_batch([]).shape == (0,)
    assert Charsim().score_matrix([], ["a"]).shape == (0, 1)


# ---------------------------------------------------------------------------------------------------
# Wrong calls

SCORE = Charsim().score
BATCH = Charsim().score_batch
MATRIX = Charsim().score_matrix
COMPILE = Charsim().compile

WRONG: dict[str, tuple[Callable[..., object], tuple[object, ...], tuple[str, ...]]] = {
    # One string where a list belongs: the classic silent mistake.
    "bare string": (SCORE, ("cat", "cats"), ("references is one str", "list of strings", "['cats']")),
    "bare string, function": (refsim.charsim, ("cat", "cats"), ("references is one str", "['cats']")),
    "bare string, orders": (Charsim().per_order, ("cat", "cats"), ("references is one str", "['cats']")),
    "bare string, compile": (COMPILE, ("cats",), ("references is one str", "list of strings")),
    "bare candidates": (BATCH, ("cat", [["cats"]]), ("candidates is one str", "list of strings")),
    "bare references": (BATCH, (["cat"], "cats"), ("references is one str",)),
    "bare both": (BATCH, ("cat", "cat"), ("candidates is one str",)),
    "bare in matrix": (MATRIX, (["cat"], "cats"), ("references is one str",)),
    "bare in matrix, candidates": (MATRIX, ("cat", ["cats"]), ("candidates is one str",)),
    "bare for a scorer": (COMPILE(["cats"]).score_batch, ("cat",), ("candidates is one str",)),
    "bare numpy string": (SCORE, ("cat", np.str_("cats")), ("references is one str",)),
    "bare bytes": (SCORE, ("cat", b"cats"), ("references is one bytes",)),
    # Shapes.
    "one reference for three": (
        BATCH, (["a", "b", "c"], [["x"]]), ("3 candidates", "candidate i", "compile(references[0]).score_batch"),
    ),
    "one str for three": (BATCH, (["a", "b", "c"], ["x"]), ("3 candidates", "compile(references).score_batch")),
    "transposed": (
        BATCH, (["a", "b", "c"], [["r1a", "r1b", "r1c"], ["r2a", "r2b", "r2c"]]),
        ("3 candidates", "2 entries", "zip(*references)"),
    ),
    "too many rows": (BATCH, (["a"], [["x"], ["y"]]), ("1 candidate", "2 entries")),
    "swapped": (BATCH, ([["x"], ["y", "z"]], ["a", "b"]), ("candidates[0] is a list", "swapped")),
    "swapped, one": (SCORE, (["x", "y"], "a"), ("candidate is list", "expected a str")),
    "list for candidate": (SCORE, (["x", "y"], ["a"]), ("candidate is list", "expected a str")),
    "nested candidates": (BATCH, ([["x"]], [["a"]]), ("candidates[0] is list", "expected a str")),
    "references too deep": (BATCH, (["x"], [[["a"]]]), ("references[0][0] is list", "expected a str")),
    "rows for one candidate": (SCORE, ("x", [["a", "b"]]), ("references[0] is list", "expected a str")),
    "rows to compile": (COMPILE, ([["a", "b"], ["c"]],), ("references[0] is list", "expected a str")),
    "rows in a matrix": (MATRIX, (["x"], [["a", "b"]]), ("references[0] is list", "expected a str")),
    # Nothing to compare with.
    "no references": (SCORE, ("a", []), ("references is empty", "at least one reference")),
    "no references in a row": (BATCH, (["a", "b"], [["x"], []]), ("references[1] is empty", "at least one reference")),
    "no references to compile": (COMPILE, ([],), ("references is empty", "at least one reference")),
    # Things that are no strings.
    "None": (BATCH, (["a", "b"], [["x"], [None]]), ("references[1][0] is None", "expected a str", "leave the row out")),
    "None candidate": (BATCH, (["a", None], [["x"], ["y"]]), ("candidates[1] is None", "expected a str")),
    "None alone": (SCORE, (None, ["a"]), ("candidate is None", "expected a str")),
    "None for a row": (BATCH, (["a", "b"], [["x"], None]), ("references[1] is None",)),
    "None for all": (SCORE, ("a", None), ("references is None",)),
    "None among references": (SCORE, ("a", ["x", None]), ("references[1] is None", "expected a str")),
    "None to compile": (COMPILE, (["x", None],), ("references[1] is None", "expected a str")),
    "None for a scorer": (COMPILE(["x"]).score_batch, (["a", None],), ("candidates[1] is None",)),
    "None in a matrix": (MATRIX, (["a"], ["x", "y", None]), ("references[2] is None",)),
    "NaN": (BATCH, (["a", NAN], [["x"], ["y"]]), ("candidates[1] is NaN", "expected a str")),
    "NaN of numpy": (BATCH, (["a"], [[np.float64("nan")]]), ("references[0][0] is NaN",)),
    "NaN for a row": (BATCH, (["a", "b"], [["x"], NAN]), ("references[1] is NaN",)),
    "NA of pandas": (BATCH, (["a", pd.NA], ["x", "y"]), ("candidates[1] is", "NA", "expected a str")),
    "integer": (BATCH, ([3], [["x"]]), ("candidates[0] is int 3", "expected a str")),
    "integer reference": (SCORE, ("a", ["x", 7]), ("references[1] is int 7", "expected a str")),
    "bytes": (SCORE, (b"a", ["x"]), ("candidate is bytes b'a'", "decode")),
    "bytes reference": (BATCH, (["a"], [["x", b"y"]]), ("references[0][1] is bytes b'y'", "decode")),
    "a number for all": (BATCH, (["a"], 5), ("references is int 5",)),
    "a set": (SCORE, ("a", {"x", "y"}), ("references is set", "list of strings")),
    "a dict": (SCORE, ("a", {"x": "y"}), ("references is dict", "list of strings")),
    "a dict for a row": (BATCH, (["a"], [{"x": "y"}]), ("references[0] is dict",)),
    "a DataFrame": (BATCH, (["a"], pd.DataFrame({"r": ["x"]})), ("references is DataFrame",)),
    "a missing value in a Series": (BATCH, (pd.Series(["a", None]), ["x", "y"]), ("candidates[1] is",)),
    "a null in an Arrow array": (BATCH, (pa.array(["a", None]), ["x", "y"]), ("candidates[1] is None",)),
    "a null in an Arrow list": (BATCH, (["a"], pa.array([["x", None]])), ("references[0][1] is None",)),
    "a null for an Arrow list": (BATCH, (["a", "b"], pa.array([["x"], None])), ("references[1] is None",)),
    "numbers in an array": (BATCH, (np.array([1, 2]), ["x", "y"]), ("candidates[0] is int 1",)),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_says_where_what_and_how(name: str) -> None:
    """One error, an InputError and a ValueError, with the place, what was found, and what to do."""
    call, arguments, said = WRONG[name]
    with pytest.raises(InputError) as error:
        call(*arguments)
    assert isinstance(error.value, ValueError)
    missing = [piece for piece in said if piece not in str(error.value)]
    assert not missing, f"{missing} not in: {error.value}"


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"form": "mean"}, ("form", "'mean'", "'main'", "'base'", "'median'")),
        ({"form": None}, ("form", "None")),
        ({"form": ["main"]}, ("form",)),
        ({"max_order": 0}, ("max_order", "0")),
        ({"max_order": -1}, ("max_order", "-1")),
        ({"max_order": 2.5}, ("max_order", "2.5")),
        ({"max_order": "3"}, ("max_order", "'3'")),
        ({"max_order": True}, ("max_order", "True")),
        ({"preparation": "NFC"}, ("preparation", "'NFC'", "Preparation")),
        ({"preparation": None}, ("preparation", "None")),
    ],
)
def test_a_metric_checks_its_parameters_when_it_is_made(parameters: dict[str, Any], said: tuple[str, ...]) -> None:
    """Not at the first score, hours later."""
    with pytest.raises(InputError) as error:
        Charsim(**parameters)
    assert all(piece in str(error.value) for piece in said), str(error.value)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True])
def test_threads_are_a_whole_number_from_one_on(threads: Any) -> None:  # noqa: ANN401
    """In every batch call."""
    scorer = COMPILE(["a"])
    calls: list[Callable[[], object]] = [
        lambda: BATCH(["a"], ["b"], threads=threads),
        lambda: MATRIX(["a"], ["b"], threads=threads),
        lambda: scorer.score_batch(["a"], threads=threads),
        lambda: Charsim().consensus(["a", "b"], threads=threads),
    ]
    for call in calls:
        with pytest.raises(InputError, match="threads"):
            call()


@pytest.mark.parametrize("top_k", [0, -1, 1.5, "2", True])
def test_top_k_is_a_whole_number_from_one_on(top_k: Any) -> None:  # noqa: ANN401
    """And more than there are references is all of them."""
    with pytest.raises(InputError, match="top_k"):
        MATRIX(["a"], ["b"], top_k=top_k)


def test_parameters_have_names() -> None:
    """A metric takes no parameter by position, for form and order would be mixed up."""
    with pytest.raises(TypeError):
        Charsim("base")  # type: ignore[call-arg]
