"""What commands tell beside their result, on stderr: rows left out, files written; names made printable."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from refsim._printable import printable
from refsim.results import NOTICES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MOST_LISTED: Final = 50


def note(text: str) -> None:
    """Tell something on stderr, where it stays out of tables and JSON."""
    sys.stderr.write(f"refsim: {printable(text)}\n")


def note_skipped(skipped: Sequence[str]) -> None:
    """List the rows that were left out, with their number; of very many the first."""
    _note_rows("skipped {}", skipped)


def note_not_extracted(rows: Sequence[str]) -> None:
    """List the rows in which there was no answer to extract."""
    _note_rows("nothing to extract in {}", rows)


def note_notices(notices: Mapping[str, Sequence[str]]) -> None:
    """List the rows of which a model has something to say."""
    for name, rows in notices.items():
        _note_rows(NOTICES[name][1], rows)


def _note_rows(what: str, rows: Sequence[str]) -> None:
    if not rows:
        return
    note(what.format(f"{len(rows):,} {'row' if len(rows) == 1 else 'rows'}:"))
    for line in rows[:_MOST_LISTED]:
        sys.stderr.write(f"  {printable(line)}\n")
    if len(rows) > _MOST_LISTED:
        sys.stderr.write(f"  ... and {len(rows) - _MOST_LISTED:,} more; --json lists them all\n")
