"""Markdown for texts that others wrote, in any script: cells, tables, bars.

    text  --shown-->  escaped and isolated  --table-->  lines of Markdown

A candidate may hold `|`, `<b>`, a newline or a stray direction mark; none of it may change the page around it.
Right-to-left text is isolated, as the Unicode Bidirectional Algorithm (UAX #9) advises: otherwise a full stop
or a number beside it jumps to its other end.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# First strong isolate and its end: characters, since Markdown viewers drop the <bdi> element.
_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"
# Embeddings, overrides and isolates: one that is not closed would reach beyond the text that holds it.
_DIRECTION_CONTROLS: Final = frozenset(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]))
_UNPRINTABLE: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
_MARKUP = re.compile(r"[\\`*_\[\]|~$]")
_EIGHTHS = " ▏▎▍▌▋▊▉"


def shown(text: str) -> str:
    """Return a text to be put into a line or cell of Markdown: it looks as it is, and does nothing."""
    visible = "".join(_visible(character) for character in text)
    escaped = _MARKUP.sub(r"\\\g<0>", html.escape(visible, quote=False))
    return f"{_ISOLATE}{escaped}{_END_ISOLATE}"


def _visible(character: str) -> str:
    if character in _DIRECTION_CONTROLS or unicodedata.category(character) in _UNPRINTABLE:
        return f"\\u{ord(character):04x}"
    return character


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Iterable[int] = ()) -> str:
    """Return a table; the columns whose indices are in `numbers` are aligned to the right."""
    right = set(numbers)
    rule = ["---:" if i in right else "---" for i in range(len(header))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (header, rule, *rows))


def bar(score: float, width: int = 8) -> str:
    """Return a score in [0, 1] as a bar of at most `width` characters, to an eighth of one."""
    full, rest = divmod(round(score * width * 8), 8)
    return "█" * full + _EIGHTHS[rest].strip()
