"""An explanation on a terminal, or in a pipe: what a score is made of, and what the texts have to do with it.

    signature, sentence, the score and its losses in one bar
    the candidate, shaded by how many references hold it        shading.py
    the references closest to it, shaded by what it holds of them
    order by order: what each gives, and which side binds
    what most references share and the candidate lacks
    beside another candidate: both, and what it changes

On a terminal everything fits the width, and of a very long text there is the beginning and where most is lost. In a
pipe texts are whole, on one line each, and marked by brackets.
"""

from __future__ import annotations

import shutil
from itertools import zip_longest
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np
from rich.cells import cell_len
from rich.console import ConsoleDimensions
from rich.text import Text

from refsim.output import shading
from refsim.output.console import open_console, printable
from refsim.output.shading import ALL, FEW, NONE, excerpt, runs_from_right, tokens, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from refsim.metrics._explain import Explanation, Missing
    from refsim.metrics._orders import Band
    from refsim.output.shading import Levels, Passage

    Piece = tuple[str, str]

_MOST_SUPPORTERS, _MOST_MISSING, _MOST_CHANGES = 3, 5, 6
_WIDEST, _PIPE_WIDTH = 100, 80
_INDENT: Final = 2
# From this width on two candidates stand side by side.
_SIDE_BY_SIDE, _GAP = 100, 4
_PARTS: Final = ("score", "shortness", "excess", "content")
_PART_STYLES: Final = {"score": "green", "shortness": "blue", "excess": "magenta", "content": "red"}
_PART_GLYPHS: Final = {"score": "█", "shortness": "▓", "excess": "▒", "content": "░"}
_PART_ASCII: Final = {"score": "#", "shortness": "=", "excess": "+", "content": "."}


def print_explanation(
    explanation: Explanation, reason: str, file: IO[str], *, title: Sequence[str] = (), names: Sequence[str] = ()
) -> None:
    """Print why a score is what it is; `title` says which row it is, `names` are what the candidates are called."""
    View(explanation, file, names or ("candidate", "against")).show(reason, title)


class View:
    """One explanation being printed."""

    def __init__(self, explanation: Explanation, file: IO[str], names: Sequence[str]) -> None:
        """Look at what the output can show."""
        self.told = explanation
        self.console = open_console(file)
        self.is_terminal = self.console.is_terminal
        if self.is_terminal and self.console.is_dumb_terminal:
            # rich takes any dumb terminal for one of 80 columns.
            self.console.size = ConsoleDimensions(*shutil.get_terminal_size())
        self.width = max(20, self.console.width if self.is_terminal else _PIPE_WIDTH)
        self.page = min(self.width, _WIDEST)
        # The title has names in full; here two stand beside figures.
        room = (self.page - 28) // 2 if self.is_terminal else None
        self.names = [shading.isolated(_ending(printable(name), room)) for name in names]
        self.coloured = self.console.color_system is not None and not self.console.no_color
        few = self.console.color_system in {"standard", "windows"}
        self.styles = shading.STYLES_8 if few else shading.STYLES_256
        self.ascii = not self.console.encoding.lower().startswith("utf")

    def show(self, reason: str, title: Sequence[str]) -> None:
        """Print all of it."""
        told = self.told
        self.line((told.signature, "dim"))
        if title:
            self.flow([[(shading.isolated(printable(part)), "dim")] for part in title], indent=0)
        self.line()
        self.sentence(reason)
        self.line()
        self.bars()
        self.candidates()
        self.supporters()
        self.orders(told.orders.bands())
        self.changes()
        self.missing()

    # What stands in a line

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

    def flow(self, items: Iterable[Sequence[Piece]], *, indent: int = _INDENT) -> None:
        """Print items two spaces apart, in as many lines as they take."""
        line: list[Piece] = [(" " * indent, "")]
        used = indent
        for item in items:
            if not any(text for text, _ in item):
                continue
            size = sum(cell_len(text) for text, _ in item)
            if used > indent and used + 2 + size > self.width and self.is_terminal:
                self.line(*line)
                line, used = [(" " * max(indent, _INDENT), "")], max(indent, _INDENT)
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

    # Sections

    def bars(self) -> None:
        """Print where 1 went: a bar for each candidate, and its parts in figures."""
        both = [self.told, *([self.told.against] if self.told.against is not None else [])]
        label = max(map(cell_len, self.names)) if len(both) > 1 else 0
        for name, told in zip(self.names, both, strict=False):
            head = f"{_padded(name, label)}  " if len(both) > 1 else ""
            room = self.page - cell_len(head) - 8
            self.line((head, ""), (f"{told.score:.4f}", "bold"), ("  ", ""), *self.stacked(told, room))
        if self.told.change is None:
            parts = self.told.parts
            self.flow([self.part(name, f" {getattr(parts, name):.4f}") for name in _PARTS])
        else:
            self.table_of_parts(both)

    def part(self, name: str, figure: str) -> list[Piece]:
        """Return the legend of a part of the bar."""
        return [(self.glyph(name), _PART_STYLES[name]), (f" {name}", ""), (figure, "")]

    def glyph(self, name: str) -> str:
        """Return what a part of the bar is drawn with."""
        if self.ascii:
            return _PART_ASCII[name]
        return "█" if self.coloured else _PART_GLYPHS[name]

    def stacked(self, told: Explanation, width: int) -> list[Piece]:
        """Return the bar of a score and its losses."""
        values = [getattr(told.parts, name) for name in _PARTS]
        cells = _shares(values, max(4, width))
        return [(self.glyph(name) * size, _PART_STYLES[name]) for name, size in zip(_PARTS, cells, strict=True)]

    def table_of_parts(self, both: Sequence[Explanation]) -> None:
        """Print the parts of both candidates, and what changed."""
        change = self.told.change
        columns = [max(cell_len(name), 7) for name in self.names]
        self.line()
        head = "".join(f"  {_padded(name, size, right=True)}" for name, size in zip(self.names, columns, strict=True))
        self.line((" " * 13 + head + "     change", "dim"))
        for name in _PARTS:
            figures = [f"{getattr(told.parts, name):{size}.4f}" for told, size in zip(both, columns, strict=True)]
            difference = getattr(change, name)
            style = _gain(difference if name == "score" else -difference)
            self.line(
                (f"  {self.glyph(name)}", _PART_STYLES[name]), (f" {name:9}  ", ""), ("  ".join(figures), ""),
                (f"  {_signed(difference):>9}", style),
            )  # fmt: skip

    def candidates(self) -> None:
        """Print the candidate, or both, shaded by how many references hold each part."""
        told, other = self.told, self.told.against
        several = len(told.scorer) > 1
        about = f"matches of {told.chance:,} characters or more count"
        if other is None:
            self.heading("candidate", _characters(len(told.symbols)), about)
            self.legend_of_shares(several=several)
            self.emit(self.block(told.candidate, self.supported(told), self.page - _INDENT, 16, 6))
            return
        self.heading("candidates", about)
        self.legend_of_shares(several=several)
        beside = self.is_terminal and self.width >= _SIDE_BY_SIDE
        width = (self.width - _INDENT - _GAP) // 2 if beside else self.page - _INDENT
        heads = [[("  ", ""), (name, "bold"), ("  ", ""), (_characters(len(one.symbols)), "dim")]
                 for name, one in zip(self.names, (told, other), strict=True)]  # fmt: skip
        blocks = [[head, *self.block(one.candidate, self.supported(one), width, 16, 6)]
                  for head, one in zip(heads, (told, other), strict=True)]  # fmt: skip
        if beside:
            self.emit(_beside(blocks, width))
            return
        for block in blocks:
            self.emit(block)

    def supported(self, told: Explanation) -> Levels:
        """Return the level of each code point: by the share of references, 0 for what may be there by chance."""
        support = told.support
        levels = np.searchsorted(shading.SHARES[1:], support.share, side="right") + FEW
        levels = np.where(support.length >= told.chance, levels, NONE)
        return _spread(levels, told.symbols)

    def legend_of_shares(self, *, several: bool) -> None:
        """Say what the marks in candidates mean."""
        if self.coloured:
            names = ["nothing", *shading.LEVEL_NAMES[1:]] if several else ["not in the reference", "", "", "", "in it"]
            swatches = [[(f" {name} ", self.styles[i])] for i, name in enumerate(names) if name]
            self.flow([[("held by", "dim")], *swatches] if several else swatches)
            return
        none = "no reference holds" if several else "the reference does not hold"
        few = [[("{...} less than half of them hold", "dim")]] if several else []
        self.flow([[(f"[...] {none}", "dim")], *few])

    def supporters(self) -> None:
        """Print the references closest to the candidate, shaded by what it holds of them."""
        told = self.told
        shown = told.supporters[:_MOST_SUPPORTERS]
        if len(told.scorer.references) == 1:
            self.heading("reference", _characters(len(told.scorer.split(shown[0].text))), _times(shown[0].count))
        else:
            self.heading(f"closest references{self.whose(' to ')}", f"{len(shown)} of {len(told.scorer):,}")
        if self.coloured:
            self.flow([[(" not in the candidate ", self.styles[NONE])], [(" in it ", self.styles[ALL])]])
        else:
            self.flow([[("[...] not in the candidate", "dim")]])
        for one in shown:
            if len(told.scorer.references) > 1:
                size = _characters(len(told.scorer.split(one.text)))
                self.flow([[(f"{one.score:.4f}", "bold")], [(size, "dim")], [(_times(one.count), "dim")]])
            levels = _spread(np.where(told.held(one.text), ALL, NONE), told.scorer.split(one.text))
            self.emit(self.block(one.text, levels, self.page - _INDENT, 8, 3, places=1))

    def whose(self, word: str) -> str:
        """Return " in A" where there are two candidates, of which the first is meant."""
        return "" if self.told.against is None else f"{word}{self.names[0]}"

    def orders(self, bands: Sequence[Band]) -> None:
        """Print a row for each band of orders."""
        if not bands:
            return
        self.heading("orders", "what n-grams of each length give")
        labels = [_orders(band.first, band.last) for band in bands]
        label = max(6, *map(len, labels))
        binds = [_binds(band) for band in bands]
        room = max(0, self.page - label - max(10, *map(len, binds)) - 30)
        self.line((f"  {'length':>{label}}     rho  {'':{room}}  weight    adds  limited by", "dim"))
        for name, band, side in zip(labels, bands, binds, strict=True):
            self.line(
                (f"  {name:>{label}}  {band.rho:.4f}  ", ""), *self.rule(band.rho, room),
                (f"  {band.weight:6.1%}  {band.contribution:.4f}  ", ""), (side, "dim"),
            )  # fmt: skip

    def rule(self, value: float, width: int) -> list[Piece]:
        """Return a bar for a value in [0, 1], with the rest of its track."""
        full, track, half = ("=", "-", "") if self.ascii else ("━", "─", "╸")
        halves = round(value * width * 2) if half else 2 * round(value * width)
        bar = full * (halves // 2) + half * (halves % 2)
        return [(bar, _PART_STYLES["score"]), (track * (width - len(bar)), "dim")]

    def changes(self) -> None:
        """Print the orders in which two candidates differ most."""
        if self.told.change is None:
            return
        bands = [band for band in self.told.change.bands()[:_MOST_CHANGES] if band[2]]
        self.heading("change by order", f"{self.names[0]} less {self.names[1]}, the largest first")
        if not bands:
            self.line(("  none", ""))
            return
        label = max(6, *(len(_orders(first, last)) for first, last, _ in bands))
        room = (self.page - _INDENT - label - 14) // 2
        for first, last, value in bands:
            left, right = self.diverging(value / abs(bands[0][2]), room)
            self.line(
                (f"  {_orders(first, last):>{label}}  ", ""), (f"{_signed(value)}  ", _gain(value)),
                (left, "red"), ("|" if self.ascii else "│", "dim"), (right, "green"),
            )  # fmt: skip

    def diverging(self, value: float, width: int) -> tuple[str, str]:
        """Return the left and the right side of a bar for a value in [-1, 1]."""
        bar = ("=" if self.ascii else "━") * max(1, round(abs(value) * width))
        return (f"{bar:>{width}}", "") if value < 0 else (" " * width, bar)

    def missing(self) -> None:
        """Print what many references share and the candidate lacks, the lacking parts marked."""
        told = self.told
        shown = told.missing[:_MOST_MISSING]
        # Of one reference all that is missing is marked in the reference already.
        if len(told.scorer.references) == 1 or not shown:
            return
        self.heading(f"missing{self.whose(' in ')}", f"strings that {told.share:.0%} of the references or more share")
        if self.coloured:
            self.flow([[(" not in the candidate ", self.styles[NONE])]])
        else:
            self.flow([[("[...] not in the candidate", "dim")]])
        labels = [f"in {one.count:,} of {len(told.scorer):,}" for one in shown]
        label = max(map(len, labels))
        for name, one in zip(labels, shown, strict=True):
            block = self.block(one.text, _marks(one), self.page - _INDENT - label - 4, 4, 0, places=1, indent=0)
            # What begins on the right would stand apart from a quotation mark on the left.
            right = self.is_terminal and runs_from_right(one.text)
            opening, closing = ("", "") if right else ('"', '"') if self.ascii else ("“", "”")
            for i, pieces in enumerate(block):
                head = f"  {'' if i else name:{label}}  {opening if not i else ' ' * len(opening)}"
                self.line((head, "dim"), *pieces, (closing if i + 1 == len(block) else "", "dim"))

    # Blocks of text

    def block(  # noqa: PLR0913  what is shown, and how much of it
        self, text: str, levels: Levels, width: int, lines: int, head: int, *, places: int = 3, indent: int = _INDENT
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


def _spread(levels: NDArray[Any], symbols: Sequence[str]) -> Levels:
    """Return the level of each code point from those of characters, which may be clusters."""
    if isinstance(symbols, str):
        return levels.astype(np.int8)
    return np.repeat(levels, [len(symbol) for symbol in symbols]).astype(np.int8)


def _marks(missing: Missing) -> Levels:
    levels = np.full(len(missing.text), shading.UNMARKED, np.int8)
    for start, stop in missing.lacking:
        levels[start:stop] = NONE
    return levels


def _beside(blocks: Sequence[Sequence[Sequence[Piece]]], width: int) -> list[list[Piece]]:
    """Return two blocks side by side, the left one padded to the width of its column."""
    found = []
    for left, right in zip_longest(*blocks, fillvalue=()):
        size = sum(cell_len(text) for text, _ in left)
        found.append([*left, (" " * (_INDENT + width + _GAP - _INDENT - size), ""), *right])
    return found


def _shares(values: Sequence[float], width: int) -> list[int]:
    """Return how many of so many cells each value takes, which sum to 1: by largest remainders, 1 at least if any."""
    exact = [value * width for value in values]
    cells = [max(int(value), int(value > 0.005 * width)) for value in exact]
    while sum(cells) < width:
        cells[max(range(len(cells)), key=lambda i: exact[i] - cells[i])] += 1
    while sum(cells) > width:
        cells[min(range(len(cells)), key=lambda i: (cells[i] < 2, exact[i] - cells[i]))] -= 1  # noqa: PLR2004
    return cells


def _binds(band: Band) -> str:
    """Say which side is the smaller one, and for how many of the references if not for all; both if they are equal."""
    sides = {"recall": band.recall_binds, "precision": band.precision_binds}
    side = max(sides, key=lambda name: sides[name])
    share = f"{sides[side]:.0%}"
    if share == "0%":
        return "both"
    return side if share == "100%" else f"{side} {share}"


def _orders(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,}-{last:,}"


def _signed(value: float) -> str:
    # No sign before what rounds to nothing.
    return f"{value:+.4f}" if round(value, 4) else "0.0000"


def _gain(value: float) -> str:
    value = round(value, 4)
    return "green" if value > 0 else "red" if value < 0 else ""


def _characters(count: int) -> str:
    return f"{count:,} {'character' if count == 1 else 'characters'}"


def _times(count: int) -> str:
    return f"{count:,} times" if count > 1 else ""


def _left_out(count: int, width: int) -> str:
    text = f"... {_characters(count)} left out ..."
    return text if len(text) <= width else "..."


def _ending(name: str, width: int | None) -> str:
    """Return the end of a name that is longer than so many columns: names of systems often begin alike."""
    if width is None or cell_len(name) <= width:
        return name
    while cell_len(name) > width - 1:
        name = name[1:]
    return f"…{name}"


def _padded(name: str, width: int, *, right: bool = False) -> str:
    pad = " " * (width - cell_len(name))
    return pad + name if right else name + pad
