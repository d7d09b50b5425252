"""`python -m refsim.demo [FOLDER]`: score the demonstration data with the commands a user would type.

    data of the package  -->  FOLDER/*.jsonl  --refsim score, refsim consensus-->  tables, scores  -->  FOLDER/report.md

FOLDER is demo-output unless given. Each command is printed before it runs, and can be run again by hand. BERTScore
stands beside charsim where it is installed and its models are here.
"""

from __future__ import annotations

import importlib.util
import json
import shlex
import subprocess
import sys
from pathlib import Path

from refsim.demo import DATA_NAMES, read_rows, read_text
from refsim.demo.report import write_report
from refsim.errors import InputError
from refsim.metrics._models import locate


def main(arguments: list[str]) -> int:
    """Run the demonstration; return 0, 2 for wrong arguments, or the code of the first command that failed."""
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print("usage: python -m refsim.demo [FOLDER]", file=sys.stderr)  # noqa: T201
        return 2
    folder = Path(arguments[0] if arguments else "demo-output")
    folder.mkdir(parents=True, exist_ok=True)
    for name in DATA_NAMES:
        (folder / name).write_text(read_text(name), encoding="utf-8", newline="\n")
    commands = _commands(folder) + _bertscore_commands(folder)
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


def _bertscore_commands(folder: Path) -> list[list[str]]:
    """Return both metrics on English, and on Japanese and Hebrew, each with a model that knows the languages."""
    commands = []
    for name, languages, model in (("english", {"en"}, "minilm"), ("japanese-hebrew", {"ja", "he"}, "e5-small-q4")):
        missing = _missing(model)
        if missing is not None:
            print(f"BERTScore is left out: {missing}", file=sys.stderr)  # noqa: T201
            return []
        path = folder / f"{name}.jsonl"
        rows = [json.dumps(row, ensure_ascii=False) for row in read_rows("demo.jsonl") if row["lang"] in languages]
        path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8", newline="\n")
        commands.append(["refsim", "score", str(path), "-m", "charsim", "-m", f"bertscore(model={model})"])
    return commands


def _missing(model: str) -> str | None:
    """Say what BERTScore lacks here, None if nothing."""
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec("transformers") is None:
        return 'torch and transformers are not installed; pip install "refsim[bertscore]"'
    try:
        locate(model)
    except InputError as error:
        return str(error)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
