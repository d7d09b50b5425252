"""Threads: how many, and work on texts spread over them in contiguous pieces."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from refsim._numbers import whole_number
from refsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Below this many characters a second thread costs more than it brings (starting one: about 50 us).
_WORTH_A_THREAD = 30_000
# Below this many characters the kernel is done in half a second, as soon as an interrupt is noticed.
_WORTH_WAITING = 500_000

T = TypeVar("T")


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


def interruptible(work: Callable[[], T], size: int) -> T:
    """Return `work()`; where it is long, an interrupt (Ctrl-C) need not wait for its end.

    The kernel hears no signals: a pair of 6 million characters kept a terminal for 7 seconds. The main thread, which
    hears them, waits here instead. Work that was given up comes to its end behind, and nobody takes its result.
    """
    if size < _WORTH_WAITING or threading.current_thread() is not threading.main_thread():
        return work()
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001  raised again where it is waited for
            done.set_exception(error)

    # No pool: Python waits for the threads of one before it ends.
    threading.Thread(target=run, daemon=True).start()
    return done.result()


def spread(work: Callable[[int, int], None], sizes: NDArray[np.int64], threads: int | None) -> None:
    """Call `work(start, stop)` on contiguous pieces that cover 0 .. len(sizes), about equal in total size."""
    count = thread_count(threads)
    total = int(sizes.sum())
    pieces = max(1, min(count, len(sizes), total // _WORTH_A_THREAD))
    if pieces == 1:
        interruptible(lambda: work(0, len(sizes)), total)
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
