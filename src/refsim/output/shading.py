"""Texts with the parts of them marked that are held, or lost: background colours, or brackets where there are none.

    text, a level for each character  --excerpt-->  passages  --tokens-->  clusters with widths  --wrap-->  lines

A level says how well a character is held: 0 by nothing, 4 by (nearly) all. Without colour `[...]` stands around what
nothing holds and `{...}` around what less than half does. A line breaks after white space where there is some, and
never within a cluster; a text from right to left is isolated, so that what stands beside it stays in its place.
"""

from __future__ import annotations

import itertools
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from rich.cells import cell_len

from refsim._printable import printable
from refsim.text import find_clusters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Levels = NDArray[np.int8]

NONE, FEW, SOME, MOST, ALL = range(5)
UNMARKED = 5

# Shares of the references from which on the levels FEW, SOME, MOST and ALL stand; SOME ends at a half.
SHARES: Final = (0.0, 0.1, 0.5, 0.9)
LEVEL_NAMES: Final = ("none", "below 10%", "below 50%", "50% or more", "90% or more")

# Both colours are given, so that a text can be read on dark and on light terminals alike.
STYLES_256: Final = (*(f"color(231) on color({colour})" for colour in (88, 94, 58, 22, 28)), "")
STYLES_8: Final = (*(f"white on {colour}" for colour in ("red", "magenta", "blue", "cyan", "green")), "")

_OPENING: Final = ("[", "{", "{", "", "", "")
_CLOSING: Final = ("]", "}", "}", "", "", "")
_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"


@dataclass(frozen=True, slots=True)
class Token:
    """A cluster as it is shown, its level and its width in columns; `ends` is "space", "line" or nothing."""

    text: str
    level: int
    width: int
    ends: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a text that is shown, and how many characters before it are not."""

    start: int
    stop: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Line:
    """A line of tokens, and its width in columns."""

    tokens: tuple[Token, ...]
    width: int

    def pieces(self, *, isolated: bool) -> Iterator[tuple[str, int]]:
        """Yield the texts of the line with their levels, runs of a level together."""
        if isolated:
            yield _ISOLATE, UNMARKED
        run: list[str] = []
        level = UNMARKED
        for token in self.tokens:
            if run and token.level != level:
                yield "".join(run), level
                run = []
            level = token.level
            run.append(token.text)
        if run:
            yield "".join(run), level
        if isolated:
            yield _END_ISOLATE, UNMARKED


def excerpt(levels: Levels, width: int, *, head: int, places: int, lines: int) -> list[Passage]:
    """Return the parts of a text to show: all of it, or `head` lines and the `places`, of 2 lines, that lose most.

    `lines` is how many lines a text may have that is shown whole.
    """
    size = len(levels)
    if size <= lines * width:
        return [Passage(0, size, 0)]
    first, window = head * width, 2 * width
    losses = np.clip(ALL - levels.astype(np.int64), 0, None)
    losses[:first] = 0
    starts = _heaviest(losses, window, places)
    if not starts:
        first = max(first, window)
    parts = [(0, first)] * bool(first) + [(start, min(start + window, size)) for start in starts]
    found: list[Passage] = []
    shown = 0
    for start, stop in parts:
        if start == shown and found:
            found[-1] = Passage(found[-1].start, stop, found[-1].left_out)
        else:
            found.append(Passage(start, stop, start - shown))
        shown = stop
    return found


def _heaviest(losses: NDArray[np.int64], window: int, places: int) -> list[int]:
    """Return where the windows begin that lose most, apart from each other, in order; the leftmost of equal ones."""
    losses = losses.copy()
    starts: list[int] = []
    for _ in range(places):
        sums = np.cumsum(np.concatenate([[0], losses]))
        totals = sums[window:] - sums[:-window]
        # What is not shown twice costs more than what it could show.
        for start in starts:
            totals[max(0, start - window + 1) : start + window] = -1
        start = int(totals.argmax())
        if totals[start] <= 0:
            break
        # Of the windows that hold all of a short loss the one in the middle shows what stands on both sides.
        as_good = totals[start : start + window] == totals[start]
        starts.append(start + (int(as_good.argmin()) // 2 if not as_good.all() else 0))
    return sorted(starts)


def tokens(text: str, levels: Levels, *, brackets: bool) -> list[Token]:
    """Return the clusters of a text with the lowest level in each; with `brackets`, these are part of the clusters."""
    clusters, least = _clusters(text, levels)
    found: list[Token] = []
    marks = [_OPENING[level] for level in least]
    before, after = ["", *marks], [*marks[1:], ""]
    for i, (cluster, level) in enumerate(zip(clusters, least, strict=True)):
        shown = printable(cluster)
        if brackets and marks[i]:
            shown = marks[i] * (before[i] != marks[i]) + shown + _CLOSING[level] * (after[i] != marks[i])
        ends = "line" if "\n" in cluster else "space" if cluster.isspace() else ""
        found.append(Token(shown, level, cell_len(shown), ends))
    return found


def bracketed(text: str, levels: Levels) -> str:
    """Return a text on one line with its brackets: what `tokens` give, joined, at the pace of a book."""
    clusters, least = _clusters(text, levels)
    if not clusters:
        return ""
    marks = np.array([0, 1, 1, 2, 2, 2], np.int8)[least]
    edges = [0, *(np.flatnonzero(np.diff(marks)) + 1).tolist(), len(clusters)]
    parts = []
    for start, stop in itertools.pairwise(edges):
        level = int(least[start])
        parts += [_OPENING[level], printable("".join(clusters[start:stop])), _CLOSING[level]]
    return isolated("".join(parts))


def _clusters(text: str, levels: Levels) -> tuple[list[str], list[int]]:
    """Return the clusters of a text, for no mark may stand within one, and the lowest level in each."""
    clusters = find_clusters(text)
    if len(clusters) == len(text):
        return clusters, levels.tolist()
    starts = np.cumsum([0, *map(len, clusters)])[:-1]
    return clusters, np.minimum.reduceat(levels, starts).tolist() if len(text) else []


def wrap(row: Sequence[Token], width: int) -> list[Line]:
    """Return lines of at most so many columns, broken after white space that is not far from the end, else anywhere."""
    lines: list[Line] = []
    line: list[Token] = []
    used, space, after_space = 0, 0, 0
    for token in row:
        if line and used + token.width > width:
            if not 0 < used - after_space <= width // 3:
                space, after_space = len(line), used
            lines.append(Line(tuple(line[:space]), after_space))
            line, used = line[space:], used - after_space
            space = after_space = 0
        line.append(token)
        used += token.width
        if token.ends:
            space, after_space = len(line), used
        if token.ends == "line":
            lines.append(Line(tuple(line), used))
            line, used, space, after_space = [], 0, 0, 0
    if line:
        lines.append(Line(tuple(line), used))
    return lines


def isolated(text: str) -> str:
    """Return a text so that it does not turn what stands beside it: as it is, unless it runs from right to left."""
    return f"{_ISOLATE}{text}{_END_ISOLATE}" if has_right_to_left(text) else text


def runs_from_right(text: str) -> bool:
    """Say if a text runs from right to left, by its first letter that has a direction."""
    for character in text:
        direction = unicodedata.bidirectional(character)
        if direction in {"L", "R", "AL"}:
            return direction != "L"
    return False


def has_right_to_left(text: str) -> bool:
    """Say if anything in a text runs from right to left."""
    return not text.isascii() and any(unicodedata.bidirectional(character) in {"R", "AL"} for character in text)
