"""Whole numbers that users give: as text in names, rows and environment variables, and as arguments."""

from __future__ import annotations

import operator
import re
import reprlib
from typing import Final

from refsim.errors import InputError

# int() takes "--5" for an error only after looking, other scripts' digits for digits, and refuses 5,000 of them.
_WHOLE: Final = re.compile(r"-?[0-9]{1,18}")


def whole_number(text: str) -> int | None:
    """Return the number that a text says in decimal digits, with a minus before them or not; None for anything else."""
    return int(text) if _WHOLE.fullmatch(text) else None


def check_whole(value: object, name: str, least: int = 1) -> int:
    """Return an argument that is a whole number from `least` on; raise InputError for anything else."""
    try:
        number = least - 1 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]  # it asks
    except TypeError:
        number = least - 1
    if number < least:
        raise InputError(f"{name}={reprlib.repr(value)}; a whole number from {least} on is expected")
    return number
