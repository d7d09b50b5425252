"""charsim's speed, memory and growth, beside sacrebleu, fastchrf and RapidFuzz.

    python benchmarks/charsim.py [--only NAME ...] [--quick]

A full run takes a few minutes and writes benchmarks/charsim.md; with --only or --quick the table is
printed and the page stays as it is. What the peers need is in benchmarks/requirements.txt.

    _texts.py: texts  ->  _speed.py, _growth.py, _wall.py: rows, timed by _harness.py  ->  the page
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import _growth
import _speed
import _texts
import _wall
import numpy as np
from _harness import Row, machine, table
from _texts import Run

from refsim.metrics.charsim import Charsim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE_FILE = Path(__file__).with_suffix(".md")
LIBRARIES = ("refsim", "numpy", "sacrebleu", "fastchrf", "rapidfuzz")
METRIC = Charsim()

ROWS: dict[str, Callable[[Run], Iterator[Row]]] = {
    function.__name__: function
    for function in (
        _speed.batch,
        _speed.one_call,
        _speed.single,
        _speed.matrix,
        _speed.set_main,
        _speed.set_base,
        _speed.one_candidate_a_call,
        _speed.consensus,
        _growth.growth,
        _growth.near,
        _wall.threads,
        _wall.version,
        _growth.traps,
    )
}


# --- the numbers have to agree before their speed is of interest --------------------------------------


def check(run: Run) -> str:
    """Compare the fast paths with the plain ones on a sample, and say so; a difference ends the run."""
    candidates, references = run.sentences(40, 90_000)
    pairs = METRIC.score_batch(candidates, [[reference] for reference in references], threads=1)
    _same("matrix and batch", np.diagonal(METRIC.score_matrix(candidates, references, threads=1)), pairs)
    _same("batch on two threads", METRIC.score_batch(candidates, [[r] for r in references], threads=2), pairs)
    _same("single calls", [METRIC.score(c, [r]) for c, r in zip(candidates, references, strict=True)], pairs)
    group = run.corpus.sets[0][:300]
    ranked = METRIC.consensus(group, threads=1)
    sample = range(0, len(group), 37)
    others = [METRIC.score(group[i], group[:i] + group[i + 1 :]) for i in sample]
    _same("consensus and score against the others", ranked[list(sample)], others)
    for form in ("main", "base", "median"):
        metric = Charsim(form=form)  # type: ignore[arg-type]
        answers = run.answers(20, 900)
        compiled = metric.compile(group, threads=1).score_batch(answers, threads=1)
        _same(f"compiled and score, {form}", compiled, [metric.score(answer, group) for answer in answers])
    return "Matrix, batch, single calls, two threads, compiled sets and consensus agreed with `==` on a sample."


def _same(what: str, left: object, right: object) -> None:
    if not np.array_equal(np.asarray(left), np.asarray(right)):
        largest = np.abs(np.asarray(left) - np.asarray(right)).max()
        sys.exit(f"{what} differ by up to {largest:.3g}; there is no use in timing them")


PAGE = """# charsim: benchmark

Made by `python benchmarks/charsim.py` (`make bench`); do not edit. Texts: {origin}.

Machine: {machine}

## Method

Both sides run in one process and alternate (A B A B) after one repeat that is dropped; a ratio is taken within each
repeat; the table shows the median of these ratios and, in brackets, the lowest and the highest. CPU time of the process
and one thread, except where wall time is said; no garbage collection while the clock runs. Every repeat has texts that
no earlier one had (other samples, one replaced character in each text), so that a cache helps nobody. fastchrf's
`aggregate_chrf` and sacrebleu's and fastchrf's chrF compare n-grams up to order 6; charsim compares every order.
fastchrf is given all its work in one call, the fastest way it has. A few slow peers run on a part of the work, scaled.
Memory is the growth of the resident peak in a fresh process. Growth rows: time at one size against another, or the cost
per character at the largest size against the smallest. Two threads are measured first.
{check}

## Results

{table}"""


def main() -> None:
    """Run the benchmark that the command line asks for."""
    parser = argparse.ArgumentParser(description="charsim's speed, memory and growth beside its peers")
    parser.add_argument("--only", nargs="+", choices=ROWS, metavar="NAME", help=f"some rows: {', '.join(ROWS)}")
    parser.add_argument("--quick", action="store_true", help="two repeats, smaller texts")
    options = parser.parse_args()
    # fastchrf starts a thread per core at its first call and reads this then; one thread is asked of everyone.
    os.environ["RAYON_NUM_THREADS"] = "1"
    kernel = importlib.import_module("refsim.metrics._automaton").__file__ or ".py"
    if kernel.endswith(".py"):
        sys.exit("the kernel runs interpreted here; install a C compiler and refsim again before measuring")
    described = machine(LIBRARIES)
    run = Run(_texts.load(), options.quick)
    checked = check(run)
    names: list[str] = options.only or list(ROWS)
    parts: dict[str, list[Row]] = {}
    # Two threads first: memory that the other rows have freed would serve the one thread, and not the two.
    for name in sorted(names, key=lambda name: name != _wall.threads.__name__):
        start = time.perf_counter()
        parts[name] = list(ROWS[name](run))
        sys.stderr.write(f"{name}: {time.perf_counter() - start:.0f} s\n")
    rows = [row for name in names for row in parts[name]]
    page = PAGE.format(origin=run.corpus.origin, machine=described, check=checked, table=table(rows))
    sys.stdout.write(page)
    if not (options.only or options.quick):
        PAGE_FILE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
