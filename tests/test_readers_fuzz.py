"""Mutated files: either rows or an InputError, never another exception or a crash.

REFSIM_FUZZ_SECONDS=600 pytest tests/test_readers_fuzz.py     searches longer, with a new seed; default 10 s in all
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import random
import time
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from refsim import InputError
from refsim.readers import FORMATS, read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refsim.segments import Batch

SECONDS = os.environ.get("REFSIM_FUZZ_SECONDS")
ROWS = [
    {"id": n, "system": "s", "mt": f"あ{n}\u2028\t", "references": ["x\r", 'y"', ""], "human": n / 7, "doc": {"a": [n]}}
    for n in range(40)
]


def parquet() -> bytes:
    """Return the rows as a Parquet file with several row groups."""
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), stream, row_group_size=11)
    return stream.getvalue()


LINES = "".join(f"{json.dumps(row, ensure_ascii=n % 2 == 0)}\n" for n, row in enumerate(ROWS)).encode()
FILES: dict[str, bytes] = {
    "text": "".join(f"{row['mt']}\r\n" for row in ROWS).encode(),
    "moses": "".join(f"{row['id']} ||| {row['mt']} ||| f ||| 0\n" for row in ROWS).encode(),
    "tsv": "".join(["id\tmt\tref1\tref2\n", *(f"{row['id']}\tあ\tx\t\n" for row in ROWS)]).encode(),
    "csv": "".join(["id,mt,ref1,ref2\r\n", *(f'{row["id"]},"あ\n""",x,""\r\n' for row in ROWS)]).encode(),
    "jsonl": LINES,
    "json": json.dumps(ROWS, indent=1).encode(),
    "comet-json": json.dumps({"a": [{"src": "s", "mt": "b", "ref": "c", "COMET": 0.5}] * 20}).encode(),
    "lm-eval": "".join(
        json.dumps({"doc_id": n, "filtered_resps": ["a", ["b"]], "target": "x", "filter": "f"}) + "\n"
        for n in range(20)
    ).encode(),
    "parquet": parquet(),
    "gzip": gzip.compress(LINES),
    "bzip2": bz2.compress(LINES),
    "xz": lzma.compress(LINES),
}
PLAIN = FORMATS[:7]
# What files in the wild hold where it does not belong.
PIECES = [b"\xff", b"\0", b"\r", b"\n", b'"', b"\t", b",", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"null", b"[", b"{", b"}"]
PIECES += [b"\\ud800", b"NaN", b"9" * 400, b"[" * 2000, b'"ref9": "z", ', b'"id": 1, ', b" ||| ", "\u2028".encode()]


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Return a file with a few faults: flipped bits, cut or repeated parts, strange pieces."""
    made = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 5))):
        at, to = sorted(chance.randrange(len(made) + 1) for _ in range(2))
        match chance.randrange(6):
            case 0 if made:
                made[min(at, len(made) - 1)] ^= 1 << chance.randrange(8)
            case 1:
                del made[at:]
            case 2:
                del made[at : min(to, at + 40)]
            case 3:
                made[at:at] = made[at : min(to, at + 300)]
            case 4:
                made[at:at] = chance.choice(PIECES)
            case _:
                made[at : at + 4] = chance.randbytes(4)
    return bytes(made)


def check(content: bytes, form: str | None, chance: random.Random, *, as_references: bool = False) -> bool:
    """Read a file and hold its rows to what rows must be; return whether it was without faults."""
    try:
        reader = read(
            [{"id": 1, "mt": "a"}] if as_references else io.BytesIO(content),
            format=None if as_references else form,
            references=io.BytesIO(content) if as_references else None,
            reference_format=form if as_references and form in PLAIN else None,
            samples=chance.random() < 0.3,
            on_missing=chance.choice(("error", "skip")),
            need_references=chance.random() < 0.5,
            batch_size=chance.choice((1, 7, 1024)),
            on="id" if as_references else None,
        )
        for batch in reader:
            check_batch(batch)
    except InputError:
        return False
    return True


def check_batch(batch: Batch) -> None:
    """All columns have one length and hold what they are said to hold."""
    columns: tuple[Sequence[object], ...] = (
        batch.references,
        batch.ids,
        batch.systems,
        batch.samples,
        batch.places,
        *batch.extra.values(),
    )
    assert all(len(column) == len(batch) for column in columns)
    assert {type(text) for text in (*batch.candidates, *batch.ids, *batch.systems)} == {str}
    assert {type(text) for texts in batch.references for text in texts} <= {str}
    assert {type(sample) for sample in batch.samples} == {int}
    assert all(type(segment.place) is str for segment in batch)


@pytest.mark.parametrize("kind", FILES)
def test_a_file_without_faults_is_read(kind: str) -> None:
    """What the mutations start from is valid."""
    assert check(FILES[kind], kind if kind in FORMATS else None, random.Random(4))  # noqa: S311  # no secret


@pytest.mark.parametrize("kind", FILES)
def test_a_mutated_file_gives_rows_or_an_input_error(kind: str) -> None:
    """The seed and the file are in the message if anything else happens."""
    seconds = float(SECONDS or 10) / len(FILES)
    start = 0 if SECONDS is None else random.SystemRandom().randrange(2**40)
    end, seed = time.monotonic() + seconds, start
    while time.monotonic() < end:
        chance = random.Random(seed)  # noqa: S311  # as above
        content = mutated(FILES[kind], chance)
        named = chance.choice((kind if kind in FORMATS else None, None, chance.choice(PLAIN)))
        try:
            check(content, named, chance, as_references=chance.random() < 0.2)
        except Exception as error:
            raise AssertionError(f"{kind}, seed {seed}, format {named}: {content[:300]!r}") from error
        seed += 1
    assert seed > start


def test_random_bytes_give_rows_or_an_input_error() -> None:
    """In every format."""
    for seed in range(300):
        chance = random.Random(seed)  # noqa: S311  # as above
        content = chance.randbytes(chance.randrange(200))
        for name in (None, *FORMATS):
            check(content, name, chance)
