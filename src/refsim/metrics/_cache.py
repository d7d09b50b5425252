"""Compiled references, kept across calls: bounded, shared by all threads, least recently used goes first.

A reward loop scores the same references thousands of times with one candidate a call; compiling them
each time would cost a hundred times the score.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from refsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from refsim.metrics._scorer import CharsimScorer

_DEFAULT_BYTES = 256 * 2**20


def _byte_limit() -> int:
    given = os.environ.get("REFSIM_CACHE_BYTES", str(_DEFAULT_BYTES))
    if not given.isdecimal():
        message = f"REFSIM_CACHE_BYTES is {given!r}; expected a whole number of bytes, 0 for no cache"
        raise InputError(message)
    return int(given)


class ReferenceCache:
    """Compiled sets by key, up to a number of bytes in all."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._sets: OrderedDict[Hashable, CharsimScorer] = OrderedDict()
        self._bytes = 0

    def get(self, key: Hashable, compile_set: Callable[[], CharsimScorer]) -> CharsimScorer:
        """Return the set kept under this key, or compile it and keep it if it fits."""
        with self._lock:
            found = self._sets.get(key)
            if found is not None:
                self._sets.move_to_end(key)
                return found
        # Compiled outside the lock: two threads may do the same work once, none waits for another's.
        made = compile_set()
        with self._lock:
            if key not in self._sets and made.nbytes <= self.limit:
                self._sets[key] = made
                self._bytes += made.nbytes
                while self._bytes > self.limit:
                    self._bytes -= self._sets.popitem(last=False)[1].nbytes
        return made

    def clear(self) -> None:
        """Forget every set."""
        with self._lock:
            self._sets.clear()
            self._bytes = 0


cache = ReferenceCache(_byte_limit())
