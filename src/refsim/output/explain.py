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

from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np
from rich.cells import cell_len

from refsim._printable import percent, printable
from refsim.output import bars, shading
from refsim.output.bars import PARTS
from refsim.output.page import INDENT, Page, beside, column_width, count_characters
from refsim.output.shading import ALL, FEW, NONE, runs_from_right

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from refsim.metrics._explain import Explanation, Missing
    from refsim.metrics._orders import Band
    from refsim.output.page import Piece
    from refsim.output.shading import Levels

_MOST_SUPPORTERS, _MOST_MISSING, _MOST_CHANGES = 3, 5, 6
# From this width on two candidates stand side by side.
_SIDE_BY_SIDE: Final = 100


def print_explanation(
    explanation: Explanation, reason: str, file: IO[str], *, title: Sequence[str] = (), names: Sequence[str] = ()
) -> None:
    """Print why a score is what it is; `title` says which row it is, `names` are what the candidates are called."""
    View(explanation, file, names or ("candidate", "against")).show(reason, title)


class View(Page):
    """A page with one explanation on it."""

    def __init__(self, explanation: Explanation, file: IO[str], names: Sequence[str]) -> None:
        """Shorten names where they must stand beside figures; the title has them in full."""
        super().__init__(file)
        self.told = explanation
        room = (self.page - 28) // 2 if self.is_terminal else None
        self.names = [shading.isolated(_ending(printable(name), room)) for name in names]

    def show(self, reason: str, title: Sequence[str]) -> None:
        """Print all of it."""
        told = self.told
        self.line((told.signature, "dim"))
        if title:
            self.flow([[(shading.isolated(printable(part)), "dim")] for part in title], indent=0)
        self.line()
        self.sentence(reason)
        self.line()
        self.scores()
        self.candidates()
        self.supporters()
        self.orders(told.orders.bands())
        self.changes()
        self.missing()

    def scores(self) -> None:
        """Print where 1 went: a bar for each candidate, and its parts in figures."""
        both = [self.told, *([self.told.against] if self.told.against is not None else [])]
        label = max(map(cell_len, self.names)) if len(both) > 1 else 0
        for name, told in zip(self.names, both, strict=False):
            head = f"{_padded(name, label)}  " if len(both) > 1 else ""
            room = self.page - cell_len(head) - 8
            self.line(
                (head, ""), (f"{told.score:.4f}", "bold"), ("  ", ""), *bars.stacked(self, vars(told.parts), room)
            )
        if self.told.change is None:
            parts = self.told.parts
            self.flow([self.part(name, f" {getattr(parts, name):.4f}") for name in PARTS])
        else:
            self.table_of_parts(both)

    def part(self, name: str, figure: str) -> list[Piece]:
        """Return the legend of a part of the bar."""
        return [bars.glyph(self, name), (f" {name}", ""), (figure, "")]

    def table_of_parts(self, both: Sequence[Explanation]) -> None:
        """Print the parts of both candidates, and what changed."""
        change = self.told.change
        columns = [max(cell_len(name), 7) for name in self.names]
        self.line()
        head = "".join(f"  {_padded(name, size, right=True)}" for name, size in zip(self.names, columns, strict=True))
        self.line((" " * 13 + head + "     change", "dim"))
        for name in PARTS:
            figures = [f"{getattr(told.parts, name):{size}.4f}" for told, size in zip(both, columns, strict=True)]
            difference = getattr(change, name)
            style = _gain(difference if name == "score" else -difference)
            self.line(
                ("  ", ""), bars.glyph(self, name), (f" {name:9}  ", ""), ("  ".join(figures), ""),
                (f"  {_signed(difference):>9}", style),
            )  # fmt: skip

    def candidates(self) -> None:
        """Print the candidate, or both, shaded by how many references hold each part."""
        told, other = self.told, self.told.against
        several = len(told.scorer) > 1
        about = "" if not self.coloured else f"matches of {told.chance:,} characters or more count"
        if other is None:
            self.heading("candidate", count_characters(len(told.symbols)), about)
            self.legend_of_shares(several=several)
            self.emit(self.block(told.candidate, self.supported(told), self.page - INDENT, 16, 6))
            return
        self.heading("candidates", about)
        self.legend_of_shares(several=several)
        side_by_side = self.is_terminal and self.width >= _SIDE_BY_SIDE
        width = column_width(self.width) if side_by_side else self.page - INDENT
        heads = [[("  ", ""), (name, "bold"), ("  ", ""), (count_characters(len(one.symbols)), "dim")]
                 for name, one in zip(self.names, (told, other), strict=True)]  # fmt: skip
        blocks = [[head, *self.block(one.candidate, self.supported(one), width, 16, 6)]
                  for head, one in zip(heads, (told, other), strict=True)]  # fmt: skip
        if side_by_side:
            self.emit(beside(blocks, width))
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
        none = f"no match of {self.told.chance:,} or more with {'a' if several else 'the'} reference"
        few = [[("{...} less than half of them hold", "dim")]] if several else []
        self.flow([[(f"[...] {none}", "dim")], *few])

    def supporters(self) -> None:
        """Print the references closest to the candidate, shaded by what it holds of them."""
        told = self.told
        shown = told.supporters[:_MOST_SUPPORTERS]
        if len(told.scorer.references) == 1:
            self.heading("reference", count_characters(len(told.scorer.split(shown[0].text))), _times(shown[0].count))
        else:
            self.heading(f"closest references{self.whose(' to ')}", f"{len(shown)} of {len(told.scorer):,}")
        self.legend_of_lacking(held=True)
        for one in shown:
            if len(told.scorer.references) > 1:
                size = count_characters(len(told.scorer.split(one.text)))
                self.flow([[(f"{one.score:.4f}", "bold")], [(size, "dim")], [(_times(one.count), "dim")]])
            levels = _spread(np.where(told.held(one.text), ALL, NONE), told.scorer.split(one.text))
            self.emit(self.block(one.text, levels, self.page - INDENT, 8, 3, places=1))

    def legend_of_lacking(self, *, held: bool) -> None:
        """Say what the marks in references mean."""
        if not self.coloured:
            self.flow([[("[...] not in the candidate", "dim")]])
            return
        swatches = [[(" not in the candidate ", self.styles[NONE])], [(" in it ", self.styles[ALL])]]
        self.flow(swatches if held else swatches[:1])

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
                (f"  {name:>{label}}  {band.rho:.4f}  ", ""), *bars.rule(self, band.rho, room),
                (f"  {percent(band.weight, 1):>6}  {band.contribution:.4f}  ", ""), (side, "dim"),
            )  # fmt: skip

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
        room, largest = (self.page - INDENT - label - 14) // 2, bands[0][2]
        for first, last, value in bands:
            self.line(
                (f"  {_orders(first, last):>{label}}  ", ""), (f"{_signed(value)}  ", _gain(value)),
                *bars.diverging(self, value / abs(largest), room),
            )  # fmt: skip

    def missing(self) -> None:
        """Print what many references share and the candidate lacks, the lacking parts marked."""
        told = self.told
        shown = told.missing[:_MOST_MISSING]
        # Of one reference all that is missing is marked in the reference already.
        if len(told.scorer.references) == 1 or not shown:
            return
        self.heading(
            f"missing{self.whose(' in ')}", f"strings that {percent(told.share)} of the references or more share"
        )
        self.legend_of_lacking(held=False)
        labels = [f"in {one.count:,} of {len(told.scorer):,}" for one in shown]
        label = max(map(len, labels))
        for name, one in zip(labels, shown, strict=True):
            block = self.block(one.text, _marks(one), self.page - INDENT - label - 4, 4, 0, places=1, indent=0)
            # What begins on the right would stand apart from a quotation mark on the left.
            right = self.is_terminal and runs_from_right(one.text)
            opening, closing = ("", "") if right else ('"', '"') if self.ascii else ("“", "”")
            for i, pieces in enumerate(block):
                head = f"  {'' if i else name:{label}}  {opening if not i else ' ' * len(opening)}"
                self.line((head, "dim"), *pieces, (closing if i + 1 == len(block) else "", "dim"))


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


def _binds(band: Band) -> str:
    """Say which side is the smaller one, and for how many of the references if not for all; both if they are equal."""
    sides = {"recall": band.recall_binds, "precision": band.precision_binds}
    side = max(sides, key=lambda name: sides[name])
    share = percent(sides[side])
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


def _times(count: int) -> str:
    return f"{count:,} times" if count > 1 else ""


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
