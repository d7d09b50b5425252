"""Open a file, standard input or a file object, and read its bytes, decompressed by their first bytes.

target -> Input: head (the first piece), pieces() (all of it), done and size (progress, in compressed bytes)
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import sys
import zlib
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from refsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Target = str | os.PathLike[str] | BinaryIO

PIECE = 1 << 18
# A text may begin with "BZh9" and go on as it likes: of bzip2 the mark of the first block is looked at, too, which is
# that of the end where there is none. The others' first bytes are no UTF-8.
MAGIC = {
    "gzip": re.compile(rb"\x1f\x8b\x08"),
    "bzip2": re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
}
LONGEST_MAGIC = 10
# Endings that say nothing about a system; others, as in "en-ja.hyp.AIRC.ja", are part of its name.
ENDINGS = (
    ".gz",
    ".bz2",
    ".xz",
    ".zst",
    ".txt",
    ".tsv",
    ".tab",
    ".csv",
    ".jsonl",
    ".ndjson",
    ".json",
    ".parquet",
    ".pq",
)


class Input:
    """One opened input. `name` is for messages; `head` the first decompressed piece; `done` counts compressed bytes."""

    def __init__(self, target: Target) -> None:
        self.raw, self.name = _open(target)
        self.path = Path(target) if isinstance(target, str | os.PathLike) and target != "-" else None
        self.size = os.fstat(self.raw.fileno()).st_size or None if self.path else None
        self.done = 0
        try:
            raw = self._raw_pieces()
            start = at_least(LONGEST_MAGIC, raw)
            self.kind = next((kind for kind, magic in MAGIC.items() if magic.match(start)), None)
            self._stream = self._decompressed(chain((start,), raw))
            self.head = next(self._stream, b"")
        except BaseException:
            self.close()
            raise

    def pieces(self) -> Iterator[bytes]:
        """Yield the decompressed bytes from the start; once."""
        return chain((self.head,), self._stream)

    def seekable(self) -> BinaryIO:
        """Return a file to read from anywhere; what is compressed, or comes through a pipe, is read into memory."""
        if self.path and not self.kind and self.raw.seekable():
            return self.raw
        return io.BytesIO(b"".join(self.pieces()))

    def close(self) -> None:
        """Close the file, unless it was given open."""
        if self.path:
            self.raw.close()

    def _raw_pieces(self) -> Iterator[bytes]:
        try:
            while piece := self.raw.read(PIECE):
                self.done += len(piece)
                if not isinstance(piece, bytes):
                    raise InputError(f"{self.name}: opened as text; open it in binary mode, 'rb'")
                yield piece
        except OSError as error:
            raise InputError(f"{self.name}: cannot be read: {error.strerror or error}") from error

    def _decompressed(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        if self.kind is None:
            yield from filter(None, pieces)
            return
        faults = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, _zstd().ZstdError)
        try:
            yield from _gunzip(pieces) if self.kind == "gzip" else _expand(pieces, _decompressor(self.kind))
        except InputError:
            raise
        except faults as error:
            raise InputError(f"{self.name}: damaged or cut {self.kind} data: {error}") from error


def labels(inputs: list[Input]) -> list[str]:
    """Return a name for the system of each file: its own without known endings, with its folders where two agree."""
    made = [_label(one, Path(one.name).name) for one in inputs]
    if len(set(made)) < len(made):
        made = [_label(one, one.name) for one in inputs]
    if len(set(made)) < len(made):
        again = next(label for label in made if made.count(label) > 1)
        raise InputError(f"{again}: given twice; one file a system is expected, or give names with systems=")
    return made


def _label(one: Input, name: str) -> str:
    if one.path is None:
        return "stdin" if one.name == "<stdin>" else name
    while (shorter := next((name.removesuffix(end) for end in ENDINGS if name.endswith(end)), name)) not in (name, ""):
        name = shorter
    return name


def _open(target: Target) -> tuple[BinaryIO, str]:
    if target == "-":
        if sys.stdin is None:
            raise InputError("<stdin>: is closed; give a file, or what to read on standard input")
        return cast("BinaryIO", sys.stdin.buffer), "<stdin>"
    if not isinstance(target, str | os.PathLike):
        if not hasattr(target, "read"):
            raise InputError(f"{target!r}: a path, '-' or a file opened in binary mode is expected")
        name = getattr(target, "name", None)
        return target, name if isinstance(name, str) else "<stream>"
    name = os.fspath(target)
    try:
        return Path(name).open("rb"), str(name)
    except (OSError, ValueError) as error:
        raise InputError(f"{name}: {getattr(error, 'strerror', None) or error}") from error


def at_least(count: int, pieces: Iterator[bytes]) -> bytes:
    """Return the first pieces together, at least so many bytes unless there are fewer."""
    start = next(pieces, b"")
    while start and len(start) < count and (more := next(pieces, b"")):
        start += more
    return start


class _Pieces(io.RawIOBase):
    """A file over pieces, for gzip, which reads from files only."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces, self.rest = pieces, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # collections.abc.Buffer is of Python 3.12
        self.rest = self.rest or next(self.pieces, b"")
        count = min(len(buffer), len(self.rest))
        buffer[:count], self.rest = self.rest[:count], self.rest[count:]
        return count


def _gunzip(pieces: Iterator[bytes]) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=io.BufferedReader(_Pieces(pieces), PIECE)) as stream:
        while piece := stream.read(PIECE):
            yield piece


def _expand(pieces: Iterator[bytes], new: Callable[[], Any]) -> Iterator[bytes]:
    """Yield the contents of concatenated streams.

    The file objects of bz2 and lzma stop in silence at bytes that start no stream; a flipped bit between two
    streams would lose the second. Here such bytes reach a decompressor, which refuses them.
    """
    decompressor, fresh = new(), True
    for piece in pieces:
        data = piece
        # xz files may be padded with zeros between streams.
        while not fresh or (data := data.lstrip(b"\0")):
            made = decompressor.decompress(data, PIECE)
            data, fresh = b"", False
            if made:
                yield made
            if decompressor.eof:
                data, decompressor, fresh = decompressor.unused_data, new(), True
            elif decompressor.needs_input:
                break
    if not fresh:
        raise EOFError("the file ends in the middle of a stream")


# `Any` below: bz2, lzma and zstd agree on eof, needs_input, unused_data and decompress, but name no common type.
def _decompressor(kind: str) -> Callable[[], Any]:
    if kind == "bzip2":
        return bz2.BZ2Decompressor
    return lzma.LZMADecompressor if kind == "xz" else _zstd().ZstdDecompressor


def _zstd() -> Any:  # noqa: ANN401  # a module
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415  # absent before
    else:
        from backports import zstd  # noqa: PLC0415  # needed for few files
    return zstd
