"""Standard streams that the process was started without, as by `>&-`: Python has None in their place.

    closed standard output    to write to it is an OSError, which ends the command as a full disk does
    closed standard input     to read from it is one
    closed standard error     what would be said goes nowhere; the exit code says it

Their numbers are taken as well: the next file to be opened would be number 1 or 2, and hold what some library prints.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, Final, NoReturn

_LAST: Final = 2


def mend_streams() -> None:
    """Put something in the place of standard streams that are closed."""
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (number := os.open(os.devnull, os.O_RDWR)) <= _LAST:
        pass
    os.close(number)
    sys.stdin = sys.stdin or _Closed("standard input")
    sys.stdout = sys.stdout or _Closed("standard output")
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  as long as the process


class _Closed(io.TextIOBase):
    """A stream that nothing can be read from or written to; `buffer` is the same for bytes."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def buffer(self) -> Any:  # noqa: ANN401  bytes and texts fail alike
        return self

    def read(self, _size: int | None = -1, /) -> str:
        self._fail()

    def write(self, _text: str, /) -> int:
        self._fail()

    def _fail(self) -> NoReturn:
        raise OSError(errno.EBADF, "is closed", self.name)
