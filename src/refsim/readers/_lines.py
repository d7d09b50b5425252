r"""Bytes -> lines of text.

A line ends at \n or \r\n, and at nothing else: U+2028, U+0085, form feed and a lone \r are text. That is why
`str.splitlines` and files opened as text are not used. A byte order mark is removed once, at the file's start.
"""

from __future__ import annotations

import codecs
from itertools import chain
from typing import TYPE_CHECKING, NoReturn

from refsim.errors import InputError
from refsim.readers._open import at_least

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refsim.readers._open import Input


def lines(source: Input, *, ends: bool = False) -> Iterator[list[str]]:
    r"""Yield runs of lines. With `ends` each keeps its line end, as CSV needs it inside quotes.

    A last line without an end is a line too; after a last line end there is none.
    """
    pieces = source.pieces()
    start = at_least(len(codecs.BOM_UTF8), pieces)
    line, offset = 1, len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0
    pending: list[bytes] = []
    for piece in filter(None, chain((start[offset:],), pieces)):
        cut = piece.rfind(b"\n") + 1
        if not cut:
            pending.append(piece)
            continue
        # One join a run of pieces: a line of 10 MB must not be copied for each piece of it.
        block = b"".join((*pending, piece[:cut]))
        pending = [piece[cut:]] if cut < len(piece) else []
        text = decoded(block, source.name, line, offset)
        yield _split(text, ends=ends)
        line += text.count("\n")
        offset += len(block)
    if pending:
        # Without its \n, a \r at the end is text.
        yield [decoded(b"".join(pending), source.name, line, offset, last=True)]


def _split(text: str, *, ends: bool) -> list[str]:
    found = text[:-1].split("\n")
    if ends:
        return [f"{line}\n" for line in found]
    return [line.removesuffix("\r") for line in found] if "\r" in text else found


def decoded(block: bytes, name: str, line: int, offset: int, *, last: bool = False) -> str:
    """Decode whole lines, the first of which is number `line`, at byte `offset` of the (decompressed) file."""
    try:
        return block.decode()
    except UnicodeDecodeError as error:
        raise_undecodable(error, name, line, offset, last=last)


def raise_undecodable(error: UnicodeDecodeError, name: str, line: int, offset: int, *, last: bool) -> NoReturn:
    """Raise what is wrong with a byte, and where: line, and byte from 0."""
    line += error.object.count(b"\n", 0, error.start)
    at = offset + error.start
    if last and error.end == len(error.object) and error.reason == "unexpected end of data":
        raise InputError(f"{name}:{line}: the file ends in the middle of a character (byte {at})") from error
    hint = "; it looks like UTF-16" if error.object[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else ""
    raise InputError(
        f"{name}:{line}: byte {at} is 0x{error.object[error.start]:02X}, which is not UTF-8 there{hint}; "
        "convert the file to UTF-8"
    ) from error


def batched(runs: Iterator[list[str]], size: int) -> Iterator[list[str]]:
    """Yield the same lines in lists of `size`, the last one shorter."""
    kept: list[str] = []
    for run in runs:
        kept += run
        if len(kept) < size:
            continue
        whole = len(kept) - len(kept) % size
        for start in range(0, whole, size):
            yield kept[start : start + size]
        kept = kept[whole:]
    if kept:
        yield kept
