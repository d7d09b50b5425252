"""What a view is printed on: a rich console that takes texts as they are, and texts that leave the terminal alone."""

from __future__ import annotations

import unicodedata
from typing import IO, Final

from rich.console import Console

# Embeddings, overrides and isolates: they would turn the rest of the row.
_TURNS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
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


def printable(text: str) -> str:
    """Return the text with what would move the cursor, turn the direction or not encode, as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c.encode("unicode_escape").decode() if _is_hidden(c) else c for c in text)


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} or character in _TURNS
