"""`python -m refsim.demo [FOLDER]`: score the demonstration data with the commands a user would type.

    data of the package  -->  FOLDER/*.jsonl  --refsim score, refsim consensus-->  tables, scores  -->  FOLDER/report.md

FOLDER is demo-output unless given. Each command is printed before it runs, and can be run again by hand.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

from refsim.demo import DATA_NAMES, read_rows, read_text
from refsim.demo.report import write_report


def main(arguments: list[str]) -> int:
    """Run the demonstration; return 0, 2 for wrong arguments, or the code of the first command that failed."""
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print("usage: python -m refsim.demo [FOLDER]", file=sys.stderr)  # noqa: T201
        return 2
    folder = Path(arguments[0] if arguments else "demo-output")
    folder.mkdir(parents=True, exist_ok=True)
    for name in DATA_NAMES:
        (folder / name).write_text(read_text(name), encoding="utf-8", newline="\n")
    commands = _commands(folder)
    for command in commands:
        print(f"$ {shlex.join(command)}", flush=True)  # noqa: T201  this is its output
        # The same interpreter, since `refsim` need not be on the path; Python's own output was flushed just now.
        code = subprocess.run([sys.executable, "-m", *command], check=False).returncode  # noqa: S603  fixed words
        if code:
            return code
        print(flush=True)  # noqa: T201
    report = folder / "report.md"
    page = write_report(
        read_rows("demo.jsonl"), read_rows("nbest.jsonl"), [shlex.join(command) for command in commands]
    )
    report.write_text(page, encoding="utf-8", newline="\n")
    print(f"Report with the texts: {report}")  # noqa: T201
    return 0


def _commands(folder: Path) -> list[list[str]]:
    systems, nbest = str(folder / "demo.jsonl"), str(folder / "nbest.jsonl")
    return [
        ["refsim", "score", systems, "--per-segment", str(folder / "segments.jsonl")],
        ["refsim", "consensus", nbest, "--top", "1"],
        ["refsim", "consensus", nbest, "--output", str(folder / "consensus.jsonl")],
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
