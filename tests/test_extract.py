"""Extraction: answers taken out of raw output, by every entry point, and told where there is none."""

from __future__ import annotations

import json
import pickle
import warnings
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import refsim
from commands import run
from entry_points import check_row
from refsim import extraction
from refsim.errors import InputError
from refsim.metrics import parse_metric
from refsim.run import ChatMarkersWarning

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from refsim.extraction import NoExtract


def taken(text: str, *steps: str, no_extract: NoExtract = "keep") -> str:
    """Return what the steps leave of a text."""
    preparation = refsim.Preparation(extract=steps, no_extract=no_extract)
    return preparation.apply_candidates([text])[0]


@pytest.mark.parametrize(
    ("step", "text", "expected"),
    [
        ("after:</think>", "<think>a</think>\n\nYes. ", "Yes."),
        ("after:</think>", "<think>a</think>b<think>c</think> d", "d"),
        ("after:</think>", "no block", "no block"),
        ("until:\\n\\n", "first\nline\n\nsecond", "first\nline"),
        ("until:STOP", "never comes ", "never comes"),
        ("line:Answer:", "Answer: 1\nx\n  Answer: 2 \r\nend", "2"),
        ("line:Answer:", "The Answer: 3", "The Answer: 3"),
        ("line:A\\\\", "A\\ x", "x"),
        ("regex:\\d+", "1, then 22", "22"),
        ("regex:(\\d+) (?P<answer>\\w+)", "1 kg, 2 lb", "lb"),
        ("regex:(a)|b", "a b", "a"),
        ("regex:(a*)b", "ab b", ""),
        ("regex:(\\d+) kg|(?P<answer>\\d+) lb", "1 kg, 2 lb, 3 kg", "2"),
        ("regex:(a)|b", "b b", "b b"),
        ("regex:boxed", r"so \boxed{\frac{1}{2}} it is", r"\frac{1}{2}"),
        ("regex:hashes", "steps\n#### 1,234\n", "1,234"),
        ("regex:answer-tag", "<answer>a</answer><answer>\nb\n</answer>", "b"),
        ("regex:code-block", "Look:\n```python\nx = 1\ny = 2\n```\nDone.", "x = 1\ny = 2"),
    ],
)
def test_a_step_takes_out_its_part(step: str, text: str, expected: str) -> None:
    """The last of several, without white space around it."""
    assert taken(text, step) == expected


def test_steps_follow_one_another() -> None:
    """Each works on what the one before has left; one that finds nothing passes the text on."""
    text = "<think>Answer: 1</think>Reasons.\nAnswer: 42\n\nAnswer: 7"
    assert taken(text, "after:</think>", "until:\\n\\n", "line:Answer:") == "42"
    assert taken(text, "after:</nothing>", "line:Answer:") == "7"


@given(st.text("ab<>\n "), st.text("ab<>", min_size=1, max_size=2))
def test_marks_are_found_as_plain_text(text: str, mark: str) -> None:
    """`after` and `until` are what splitting at the last and at the first mark gives."""
    expected = text.rsplit(mark, maxsplit=1)[-1].strip(" \n") if mark in text else text
    assert taken(text, f"after:{mark}") == expected
    assert taken(text, f"until:{mark}") == text.split(mark, maxsplit=1)[0].strip(" \n")


def test_what_becomes_of_a_text_without_an_answer() -> None:
    """It stays, or is emptied, or is an error that names the index, the step and the text."""
    assert taken("abc", "after:x") == "abc"
    assert taken("abc", "after:x", no_extract="empty") == ""
    metric = refsim.Charsim(preparation=refsim.Preparation(extract=["after:</think>"], no_extract="error"))
    with pytest.raises(InputError, match=r"candidates\[1\]: extract 'after:</think>' finds nothing in 'b'"):
        metric.score_batch(["a</think>b", "b"], [["b"], ["b"]])
    with pytest.raises(InputError, match="<think> is never closed, in '<think>hm"):
        metric.score("<think>hm", ["b"])


@pytest.mark.parametrize(
    ("extract", "message"),
    [
        ("after:x", r"expected a list of steps: write \['after:x'\]"),
        ([1], "1 is no step"),
        (["before:x"], "expected after:MARK, until:MARK, line:PREFIX or regex:PATTERN"),
        (["after:"], "expected after:MARK"),
        (["after"], "expected after:MARK"),
        (["regex:("], "no regular expression"),
        (None, "expected a list of steps"),
    ],
)
def test_a_wrong_step_is_an_error(extract: object, message: str) -> None:
    """When the Preparation is made, not when the first text comes."""
    with pytest.raises(InputError, match=message):
        refsim.Preparation(extract=extract)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="expected one of 'keep', 'empty', 'error'"):
        refsim.Preparation(no_extract="drop")  # type: ignore[arg-type]


def test_a_pattern_that_never_ends_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeats inside repeats on a text made for them end after a while, with the pattern named."""
    monkeypatch.setattr(extraction, "_SECONDS", 0.05)
    extraction.finder.cache_clear()
    with pytest.raises(InputError, match=r"takes more than 0.05 s on a text of 61 characters"):
        taken("a" * 60 + "!", "regex:(?:a|aa)+$")
    extraction.finder.cache_clear()


STEPS = [["after:</think>"], ["until:;|()\\n", 'regex:(?P<answer>[a-z]+)"'], ["line:Answer: 😀;\\;"], ["regex:\x01\n"]]


@pytest.mark.parametrize("steps", STEPS)
def test_the_signature_reads_back(steps: Sequence[str], tmp_path: Path) -> None:
    """Name, pickle, compiled set: each gives the metric again; steps are a tuple, whatever they came as."""
    preparation = refsim.Preparation(extract=steps, no_extract="empty", casefold=True)
    assert preparation.extract == tuple(steps)
    metric = refsim.Charsim(form="base", preparation=preparation)
    assert parse_metric(str(metric)) == metric
    assert str(metric).isprintable()
    assert "|" not in str(metric)
    assert pickle.loads(pickle.dumps(metric)) == metric  # noqa: S301  written a moment ago
    assert hash(metric) == hash(refsim.Charsim(form="base", preparation=preparation))
    metric.compile(["the cat"]).save(tmp_path / "set")
    assert refsim.load(tmp_path / "set").metric == metric


def test_steps_change_the_signature() -> None:
    """Scores with and without extraction do not compare."""
    plain, other = refsim.Charsim(), refsim.Charsim(preparation=refsim.Preparation(extract=["after:x"]))
    assert plain.signature != other.signature
    assert other.signature.startswith('charsim(extract="after:x")')


def test_every_entry_point_extracts() -> None:
    """One call, a batch, a compiled set, a matrix, a file, the command: the value of the extracted candidate."""
    metric = refsim.Charsim(preparation=refsim.Preparation(extract=["after:</think>"]))
    check_row(metric, "<think>the dog</think> the cat sat", ["the cat sat on the mat", "a cat"])


def test_the_same_answer_inside_a_think_block_scores_one() -> None:
    """Exactly, and consensus takes answers out of candidates and support."""
    metric = refsim.Charsim(preparation=refsim.Preparation(extract=["after:</think>"]))
    answers = ["The cat sat.", "吾輩は猫である。", "החתול ישב על השטיח"]
    raw = [f"<think>\nHm, {answer} Or not?\n</think>\n\n{answer}\n" for answer in answers]
    assert metric.score_batch(raw, answers).tolist() == [1.0, 1.0, 1.0]
    assert metric.consensus(raw).tolist() == refsim.Charsim().consensus(answers).tolist()
    assert metric.consensus(answers, raw).tolist() == refsim.Charsim().consensus(answers, answers).tolist()


ROWS = [
    {"id": "1", "candidate": "<think>a</think>the cat", "references": ["the cat", "a cat"]},
    {"id": "2", "candidate": "<think>cut off", "references": ["the cat", "a cat"]},
    {"id": "3", "candidate": "the cat", "references": ["the cat", "a cat"]},
]


@pytest.fixture
def rows_file(tmp_path: Path) -> Path:
    """Three rows, one of them a block that is never closed."""
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def test_the_command_lists_rows_without_an_answer(rows_file: Path) -> None:
    """With file and line, on stderr and in JSON; with `error` the first ends the run."""
    done = run("score", rows_file, "--extract", "after:</think>", "--json")
    told = json.loads(done.out)["not_extracted"]
    assert told["count"] == 2
    assert "rows.jsonl:2: extract 'after:</think>' finds nothing, for <think> is never closed" in told["rows"][0]
    assert "refsim: nothing to extract in 2 rows:\n" in done.err
    assert "candidates hold" not in done.err
    failed = run("score", rows_file, "--extract", "after:</think>", "--no-extract", "error")
    assert failed.code == 2
    assert "rows.jsonl:2: extract" in failed.err
    chained = run(
        "score", rows_file, "--extract", "after:</think>", "--extract", "regex:(cat)", "--no-extract", "empty"
    )
    assert 'extract="after:</think>;regex:\\u0028cat\\u0029",no_extract=empty' in chained.out


def test_markers_that_nobody_extracts_get_one_notice(rows_file: Path) -> None:
    """On stderr from the command, as a warning with a slug from evaluate; none where they are extracted."""
    done = run("score", rows_file)
    assert done.err.count("2 of 3 candidates hold") == 1
    assert "--extract 'after:</think>'" in done.err
    with pytest.warns(ChatMarkersWarning, match="^chat-markers: 2 of 3 candidates hold"):
        refsim.evaluate(rows_file)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = refsim.evaluate(rows_file, 'charsim(extract="after:</think>")')
    assert len(results.not_extracted) == 2


@pytest.mark.parametrize("text", ["<|im_start|>assistant\nyes<|im_end|>", "[INST] q [/INST] yes", "yes<end_of_turn>"])
def test_the_notice_names_a_step_that_helps(text: str) -> None:
    """What closes a turn ends the answer; what opens it stands before."""
    counts = extraction.count_markers(["plain", text])
    described = extraction.describe_markers(counts, 2)
    assert described.startswith("1 of 2 candidates hold ")
    step = described.split("--extract ")[1].split("' takes")[0].strip("'")
    assert "yes" in taken(text, step)
    assert not extraction.count_markers(["plain", "a < b [x]"])
