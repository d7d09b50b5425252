"""Texts as the symbols that charsim counts: code points, or grapheme clusters numbered by a table."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from refsim.text import Preparation, SymbolTable, code_points, find_clusters

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


class Encoder:
    """Calls as `encode(texts) -> codes (total,), offsets (texts + 1,)`; one table for all its calls.

    A reference's encoder may be `closed()`: clusters that no reference has then equal nothing.
    """

    def __init__(self, preparation: Preparation) -> None:
        self._table = SymbolTable() if preparation.unit == "grapheme" else None
        self._open = True
        self._lock = threading.Lock()

    def __call__(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the symbols of the texts and where each text begins."""
        if self._table is None:
            return code_points(texts)
        if not self._open:
            return self._table.encode(texts, grow=False)
        with self._lock:
            return self._table.encode(texts, grow=True)

    def split(self, text: str) -> Sequence[str]:
        """Return the characters (T,) of one text, as strings that joined give the text."""
        return text if self._table is None else find_clusters(text)

    def closed(self) -> Encoder:
        """Return this encoder, from now on without new clusters: it may be shared, and never grows."""
        self._open = False
        return self

    def __getstate__(self) -> tuple[SymbolTable | None, bool]:
        """Leave the lock out: it belongs to a process."""
        return self._table, self._open

    def __setstate__(self, state: tuple[SymbolTable | None, bool]) -> None:
        """Take a new lock."""
        self._table, self._open = state
        self._lock = threading.Lock()
