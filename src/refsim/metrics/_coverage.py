"""Scripts that a model was trained on, and how much of a text is in others.

[UNK] does not show it: an English tokenizer spells Hebrew out in letters that its model has hardly seen.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import regex

# A fifth of the letters: names and quotations in another script stay below.
MOST_OUTSIDE: Final = 0.2


def share_outside(texts: Iterable[str], scripts: Sequence[str]) -> float:
    """Return which share of the letters of texts is in none of the scripts, in [0, 1]; 0 without any letter."""
    letters, inside = _patterns(tuple(scripts))
    total = covered = 0
    for text in texts:
        if text.isascii() and "Latin" in scripts:
            continue_count = sum(map(str.isalpha, text))
            total, covered = total + continue_count, covered + continue_count
        else:
            total += len(letters.findall(text))
            covered += len(inside.findall(text))
    return (total - covered) / total if total else 0.0


@cache
def _patterns(scripts: tuple[str, ...]) -> tuple[regex.Pattern[str], regex.Pattern[str]]:
    import regex  # noqa: PLC0415  it loads in 20 ms and few need it

    # Of every script are marks that letters of several share, such as the Japanese sign for a long vowel.
    members = "".join(rf"\p{{Script_Extensions={name}}}" for name in (*scripts, "Common", "Inherited"))
    return regex.compile(r"\p{L}"), regex.compile(rf"(?V1)[\p{{L}}&&[{members}]]")
