"""Memory that the kernel works in, and tables that it reads: sized here, never inside the kernel.

Every array is handed over as a built-in memoryview: the compiled kernel takes any buffer, and the
interpreted one must index plain Python numbers (a NumPy int32 would wrap around).
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# 512 KiB of edge rows: what stays in a core's second-level cache beside everything else.
_DENSE_EDGES = 1 << 17

_lock = threading.Lock()
_inverse: NDArray[np.float64] = np.zeros(1)
_harmonic: NDArray[np.float64] = np.zeros(1)


def order_weights(highest: int) -> tuple[memoryview, memoryview]:
    """Return 1/n and H_n for n = 0 .. `highest` at least, entry 0 being 0.

    H_n is summed in the order in which the kernel sums a score, so that identical texts give exactly 1.
    """
    global _inverse, _harmonic  # noqa: PLW0603 - grown once, shared by every thread
    with _lock:
        if len(_inverse) <= highest:
            orders = np.arange(max(highest + 1, 1024), dtype=np.float64)
            orders[0] = np.inf
            _inverse = 1.0 / orders
            _harmonic = np.cumsum(_inverse)
        return _inverse.data, _harmonic.data


def _renew_lock() -> None:
    """Take a new lock, as the cache of references does in a forked process."""
    global _lock  # noqa: PLW0603
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def power_of_two(least: int) -> int:
    """Return the smallest power of two that is at least `least` and at least 64."""
    return 1 << max(6, (least - 1).bit_length())


class Growth:
    """Room for one growing automaton of up to `characters` characters, none above `top`."""

    def __init__(self, characters: int, top: int, hashed: int) -> None:
        # np.empty takes address space, not memory: what is never written is never resident.
        self.nodes = np.empty(8 * (2 * characters + 2), np.int32)
        self.edges = np.empty(3 * (3 * characters + 1), np.int32)
        self.root = np.zeros(top + 1, np.int32)
        self.tally = np.zeros(4, np.int64)
        self.hash_room(hashed)

    def hash_room(self, hashed: int) -> None:
        """Make an empty hash table for about `hashed` edges."""
        self.keys = np.zeros(power_of_two(2 * hashed), np.int64)
        self.slots = np.empty(len(self.keys), np.int32)

    def views(self) -> tuple[memoryview, ...]:
        """Return nodes, edges, root, keys, slots, tally, as the kernel's functions take them."""
        arrays = (self.nodes, self.edges, self.root, self.keys, self.slots, self.tally)
        return tuple(array.data for array in arrays)


class RowSpace:
    """What `score_rows` works in, for candidates, references and rows up to these sizes."""

    def __init__(self, candidate: int, reference: int, heads: int, top: int) -> None:
        self.room = (candidate, reference, heads, top)
        self.growth = Growth(reference, top, reference // 32)
        self._scratch = (
            np.zeros(_DENSE_EDGES, np.int32),  # moves
            np.empty(max(1, 4 * candidate), np.int32),  # land
            np.full(candidate + 2 + 3 * reference + 3, -1, np.int32),  # work
            np.empty(heads, np.int32),  # ranks
            np.zeros(candidate + 3, np.int64),  # steps
            np.zeros(candidate + 3, np.int64),  # slopes
            np.zeros(max(candidate, reference) + 1),  # rhos
        )
        self.views = (*self.growth.views(), *(array.data for array in self._scratch))

    @property
    def alone(self) -> tuple[memoryview, ...]:
        """The views without those that only several references a row need."""
        *common, _, steps, _, _ = self.views
        return (*common, steps)

    def more_hash_room(self) -> None:
        """Bring a hash table four times as large."""
        self.growth.hash_room(2 * len(self.growth.keys))
        self.views = (*self.growth.views(), *(array.data for array in self._scratch))


# One call with one pair is what a reward loop makes, and making room for it took longer than scoring it.
# So each thread keeps room for texts of common length; the table by character is touched where it is used.
_COMMON = (2048, 2048, 64, 0x10FFFF)
_kept = threading.local()


def row_space(candidate: int, reference: int, heads: int, top: int) -> tuple[RowSpace, bool]:
    """Return room for such texts, and whether it is the thread's own, which must not be changed in size."""
    if all(size <= room for size, room in zip((candidate, reference, heads, top), _COMMON, strict=True)):
        space: RowSpace | None = getattr(_kept, "space", None)
        if space is None:
            space = _kept.space = RowSpace(*_COMMON)
        return space, True
    return RowSpace(candidate, reference, heads, top), False


def forget_row_space() -> None:
    """Drop the thread's own room: a call that an exception ended has not left it as it was."""
    _kept.space = None


def landing_room(longest: int) -> tuple[memoryview, ...]:
    """Return landings, a second array to sort them in, pending, and buckets, for texts up to `longest`."""
    room = max(1, longest)
    sizes = (room, room, 2 * room, 260)
    return tuple(np.empty(size, np.int64).data for size in sizes)


class Tables(threading.local):
    """Two tables of zeros a thread, which the kernel leaves zero: made once, for all calls that share them."""

    def __init__(self) -> None:
        self._kept = (np.zeros(0), np.zeros(0))

    def views(self, size: int) -> tuple[memoryview, memoryview]:
        """Return both, with `size` places each."""
        if len(self._kept[0]) < size:
            self._kept = (np.zeros(size), np.zeros(size))
        first, second = self._kept
        return first[:size].data, second[:size].data
