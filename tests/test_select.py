"""Consensus: n-best lists gathered from rows, and ranked by agreement."""

from __future__ import annotations

import pytest

from refsim.analysis.select import gather_lists, rank_by_consensus
from refsim.errors import InputError
from refsim.metrics.charsim import Charsim
from refsim.segments import Batch


def batch(*rows: tuple[str, str], references: list[list[str]] | None = None) -> Batch:
    """Return a batch of (id, candidate), samples numbered by id."""
    seen: dict[str, int] = {}
    samples = []
    for name, _ in rows:
        samples.append(seen.get(name, 0))
        seen[name] = samples[-1] + 1
    return Batch.from_lists(
        candidates=[text for _, text in rows],
        references=references,
        ids=[name for name, _ in rows],
        samples=samples,
    )


def test_rows_of_an_item_may_lie_apart() -> None:
    """Within a batch and across batches; items keep the order in which they first come up."""
    lists = gather_lists([batch(("b", "1"), ("a", "2"), ("b", "3")), batch(("a", "4"))])
    assert [(one.id, one.candidates) for one in lists] == [("b", ["1", "3"]), ("a", ["2", "4"])]


def test_systems_are_ranked_apart() -> None:
    """Agreement is within one item and one system."""
    rows = Batch.from_lists(candidates=["x", "y"], ids=["1", "1"], systems=["A", "B"])
    assert [(one.system, one.candidates) for one in gather_lists([rows])] == [("A", ["x"]), ("B", ["y"])]


def test_the_candidate_that_agrees_most_is_first() -> None:
    """Scores are those of Charsim.consensus, in falling order, with ranks from 1 and the samples' own numbers."""
    texts = ["a dog ran", "the cat sat", "the cat sat down", "the cat"]
    (ranked,) = rank_by_consensus(gather_lists([batch(*(("1", text) for text in texts))]), Charsim())
    scores = Charsim().consensus(texts)
    order = sorted(range(4), key=lambda i: -scores[i])
    assert [(row.rank, row.sample, row.candidate, row.score) for row in ranked] == [
        (rank, i, texts[i], scores[i]) for rank, i in enumerate(order, start=1)
    ]


def test_equal_scores_keep_the_order_of_the_input() -> None:
    """Repeated candidates score alike."""
    (ranked,) = rank_by_consensus(gather_lists([batch(("1", "b"), ("1", "a"), ("1", "a"), ("1", "b"))]), Charsim())
    assert [row.sample for row in ranked] == [0, 1, 2, 3]


def test_a_candidate_may_count_for_itself() -> None:
    """The other school of minimum Bayes risk."""
    lists = gather_lists([batch(("1", "ab"), ("1", "cd"), ("1", "abc"))])
    (ranked,) = rank_by_consensus(lists, Charsim(), leave_one_out=False)
    expected = Charsim().consensus(["ab", "cd", "abc"], leave_one_out=False)
    assert {row.sample: row.score for row in ranked} == dict(enumerate(expected))


def test_a_candidate_alone_is_kept_without_a_score() -> None:
    """Rank 1, score None; with itself in the set it agrees wholly."""
    lists = gather_lists([batch(("1", "only"))])
    assert [(row.rank, row.score) for (row,) in rank_by_consensus(lists, Charsim())] == [(1, None)]
    assert [(row.rank, row.score) for (row,) in rank_by_consensus(lists, Charsim(), leave_one_out=False)] == [(1, 1.0)]


def test_support_takes_the_place_of_the_other_candidates() -> None:
    """Then a candidate alone has a score too."""
    lists = gather_lists([batch(("1", "the cat"), references=[["the cat sat", "a cat"]])])
    ((row,),) = rank_by_consensus(lists, Charsim(), use_support=True)
    assert row.score == Charsim().score("the cat", ["the cat sat", "a cat"])


def test_no_support_is_an_error_that_names_the_item() -> None:
    """Where support was asked for."""
    with pytest.raises(InputError, match="id '1' has no support text"):
        list(rank_by_consensus(gather_lists([batch(("1", "a"))]), Charsim(), use_support=True))
