"""What commands tell beside their result, on stderr: rows left out, files written."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_LISTED: Final = 50


def note(text: str) -> None:
    """Tell something on stderr, where it stays out of tables and JSON."""
    sys.stderr.write(f"refsim: {text}\n")


def note_skipped(skipped: Sequence[str]) -> None:
    """List the rows that were left out, with their number; of very many the first."""
    _note_rows("skipped {}", skipped)


def note_not_extracted(rows: Sequence[str]) -> None:
    """List the rows in which there was no answer to extract."""
    _note_rows("nothing to extract in {}", rows)


def note_truncated(rows: Sequence[str]) -> None:
    """List the rows with a text that is longer than a model takes."""
    _note_rows("a text was cut at the model's limit in {}", rows)


def _note_rows(what: str, rows: Sequence[str]) -> None:
    if not rows:
        return
    note(what.format(f"{len(rows):,} {'row' if len(rows) == 1 else 'rows'}:"))
    for line in rows[:_MOST_LISTED]:
        sys.stderr.write(f"  {line}\n")
    if len(rows) > _MOST_LISTED:
        sys.stderr.write(f"  ... and {len(rows) - _MOST_LISTED:,} more; --json lists them all\n")
