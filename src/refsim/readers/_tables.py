"""Name of a format -> its chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refsim.errors import InputError
from refsim.readers import _delimited, _json
from refsim.readers._parquet import parquet
from refsim.readers._text import moses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refsim.readers._open import Input
    from refsim.segments import Chunk, Fields


def chunks(source: Input, kind: str, size: int, fields: Fields, *, header: bool = True) -> Iterator[Chunk]:
    """Yield the rows of a file with named fields in chunks of at most `size`."""
    if kind == "tsv":
        return _delimited.tsv(source, size, fields, header=header)
    if kind == "csv":
        return _delimited.csv(source, size, fields, header=header)
    simple = {"jsonl": _json.jsonl, "json": _json.array, "parquet": parquet, "moses": moses}
    if kind not in simple:
        raise InputError(f"{source.name}: {kind} has no fields; one of tsv, csv, {', '.join(simple)} is expected")
    return simple[kind](source, size)
