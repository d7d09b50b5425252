"""Texts of anyone and figures, as they may be shown: in tables, in sentences, in messages on stderr.

A name or a text may hold what clears the screen, moves the cursor or turns the direction of what stands beside it.
Such characters are shown as escapes; all others, joined emoji among them, stay as they are.

Rounded, nearly all and hardly any look like all and nothing. Shares and scores are shown so that they do not.
"""

from __future__ import annotations

import unicodedata
from typing import Final

# Embeddings, overrides and isolates: they would turn the rest of the row.
_TURNS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Floats have no more than 17 digits that mean something.
_MOST_DIGITS: Final = 18


def printable(text: str) -> str:
    """Return the text with what would move the cursor, turn the direction or not encode, as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c.encode("unicode_escape").decode() if _is_hidden(c) else c for c in text)


def percent(share: float, digits: int = 0) -> str:
    """Return a share as "45%"; all of it alone is "100%" and nothing alone "0%", what is next to them ">99%" and "<1%".

    Shares come out of sums of floats: what differs from all by less than 1e-12 is all.
    """
    share = round(share, 12)
    shown = f"{share:.{digits}%}"
    if shown == f"{0:.{digits}%}" and share > 0:
        return f"<{10**-digits:.{digits}f}%"
    if shown == f"{1:.{digits}%}" and share != 1:
        return f">{100 - 10**-digits if share < 1 else 100:.{digits}f}%"
    return shown


def is_honest(shown: str, value: float) -> bool:
    """Say if a rounded value in [0, 1] reads as 0 or 1 only where it is."""
    return float(shown) not in {0, 1} or float(shown) == value


def figure(value: float, digits: int = 2) -> str:
    """Return a value in [0, 1] with so many digits, or as many more as it takes to read as 0 or 1 only where it is."""
    for more in range(digits, _MOST_DIGITS):
        if is_honest(shown := f"{value:.{more}f}", value):
            return shown
    return repr(value)


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} or character in _TURNS
