"""Compiled references, kept across calls: bounded, shared by all threads, least recently used goes first.

A reward loop scores the same references thousands of times with one candidate a call; compiling them
each time would cost a hundred times the score.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from refsim._numbers import whole_number
from refsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from refsim.metrics._scorer import CharsimScorer

# Room for some 15 million characters of references: 37 sets of 3,000 answers each, in one measured case.
_DEFAULT_BYTES = 2**30
_MOST_MARKS = 4096


def _byte_limit() -> int:
    given = os.environ.get("REFSIM_CACHE_BYTES", str(_DEFAULT_BYTES))
    limit = whole_number(given)
    if limit is None or limit < 0:
        message = f"REFSIM_CACHE_BYTES is {given!r}; expected a whole number of bytes, 0 for no cache"
        raise InputError(message)
    return limit


class ReferenceCache:
    """Compiled sets by key, up to a number of bytes in all, and which keys were asked for of late."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._sets: OrderedDict[Hashable, CharsimScorer] = OrderedDict()
        self._asked: OrderedDict[int, None] = OrderedDict()
        self._bytes = 0

    def look_up(self, key: Hashable) -> tuple[CharsimScorer | None, bool]:
        """Return the set kept under this key if there is one, and whether it was asked for before."""
        with self._lock:
            found = self._sets.get(key)
            if found is not None:
                self._sets.move_to_end(key)
                return found, True
            mark = hash(key)
            again = mark in self._asked
            self._asked[mark] = None
            self._asked.move_to_end(mark)
            if len(self._asked) > _MOST_MARKS:
                self._asked.popitem(last=False)
            return None, again

    def get(self, key: Hashable, compile_set: Callable[[], CharsimScorer]) -> CharsimScorer:
        """Return the set kept under this key, or compile it and keep it if it fits."""
        found, _ = self.look_up(key)
        if found is not None:
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
            self._asked.clear()
            self._bytes = 0

    def renew_lock(self) -> None:
        """Take a new lock: in a forked process the old one may be held by a thread that is not there."""
        self._lock = threading.Lock()


cache = ReferenceCache(_byte_limit())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=cache.renew_lock)
