"""Pieces put together to words, as they are shown: "un", "believ", "ably" tell nobody what is wrong.

    text, spans of pieces (T, 2)  --clusters-->  spans that cut no accent off  --boundaries-->  words, in order

A word boundary is that of Unicode's annex 29. In scripts without spaces it is everywhere, so that pieces stay apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from refsim.text import find_clusters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Place(NamedTuple):
    """Where a word is: `text[start:stop]`, made up of the pieces `first` to `last`, that one left out."""

    start: int
    stop: int
    first: int
    last: int


def find_words(text: str, spans: NDArray[np.int64]) -> list[Place]:
    """Return the words that pieces with these spans (T, 2), in the order of the text, make up: each piece is in one.

    A piece without any text of its own, such as the mark for a space, goes with the one behind it; one at the end,
    such as T5's mark, stays alone.
    """
    if not len(spans):
        return []
    starts, stops = _whole_clusters(text, spans)
    boundaries = _boundaries(text)
    found = [Place(starts[0], stops[0], 0, 1)]
    for i, (start, stop) in enumerate(zip(starts[1:], stops[1:], strict=True), 1):
        word = found[-1]
        blank = not text[start:stop].strip()
        if not text[word.start : word.stop].strip():
            found[-1] = Place(start if not blank else word.start, max(stop, word.stop), word.first, i + 1)
        elif start < word.stop or (start == word.stop and start not in boundaries and not blank):
            found[-1] = Place(word.start, max(stop, word.stop), word.first, i + 1)
        else:
            found.append(Place(start, stop, i, i + 1))
    return found


def _whole_clusters(text: str, spans: NDArray[np.int64]) -> tuple[Sequence[int], Sequence[int]]:
    """Return starts and stops moved to the ends of clusters: tokenizers leave accents and parts of emoji out."""
    starts, stops = spans[:, 0], spans[:, 1]
    if not text.isascii():
        edges = np.cumsum([0, *map(len, find_clusters(text))])
        some = stops > starts
        starts = np.where(some, edges[np.searchsorted(edges, starts, side="right") - 1], starts)
        stops = np.where(some, edges[np.searchsorted(edges, stops, side="left")], stops)
    return starts.tolist(), stops.tolist()


def _boundaries(text: str) -> set[int]:
    import regex  # noqa: PLC0415  it loads in 20 ms and few need it

    return {match.start() for match in regex.finditer(r"\b", text, regex.WORD)}
