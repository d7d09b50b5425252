"""The one loop: scores of batches, exact totals of systems, ceilings, and the tables that come of them."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refsim
from refsim.errors import InputError
from refsim.metric import Stats, Total
from refsim.metrics.charsim import Charsim
from refsim.run import Tally, evaluate, stream
from refsim.segments import Batch

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from refsim.results import Systems

ROWS: list[dict[str, Any]] = [
    {"id": "1", "system": "terse", "candidate": "cat", "references": ["the cat sat", "a cat sat"], "topic": "cats"},
    {"id": "1", "system": "good", "candidate": "the cat sat", "references": ["the cat sat", "a cat sat"]},
    {"id": "2", "system": "terse", "candidate": "dog", "references": ["the dog"]},
    {"id": "2", "system": "good", "candidate": "the dog", "references": ["the dog"]},
]


@dataclass(frozen=True)
class Length:
    """A metric of two scores and no ceiling: the candidate's length, and half of it."""

    @property
    def signature(self) -> str:
        """A signature."""
        return "length|test"

    def __str__(self) -> str:
        """Return the short name."""
        return "length"

    def measure(self, batch: Batch, *, threads: int | None = None) -> Stats:
        """Measure lengths."""
        del threads
        return Stats(np.array([[len(text), len(text) / 2] for text in batch.candidates], dtype=np.float64))

    def finish(self, stats: Stats) -> dict[str, NDArray[np.float64]]:
        """Name both."""
        return {"length": stats.rows[:, 0], "half": stats.rows[:, 1]}

    def finish_total(self, total: Total) -> dict[str, float]:
        """Take both means."""
        return dict(zip(("length", "half"), total.mean(), strict=True))


def totals(batches: list[Batch], metrics: Any = "charsim") -> Systems:  # noqa: ANN401  what stream takes
    tally = Tally()
    for part in stream(batches, metrics):
        tally.add(part)
    return tally.systems()


def test_a_system_has_mean_count_and_ceiling() -> None:
    """The mean is over all its segments, the ceiling over those with two references."""
    good = evaluate(ROWS).systems["good"]
    metric = Charsim()
    scores = [metric.score(row["candidate"], row["references"]) for row in ROWS if row["system"] == "good"]
    assert good.mean == pytest.approx(sum(scores) / 2, abs=1e-15)
    assert good.count == 2
    assert good.ceiling == metric.compile(["the cat sat", "a cat sat"]).ceiling()
    assert good.ceiling_count == 1
    assert good.signature == metric.signature


def test_the_share_of_the_ceiling_is_of_the_segments_that_have_one() -> None:
    """The mean over those alone, divided by their ceiling; the others count for the mean only."""
    for row in evaluate(ROWS).systems:
        (with_ceiling,) = (one for one in ROWS if one["system"] == row.system and len(one["references"]) > 1)
        score = Charsim().score(with_ceiling["candidate"], with_ceiling["references"])
        assert row.ceiling is not None
        assert row.of_ceiling == pytest.approx(score / row.ceiling, rel=1e-15)
        assert row.of_ceiling != pytest.approx(row.mean / row.ceiling, rel=1e-3)
        assert row.record()["of_ceiling"] == row.of_ceiling


@pytest.mark.parametrize(("references", "ceiling"), [(["a"], None), (["a", "b"], 0.0)])
def test_there_is_no_share_without_a_ceiling_or_of_zero(references: list[str], ceiling: float | None) -> None:
    """One reference has no others; two that share nothing have a ceiling that nothing can be divided by."""
    (row,) = evaluate([{"id": "1", "candidate": "a", "references": references}]).systems
    assert (row.ceiling, row.of_ceiling) == (ceiling, None)


def test_systems_stand_best_first() -> None:
    """Within a metric; equal ones stay in the order of the input."""
    assert [row.system for row in evaluate(ROWS).systems] == ["good", "terse"]
    equal = [{"id": "1", "system": name, "candidate": "a", "references": ["a"]} for name in "bca"]
    assert [row.system for row in evaluate(equal).systems] == ["b", "c", "a"]


@given(st.data())
def test_neither_order_nor_batches_change_a_bit(data: st.DataObject) -> None:
    """Cut anywhere and shuffled, the systems come out equal under ==, ceilings included."""
    rows = [
        {"id": str(i), "system": "AB"[i % 2], "candidate": "abcab"[: i % 6], "references": ["abc", "cab"[: i % 4]]}
        for i in range(12)
    ]
    whole = {row.system: row for row in totals([Batch.from_rows(rows)])}
    shuffled = data.draw(st.permutations(rows))
    cut = data.draw(st.integers(1, 11))
    parts = {row.system: row for row in totals([Batch.from_rows(shuffled[:cut]), Batch.from_rows(shuffled[cut:])])}
    assert parts == whole


def test_evaluate_and_stream_are_one_loop() -> None:
    """Segments and systems of both are the same."""
    results = evaluate(ROWS, ["charsim", "charsim(form=base)"])
    streamed = list(stream([Batch.from_rows(ROWS)], ["charsim", "charsim(form=base)"]))
    assert [part.columns() for part in results.segments] == [part.columns() for part in streamed]


def test_a_stream_holds_one_batch() -> None:
    """The next batch is asked for when the scores of the last were taken."""
    asked: list[int] = []

    def batches() -> Any:  # noqa: ANN401  a generator
        for i in range(3):
            asked.append(i)
            yield Batch.from_rows(ROWS)

    scores = stream(batches())
    next(scores)
    assert asked == [0]


def test_a_ceiling_is_worked_out_once_for_equal_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one batch and in different ones, for one object and for equal ones."""
    compiled: list[list[str]] = []
    original = Charsim.compile

    def counting(self: Charsim, references: list[str], *, threads: int | None = None) -> Any:  # noqa: ANN401
        compiled.append(references)
        return original(self, references, threads=threads)

    monkeypatch.setattr(Charsim, "score_batch", lambda _, candidates, *__, **___: np.zeros(len(candidates)))
    monkeypatch.setattr(Charsim, "compile", counting)
    rows = [{"id": str(i), "candidate": "x", "references": ["a", "b"]} for i in range(4)]
    rows.append({"id": "4", "candidate": "x", "references": ["ab"]})
    totals([Batch.from_rows(rows), Batch.from_rows(rows)])
    assert compiled == [["a", "b"]]


def test_metrics_of_several_scores_and_without_ceiling() -> None:
    """The headline has the metric's name, others are added to it; why there is no ceiling is said."""
    results = evaluate(ROWS, [Length(), "charsim"])
    (part,) = results.segments
    assert list(part.scores) == ["length", "length.half", "charsim"]
    row = results.systems["good"]
    assert (dict(row.scores), row.ceiling, row.no_ceiling) == (
        {"length": 9.0, "half": 4.5},
        None,
        "length has no such thing",
    )
    assert row.record() | {"mean": 9.0, "half": 4.5} == row.record()


@pytest.mark.parametrize(("ceilings", "why"), [(True, "no segment has two references"), (False, "not asked for")])
def test_a_missing_ceiling_has_its_reason(ceilings: bool, why: str) -> None:  # noqa: FBT001  a parameter of the test
    """One reference each, or nobody asked."""
    row = evaluate(ROWS[2:], ceilings=ceilings).systems["good"]
    assert (row.ceiling, row.no_ceiling) == (None, why)


def test_segments_carry_key_scores_other_columns_and_signature(tmp_path: Path) -> None:
    """The same rows as JSON lines, as Parquet and as a data frame."""
    segments = evaluate(ROWS).segments
    segments.to_jsonl(tmp_path / "s.jsonl")
    segments.to_parquet(tmp_path / "s.parquet")
    rows = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    assert list(rows[0]) == ["id", "system", "sample", "charsim", "topic", "candidate", "charsim.signature"]
    assert rows[1]["charsim"] == Charsim().score("the cat sat", ["the cat sat", "a cat sat"])
    assert rows[1]["charsim.signature"] == Charsim().signature
    assert [row["topic"] for row in rows] == ["cats", None, None, None]
    assert pq.read_table(tmp_path / "s.parquet").to_pylist() == rows
    pd.testing.assert_frame_equal(segments.to_pandas(), pd.read_parquet(tmp_path / "s.parquet"))
    assert len(segments) == 4


def test_systems_are_a_table_with_signatures(tmp_path: Path) -> None:
    """One row a system and metric."""
    systems = evaluate(ROWS, ["charsim", "charsim(form=base)"]).systems
    systems.to_parquet(tmp_path / "s.parquet")
    frame = systems.to_pandas()
    assert list(frame["metric"]) == ["charsim", "charsim", "charsim(form=base)", "charsim(form=base)"]
    assert list(frame["signature"]) == [row.signature for row in systems]
    assert frame["mean"].tolist() == [row.mean for row in systems]
    pd.testing.assert_frame_equal(frame, pd.read_parquet(tmp_path / "s.parquet"))


def test_rows_that_were_scored_before_keep_their_old_numbers() -> None:
    """A column of the name of a score moves to "input.NAME"."""
    (part,) = evaluate([{"id": "1", "candidate": "a", "references": ["a"], "charsim": 0.25}]).segments
    assert (part.columns()["charsim"], part.columns()["input.charsim"]) == ([1.0], [0.25])


def test_skipped_rows_are_told(tmp_path: Path) -> None:
    """With on_missing="skip" the results list the rows that were left out."""
    path = tmp_path / "x.jsonl"
    path.write_text('{"id": 1, "candidate": null, "reference": "a"}\n{"id": 2, "candidate": "a", "reference": "a"}\n')
    results = evaluate(path, on_missing="skip")
    assert len(results.skipped) == 1
    assert "x.jsonl:1" in results.skipped[0]
    assert [row.count for row in results.systems] == [1]


def test_an_unknown_system_is_a_key_error() -> None:
    """Systems are looked up as in a dictionary."""
    with pytest.raises(KeyError, match="nobody"):
        evaluate(ROWS).systems["nobody"]


def test_results_pickle() -> None:
    """They may come from another process."""
    results = evaluate(ROWS)
    again = pickle.loads(pickle.dumps(results))  # noqa: S301  made here
    assert again.systems == results.systems


def test_threads_reach_the_metric() -> None:
    """And a wrong number of them is an error."""
    with pytest.raises(InputError, match="threads is 0"):
        evaluate(ROWS, threads=0)


def test_public_names_are_these() -> None:
    """refsim.evaluate and refsim.stream are the functions tested here."""
    assert (refsim.evaluate, refsim.stream) == (evaluate, stream)
