"""A page: lines of styled pieces and blocks of shaded text, fitted to a terminal, or as they are into a pipe.

pieces (text, style)  --line, flow-->  a terminal's lines, or a pipe's
text, levels          --block-->       lines of pieces, of a long text its beginning and where most is lost
"""

from __future__ import annotations

import shutil
from itertools import zip_longest
from typing import IO, TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.console import ConsoleDimensions
from rich.text import Text

from refsim.output import shading
from refsim.output.console import open_console
from refsim.output.shading import excerpt, runs_from_right, tokens, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from refsim.output.shading import Levels, Passage

Piece = tuple[str, str]

INDENT: Final = 2
_WIDEST, _PIPE_WIDTH = 100, 80
_GAP: Final = 4


class Page:
    """What is printed on: how wide it is, whether it has colours, and what may be drawn on it.

    `width` is that of the terminal, `page` what figures and texts take of it: longer lines are hard to read.
    """

    def __init__(self, file: IO[str]) -> None:
        """Look at what the output can show."""
        self.console = open_console(file)
        self.is_terminal = self.console.is_terminal
        if self.is_terminal and self.console.is_dumb_terminal:
            # rich takes any dumb terminal for one of 80 columns.
            self.console.size = ConsoleDimensions(*shutil.get_terminal_size())
        self.width = max(20, self.console.width if self.is_terminal else _PIPE_WIDTH)
        self.page = min(self.width, _WIDEST)
        self.coloured = self.console.color_system is not None and not self.console.no_color
        few = self.console.color_system in {"standard", "windows"}
        self.styles = shading.STYLES_8 if few else shading.STYLES_256
        self.ascii = not self.console.encoding.lower().startswith("utf")

    def line(self, *pieces: Piece) -> None:
        """Print one line as it is."""
        if self.is_terminal:
            self.console.print(Text.assemble(*pieces), soft_wrap=True)
        else:
            self.console.file.write("".join(text for text, _ in pieces).rstrip(" ") + "\n")

    def heading(self, name: str, *about: str) -> None:
        """Print the name of a section, below an empty line."""
        self.line()
        self.flow([[(name, "bold")], *([(part, "dim")] for part in about if part)], indent=0)

    def flow(self, items: Iterable[Sequence[Piece]], *, indent: int = INDENT) -> None:
        """Print items two spaces apart, in as many lines as they take."""
        line: list[Piece] = [(" " * indent, "")]
        used = indent
        for item in items:
            if not any(text for text, _ in item):
                continue
            size = sum(cell_len(text) for text, _ in item)
            if used > indent and used + 2 + size > self.width and self.is_terminal:
                self.line(*line)
                line, used = [(" " * max(indent, INDENT), "")], max(indent, INDENT)
            elif used > indent:
                line.append(("  ", ""))
                used += 2
            line += item
            used += size
        self.line(*line)

    def sentence(self, reason: str) -> None:
        """Print the sentence, on a terminal in lines that end between words."""
        if not self.is_terminal:
            self.line((reason, ""))
            return
        self.console.print(Text(reason, overflow="fold"), width=self.page)

    def block(  # noqa: PLR0913  what is shown, and how much of it
        self, text: str, levels: Levels, width: int, lines: int, head: int, *, places: int = 3, indent: int = INDENT
    ) -> list[list[Piece]]:
        """Return the lines of a text; on a terminal of a long one the `head`, and the `places` that lose most."""
        margin = " " * indent
        if not text:
            return [[(margin, ""), ("(empty)", "dim")]]
        if not self.is_terminal:
            return [[(margin + shading.bracketed(text, levels), "")]]
        passages = excerpt(levels, width, head=head, places=places, lines=lines)
        found: list[list[Piece]] = []
        for passage in passages:
            if passage.left_out:
                found.append([(margin, ""), (_left_out(passage.left_out, width), "dim")])
            found += self.passage(text, levels, passage, width, margin)
        if len(text) > passages[-1].stop:
            found.append([(margin, ""), (_left_out(len(text) - passages[-1].stop, width), "dim")])
        return found

    def passage(self, text: str, levels: Levels, passage: Passage, width: int, margin: str) -> list[list[Piece]]:
        """Return the lines of a part of a text; what runs from right to left begins on the right."""
        part = slice(passage.start, passage.stop)
        row = tokens(text[part], levels[part], brackets=not self.coloured)
        isolated = shading.has_right_to_left(text)
        right = isolated and runs_from_right(text)
        found: list[list[Piece]] = []
        for line in wrap(row, width):
            pieces = [(piece, self.styles[level]) for piece, level in line.pieces(isolated=isolated)]
            found.append([(margin + " " * (width - line.width) * right, ""), *pieces])
        return found

    def emit(self, block: Iterable[Sequence[Piece]]) -> None:
        """Print lines."""
        for pieces in block:
            self.line(*pieces)


def beside(blocks: Sequence[Sequence[Sequence[Piece]]], width: int) -> list[list[Piece]]:
    """Return two blocks side by side, the left one padded to the width of its column."""
    found = []
    for left, right in zip_longest(*blocks, fillvalue=()):
        size = sum(cell_len(text) for text, _ in left)
        found.append([*left, (" " * (width + _GAP - size), ""), *right])
    return found


def column_width(width: int) -> int:
    """Return how wide texts are of which two stand side by side."""
    return (width - INDENT - _GAP) // 2


def _left_out(count: int, width: int) -> str:
    text = f"... {count_characters(count)} left out ..."
    return text if len(text) <= width else "..."


def count_characters(count: int) -> str:
    """Return "1 character", "1,200 characters"."""
    return f"{count:,} {'character' if count == 1 else 'characters'}"
