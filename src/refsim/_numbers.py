"""Whole numbers that users write: in names, rows and environment variables."""

from __future__ import annotations

import re
from typing import Final

# int() takes "--5" for an error only after looking, other scripts' digits for digits, and refuses 5,000 of them.
_WHOLE: Final = re.compile(r"-?[0-9]{1,18}")


def whole_number(text: str) -> int | None:
    """Return the number that a text says in decimal digits, with a minus before them or not; None for anything else."""
    return int(text) if _WHOLE.fullmatch(text) else None
