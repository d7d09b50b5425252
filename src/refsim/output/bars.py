"""Bars of text: the parts of 1 side by side, a value on its track, a change to either side of an axis.

In colours parts differ by these, without colours by what they are drawn with; an output without Unicode has ASCII.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from refsim.output.page import Page, Piece

PARTS: Final = ("score", "shortness", "excess", "content")
STYLES: Final = {"score": "green", "shortness": "blue", "excess": "magenta", "content": "red"}
_GLYPHS: Final = {"score": "█", "shortness": "▓", "excess": "▒", "content": "░"}
_ASCII: Final = {"score": "#", "shortness": "=", "excess": "+", "content": "."}
# Parts below this share of the bar have no cell of their own.
_LEAST: Final = 0.005


def glyph(page: Page, name: str) -> Piece:
    """Return what a part of a bar is drawn with."""
    if page.ascii:
        return _ASCII[name], STYLES[name]
    return "█" if page.coloured else _GLYPHS[name], STYLES[name]


def stacked(page: Page, parts: Mapping[str, float], width: int) -> list[Piece]:
    """Return a bar of parts that sum to 1."""
    cells = share_cells([parts[name] for name in PARTS], max(len(PARTS), width))
    return [(glyph(page, name)[0] * size, STYLES[name]) for name, size in zip(PARTS, cells, strict=True)]


def rule(page: Page, value: float, width: int) -> list[Piece]:
    """Return a bar for a value in [0, 1], with the rest of its track."""
    full, track, half = ("=", "-", "") if page.ascii else ("━", "─", "╸")
    halves = round(value * width * 2) if half else 2 * round(value * width)
    bar = full * (halves // 2) + half * (halves % 2)
    return [(bar, STYLES["score"]), (track * (width - len(bar)), "dim")]


def diverging(page: Page, value: float, width: int) -> list[Piece]:
    """Return a bar for a value in [-1, 1], to the left or to the right of an axis."""
    bar = ("=" if page.ascii else "━") * max(1, round(abs(value) * width))
    left, right = (f"{bar:>{width}}", "") if value < 0 else (" " * width, bar)
    return [(left, "red"), ("|" if page.ascii else "│", "dim"), (right, "green")]


def share_cells(values: Sequence[float], width: int) -> list[int]:
    """Return how many of so many cells each value takes, which sum to 1: by largest remainders, 1 at least if any."""
    exact = [value * width for value in values]
    cells = [max(int(value), int(value > _LEAST * width)) for value in exact]
    while sum(cells) < width:
        cells[max(range(len(cells)), key=lambda i: exact[i] - cells[i])] += 1
    while sum(cells) > width:
        cells[min(range(len(cells)), key=lambda i: (cells[i] < 2, exact[i] - cells[i]))] -= 1  # noqa: PLR2004
    return cells
