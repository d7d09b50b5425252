"""Extraction on what models really write: output that loops, mentions of a tag, mixed line ends, many lists.

`definition` says in plain string operations what the steps are, and every chain of steps is held against it.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

import refsim
from commands import run
from entry_points import IN_PROCESS, OUTSIDE, WRITTEN
from refsim import extraction
from refsim.errors import InputError
from refsim.metrics import parse_metric
from refsim.run import stream
from refsim.segments import Batch
from refsim.whitespace import WHITE_SPACE

if TYPE_CHECKING:
    from pathlib import Path

OK, BAD = "<think>hm</think>the cat", "<think>hm"
# What repeats without an end, as the output of a model that loops.
LOOPS = ["\\boxed{", "{", "<answer>", "</answer>", "```x\n", "```\n", "#### ", "\\boxed{}", "Answer\n", "<think>"]
PIECES = [*LOOPS, "}", "a", " ", "\n", "\r\n", "\r", "```", "####", "Answer:", "\u2028", "\x1c", "\u3000", "</think>"]
STEPS = ["after:</think>", "until:\\n", "until:Answer:", "line:Answer:", "line: #", "after:\\r\\n", "after:a"]


def extracting(*steps: str, no_extract: extraction.NoExtract = "keep") -> refsim.Charsim:
    """Return charsim with these steps."""
    return refsim.Charsim(preparation=refsim.Preparation(extract=steps, no_extract=no_extract))


def definition(text: str, steps: list[str]) -> tuple[str, bool]:
    """Return what steps of `after`, `until` and `line` leave, and whether all found something: slow, and obvious."""
    complete = True
    for step in steps:
        kind, _, mark = step.partition(":")
        mark = mark.replace("\\n", "\n").replace("\\r", "\r")
        found: list[str] = []
        if kind == "after":
            found = [text[i + len(mark) :] for i in range(len(text)) if text[i:].startswith(mark)]
        elif kind == "until":
            found = [text[: next((i for i in range(len(text)) if text[i:].startswith(mark)), len(text))]]
        else:
            mark = mark.strip(WHITE_SPACE)
            lines = [line.lstrip(WHITE_SPACE) for line in text.replace("\r\n", "\n").split("\n")]
            found = [line[len(mark) :] for line in lines if line.startswith(mark)]
        complete &= bool(found)
        text = found[-1].strip(WHITE_SPACE) if found else text
    return text, complete


def raw() -> st.SearchStrategy[str]:
    """Return texts of pieces that steps look for."""
    return st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@given(raw(), st.lists(st.sampled_from(STEPS), min_size=1, max_size=3))
def test_chains_are_what_the_definition_gives(text: str, steps: list[str]) -> None:
    """The text that is left, whether all was found, and what each policy makes of it."""
    left, complete = definition(text, steps)
    preparation = refsim.Preparation(extract=steps)
    assert preparation.apply_candidates([text]) == [left]
    assert (preparation.not_extracted([text]) == {}) is complete
    emptied = refsim.Preparation(extract=steps, no_extract="empty").apply_candidates([text])
    assert emptied == [left if complete else ""]
    assert refsim.Preparation(extract=steps).apply([text]) == [text]  # references stay


@given(raw())
def test_named_steps_are_what_their_patterns_give(text: str) -> None:
    """The code without backtracking finds what a pattern finds, where that is quick enough to be asked."""
    patterns = {
        "boxed": r"\\boxed(?P<group>\{(?P<answer>(?:[^{}]|(?&group))*)\})",
        "code-block": r"(?sm)^[ \t]*```[^\n]*\n(?P<answer>.*?)^[ \t\r]*```[ \t\r]*$",
        "hashes": r"####[ \t]*(?P<answer>[^\n]+)",
        # An opening tag may stand inside, as plain text; then the inner one is the answer's.
        "answer-tag": r"(?s)<answer>(?P<answer>(?:(?!<answer>).)*?)</answer>",
    }
    for name, pattern in patterns.items():
        matches = list(regex.finditer(pattern, text))
        expected = matches[-1]["answer"].strip(WHITE_SPACE) if matches else text
        assert refsim.Preparation(extract=[f"regex:{name}"]).apply_candidates([text]) == [expected], name


@pytest.mark.parametrize("loop", LOOPS)
def test_output_that_loops_is_soon_done(loop: str) -> None:
    """A marker repeated 100,000 times ends no run: as patterns these took more than their two seconds."""
    started = time.perf_counter()
    for name in extraction.NAMED:
        refsim.Preparation(extract=[f"regex:{name}", "line:Answer:"]).apply_candidates([loop * 100_000])
    assert time.perf_counter() - started < 8


def test_a_tag_that_is_only_mentioned_is_not_the_answer() -> None:
    """Models talk about their format before they use it."""
    preparation = refsim.Preparation(extract=["regex:answer-tag"])
    assert preparation.apply_candidates(["I need <answer> tags. So: <answer>42</answer>"]) == ["42"]
    assert preparation.apply_candidates(["<answer>42</answer>, and so I close </answer>"]) == ["42"]


def test_the_error_names_the_row_that_the_caller_gave() -> None:
    """Lists of references are scored in groups, and the index is that of the whole batch."""
    metric = extracting("after:</think>", no_extract="error")
    many = [["a", "b"]] * 4 + [["c", "d"]] * 4
    singles = ["a"] * 50 + ["b"] * 50
    for candidates, references in (([OK] * 7 + [BAD], many), ([OK] * 99 + [BAD], singles)):
        with pytest.raises(InputError, match=rf"^candidates\[{len(candidates) - 1}\]: extract 'after:</think>'"):
            metric.score_batch(candidates, references)
        with pytest.raises(InputError, match=rf"^candidates\[{len(candidates) - 1}\]: "):
            metric.judge_batch(candidates, references)
    with pytest.raises(InputError, match=r"^candidates\[1\]: "):
        metric.score_matrix([OK, BAD], ["a"])
    with pytest.raises(InputError, match=r"^support\[1\]: "):
        metric.consensus([OK], support=[OK, BAD])


def test_a_slow_pattern_names_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """By index from the library, by file and line from a stream."""
    monkeypatch.setattr(extraction, "_SECONDS", 0.05)
    metric = extracting("regex:(?:x|xx)+$")
    candidates = ["x", "x" * 60 + "!"]
    with pytest.raises(InputError, match=r"^candidates\[1\]: extract .* takes more than 0.05 s"):
        metric.score_batch(candidates, ["x", "x"])
    rows = [{"id": str(i), "candidate": text, "references": ["x"]} for i, text in enumerate(candidates)]
    with pytest.raises(InputError, match=r"^rows\[1\]: extract .* takes more than 0.05 s"):
        list(stream([Batch.from_rows(rows)], [metric]))


def test_a_pattern_that_calls_itself_is_an_error() -> None:
    """It never ends, whatever the text, and takes all the memory or all the time that it may."""
    with pytest.raises(InputError, match=r"runs out of memory|takes more than 2 s"):
        extracting("regex:(?R)").score("a", ["a"])


def test_backslashes_of_a_pattern_stay_in_a_metric_by_name() -> None:
    r"""`charsim(extract=regex:\d+)` looks for digits; `\;` and `\\` are the only escapes between steps."""
    metric = parse_metric(r"charsim(extract=after:a\;b;line:A\\;regex:\d+)")
    assert metric == extracting("after:a;b", "line:A\\", r"regex:\d+")
    assert parse_metric(str(metric)) == metric


@given(st.lists(st.text(min_size=1, max_size=5).map("until:".__add__), min_size=1, max_size=3))
def test_every_signature_reads_back(steps: list[str]) -> None:
    """Whatever characters the marks are made of."""
    metric = extracting(*steps, no_extract="empty")
    assert parse_metric(str(metric)) == metric


def test_a_policy_without_steps_is_none() -> None:
    """Nothing can be missed: it is the default preparation, with the default's name."""
    preparation = refsim.Preparation(no_extract="empty")
    assert preparation == refsim.Preparation()
    assert str(refsim.Charsim(preparation=preparation)) == "charsim"


def test_a_prefix_of_white_space_is_an_error_and_before_a_prefix_it_is_nothing() -> None:
    """For white space before a line goes before it is looked at."""
    assert refsim.Preparation(extract=["line: Answer:"]).apply_candidates(["x\n  Answer: 5"]) == ["5"]
    with pytest.raises(InputError, match="every line begins with white space or none"):
        refsim.Preparation(extract=["line: \\t"])


@settings(max_examples=10)
@given(raw(), st.text("abo{}`#x", max_size=8))
def test_every_entry_point_has_the_value_of_the_extracted_candidate(text: str, reference: str) -> None:
    """A call, a batch, a set, a consensus, a stream, a saved set, evaluate, a process, the command line: one value."""
    metric = extracting("after:</think>", "until:\\n")
    references = [reference, "a"]  # as extracted, for support is extracted too
    expected = refsim.Charsim().score(definition(text, ["after:</think>", "until:\\n"])[0], references)
    entries = {**IN_PROCESS, **OUTSIDE, "refsim score": WRITTEN["refsim score"]}
    found = {name: entry(metric, text, references) for name, entry in entries.items()}
    assert found == dict.fromkeys(entries, expected)


def test_answers_are_missed_once_for_metrics_that_extract_alike() -> None:
    """Two forms of charsim with the same steps: one list of rows, in the order of the input."""
    rows = [{"id": str(i), "candidate": text, "references": ["a", "b"]} for i, text in enumerate((OK, BAD, "x"))]
    metrics = [f'charsim(extract="after:</think>",{more})' for more in ("form=base", "casefold")]
    (part,) = stream([Batch.from_rows(rows)], metrics)
    assert [line.partition(": ")[0] for line in part.not_extracted] == ["rows[1]", "rows[2]"]


def test_consensus_tells_what_score_tells(tmp_path: Path) -> None:
    """Rows without an answer by file and line, an error if asked for, and one notice where nothing is extracted."""
    path = tmp_path / "nbest.jsonl"
    texts = [OK, BAD, "<think></think>the cat"]
    path.write_text("".join(json.dumps({"id": "1", "sample": i, "candidate": t}) + "\n" for i, t in enumerate(texts)))
    done = run("consensus", path, "--extract", "after:</think>")
    assert done.code == 0
    assert f"nothing to extract in 1 row:\n  {path}:2: extract 'after:</think>' finds nothing" in done.err
    failed = run("consensus", path, "--extract", "after:</think>", "--no-extract", "error")
    assert (failed.code, f"{path}:2: extract" in failed.err) == (2, True)
    assert run("consensus", path).err.count("3 of 3 candidates hold </think>") == 1
