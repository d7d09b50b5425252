"""JSONL and JSON -> chunks.

JSONL   one object a line, blank lines left out
JSON    [object, ...], or {"system": [object, ...], ...} as `comet-score --to_json` writes it: read object by
        object, so a file of any size takes the memory of its largest object
"""

from __future__ import annotations

import codecs
import json
import re
import reprlib
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

from refsim.errors import InputError
from refsim.readers._lines import batched, lines, raise_undecodable
from refsim.segments import Chunk, Places, describe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refsim.readers._open import Input


class _RepeatedKeyError(ValueError):
    """An object has a key twice; the text is what the key is."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, of whose values none is dropped for a later one."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise _RepeatedKeyError(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return made


# The hook costs 0.3 us a row, 8% of reading alone. To count keys and the colons after them instead costs more.
DECODER = json.JSONDecoder(object_pairs_hook=_unique)
BLANK = " \t\n\r"
SPACE = re.compile(r"[ \t\n\r]*")
# The decoder may stumble so near to the end of the text only because a value is not there to its end.
NEAR = 16


def jsonl(source: Input, size: int) -> Iterator[Chunk]:
    """Yield the chunks of a file with one object a line."""
    number, done = 1, 0
    for run in batched(lines(source), size):
        rows, numbers = [], []
        for line in run:
            if line.strip(BLANK):
                rows.append(_object(line, source.name, number))
                numbers.append(number)
            number += 1
        if rows:
            yield Chunk.from_rows(rows, Places(source.name, numbers), range(done, done + len(rows)))
            done += len(rows)


def _object(line: str, name: str, number: int) -> dict[str, Any]:
    # json.loads does the same with two more looks at the text.
    text = line.lstrip(BLANK)
    before = len(line) - len(text)
    try:
        value, end = DECODER.raw_decode(text)
    except json.JSONDecodeError as error:
        _raise_json(error.msg, name, number, before + error.pos + 1)
    except RecursionError:
        _raise_json("nested too deeply", name, number, before + 1)
    except _RepeatedKeyError as error:
        _raise_repeated(error, name, number)
    except ValueError as error:
        _raise_json(str(error), name, number, before + 1)
    if end != len(text) and (rest := text[end:].lstrip(BLANK)):
        _raise_json(f"more text after the value: {rest[:20]!r}", name, number, len(line) - len(rest) + 1)
    if type(value) is not dict:
        raise InputError(f"{name}:{number}: {describe(value)}; an object is expected on each line")
    return value


def _raise_json(what: str, name: str, line: int, column: int) -> NoReturn:
    raise InputError(f"{name}:{line}:{column}: not JSON: {what}")


def _raise_repeated(error: _RepeatedKeyError, name: str, line: int) -> NoReturn:
    key = reprlib.repr(str(error))
    raise InputError(f"{name}:{line}: key {key} stands twice in one object; leave one of the two out") from None


def array(source: Input, size: int) -> Iterator[Chunk]:
    """Yield the chunks of an array of objects, or of an object of such arrays, whose names become column `system`."""
    stream = _Stream(source)
    opening = stream.symbol("[{")
    if opening == "[":
        yield from _chunks(stream, size, {})
    elif stream.peek() == "}":
        stream.symbol("}")
    else:
        while True:
            line, key = stream.value()
            if not isinstance(key, str):
                raise InputError(f"{source.name}:{line}: {describe(key)}; the name of a system is expected")
            stream.symbol(":")
            stream.symbol("[")
            yield from _chunks(stream, size, {"system": key})
            if stream.symbol(",}") == "}":
                break
    stream.end()


def _chunks(stream: _Stream, size: int, more: dict[str, Any]) -> Iterator[Chunk]:
    items, done = _items(stream), 0
    while run := list(islice(items, size)):
        numbers, rows = [line for line, _ in run], [{**more, **row} if more else row for _, row in run]
        yield Chunk.from_rows(rows, Places(stream.name, numbers), range(done, done + len(rows)))
        done += len(rows)


def _items(stream: _Stream) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects up to the bracket that ends their array, each with its line."""
    if stream.peek() == "]":
        stream.symbol("]")
        return
    while True:
        line, value = stream.value()
        if type(value) is not dict:
            raise InputError(f"{stream.name}:{line}: {describe(value)}; an object is expected, one a segment")
        yield line, value
        if stream.symbol(",]") == "]":
            return


class _Stream:
    """JSON text of which no more is kept than the value being read."""

    def __init__(self, source: Input) -> None:
        self.name = source.name
        self._pieces = source.pieces()
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._bytes = 0
        self._text, self._at, self._done = "", 0, False
        # The line of position `_start`, and how many characters of the line stood before the text.
        self._line, self._start, self._before = 1, 0, 0

    def peek(self) -> str:
        """Return the next character that is no white space, "" at the end of the file."""
        while (at := SPACE.match(self._text, self._at).end()) == len(self._text) and not self._done:  # type: ignore[union-attr]  # matches always
            self._at = at
            self._fill(1)
        self._at = at
        return self._text[at : at + 1]

    def symbol(self, expected: str) -> str:
        """Return the next character, which must be one of those expected."""
        found = self.peek()
        if not found or found not in expected:
            what = repr(found) if found else "the end of the file"
            self._raise(f"{what} where {' or '.join(map(repr, expected))} is expected", self._at)
        self._at += 1
        return found

    def value(self) -> tuple[int, Any]:
        """Return the next value and the line on which it starts."""
        self.peek()
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated string") or error.pos > len(self._text) - NEAR
                if self._done or not cut:
                    self._raise(error.msg, error.pos)
                # The value may go on; twice the text each time, so that a long one is not read over and over.
                self._fill(len(self._text) - self._at)
            except RecursionError:
                self._raise("nested too deeply", self._at)
            except _RepeatedKeyError as error:
                _raise_repeated(error, self.name, self._line_at(self._at))
            except ValueError as error:
                self._raise(str(error), self._at)
            else:
                line = self._line_at(self._at)
                self._at = end
                return line, value

    def end(self) -> None:
        """Raise unless nothing but white space is left."""
        if found := self.peek():
            self._raise(f"more text after the value: {found!r}", self._at)

    def _line_at(self, at: int) -> int:
        """Return the line of a position, which is not before the last one asked for."""
        self._line += self._text.count("\n", self._start, at)
        self._start = at
        return self._line

    def _fill(self, wanted: int) -> None:
        """Drop what is read and add at least `wanted` characters, unless the file ends."""
        self._line_at(self._at)
        self._before = self._column(self._at) - 1
        parts, count = [self._text[self._at :]], 0
        while count < wanted and not self._done:
            piece = next(self._pieces, b"")
            before = self._bytes - len(self._decoder.getstate()[0])
            try:
                text = self._decoder.decode(piece, final=not piece)
            except UnicodeDecodeError as error:
                line = self._line + sum(part.count("\n") for part in parts)
                raise_undecodable(error, self.name, line, before, last=not piece)
            self._bytes += len(piece)
            self._done = not piece
            parts.append(text)
            count += len(text)
        self._text, self._at, self._start = "".join(parts), 0, 0

    def _raise(self, what: str, at: int) -> NoReturn:
        line = self._line + self._text.count("\n", self._start, at)
        _raise_json(what, self.name, line, self._column(at))

    def _column(self, at: int) -> int:
        end_before = self._text.rfind("\n", 0, at)
        return at - end_before if end_before >= 0 else self._before + at + 1
