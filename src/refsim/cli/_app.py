"""The commands by name, and what becomes of failures: one line on stderr and an exit code.

cyclopts reads the options; its errors and refsim's own come out alike, as "refsim: error: ...", without a frame, so
that they can be searched for and copied. A command's module is loaded when the command is called.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from cyclopts import App, CycloptsError

from refsim._version import __version__
from refsim.cli._options import STDIN
from refsim.errors import RefsimError

if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_FINE = 0
EXIT_BAD = 2
EXIT_INTERRUPTED = 130
EXIT_CLOSED_PIPE = 141


def make_app() -> App:
    """Return the application with its commands, which are loaded on demand."""
    app = App(
        name="refsim",
        help="How close texts are to their references: charsim, an exact character n-gram similarity of every order.",
        help_epilogue="refsim score hyp.txt -r ref.txt    scores a file line by line; refsim score --help has more.",
        version=f"refsim {__version__}",
        help_format="plaintext",
        exit_on_error=False,
        print_error=False,
        suppress_keyboard_interrupt=False,
        result_action="return_none",
    )
    app.command("refsim.cli._score:score", name="score", help="Score candidates against references.")
    app.command("refsim.cli._compile:compile_", name="compile", help="Do the work on references once, and save it.")
    app.command("refsim.cli._consensus:consensus", name="consensus", help="Rank n-best lists by their own agreement.")
    return app


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; errors end as one line on stderr."""
    # What no encoding can hold, such as half a surrogate pair in a name, is shown as an escape.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        make_app()([STDIN if argument == "-" else argument for argument in arguments])
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _fail("interrupted; files that were being written are as they were before", EXIT_INTERRUPTED)
    except BrokenPipeError:
        return _leave_closed_pipe()
    except CycloptsError as error:
        return _fail(f"error: {_usage_message(error)}")
    except RefsimError as error:
        return _fail(f"error: {error}")
    except OSError as error:
        return _fail(f"error: {_os_message(error)}")
    return EXIT_FINE


def _fail(message: str, code: int = EXIT_BAD) -> int:
    _drop_output()
    try:
        sys.stderr.write(f"refsim: {message}\n")
        sys.stderr.flush()
    except OSError:
        pass  # stderr is closed or full: the exit code is all that is left to say
    return code


def _leave_closed_pipe() -> int:
    _drop_output()
    return EXIT_CLOSED_PIPE


def _drop_output() -> None:
    """Let the interpreter's last flush of stdout go nowhere, where it cannot fail a second time."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (OSError, ValueError):
            pass  # stdout is no file of the system, as in tests


def _usage_message(error: CycloptsError) -> str:
    command = " ".join(["refsim", *(error.command_chain or ())])
    return f"{' '.join(str(error).split())} See {command} --help."


def _os_message(error: OSError) -> str:
    what = f"{error.filename}: " if error.filename else "output: "
    return f"{what}{error.strerror or error}"
