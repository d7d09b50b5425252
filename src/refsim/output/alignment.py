"""BERTScore's explanation on a terminal, or in a pipe: both texts shaded by how close each piece's partner is.

    signature, sentence, precision, recall and F1 as bars
    the candidate, shaded; the reference that is closest to it, shaded
    the pieces that cost most on either side, with their partners, cosines and weights

Cosines of one model are all high and of another all low, so the shades divide what lies between the lowest cosine of
the view and 1 into five parts, and the legend says where.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Final

import numpy as np
from rich.cells import cell_len, set_cell_size

from refsim._printable import percent, printable
from refsim.output import bars, shading
from refsim.output.page import INDENT, Page, count_characters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refsim.metrics._alignment import BERTExplanation, Side
    from refsim.output.shading import Levels

_MOST_LISTED: Final = 6
_PARTS: Final = 5
_MARK: Final = "(mark)"
_FIGURES: Final = 24


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
        cosines = np.concatenate([self.one.candidate.cosines, self.one.reference.cosines])
        lowest = min(float(cosines.min()), 0.99) if len(cosines) else 0.0
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
        self.text("candidate", one.candidate)
        several = len(told.references) > 1
        which = f"{told.closest + 1:,} of {len(told.references):,}, the closest" if several else ""
        self.text("reference", one.reference, which)
        self.costs("of the candidate", one.candidate, one.reference)
        self.costs("of the reference", one.reference, one.candidate)

    def text(self, name: str, side: Side, *about: str) -> None:
        """Print one text, shaded."""
        self.heading(name, count_characters(len(side.text)), *about)
        self.legend()
        self.emit(self.block(side.text, self.levels(side), self.page - INDENT, 16, 6))
        if side.cut:
            stop = int(side.spans[-1][1]) if len(side.spans) else 0
            self.flow([[(f"the model read {stop:,} characters; the rest is cut off", "dim")]])

    def levels(self, side: Side) -> Levels:
        """Return the level of each character: that of its piece, of several the lowest; what is no piece has none."""
        levels = np.full(len(side.text), shading.UNMARKED, np.int8)
        for (start, stop), level in zip(side.spans.tolist(), self.level(side.cosines), strict=True):
            levels[start:stop] = np.minimum(levels[start:stop], level)
        return levels

    def level(self, cosines: object) -> list[int]:
        """Return the shades of cosines."""
        found: list[int] = np.searchsorted(self.edges, np.round(np.asarray(cosines), 12), side="right").tolist()
        return found

    def legend(self) -> None:
        """Say what the marks mean."""
        first, half = f"{self.edges[0]:.2f}", f"{self.edges[2]:.2f}"
        if not self.coloured:
            self.flow([[(f"[...] closest partner's cosine below {first}  {{...}} below {half}", "dim")]])
            return
        names = [f" below {first} ", *(f" {edge:.2f}+ " for edge in self.edges)]
        swatches = [[(name, self.styles[i])] for i, name in enumerate(names)]
        self.flow([[("closest cosine", "dim")], *swatches])

    def costs(self, name: str, side: Side, other: Side) -> None:
        """Print the pieces that cost most."""
        if self.one.equal or not len(side.weights) or not len(other.weights):
            return
        listed = [i for i in side.costly()[:_MOST_LISTED] if side.losses[i] > 0]
        whole = 1.0 - side.score
        self.heading(f"costs most {name}", "closest partner, cosine, weight, share of the loss")
        width = (self.page - INDENT - _FIGURES - 4) // 2
        for i in listed:
            partner = int(side.partners[i])
            pieces = [side.shown(i), _MARK if partner < 0 else other.shown(partner)]
            shown = [shading.isolated(_fitted(piece, width)) for piece in pieces]
            share = percent(float(side.losses[i] / whole)) if whole > 0 else "-"
            self.line(
                ("  ", ""), (shown[0], self.styles[self.level(side.cosines[i : i + 1])[0]] if self.coloured else ""),
                (" " * (width - _width(pieces[0], width)) + "  ", ""),
                (shown[1], ""), (" " * (width - _width(pieces[1], width)) + "  ", ""),
                (f"{side.cosines[i]:7.4f}  {side.weights[i]:6.4f}  {share:>5}", ""),
            )  # fmt: skip


def _fitted(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"


def _width(text: str, width: int) -> int:
    return cell_len(_fitted(text, width))
