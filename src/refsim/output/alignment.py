"""BERTScore's explanation on a terminal, or in a pipe: both texts shaded by how close each word's partner is.

    signature, sentence, precision, recall and F1 as bars
    the references, if there are several, with what each gives
    the candidate, shaded; the reference that is closest to it, shaded
    the words that cost most on either side, with their partners, cosines, weights and losses

Cosines of one model are all high and of another all low, so the shades divide what lies between the lowest cosine of
the view and 1 into five parts, and the legend says where.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Final

import numpy as np
from rich.cells import cell_len, set_cell_size

from refsim._printable import percent, printable
from refsim.metrics._alignment import MARK
from refsim.output import bars, shading
from refsim.output.page import INDENT, Page, count_characters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refsim.metrics._alignment import BERTExplanation, Side, Word
    from refsim.output.page import Piece
    from refsim.output.shading import Levels

_MOST_LISTED, _MOST_REFERENCES = 6, 6
_PARTS: Final = 5
# What of a line is not the two words of a row.
_FIGURES: Final = len("   cosine  weight    loss  share")
# Below this a shade would divide the rounding of the model.
_LEAST_RANGE: Final = 0.01
# Where shades begin above this, two digits do not tell them apart.
_NARROW: Final = 0.96
# Four digits show no less.
_LEAST_LOSS: Final = 5e-5


def print_alignment(told: BERTExplanation, reason: str, file: IO[str], *, title: Sequence[str] = ()) -> None:
    """Print why a score is what it is; `title` says which row it is."""
    View(told, file).show(reason, title)


class View(Page):
    """A page with one explanation on it: the alignment with the closest reference."""

    def __init__(self, told: BERTExplanation, file: IO[str]) -> None:
        """Find where the shades begin."""
        super().__init__(file)
        self.told = told
        self.one = told.alignments[told.closest]
        cosines = [word.cosine for side in (self.one.candidate, self.one.reference) for word in side.words]
        lowest = min([*cosines, 1.0 - _LEAST_RANGE])
        self.edges = np.linspace(lowest, 1.0, _PARTS + 1)[1:-1]

    def show(self, reason: str, title: Sequence[str]) -> None:
        """Print all of it."""
        told, one = self.told, self.one
        self.line((told.signature, "dim"))
        if title:
            self.flow([[(shading.isolated(printable(part)), "dim")] for part in title], indent=0)
        self.line()
        self.sentence(reason)
        self.line()
        for name, value in zip(("precision", "recall", "F1"), told.scores, strict=True):
            # Rescaled, a score may be below 0, which a bar cannot be.
            self.line((f"{name:9}  {value:7.4f}  ", ""), *bars.rule(self, min(max(value, 0.0), 1.0), self.page - 20))
        self.references()
        several = len(told.references) > 1
        self.text("candidate", one.candidate)
        self.text("reference", one.reference, f"number {told.closest + 1:,}, the closest" if several else "")
        if not (one.equal or one.bare):
            self.costs("candidate", "precision", one.candidate, one.reference)
            self.costs("reference", "recall", one.reference, one.candidate)

    def references(self) -> None:
        """Print what each of several references gives, the best first; stars stand where the score comes from."""
        told = self.told
        count = len(told.references)
        if count == 1:
            return
        scaled = ", before rescaling" if told.metric.rescale else ""
        which = "the score is their mean" if told.best is None else "* the highest of each is the score"
        self.heading("references", which + scaled)
        label = max(3, len(f"{count:,}"))
        self.line((f"  {'':{label}}  precision   recall       F1", "dim"))
        order = sorted(range(count), key=lambda i: (i != told.closest, -told.alignments[i].scores.f1))
        shown = order[:_MOST_REFERENCES]
        # Those that give a highest value are there whatever F1 they have.
        shown += [i for i in dict.fromkeys(told.best or ()) if i not in shown]
        for i in shown:
            figures = "".join(
                f"{value:9.4f}{'*' if told.best is not None and told.best[column] == i else ' '}"
                for column, value in enumerate(told.alignments[i].scores)
            ).rstrip()
            room = max(8, self.page - INDENT - label - 34)
            self.line(
                (f"  {i + 1:{label},}{figures:31}  ", ""),
                (shading.isolated(_fitted(printable(" ".join(told.references[i].split())), room)), "dim"),
            )
        if count > len(shown):
            self.line((f"  and {count - len(shown):,} more", "dim"))

    def text(self, name: str, side: Side, *about: str) -> None:
        """Print one text, shaded."""
        self.heading(name, count_characters(len(side.text)), *about)
        if side is self.one.candidate and not self.one.equal:
            self.legend()
        self.emit(self.block(side.text, self.levels(side), self.page - INDENT, 16, 6))
        if side.cut:
            stop = max((word.stop for word in side.words), default=0)
            limit = self.told.metric.encoder.limit
            self.flow(
                [[(f"the model's {limit:,} tokens end after {count_characters(stop)}; the rest is not read", "dim")]]
            )

    def levels(self, side: Side) -> Levels:
        """Return the level of each character: that of its word; what is in no word has none."""
        levels = np.full(len(side.text), shading.UNMARKED, np.int8)
        for word in side.words:
            levels[word.start : word.stop] = self.level(word)
        return levels

    def level(self, word: Word) -> int:
        """Return the shade of a word."""
        return int(np.searchsorted(self.edges, round(word.cosine, 12), side="right"))

    def legend(self) -> None:
        """Say what the marks mean."""
        digits = 2 if self.edges[0] < _NARROW else 3
        edges = [f"{edge:.{digits}f}" for edge in self.edges]
        if not self.coloured:
            first, half = f"[...] closest partner's cosine below {edges[0]}", f"{{...}} below {edges[2]}"
            self.flow([[(first, "dim")], [(half, "dim")]])
            return
        names = [f" below {edges[0]} ", *(f" {edge}+ " for edge in edges)]
        swatches = [[(name, self.styles[i])] for i, name in enumerate(names)]
        self.flow([[("closest partner's cosine", "dim")], *swatches])

    def costs(self, name: str, score: str, side: Side, other: Side) -> None:
        """Print the words that cost most."""
        whole = float(side.losses.sum())
        listed = [word for word in side.costly()[:_MOST_LISTED] if word.loss >= _LEAST_LOSS]
        if not listed:
            return
        which = f" of reference {self.told.closest + 1:,}" if len(self.told.references) > 1 else ""
        which += " before rescaling" if self.told.metric.rescale else ""
        self.heading(f"costs most of the {name}", f"{whole:.4f} is lost in all, 1 - {score}{which}")
        width = max(8, (self.page - INDENT - 2 - _FIGURES) // 2)
        partner = "closest partner" if width >= len("closest partner") else "closest"
        self.line((f"  {'':{width}}  {partner:{width}}   cosine  weight    loss  share", "dim"))
        for word in listed:
            partners = ", ".join(partner.shown for partner in side.partners_of(word, other)) or MARK
            style = self.styles[self.level(word)] if self.coloured else ""
            self.line(
                ("  ", ""), *_cell(word.shown, width, style), ("  ", ""), *_cell(partners, width),
                (f"  {word.cosine:7.4f}  {word.weight:6.4f}  {word.loss:6.4f}  {percent(word.loss / whole):>5}", ""),
            )  # fmt: skip


def _cell(text: str, width: int, style: str = "") -> list[Piece]:
    """Return a text of anyone in a column of its own."""
    shown = _fitted(printable(text), width)
    return [(shading.isolated(shown), style), (" " * (width - cell_len(shown)), "")]


def _fitted(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, max(0, width - 1)).rstrip() + "…"
