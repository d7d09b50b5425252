r"""Which format a file has: its first bytes, then its ending, then its first line.

PAR1 ...                                      parquet
7 ||| text ||| ...                            moses, whatever the ending
.tsv .tab .csv .jsonl .ndjson .txt            as they say; a JSON array under .jsonl is still an array
.json                                         jsonl if its first line is an object and another follows, json if not
no known ending, "-": [{ or {"...": }         json or jsonl; a header that names candidate and references, tsv or csv
anything else                                 text, one segment a line
"""

from __future__ import annotations

import codecs
import json
import re
from typing import TYPE_CHECKING

from refsim.readers._open import PIECE
from refsim.segments import NUMBERED, USUAL

if TYPE_CHECKING:
    from refsim.readers._open import Input

BY_ENDING = {
    ".txt": "text",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
}
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
MOSES = re.compile(rb"\d+ \|\|\| .* \|\|\| ")
ARRAY = re.compile(rb"[ \t\r\n]*\[[ \t\r\n]*(\{|\]|\Z)")
COMET = re.compile(rb'[ \t\r\n]*\{[ \t\r\n]*"(?:[^"\\]|\\.)*+"[ \t\r\n]*:[ \t\r\n]*\[[ \t\r\n]*[{\]]')
OBJECT = re.compile(rb"[ \t\r\n]*\{[ \t\r\n]*(\"|\}|\Z)")


def detect(source: Input) -> str:
    """Return the name of a format; reads no more than the first piece."""
    head = source.head.removeprefix(codecs.BOM_UTF8)
    if head.startswith(b"PAR1"):
        return "parquet"
    if MOSES.match(head.split(b"\n", 1)[0]):
        return "moses"
    ending = BY_ENDING.get(_ending(source.name))
    if ending in ("json", "jsonl") and ARRAY.match(head):
        return "json"
    if ending == "json":
        return _of_object(head, "json") if OBJECT.match(head) else "json"
    return ending or _by_first_line(head)


def _ending(name: str) -> str:
    name = name.lower()
    for packed in COMPRESSED:
        name = name.removesuffix(packed)
    return name[name.rfind(".") :] if "." in name else ""


def _of_object(head: bytes, otherwise: str) -> str:
    """Return the format of a file that starts with "{"."""
    first, end, rest = head.lstrip().partition(b"\n")
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        # A first line that goes on beyond the first piece is one long row.
        return "json" if COMET.match(head) else otherwise if end or len(head) < PIECE else "jsonl"
    lists = value and all(isinstance(item, list) for item in value.values()) and not rest.strip()
    return "json" if lists and COMET.match(head) else "jsonl"


def _by_first_line(head: bytes) -> str:
    if ARRAY.match(head):
        return "json"
    if OBJECT.match(head):
        return _of_object(head, "text")
    first = head.split(b"\n", 1)[0]
    text = first.decode(errors="replace").rstrip("\r")
    for cell_end, name in (("\t", "tsv"), (",", "csv")):
        cells = set(text.split(cell_end))
        if cells & set(USUAL["candidate"]) and any(c in USUAL["references"] or NUMBERED.fullmatch(c) for c in cells):
            return name
    return "text"
