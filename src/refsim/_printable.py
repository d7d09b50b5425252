"""Texts of anyone, as they may be shown on a terminal: in tables, in sentences, in messages on stderr.

A name or a text may hold what clears the screen, moves the cursor or turns the direction of what stands beside it.
Such characters are shown as escapes; all others, joined emoji among them, stay as they are.
"""

from __future__ import annotations

import unicodedata
from typing import Final

# Embeddings, overrides and isolates: they would turn the rest of the row.
_TURNS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """Return the text with what would move the cursor, turn the direction or not encode, as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c.encode("unicode_escape").decode() if _is_hidden(c) else c for c in text)


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} or character in _TURNS
