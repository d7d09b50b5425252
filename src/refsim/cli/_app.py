"""The commands by name, and what becomes of failures: one line on stderr and an exit code.

cyclopts reads the options; its errors and refsim's own come out alike, as "refsim: error: ...", without a frame, so
that they can be searched for and copied. A command's module is loaded when the command is called.
"""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING

from cyclopts import App, CycloptsError

from refsim._printable import printable
from refsim._version import __version__
from refsim.cli import STDIN
from refsim.errors import RefsimError

if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_FINE = 0
EXIT_BAD = 2
EXIT_INTERRUPTED = 130
EXIT_CLOSED_PIPE = 141


_EXAMPLES = {
    "score": """\
refsim score hyp.txt -r ref.txt
refsim score sysA.txt sysB.txt -r ref1.txt -r ref2.txt
refsim score data.jsonl --candidate output --references doc.refs --id doc_id
refsim score answers.jsonl -r references.parquet --on question_id
refsim score - --form base --per-segment scores.parquet < data.jsonl""",
    "compile": """\
refsim compile references.txt -o references.refsim
refsim score answers.txt --compiled references.refsim
refsim compile references.parquet --on question_id -o questions.refsim
refsim score answers.jsonl --compiled questions.refsim""",
    "metrics": """\
refsim metrics
refsim metrics --json
refsim score hyp.txt -r ref.txt -m charsim -m bleu -m "rouge(tokenizer=char)\"""",
    "models": """\
refsim models
refsim models install minilm e5-small-q4
refsim score hyp.txt -r ref.txt -m charsim -m bertscore
refsim score hyp.txt -r ref.txt -m "bertscore(model=e5-small-q4)\"""",
    "consensus": """\
refsim consensus nbest.jsonl --top 1 -o best.txt
refsim consensus samples.txt --num-candidates 8 --json
refsim consensus nbest.jsonl --support references.parquet --on question_id""",
    "explain": """\
refsim explain "the dog sat on the mat" "the cat sat on the mat" "a cat sat"
refsim explain "a dog sat" "the puppy was sitting" -m bertscore
refsim explain - "$(cat reference.txt)" < candidate.txt
refsim explain hyp.txt -r ref1.txt -r ref2.txt --id 3
refsim explain answers.tsv --id q1 --system A --against B
refsim explain answers.jsonl --compiled questions.refsim --id q1 --json""",
    "tune-layer": """\
refsim tune-layer judged.jsonl --human score
refsim tune-layer judged.tsv -r reference --human DA --by lang --model ./my-model --plot layers.svg""",
    "baseline": """\
refsim baseline fit news.txt --model minilm -o minilm.json
refsim baseline fit dump.jsonl.gz --column text --model ./my-model --layer 9 --pairs 100000 -o mine.json
refsim baseline show minilm.json
refsim baseline list --lang en""",
}


def make_app() -> App:
    """Return the application with its commands, which are loaded on demand."""
    app = App(
        name="refsim",
        help="How close texts are to their references: charsim, an exact character n-gram similarity of every order.",
        version=f"refsim {__version__}",
        help_format="plaintext",
        exit_on_error=False,
        print_error=False,
        suppress_keyboard_interrupt=False,
        result_action="return_none",
    )
    for name, what in (
        ("score", "Score candidates against references: a row for each system."),
        ("compile", "Do the work on references once, and save it."),
        ("consensus", "Rank n-best lists by how far their candidates agree."),
        ("explain", "Show why one candidate scores what it does."),
        ("metrics", "List the metrics, and what each needs."),
        ("models", "List the encoders of BERTScore, or install them."),
        ("tune-layer", "Find the layer of an encoder that agrees best with people."),
        ("baseline", "Fit what unrelated texts score, for BERTScore's rescaling."),
    ):
        module = name.replace("-", "_")
        place = f"refsim.cli._{module}:{module}"
        app.command(place, name=name, help=what, help_epilogue=_EXAMPLES[name] + "\n")
    return app


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; errors end as one line on stderr."""
    # What no encoding can hold, such as half a surrogate pair in a name, is shown as an escape.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            make_app()([STDIN if argument == "-" else argument for argument in arguments])
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _fail("interrupted; files that were being written are as they were before", EXIT_INTERRUPTED)
    except (BrokenPipeError, SystemExit):
        # Help is printed by rich, which ends the process where the reader is gone; nothing else here does.
        return _leave_closed_pipe()
    except CycloptsError as error:
        return _fail(f"error: {_usage_message(error)}")
    except RefsimError as error:
        return _fail(f"error: {error}")
    except OSError as error:
        return _fail(f"error: {_os_message(error)}")
    return EXIT_FINE


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    sys.stderr.write(f"refsim: warning: {printable(str(message))}\n")


def _fail(message: str, code: int = EXIT_BAD) -> int:
    _drop_output()
    with suppress(OSError):  # stderr closed or full: the exit code is all that is left to say it
        sys.stderr.write(f"refsim: {printable(message)}\n")
        sys.stderr.flush()
    return code


def _leave_closed_pipe() -> int:
    _drop_output()
    return EXIT_CLOSED_PIPE


def _drop_output() -> None:
    """Let the interpreter's last flush of stdout go nowhere, where it cannot fail a second time."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):  # in tests stdout is no file of the system
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage_message(error: CycloptsError) -> str:
    command = " ".join(["refsim", *(error.command_chain or ())])
    return f"{' '.join(str(error).split())} See {command} --help."


def _os_message(error: OSError) -> str:
    what = f"{error.filename}: " if error.filename else "output: "
    return f"{what}{error.strerror or error}"
