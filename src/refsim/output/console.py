"""What a view is printed on: a rich console that takes texts as they are."""

from __future__ import annotations

from typing import IO, Final

from rich.console import Console

_UNLIMITED: Final = 1_000_000


class _Console(Console):
    """A console that leaves a closed pipe to the caller, where rich would end the process."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def open_console(file: IO[str]) -> Console:
    """Return a console for a terminal, as wide as that is, or for a pipe, of any width."""
    # Nothing in a name or a text is markup, an emoji's name or a number to be coloured.
    console = _Console(file=file, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        # In a pipe a row is a line, however long a name is.
        console.width = _UNLIMITED
    return console
