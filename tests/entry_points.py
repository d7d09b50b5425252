"""One driver through every way of asking for a charsim score: each must give the same bits.

    row --score, score_batch, compile, load, matrix, consensus, measure, stream, evaluate, CLI, process--> one number

`check_row` asserts that all of them are equal with == and next to the oracle's exact value. `interpreted_kernel`
puts the kernel's source, run as Python, in the place of the compiled one.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import multiprocessing
import pickle
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pytest

import refsim
from oracles import charsim as oracle
from refsim import cli
from refsim.metrics import _kernel, _threads
from refsim.metrics._cache import cache as cache_of_sets
from refsim.run import stream
from refsim.segments import Batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import ModuleType

    from refsim import Charsim

# Other rows, that stand around the one in question when it is scored inside a batch.
NEIGHBOURS: list[tuple[str, list[str]]] = [
    ("", [""]),
    ("abab", ["ab", "", "bab", "bab"]),
    ("吾輩は猫である", ["吾輩は猫だ", "吾輩は犬である"]),
    ("\0$^\ud800", ["^", "$"]),
]


def check_row(metric: Charsim, candidate: str, references: Sequence[str]) -> float:
    """Assert that every entry point gives one and the same score, next to the oracle's, and return it."""
    found = {name: entry(metric, candidate, list(references)) for name, entry in IN_PROCESS.items()}
    _assert_one_value(metric, candidate, references, found)
    prepared = metric.preparation.apply_candidates([candidate])[0]
    exact = oracle.score(prepared, metric.preparation.apply(references), metric.form, metric.max_order)
    assert found["score"] == pytest.approx(float(exact), rel=0, abs=1e-12), (metric, candidate, references)
    return found["score"]


def check_row_outside(metric: Charsim, candidate: str, references: Sequence[str]) -> None:
    """The same for the ways that cost milliseconds: files, the command line, another process."""
    entries = {**OUTSIDE, **(WRITTEN if can_be_written([candidate, *references]) else {})}
    found = {name: entry(metric, candidate, list(references)) for name, entry in entries.items()}
    _assert_one_value(metric, candidate, references, {"score": metric.score(candidate, references)} | found)


def _assert_one_value(metric: Charsim, candidate: str, references: Sequence[str], found: dict[str, float]) -> None:
    others = {name: value for name, value in found.items() if value != found["score"]}
    assert not others, f"{metric} {candidate!r} {list(references)!r}: score {found['score']!r}, but {others}"


def can_be_written(texts: Sequence[str]) -> bool:
    r"""Whether JSON holds the texts: "\ud83d" next to "\ude00" would come back as one character."""
    return all(json.loads(json.dumps(text)) == text for text in texts)


def _one(values: Sequence[float] | object) -> float:
    (value,) = values  # type: ignore[misc]
    return float(value)


def _alone(metric: Charsim, candidate: str, references: list[str]) -> float:
    return _one(metric.score_batch([candidate], [references], threads=1))


def _in_a_batch(metric: Charsim, candidate: str, references: list[str], threads: int = 1) -> float:
    asked = (candidate, references), (candidate, list(references))
    rows = [*NEIGHBOURS[:2], asked[0], *NEIGHBOURS[2:], asked[1], ("b", references)] * 2
    with mock.patch.object(_threads, "_WORTH_A_THREAD", 1):
        scores = metric.score_batch([row[0] for row in rows], [row[1] for row in rows], threads=threads)
    # The row stands four times in the batch, twice with the same list object: one value.
    return _one({float(score) for score, row in zip(scores, rows, strict=True) if row is asked[0] or row is asked[1]})


def _in_a_threaded_batch(metric: Charsim, candidate: str, references: list[str]) -> float:
    return _in_a_batch(metric, candidate, references, threads=3)


def _among_many(metric: Charsim, candidate: str, references: list[str]) -> float:
    """Return the score among so many other lists that none is worth compiling or keeping."""
    others = [[f"{i}", "ab", "$"] for i in range(70)]
    scores = metric.score_batch(["a", *["b"] * 70, candidate], [["a", ""], *others, references], threads=1)
    return float(scores[-1])


def _among_many_candidates(metric: Charsim, candidate: str, references: list[str]) -> float:
    """Return the score beside so many other candidates of the same list that it is worth compiling."""
    candidates = [candidate, *["ab"] * 60, candidate]
    scores = metric.score_batch(candidates, [list(references) for _ in candidates])
    return _one({float(scores[0]), float(scores[-1])})


def _compiled(metric: Charsim, candidate: str, references: list[str]) -> float:
    return _one(metric.compile(references).score_batch([candidate]))


def _compiled_among_others(metric: Charsim, candidate: str, references: list[str]) -> float:
    scorer = metric.compile(references)
    candidates = ["ab", candidate, "", "^$", candidate, *references]
    with mock.patch.object(_threads, "_WORTH_A_THREAD", 1):
        scores = scorer.score_batch(candidates, threads=2)
    return _one({float(scores[1]), float(scores[4])})


def _pickled_scorer(metric: Charsim, candidate: str, references: list[str]) -> float:
    scorer = pickle.loads(pickle.dumps(metric.compile(references)))  # noqa: S301
    return _one(scorer.score_batch([candidate]))


def _support(metric: Charsim, candidate: str, references: list[str]) -> float:
    return float(metric.consensus(["b", candidate, ""], support=references)[1])


def _finished(metric: Charsim, candidate: str, references: list[str]) -> float:
    batch = Batch.from_lists(candidates=[candidate], references=[references])
    stats = metric.measure(batch)
    total = metric.finish_total(stats.total())
    # A total lies on a grid of 2**-60, finer than a score's last bit but for scores below 2**-8.
    assert total["charsim"] == pytest.approx(metric.finish(stats)["charsim"][0], rel=0, abs=2.0**-60)
    return _one(metric.finish(stats)["charsim"])


def _streamed(metric: Charsim, candidate: str, references: list[str]) -> float:
    batches = [
        Batch.from_lists(candidates=[candidate, "a"], references=[references, ["a", "b"]]),
        Batch.from_lists(candidates=["", candidate], references=[["a"], references]),
    ]
    first, second = (part.scores[str(metric)] for part in stream(batches, [metric], ceilings=False))
    return _one({float(first[0]), float(second[1])})


def _matrix(metric: Charsim, candidate: str, references: list[str]) -> float:
    """Return the cell of a matrix, if there is a single reference to ask about; else the plain score."""
    if len(set(references)) > 1:
        return metric.score(candidate, references)
    matrix = metric.score_matrix(["ab", candidate], [*references, "aab"])
    top = metric.score_matrix([candidate], references[:1], top_k=1)
    return _one({float(matrix[1][0]), float(top.scores[0][0])})


def _function(metric: Charsim, candidate: str, references: list[str]) -> float:
    if metric != refsim.Charsim():
        return metric.score(candidate, references)
    return refsim.charsim(candidate, references)


IN_PROCESS: dict[str, Callable[[Charsim, str, list[str]], float]] = {
    "score": lambda metric, candidate, references: metric.score(candidate, references),
    "refsim.charsim": _function,
    "score_batch, alone": _alone,
    "score_batch, among others": _in_a_batch,
    "score_batch, threads": _in_a_threaded_batch,
    "score_batch, among many lists": _among_many,
    "score_batch, among many candidates": _among_many_candidates,
    "compile": _compiled,
    "compile, among others": _compiled_among_others,
    "compile, pickled": _pickled_scorer,
    "score_matrix": _matrix,
    "consensus with support": _support,
}


@cache
def _folder() -> Path:
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Path(folder.name)


@cache
def _other_process() -> ProcessPoolExecutor:
    pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
    atexit.register(pool.shutdown)
    return pool


def _in_a_process(metric: Charsim, candidate: str, references: list[str]) -> float:
    return _other_process().submit(metric.score, candidate, references).result(timeout=60)


def _loaded(metric: Charsim, candidate: str, references: list[str]) -> float:
    path = _folder() / "set.refsim"
    metric.compile(references).save(path)
    scorer = refsim.load(path)
    assert scorer.metric == metric
    return _one(scorer.score_batch([candidate]))


def _evaluated(metric: Charsim, candidate: str, references: list[str]) -> float:
    rows = [
        {"id": "1", "candidate": "a", "references": ["b"]},
        {"id": "2", "candidate": candidate, "references": references},
    ]
    results = refsim.evaluate(rows, metrics=[metric], ceilings=False)
    return float(results.segments.to_arrow()[str(metric)][1].as_py())


def _command_line(metric: Charsim, candidate: str, references: list[str]) -> float:
    rows = [
        {"id": "1", "candidate": candidate, "references": references},
        {"id": "2", "candidate": "", "references": ["a"]},
    ]
    source, target = _write("rows.jsonl", rows), _folder() / "scores.jsonl"
    run_cli("score", source, "--metric", str(metric), "--per-segment", target)
    return _first_score(target, metric)


def _compiled_by_command(metric: Charsim, candidate: str, references: list[str]) -> float:
    source = _write("references.jsonl", [{"id": str(i), "reference": text} for i, text in enumerate(references)])
    rows = _write("candidates.jsonl", [{"id": "1", "candidate": candidate}])
    compiled, target = _folder() / "cli.refsim", _folder() / "scores.jsonl"
    orders = () if metric.max_order is None else ("--max-order", str(metric.max_order))
    run_cli("compile", source, "--form", metric.form, *orders, "--output", compiled)
    run_cli("score", rows, "--compiled", compiled, "--per-segment", target)
    return _first_score(target, metric)


def _first_score(path: Path, metric: Charsim) -> float:
    with path.open(encoding="utf-8", newline="\n") as lines:  # a text may hold U+2028, which ends no line of JSON
        return float(json.loads(lines.readline())[str(metric)])


def _write(name: str, rows: Sequence[Mapping[str, object]]) -> Path:
    path = _folder() / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def run_cli(*arguments: str | Path) -> str:
    """Run the command in this process and return what it printed; it must end well."""
    printed, complaints = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(complaints):
        code = cli.main(list(map(str, arguments)))
    assert code == 0, f"refsim {' '.join(map(str, arguments))}: {complaints.getvalue()}"
    return printed.getvalue()


OUTSIDE: dict[str, Callable[[Charsim, str, list[str]], float]] = {
    "finish": _finished,
    "stream": _streamed,
    "load": _loaded,
    "evaluate": _evaluated,
    "another process": _in_a_process,
}
WRITTEN: dict[str, Callable[[Charsim, str, list[str]], float]] = {
    "refsim score": _command_line,
    "refsim compile": _compiled_by_command,
}


@contextmanager
def interpreted_kernel() -> Iterator[None]:
    """Let all of charsim run on the kernel's source, interpreted, for the time of the block."""
    users = [m for name, m in sys.modules.items() if name.startswith("refsim.metrics.") and hasattr(m, "kernel")]
    assert users, "no module of refsim.metrics uses the kernel"
    assert not _interpreted().compiled()
    with ExitStack() as stack:
        for user in users:
            stack.enter_context(mock.patch.object(user, "kernel", _interpreted()))
        # Sets that the other kernel compiled must not answer here, nor these there.
        cache_of_sets.clear()
        stack.callback(cache_of_sets.clear)
        yield


@cache
def _interpreted() -> ModuleType:
    return _kernel.interpreted()
