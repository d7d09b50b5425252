"""Demonstration data, written for refsim: three made-up systems on 40 items in English, Japanese and Hebrew.

    demo.jsonl    one row per item and system; `slip` names a deliberate mistake, "" where there is none
    nbest.jsonl   lists of candidates for one source each, for `refsim consensus`

"good" is fluent and nearly always right, "terse" too short, "padded" right with needless text around it.
`python -m refsim.demo` scores them through the command line and writes a report.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Final, Literal

DataName = Literal["demo.jsonl", "nbest.jsonl"]
DATA_NAMES: Final[tuple[DataName, ...]] = ("demo.jsonl", "nbest.jsonl")


def read_text(name: DataName) -> str:
    """Return a data file as it is, also from a package that is installed as an archive."""
    return files(__name__).joinpath(name).read_text(encoding="utf-8")


def read_rows(name: DataName) -> list[dict[str, Any]]:
    """Return the rows of a data file."""
    return [json.loads(line) for line in read_text(name).split("\n") if line]
