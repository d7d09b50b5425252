"""Tables for a terminal or a pipe: the signature first, then a row per system, or per candidate of an item.

On a terminal a table fits the width, and long names fold. In a pipe each row stays one line, as programs that
read lines expect. Wide characters count as two columns; after a name from right to left comes a mark, or the
numbers beside it would change places with it.
"""

from __future__ import annotations

import unicodedata
from typing import IO, TYPE_CHECKING, Final

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from refsim._printable import percent, printable
from refsim.output.console import open_console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from refsim.analysis.select import Ranked
    from refsim.analysis.worst import WorstRow
    from refsim.results import Systems, SystemScore

_LEFT_TO_RIGHT_MARK: Final = "\u200e"
_NONE: Final = "\N{EN DASH}"
_LONGEST_NAME: Final = 24
_SHORTEST: Final = 10


def print_systems(systems: Systems, file: IO[str]) -> None:
    """Print a table per metric: its signature, then systems with count, scores and ceiling, in the order given."""
    console = open_console(file)
    for i, rows in enumerate(systems.by_metric().values()):
        if i:
            console.print()
        console.print(_line(rows[0].signature))
        _print_table(console, _systems_table(rows, console))
        for note in _notes(rows):
            console.print(_line(note, style="dim"))


def _systems_table(rows: Sequence[SystemScore], console: Console) -> Table:
    table = _table()
    table.add_column("system", overflow="fold")
    table.add_column("n", justify="right", no_wrap=True)
    for i, name in enumerate(rows[0].scores):
        table.add_column(name if i else "mean", justify="right", no_wrap=True)
    table.add_column("ceiling", justify="right", no_wrap=True)
    table.add_column("reached", justify="right", no_wrap=True)
    for row in rows:
        scores = [f"{value:.4f}" for value in row.scores.values()]
        share = _NONE if row.of_ceiling is None else percent(row.of_ceiling)
        table.add_row(*_cells(console, [row.system], f"{row.count:,}", *scores, _number(row.ceiling), share))
    return table


def _notes(rows: Sequence[SystemScore]) -> list[str]:
    """Say why a ceiling is missing, or stands on fewer segments than the mean."""
    reasons = dict.fromkeys(row.no_ceiling for row in rows if row.ceiling is None)
    notes = [f"{_NONE} no ceiling: {reason}" for reason in reasons]
    if any(row.ceiling == 0 for row in rows):
        notes.append(f"{_NONE} nothing reached: the references have nothing in common, and their ceiling is 0")
    partial = [row for row in rows if row.ceiling is not None and row.ceiling_count < row.count]
    if partial:
        fewest = min(partial, key=lambda row: row.ceiling_count)
        notes.append(
            f"ceiling: over the {fewest.ceiling_count:,} of {fewest.count:,} segments with two references or more"
        )
    return notes


def print_worst(rows: Sequence[WorstRow], file: IO[str]) -> None:
    """Print the rows with the lowest scores: place, id and system, score, and below them the reason."""
    console = open_console(file)
    console.print()
    console.print(_line(f"the {len(rows):,} lowest" if len(rows) > 1 else "the lowest", style="bold"))
    for row in rows:
        names = " ".join(printable(name) for name in (row.id, row.system))
        console.print(_line(f"{_number(row.score)}  {row.place}  {names}{_LEFT_TO_RIGHT_MARK}"))
        if row.reason is not None:
            # The sentence is on one line and safe already, and isolates what runs from right to left.
            console.print(Padding(Text(row.reason, overflow="fold"), (0, 0, 0, 8), expand=False))


def print_candidates(signature: str, ranked: Sequence[Sequence[Ranked]], file: IO[str]) -> None:
    """Print the signature, then the candidates of each list: id, rank, score, sample, text; cut on a terminal."""
    console = open_console(file)
    console.print(_line(signature))
    rows = [row for one in ranked for row in one]
    several = len({row.system for row in rows}) > 1
    room = None
    if console.is_terminal:
        # rich would make room for a long text by cutting the numbers, so it is told how much there is.
        room = max(console.width - console.measure(_candidates_table(rows, console, several, 0)).maximum, _SHORTEST)
    _print_table(console, _candidates_table(rows, console, several, room))


def _candidates_table(rows: Sequence[Ranked], console: Console, several: bool, room: int | None) -> Table:  # noqa: FBT001
    table = _table()
    for heading in ["id", *(["system"] if several else [])]:
        table.add_column(heading, overflow="fold", max_width=_LONGEST_NAME if console.is_terminal else None)
    for heading in ("rank", "score", "sample"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("candidate" if room != 0 else "", no_wrap=True)
    for row in rows:
        text = Text(printable(row.candidate) if room != 0 else "")
        if room is not None:
            text.truncate(room, overflow="ellipsis")
        names = [row.id, row.system] if several else [row.id]
        table.add_row(*_cells(console, names, f"{row.rank:,}", _number(row.score), f"{row.sample:,}", text))
    return table


def _table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")


def _print_table(console: Console, table: Table) -> None:
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as capture:
        console.print(table)
    for line in capture.get().splitlines():
        console.file.write(line.rstrip() + "\n")


def _line(text: str, style: str = "") -> Text:
    return Text(printable(text), style=style, overflow="fold")


def _number(value: float | None) -> str:
    return _NONE if value is None else f"{value:.4f}"


def _cells(console: Console, names: Sequence[str], *others: str | Text) -> list[str | Text]:
    """Return the cells of a row, names first; on a terminal what follows a name from right to left gets a mark."""
    cells = [Text(printable(name)) for name in names] + [
        Text(cell) if isinstance(cell, str) else cell for cell in others
    ]
    if console.is_terminal:
        # Before the next cell, not behind the name: a name may fold, and its first line has the numbers beside it.
        for i, name in enumerate(names, start=1):
            if any(unicodedata.bidirectional(character) in {"R", "AL"} for character in name):
                cells[i] = Text(_LEFT_TO_RIGHT_MARK) + cells[i]
    return list(cells)
