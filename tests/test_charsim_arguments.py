"""Calls that look odd, and work; and what metrics and scorers are as values.

Whatever holds strings in order is taken as the plain list would be; arguments are read and never changed.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import refsim
from refsim import Charsim
from strategies import FORMS

if TYPE_CHECKING:
    from refsim.metrics.charsim import Form

SCORE = Charsim().score
BATCH = Charsim().score_batch
MATRIX = Charsim().score_matrix
COMPILE = Charsim().compile

CANDIDATES = ["cat", "", "吾輩は猫"]
ROWS = [["cats", "at"], ["", "a"], ["吾輩", "猫"]]


@pytest.mark.parametrize(
    "candidates",
    [
        tuple(CANDIDATES),
        np.array(CANDIDATES),
        np.array(CANDIDATES, dtype=object),
        list(map(np.str_, CANDIDATES)),
        pd.Series(CANDIDATES),
        pd.Series(CANDIDATES, index=[5, 0, 5]),
        pd.Series(CANDIDATES, dtype="string"),
        pd.Series(CANDIDATES, dtype=object),
        pd.Index(CANDIDATES),
        pa.array(CANDIDATES),
        pa.chunked_array([CANDIDATES[:1], CANDIDATES[1:]]),
        pa.array(CANDIDATES, pa.large_string()),
        pa.array(CANDIDATES).dictionary_encode(),
        dict.fromkeys(CANDIDATES).keys().__iter__(),
        (text for text in CANDIDATES),
        map(str, CANDIDATES),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_holds_strings_in_order_is_taken(candidates: Any) -> None:  # noqa: ANN401
    """Tuples, arrays, Series, Arrow arrays, iterators: the scores of the plain list."""
    assert BATCH(candidates, ROWS).tolist() == BATCH(CANDIDATES, ROWS).tolist()


@pytest.mark.parametrize(
    "references",
    [
        tuple(map(tuple, ROWS)),
        np.array(ROWS),
        np.array(ROWS, dtype=object),
        pd.Series(ROWS),
        pa.array(ROWS),
        [pd.Series(row, index=[7, 7]) for row in ROWS],
        [pa.array(row) for row in ROWS],
        [iter(row) for row in ROWS],
        (row for row in ROWS),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_holds_rows_in_order_is_taken(references: Any) -> None:  # noqa: ANN401
    """The scores of the plain lists."""
    assert BATCH(CANDIDATES, references).tolist() == BATCH(CANDIDATES, ROWS).tolist()


def test_a_row_may_be_one_string() -> None:
    """An entry that is a str is that candidate's only reference; the two kinds may mix."""
    expected = BATCH(["cat", "dog"], [["cats"], ["fog", "dot"]])
    assert BATCH(["cat", "dog"], ["cats", ["fog", "dot"]]).tolist() == expected.tolist()


def test_strings_of_numpy_are_strings() -> None:
    """Alone, in a list, compiled."""
    assert SCORE(np.str_("cat"), [np.str_("cats")]) == SCORE("cat", ["cats"])
    assert COMPILE([np.str_("cats")]).score_batch([np.str_("cat")]).tolist() == [SCORE("cat", ["cats"])]


class Liar(str):
    """A string that is not what it says of itself."""

    __slots__ = ()

    def __len__(self) -> int:
        """Say too little; a kernel that believed a number too large would read beyond the text."""
        return 1

    def __eq__(self, other: object) -> bool:
        """Be equal to all."""
        return True

    def __hash__(self) -> int:
        """Be found everywhere."""
        return 0


def test_a_subclass_of_str_counts_by_its_characters() -> None:
    """Whatever it says about its length and whom it equals."""
    expected = SCORE("cat", ["cats", "dog"])
    assert SCORE(Liar("cat"), ["cats", Liar("dog")]) == expected
    assert BATCH([Liar("cat")], [[Liar("cats"), Liar("dog")]]).tolist() == [expected]
    assert COMPILE([Liar("cats"), Liar("dog")]).score_batch([Liar("cat")]).tolist() == [expected]
    assert MATRIX([Liar("cat")], [Liar("cats"), Liar("dog")]).tolist() == MATRIX(["cat"], ["cats", "dog"]).tolist()


def test_arguments_are_left_as_they_are() -> None:
    """Lists are read, never changed; and a list changed after compiling changes no scorer."""
    candidates, rows = list(CANDIDATES), [list(row) for row in ROWS]
    BATCH(candidates, rows)
    assert (candidates, rows) == (CANDIDATES, ROWS)
    scorer = COMPILE(rows[0])
    before = scorer.score_batch(candidates).tolist()
    rows[0].append("dog")
    rows[0][0] = "x"
    assert scorer.score_batch(candidates).tolist() == before
    assert BATCH(candidates, rows)[0] == SCORE(candidates[0], ["x", "at", "dog"])


def test_a_list_changed_between_calls_is_seen() -> None:
    """What is kept across calls goes by the texts, not by the list object."""
    references = ["cats", "dogs"]
    first = SCORE("cat", references)
    references[0] = "horses"
    assert SCORE("cat", references) == Charsim().score("cat", ["horses", "dogs"]) != first


def test_metrics_are_values() -> None:
    """Equal, hashable, picklable; so are scorers picklable and hashable."""
    metric = Charsim(form="base", max_order=4, preparation=refsim.Preparation(casefold=True))
    copy = pickle.loads(pickle.dumps(metric))  # noqa: S301
    assert copy == metric
    assert hash(copy) == hash(metric)
    assert len({metric, copy, Charsim()}) == 2
    scorer = metric.compile(["a", "B"])
    again = pickle.loads(pickle.dumps(scorer))  # noqa: S301
    assert isinstance(hash(again), int)
    assert again.metric == metric
    assert again.score_batch(["b"]).tolist() == scorer.score_batch(["b"]).tolist()


@pytest.mark.parametrize("form", FORMS)
def test_scorers_are_equal_if_their_references_are(form: Form) -> None:
    """In any order, repeats counted, kept by a save and a load."""
    compile_ = Charsim(form=form).compile
    scorer = compile_(["bbb", "bbb", "a"])
    for same in (compile_(["a", "bbb", "bbb"]), compile_(["bbb", "a", "bbb"]), pickle.loads(pickle.dumps(scorer))):  # noqa: S301
        assert scorer == same
        assert hash(scorer) == hash(same)
        assert scorer.signature == same.signature
    for other in (compile_(["bbb", "a", "a"]), compile_(["bbb", "a"]), compile_(["bbb"] * 4 + ["a"] * 2)):
        assert scorer != other
        assert scorer.signature != other.signature


def test_signatures_are_different_where_scores_may_be() -> None:
    """Form, top order and preparation are all in it."""
    metrics = [
        Charsim(),
        Charsim(form="base"),
        Charsim(form="median"),
        Charsim(max_order=6),
        Charsim(max_order=5),
        Charsim(preparation=refsim.Preparation(casefold=True)),
        Charsim(preparation=refsim.Preparation(unit="grapheme")),
    ]
    assert len({metric.signature for metric in metrics}) == len(metrics)
    assert str(Charsim()) == "charsim"
    assert str(Charsim(form="base")) == "charsim(form=base)"
