"""Rows of real data on which metrics are compared with their own libraries: a few hundred in all, cut by a rule.

RAGGED are made here: rows with one to three references, empty texts, and what hostile input holds.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from typing import Any

from shared import shared_data

Rows = list[tuple[str, list[str]]]

RAGGED: Rows = [
    ("the cat sat on the mat .", ["the cat sat on the mat ."]),
    ("the cat", ["a cat sat on a mat", "the cat", ""]),
    ("", ["the cat sat"]),
    ("the dog", [""]),
    ("", [""]),
    ("a a a a", ["a a", "a"]),
    ("It is a guide to action", ["It is a guide to action that ensures", "the guide"]),
    ("tabs\tand\nlines  twice", ["tabs and lines", "and\u3000lines"]),
    ("&quot;x&quot; & 1,000.5 it's", ['"x" & 1,000.5 its']),
]
HOSTILE: Rows = [
    ("\ud800 half", ["a half", "\udfff"]),
    ("a\0b", ["a\0b", "a"]),
    ("é e\u0301 \u200b\u202e", ["e\u0301"]),
    ("👨‍👩‍👧 " * 40, ["👨‍👩‍👧"]),
    ("x" * 3000, ["x" * 2999]),
]


@cache
def rows(name: str, every: int = 1) -> tuple[tuple[str, list[str]], ...]:
    """Return the candidates and references of one of the sets below, every so manieth; skip the test without data."""
    return tuple(_READERS[name]()[::every])


def lines(name: str) -> list[Any]:
    """Return the rows of a JSON lines file of the shared data."""
    with gzip.open(shared_data(name), "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _judged(name: str) -> Rows:
    return [(row["candidate"], row["references"]) for row in lines(name)]


def _summeval() -> Rows:
    references = {row["segment_id"]: row["references"] for row in lines("summeval/documents.jsonl.gz")}
    return [(row["candidate"], references[row["segment_id"]]) for row in lines("summeval/segments.jsonl.gz")]


def _plain() -> Rows:
    texts = [shared_data(f"plaintext/{name}.txt").read_text("utf-8").splitlines() for name in ("hyps", "refs", "refs2")]
    return [(candidate, list(references)) for candidate, *references in zip(*texts, strict=True)]


_READERS = {
    "wmt17": lambda: _judged("wmt17-da/de-en.jsonl.gz"),
    "two references": lambda: _judged("mlqe-pe/et-en.2refs.jsonl.gz"),
    "japanese": lambda: _judged("wmt24-esa/en-ja.jsonl.gz"),
    "chinese": lambda: _judged("wmt24-esa/en-zh.jsonl.gz"),
    "post-edits": lambda: _judged("mlqe-pe/en-zh.postedit.jsonl.gz"),
    "summeval": _summeval,
    "plaintext": _plain,
}
