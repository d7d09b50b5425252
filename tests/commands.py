"""The command line in tests: called in this process, in a process of its own, or on a terminal of a given width.

run("score", ...)                     in this process           -> Done(code, out, err)
start("score", ...)                   a process of its own      -> Popen, with Ctrl-C as on a terminal
on_terminal("score", ..., columns=80) a pseudo-terminal         -> what it shows, colours taken out
agrees_with_golden(name, text)        the text of tests/golden/output/NAME; a mismatch saves NAME.new beside it
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unittest import mock

from refsim import cli
from shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

GOLDEN = ROOT / "tests" / "golden" / "output"
# A shell may start what runs in the background with Ctrl-C ignored, and children inherit that.
_CODE = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from refsim.cli import main
sys.exit(main())
"""
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True)
class Done:
    """How a command ended: its exit code, what it printed, what it said on stderr."""

    code: int
    out: str
    err: str


def run(*arguments: str | Path, stdin: bytes = b"") -> Done:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")),
    ):
        code = cli.main([str(argument) for argument in arguments])
    return Done(code, out.getvalue(), err.getvalue())


def start(*arguments: str | Path, stdout: int = subprocess.PIPE) -> subprocess.Popen[str]:
    """Start a command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", _CODE, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )


def on_terminal(*arguments: str | Path, columns: int = 80, keep_escapes: bool = False) -> str:
    """Run a command on a pseudo-terminal of so many columns and return what it shows, stderr included."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "NO_COLOR"}}
    with subprocess.Popen(
        [sys.executable, "-c", _CODE, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env={**environment, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"},
    ):
        os.close(theirs)
        shown = _read_all(ours)
    os.close(ours)
    text = shown.decode().replace("\r\n", "\n")
    return text if keep_escapes else _ESCAPES.sub("", text)


def _read_all(descriptor: int) -> bytes:
    parts = []
    # Linux ends a pseudo-terminal whose other side is closed with an error, not with an empty read.
    with contextlib.suppress(OSError):
        while part := os.read(descriptor, 65536):
            parts.append(part)
    return b"".join(parts)


def agrees_with_golden(name: str, text: str, folder: Path = GOLDEN) -> bool:
    """Compare a text with NAME in tests/golden/output, versions scrubbed; save it as NAME.new if they differ."""
    scrubbed = re.sub(r"refsim:\d+\.\d+\.\d+\w*", "refsim:VERSION", text)
    scrubbed = re.sub(r" +$", "", scrubbed, flags=re.MULTILINE)  # a table pads its last column
    expected, found = folder / name, folder / f"{name}.new"
    if expected.exists() and expected.read_text(encoding="utf-8") == scrubbed:
        found.unlink(missing_ok=True)
        return True
    found.parent.mkdir(parents=True, exist_ok=True)
    found.write_text(scrubbed, encoding="utf-8")
    return False
