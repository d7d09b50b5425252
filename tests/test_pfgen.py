"""pfgen: its rules beside the definition, the benchmark's own numbers, and what groups, batches and arguments do."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import peer_data
import refsim
from oracles import pfgen as oracle
from refsim.errors import InputError
from refsim.metric import Metric, Stats
from refsim.metrics import parse_metric
from refsim.metrics.pfgen import Pfgen
from refsim.segments import Batch
from shared import shared_data

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Few letters, so that n-grams repeat; what is not counted; what a table of characters may trip over.
TEXTS = st.text(st.sampled_from("abc猫、。^$\0\ud800😀"), max_size=30)


def rows_of(metric: Pfgen, candidates: list[str], references: list[list[str]]) -> NDArray[np.float64]:
    batch = Batch.from_lists(candidates=candidates, references=references)
    return np.column_stack(list(metric.finish(metric.measure(batch)).values()))


def check(candidate: str, references: list[str]) -> None:
    (found,) = rows_of(Pfgen(), [candidate], [references])
    expected = oracle.fluency(references, candidate), oracle.truthfulness(references, candidate)
    assert found[1:] == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert found[0] == pytest.approx(sum(expected) / 2, rel=1e-12, abs=1e-12)


@given(candidate=TEXTS, references=st.lists(TEXTS, min_size=1, max_size=6))
def test_scores_are_those_of_the_definition(candidate: str, references: list[str]) -> None:
    """Whatever the texts are."""
    check(candidate, references)


@pytest.mark.parametrize("length", [0, 1, 2, 3, 99, 100, 101, 102, 149, 150, 151, 199, 200, 201, 202, 203, 300])
def test_lengths_at_which_something_begins_or_ends(length: int) -> None:
    """Fading from 100 characters on, nothing from 150, cuts at 200 and 202."""
    text = "".join(chr(0x4E00 + i % 97) for i in range(length))
    references = [text[:120], text[5:140] + "x", "、".join(text[:60]), "x" * 250]
    check(text, references)
    check("。" + text, references)
    check(text[:150] + "y" * 60, references)


def test_an_alphabet_of_thousands_is_told_apart() -> None:
    """So many characters that not even three fit into one number of the sort."""
    texts = ["".join(chr(0x4E00 + (i * k) % 20_000) for i in range(150)) for k in range(1, 170)]
    check(texts[3], texts)


def test_every_answer_of_the_benchmark_has_its_published_columns() -> None:
    """10,656 answers of 48 models to 37 questions, 1,000 to 3,000 references each, within 1e-5."""
    references: dict[str, list[str]] = {}
    table = pq.read_table(shared_data("pfgen/references.parquet"), columns=["question_id", "answer"])
    for question, answer in zip(*table.to_pydict().values(), strict=True):
        references.setdefault(question, []).append(answer)
    answers = peer_data.lines("pfgen/outputs.jsonl.gz")
    found = rows_of(Pfgen(), [row["answer"] for row in answers], [references[row["question_id"]] for row in answers])
    expected = np.array([[row["fluency"], row["truthfulness"]] for row in answers])
    assert len(answers) == 10_656
    assert np.abs(found[:, 1:] - expected).max() < 1e-5


def test_groups_have_counts_of_their_own() -> None:
    """The scores are means over the groups; as one group they are others."""
    first, second = ["ab", "abc", "b"], ["bc", "cab", "abcab"]
    each = rows_of(Pfgen(), ["abca", "abca"], [first, second])
    grouped, merged = (rows_of(Pfgen(group_size=size), ["abca"], [first + second])[0] for size in (3, None))
    assert grouped.tolist() == each.mean(axis=0).tolist()
    assert merged.tolist() != grouped.tolist()


def test_references_that_make_no_whole_groups_are_an_error() -> None:
    """Fewer than a group are one."""
    assert Pfgen(group_size=4).score("ab", ["ab", "b", "a"]) == Pfgen(group_size=None).score("ab", ["ab", "b", "a"])
    with pytest.raises(InputError, match="3 references for a row, in groups of 2; expected a multiple of group_size"):
        Pfgen(group_size=2).score("ab", ["ab", "b", "a"])


def test_references_score_one_on_average() -> None:
    """That is what fluency is scaled by."""
    references = ["the cat sat", "a cat sat down", "it sat", "the dog"]
    assert rows_of(Pfgen(), references, [references] * 4)[:, 1].mean() == pytest.approx(1, rel=1e-12)


def test_references_without_a_character_give_nothing() -> None:
    """0 by 0 is 0 here, not NaN."""
    assert rows_of(Pfgen(), ["a", ""], [["", ""], ["a"]]).tolist() == [[0, 0, 0], [0, 0, 0]]


@given(st.data())
def test_batches_and_totals_change_no_bit(data: st.DataObject) -> None:
    """A row scores the same alone, in any batch, and totals merge in any order."""
    lists = [["abcabc", "bca"], ["cab", "", "aab"]]
    texts = data.draw(st.lists(TEXTS, min_size=2, max_size=8))
    references = [lists[i % 2] for i in range(len(texts))]
    metric, cut = Pfgen(), data.draw(st.integers(1, len(texts) - 1))
    whole = rows_of(metric, texts, references)
    parts = [rows_of(metric, texts[:cut], references[:cut]), rows_of(metric, texts[cut:], references[cut:])]
    assert np.concatenate(parts).tolist() == whole.tolist()
    total = Stats(parts[1]).total() + Stats(parts[0]).total()
    assert metric.finish_total(total) == metric.finish_total(Stats(whole).total())


@pytest.mark.parametrize("size", [0, -1, 2.0, True, "x"])
def test_a_group_size_that_is_none_is_an_error(size: Any) -> None:  # noqa: ANN401
    """A whole number from 1 on, or None."""
    with pytest.raises(InputError, match=r"group_size is .*; expected a whole number from 1 on, or None"):
        Pfgen(group_size=size)


def test_wrong_arguments_are_errors() -> None:
    """As those of every metric."""
    with pytest.raises(InputError, match=r"references\[0\] is empty"):
        Pfgen().score_batch(["a"], [[]])
    with pytest.raises(InputError, match="unit is 'grapheme'; pfgen counts by units of its own"):
        parse_metric("pfgen(unit=grapheme)")


@pytest.mark.parametrize("text", ["pfgen", "pfgen(group_size=10)", "pfgen(group_size=none)", "pfgen(casefold)"])
def test_it_is_a_value_with_a_name(text: str) -> None:
    """Parsed, printed, pickled, hashed."""
    metric = parse_metric(text)
    assert isinstance(metric, Metric)
    assert parse_metric(str(metric)) == metric == pickle.loads(pickle.dumps(metric))  # noqa: S301  made here
    assert metric.signature == f"{metric}|refsim:{refsim.__version__}"


def test_a_table_shows_all_three() -> None:
    """The mean of both first."""
    row = refsim.evaluate([{"id": 1, "candidate": "ab", "references": ["ab", "b"]}], "pfgen").systems[""]
    assert list(row.scores) == ["pfgen", "fluency", "truthfulness"]
