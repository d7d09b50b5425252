"""The rows in wall time: two threads beside one, and how long the command takes to start."""

# ruff: noqa: RUF001  (what is shown has signs of multiplication and dashes)

from __future__ import annotations

import hashlib
import subprocess
import sys
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from _harness import Job, Row, at_least, at_most, paired

from refsim.metrics.charsim import Charsim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _texts import Run

METRIC = Charsim()
_MEGABYTE = bytes(1 << 20)


def threads(run: Run) -> Iterator[Row]:
    """Two threads against one, in wall time."""

    def of_matrix(repeat: int) -> tuple[Job, Job]:
        two, one = (run.sentences(600, 60_000 + 10 * repeat + side) for side in (0, 5))
        return (
            Job(lambda: METRIC.score_matrix(*two, threads=2)),
            Job(lambda: METRIC.score_matrix(*one, threads=1)),
        )

    def of_batch(repeat: int) -> tuple[Job, Job]:
        sides = []
        for side in (0, 5):
            drawn = [run.sentences(1500, 70_000 + 100 * repeat + 10 * turn + side) for turn in range(8)]
            candidates = [text for part, _ in drawn for text in part]
            sides.append((candidates, [[text] for _, part in drawn for text in part]))
        (two, two_lists), (one, one_lists) = sides
        return (
            Job(lambda: METRIC.score_batch(two, two_lists, threads=2), len(two)),
            Job(lambda: METRIC.score_batch(one, one_lists, threads=1), len(one)),
        )

    def of_machine(_: int) -> tuple[Job, Job]:
        return Job(lambda: list(pool.map(_hash, (60, 60)))), Job(lambda: _hash(120))

    repeats = run.repeats(21)
    peer = "one thread (wall time)"
    # Two threads of C code that share nothing show what the machine had to give while this ran.
    with ThreadPoolExecutor(2) as pool:
        own = paired(of_machine, repeats, time.perf_counter)
    yield at_least("two threads, the machine itself: hashing 120 MB", None, own, peer)
    yield at_least("two threads, 600 × 600 matrix", 1.8, paired(of_matrix, repeats, time.perf_counter), peer)
    yield at_least(
        "two threads, batch of 12,000 pairs", 1.6, paired(of_batch, repeats, time.perf_counter), peer, "a pair"
    )


def _hash(megabytes: int) -> None:
    for _ in range(megabytes):
        hashlib.sha256(_MEGABYTE).digest()


def version(run: Run) -> Iterator[Row]:
    """How long the command takes to say its version."""
    command = str(Path(sysconfig.get_path("scripts")) / "refsim")

    def setup(_: int) -> tuple[Job, Job]:
        return (
            Job(lambda: subprocess.run([command, "--version"], check=True, capture_output=True)),  # noqa: S603  (our own)
            Job(lambda: subprocess.run([sys.executable, "-c", "import numpy"], check=True)),
        )

    timing = paired(setup, run.repeats(11), time.perf_counter)
    yield at_most("`refsim --version`, wall time", 2, timing, '`python -c "import numpy"`')
