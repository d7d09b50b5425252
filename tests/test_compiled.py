"""Directories of compiled sets by key, and scoring against them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from refsim import compiled as compiled_module
from refsim.compiled import open_compiled, save_sets
from refsim.errors import CompiledSetError, InputError, RefsimError
from refsim.metrics.charsim import Charsim
from refsim.run import Tally, stream
from refsim.segments import Batch

if TYPE_CHECKING:
    from pathlib import Path

SETS = {"Q/1": ["the cat sat", "a cat sat"], "猫": ["ねこ"]}
ROWS = [
    {"id": "1", "candidate": "the cat", "question": "Q/1"},
    {"id": "2", "candidate": "いぬ ねこ", "question": "猫"},
    {"id": "3", "candidate": "a cat", "question": "Q/1"},
]
BATCH = Batch.from_lists(
    candidates=[row["candidate"] for row in ROWS],
    extra={"question": [row["question"] for row in ROWS]},
)


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    """Return a directory with the two sets."""
    save_sets(SETS, tmp_path / "sets", Charsim(form="base"), on="question")
    return tmp_path / "sets"


def test_each_row_is_scored_against_the_set_of_its_key(sets: Path) -> None:
    """Scores, ceilings and totals are those of the same references in the rows."""
    metric = open_compiled(sets)
    tally = Tally()
    for part in stream([BATCH], [metric]):
        tally.add(part)
    (row,) = tally.systems()
    plain = Charsim(form="base")
    scores = [plain.score(row["candidate"], SETS[row["question"]]) for row in ROWS]
    assert part.scores["charsim(form=base)"].tolist() == scores
    assert np.isnan(part.ceilings["charsim(form=base)"]).tolist() == [False, True, False]
    assert (row.ceiling, row.ceiling_count) == (plain.compile(SETS["Q/1"]).ceiling(), 2)
    assert row.signature == plain.signature


def test_a_single_set_is_for_all_rows(tmp_path: Path) -> None:
    """Its signature names the references by their digest."""
    scorer = Charsim().compile(SETS["Q/1"])
    scorer.save(tmp_path / "one")
    metric = open_compiled(tmp_path / "one")
    assert metric.measure(BATCH).rows[:, 0].tolist() == scorer.score_batch(BATCH.candidates).tolist()
    assert metric.ceilings(BATCH).tolist() == [scorer.ceiling()] * 3
    assert metric.signature == scorer.signature


def test_a_single_set_takes_no_key(tmp_path: Path) -> None:
    """`on` would be ignored, so it is an error."""
    Charsim().compile(["a"]).save(tmp_path / "one")
    with pytest.raises(InputError, match="holds one compiled set, for all rows; leave --on question out"):
        open_compiled(tmp_path / "one", on="question")


def test_a_key_without_a_set_is_an_error_that_names_the_row(sets: Path) -> None:
    """Never a silent 0."""
    batch = Batch.from_lists(candidates=["a"], extra={"question": ["Q9"]})
    with pytest.raises(InputError, match=r"question is 'Q9', for which .* has no compiled set"):
        open_compiled(sets).measure(batch)


def test_few_sets_are_kept_when_room_is_short(sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets are loaded again when they are needed again; numbers do not change."""
    expected = open_compiled(sets).measure(BATCH).rows.tolist()
    monkeypatch.setattr(compiled_module, "_BYTES_KEPT", 1)
    metric = open_compiled(sets)
    assert metric.measure(BATCH).rows.tolist() == expected
    assert len(metric._loaded) == 1  # noqa: SLF001  what is kept shows nowhere else


def test_sets_replace_sets_and_nothing_else(tmp_path: Path) -> None:
    """A directory of other things is never removed for a slip in its name."""
    save_sets(SETS, tmp_path / "sets", Charsim(), on="question")
    save_sets({"a": ["b"]}, tmp_path / "sets", Charsim(), on="key")
    assert open_compiled(tmp_path / "sets").on == "key"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    with pytest.raises(InputError, match="other: exists and holds no compiled sets"):
        save_sets(SETS, tmp_path / "other", Charsim(), on="question")
    assert (tmp_path / "other" / "thesis.tex").exists()


def test_an_interrupt_leaves_the_sets_that_were_there(tmp_path: Path) -> None:
    """And no temporary directory."""
    save_sets({"a": ["b"]}, tmp_path / "sets", Charsim(), on="key")

    def interrupt(done: int, total: int) -> None:
        del done, total
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        save_sets(SETS, tmp_path / "sets", Charsim(), on="question", done=interrupt)
    assert open_compiled(tmp_path / "sets").on == "key"
    assert [path.name for path in tmp_path.iterdir()] == ["sets"]


def test_no_key_is_an_error(tmp_path: Path) -> None:
    """No reference, no set."""
    with pytest.raises(InputError, match="no value in the column 'question'"):
        save_sets({}, tmp_path / "sets", Charsim(), on="question")


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """It names the directory."""
    (tmp_path / "file").touch()
    with pytest.raises(RefsimError, match="cannot be written"):
        save_sets(SETS, tmp_path / "file" / "sets", Charsim(), on="question")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"refsim_sets": 2, "on": "q", "sets": {"a": "0"}}',
        '{"refsim_sets": 1, "on": "q", "sets": {}}',
        '{"refsim_sets": 1, "on": 3, "sets": {"a": "0"}}',
        '{"refsim_sets": 1, "on": "q", "sets": {"a": "../../elsewhere"}}',
        '{"refsim_sets": 1, "on": "q", "sets": {"a": 0}}',
        "[" * 100_000,
    ],
)
def test_a_damaged_index_is_an_error(sets: Path, content: str) -> None:
    """Damaged or hostile, it leads nowhere outside its directory."""
    (sets / "sets.json").write_text(content)
    with pytest.raises(CompiledSetError, match=r"sets\.json: .*; compile the references again"):
        open_compiled(sets)


def test_sets_of_different_metrics_are_an_error(sets: Path) -> None:
    """A directory that was put together by hand would mix numbers that must not be compared."""
    Charsim().compile(["x"]).save(sets / "2")
    index = json.loads((sets / "sets.json").read_text())
    index["sets"]["猫"] = "2"
    (sets / "sets.json").write_text(json.dumps(index))
    with pytest.raises(CompiledSetError, match="compiled for charsim, other sets"):
        open_compiled(sets).measure(BATCH)


def test_a_directory_without_a_set_is_an_error(tmp_path: Path) -> None:
    """Whether it is empty or not there."""
    with pytest.raises(CompiledSetError, match=r"header\.json"):
        str(open_compiled(tmp_path / "nothing"))
