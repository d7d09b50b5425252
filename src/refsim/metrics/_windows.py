"""Long texts in windows that overlap by half: each token takes its vector from the window with most context around it.

    body (B,) tokens  --plan-->  [Window]: read start:stop, keep keep_start:keep_stop of it

A text of more tokens than a model takes is read several times over; the parts kept are side by side and give the body.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple


class Window(NamedTuple):
    """Tokens `start`:`stop` of a body are read together, `keep_start`:`keep_stop` of them are kept."""

    start: int
    stop: int
    keep_start: int
    keep_stop: int


def plan_windows(length: int, room: int) -> list[Window]:
    """Return the windows over a body of `length` tokens, at most `room` in each; the last ends where the body does."""
    if length <= room:
        return [Window(0, length, 0, length)]
    starts = [*range(0, length - room, max(1, room // 2)), length - room]
    # In the middle of what two windows share, both see equally far.
    cuts = [0, *((next_ + start + room) // 2 for start, next_ in pairwise(starts)), length]
    return [
        Window(start, start + room, keep, end) for start, keep, end in zip(starts, cuts[:-1], cuts[1:], strict=True)
    ]
