"""The vectors of texts that were encoded before: up to a number of bytes in memory, beyond it on disk or forgotten.

    text  --get-->  vectors (T, D), or None        text, vectors  --put-->  memory  --the oldest-->  disk, if asked for

REFSIM_EMBEDDING_BYTES (512 MiB) is the room in memory. REFSIM_EMBEDDING_SPILL names a directory for what does not fit:
one file there, which has no name and is gone with the process.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
import weakref
from collections import OrderedDict
from functools import cache
from typing import IO, TYPE_CHECKING, Any, Final

from refsim._numbers import whole_number
from refsim.errors import InputError

if TYPE_CHECKING:
    import torch

_DEFAULT_BYTES: Final = 2**29


class VectorCache:
    """Vectors by text; one thread at a time."""

    def __init__(self) -> None:
        """Take the limits from the environment."""
        self._most = _byte_limit()
        self._spilling = os.environ.get("REFSIM_EMBEDDING_SPILL") or None
        self._kept: OrderedDict[str, torch.Tensor] = OrderedDict()
        self._bytes = 0
        self._file: IO[bytes] | None = None
        self._spilled: dict[str, tuple[int, tuple[int, ...], torch.dtype]] = {}

    def get(self, text: str) -> torch.Tensor | None:
        """Return the vectors of a text, None if they are not known."""
        if text in self._kept:
            self._kept.move_to_end(text)
            return self._kept[text]
        return self._read(text) if text in self._spilled else None

    def put(self, text: str, vectors: torch.Tensor) -> None:
        """Keep the vectors of a text; what was used longest ago makes room."""
        self._kept[text] = vectors
        self._bytes += vectors.nbytes
        while self._bytes > self._most:
            old, gone = self._kept.popitem(last=False)
            self._bytes -= gone.nbytes
            if self._spilling is not None and old not in self._spilled:
                self._write(old, gone)

    def _write(self, text: str, vectors: torch.Tensor) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._spilling)  # noqa: SIM115  it lives as long as the cache
                weakref.finalize(self, self._file.close)
            place = self._file.seek(0, os.SEEK_END)
            self._file.write(memoryview(vectors.cpu().contiguous().numpy()).cast("B"))
            self._file.flush()
        except OSError as error:
            raise InputError(
                f"REFSIM_EMBEDDING_SPILL={self._spilling}: {error.strerror or error}; expected a directory with room"
            ) from error
        self._spilled[text] = (place, tuple(vectors.shape), vectors.dtype)

    def _read(self, text: str) -> torch.Tensor:
        import torch  # noqa: PLC0415  seconds to load

        place, shape, dtype = self._spilled[text]
        vectors = torch.empty(shape, dtype=dtype)
        file = self._file
        if file is None or file.seek(place) != place or file.readinto(_bytes_of(vectors)) != vectors.nbytes:  # type: ignore[attr-defined]  # TemporaryFile has it
            raise InputError(f"REFSIM_EMBEDDING_SPILL={self._spilling}: what was written there cannot be read back")
        return vectors


def trim_heap() -> None:
    """Give free memory inside the heap back to the system, where the C library can (glibc)."""
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@cache
def _malloc_trim() -> Any:  # noqa: ANN401  a function of C, or None
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None


def _bytes_of(vectors: torch.Tensor) -> memoryview:
    return memoryview(vectors.numpy()).cast("B")


def _byte_limit() -> int:
    given = os.environ.get("REFSIM_EMBEDDING_BYTES", str(_DEFAULT_BYTES))
    limit = whole_number(given)
    if limit is None or limit < 0:
        raise InputError(f"REFSIM_EMBEDDING_BYTES is {given!r}; expected a whole number of bytes, 0 to keep none")
    return limit
