"""The command `refsim`: options -> calls -> output, and no arithmetic.

    main  --version: answered here, before anything is imported
          _streams.py  standard streams that are closed
          _app.py    commands, errors as one line on stderr, exit codes
          _options.py  options in groups  ->  arguments of readers, metrics
          _score.py  _compile.py  _consensus.py  _explain.py   the commands

Exit codes: 0 fine; 2 bad usage, bad input or a file that cannot be written; 130 on Ctrl-C; 141 when the reader of
the output is gone, as for any program in a pipe.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from refsim.cli._streams import mend_streams

if TYPE_CHECKING:
    from collections.abc import Sequence


# cyclopts takes a lone "-" for an option without a name; `_app.run` puts this in its place.
STDIN = "<stdin>"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; `arguments` are those of the process if not given."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    mend_streams()
    with suppress(OSError):  # what then becomes of it, `run` knows
        if arguments == ["--version"]:
            from refsim._version import __version__  # noqa: PLC0415  nothing is loaded before it is needed

            sys.stdout.write(f"refsim {__version__}\n")
            sys.stdout.flush()
            return 0
    try:
        from refsim.cli._app import run  # noqa: PLC0415  as above
    except KeyboardInterrupt:  # loading takes long enough to be interrupted
        return 130
    return run(arguments)
