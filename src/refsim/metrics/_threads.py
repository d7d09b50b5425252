"""Threads: how many, and work on texts spread over them in contiguous pieces."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from refsim._numbers import whole_number
from refsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Below this many characters a second thread costs more than it brings (starting one: about 50 us).
_WORTH_A_THREAD = 30_000


def _usable_cores() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    else:  # noqa: RET505 - a type checker reads the one branch or the other
        return os.cpu_count() or 1


def thread_count(threads: int | None) -> int:
    """Return how many threads to use: what was asked for, else REFSIM_THREADS, else every usable core."""
    if threads is None:
        asked = os.environ.get("REFSIM_THREADS")
        if asked is None:
            return _usable_cores()
        count = whole_number(asked)
        if count is None or count < 1:
            message = f"REFSIM_THREADS is {asked!r}; expected a whole number from 1 on"
            raise InputError(message)
        return count
    if type(threads) is not int or threads < 1:
        message = f"threads is {threads!r}; expected a whole number from 1 on, or None for every usable core"
        raise InputError(message)
    return threads


def spread(work: Callable[[int, int], None], sizes: NDArray[np.int64], threads: int | None) -> None:
    """Call `work(start, stop)` on contiguous pieces that cover 0 .. len(sizes), about equal in total size."""
    count = thread_count(threads)
    total = int(sizes.sum())
    pieces = max(1, min(count, len(sizes), total // _WORTH_A_THREAD))
    if pieces == 1:
        work(0, len(sizes))
        return
    # Four pieces a thread: texts differ in cost by more than their length tells.
    marks = np.searchsorted(np.cumsum(sizes), np.linspace(0, total, 4 * pieces + 1)[1:-1])
    edges = [0, *sorted(set(marks.tolist()) - {0, len(sizes)}), len(sizes)]
    with ThreadPoolExecutor(pieces) as pool:
        futures = [pool.submit(work, start, stop) for start, stop in pairwise(edges)]
        try:
            for future in futures:
                future.result()
        except BaseException:
            # An interrupt, or an error in one piece: what has not begun need not.
            pool.shutdown(wait=False, cancel_futures=True)
            raise
