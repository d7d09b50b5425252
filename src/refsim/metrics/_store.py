"""Compiled sets on disk: a directory with the prepared references and a JSON header, written whole or not at all.

    header.json   format, metric, parameters, preparation, SHA-256 of each file and of itself
    texts.bin     the different references in one UTF-8 text (lone surrogates as three bytes)
    counts.bin    int64 (R, 2), little-endian: each reference's length in code points, and how often it counts
    vectors.safetensors   of BERTScore: the vectors of all tokens, how many each text has, the idf

The automaton is not stored: building it takes about as long as reading, hashing and checking one
would, from a file some 40 times larger; and since what the kernel sees always comes from texts, a
hostile file can name other references but can neither crash the kernel nor falsify a score
(docs/decisions/0005-compiled-sets-store-texts.md).
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from refsim._atomic import replacing_directory, resolved
from refsim.errors import CompiledSetError, InputError
from refsim.metrics._arguments import check_path

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT, VERSION = "refsim compiled set", 1
_HEADER, _TEXTS, _COUNTS = "header.json", "texts.bin", "counts.bin"
_EXTRA = ("vectors.safetensors",)
_AGAIN = "compile the references again"


def write_set(
    path: str | os.PathLike[str], header: dict[str, Any], texts: list[str], weights: list[int],
    extra: Mapping[str, bytes] | None = None,
) -> None:  # fmt: skip
    """Write a compiled set to the directory `path`; one that is there is replaced, anything else is not.

    `extra` are files that a metric has beside the texts; `_EXTRA` knows their names.
    """
    # Where the name leads, for "new/.." is what is here already, and so is a link.
    target = resolved(check_path(path))
    if target.exists() and not (target / _HEADER).is_file():
        message = f"{target}: exists and is not a compiled set; give another name, or remove it first"
        raise InputError(message)
    others = (
        {entry.name for entry in target.iterdir()} - {_HEADER, _TEXTS, _COUNTS, *_EXTRA} if target.exists() else set()
    )
    if others:
        message = f"{target}: holds {min(others)!r} beside a compiled set; give another name, or remove it first"
        raise InputError(message)
    counts = np.array([list(map(len, texts)), weights], "<i8").T
    files = {_TEXTS: "".join(texts).encode("utf-8", "surrogatepass"), _COUNTS: counts.tobytes(), **(extra or {})}
    header = {"format": FORMAT, "version": VERSION, **header}
    header["sha256"] = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    header["header_sha256"] = _header_digest(header)
    files[_HEADER] = json.dumps(header, ensure_ascii=True, indent=1).encode()
    with replacing_directory(target) as directory:
        for name, data in files.items():
            with (directory / name).open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())


def read_extra(path: str | os.PathLike[str], name: str, header: Mapping[str, Any]) -> bytes:
    """Return a file that stands beside the texts of a set; raises CompiledSetError unless its checksum is right."""
    return _read_file(Path(path), name, header)


def _header_digest(header: dict[str, Any]) -> str:
    rest = {key: value for key, value in header.items() if key != "header_sha256"}
    return hashlib.sha256(json.dumps(rest, ensure_ascii=True, sort_keys=True).encode()).hexdigest()


def read_set(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[str], list[int]]:
    """Return the header, the texts and their weights; raises CompiledSetError for anything damaged or foreign."""
    directory = Path(path)
    header = _read_header(directory)
    texts = _read_file(directory, _TEXTS, header)
    counts = _read_counts(directory, _read_file(directory, _COUNTS, header))
    try:
        joined = texts.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        message = f"{directory / _TEXTS}: not UTF-8 at byte {error.start}; {_AGAIN}"
        raise CompiledSetError(message) from error
    ends = np.cumsum(counts[:, 0]).tolist()
    if ends[-1] != len(joined):
        message = f"{directory / _COUNTS}: lengths add up to {ends[-1]}, {_TEXTS} holds {len(joined)}; {_AGAIN}"
        raise CompiledSetError(message)
    split = [joined[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    if len(set(split)) != len(split):
        message = f"{directory / _TEXTS}: holds a reference twice; {_AGAIN}"
        raise CompiledSetError(message)
    return header, split, counts[:, 1].tolist()


def _read_header(directory: Path) -> dict[str, Any]:
    path = directory / _HEADER
    if not path.is_file():
        message = f"{path}: no such file; expected a directory that `refsim compile` or scorer.save() wrote"
        raise CompiledSetError(message)
    try:
        header = json.loads(path.read_bytes())
        digest = _header_digest(header) if isinstance(header, dict) else ""
    except OSError as error:
        message = f"{path}: {error.strerror or error}; compile the references again"
        raise CompiledSetError(message) from error
    except (ValueError, RecursionError) as error:
        message = f"{path}: not JSON ({error}); {_AGAIN}"
        raise CompiledSetError(message) from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        message = f"{path}: not the header of a compiled set; {_AGAIN}"
        raise CompiledSetError(message)
    if header.get("version") != VERSION:
        message = f"{path}: version {header.get('version')!r} of the format, expected {VERSION}; {_AGAIN}"
        raise CompiledSetError(message)
    if header.get("header_sha256") != digest or not isinstance(header.get("sha256"), dict):
        message = f"{path}: its checksum does not match; {_AGAIN}"
        raise CompiledSetError(message)
    return header


def _read_file(directory: Path, name: str, header: Mapping[str, Any]) -> bytes:
    if not (directory / name).is_file():
        message = f"{directory / name}: no such file; {_AGAIN}"
        raise CompiledSetError(message)
    try:
        data = (directory / name).read_bytes()
    except OSError as error:
        message = f"{directory / name}: {error.strerror or error}; {_AGAIN}"
        raise CompiledSetError(message) from error
    if hashlib.sha256(data).hexdigest() != header["sha256"].get(name):
        message = f"{directory / name}: its checksum does not match; the file is damaged, so {_AGAIN}"
        raise CompiledSetError(message)
    return data


def _read_counts(directory: Path, data: bytes) -> np.ndarray[Any, np.dtype[np.int64]]:
    # Plain numbers, not .npy: that format's header is parsed as Python source, by a parser that can fail in many ways.
    whole = len(data) // 16 * 16
    counts = np.frombuffer(data[:whole], "<i8").reshape(-1, 2).astype(np.int64)
    if whole != len(data) or not len(counts) or counts[:, 0].min() < 0 or counts[:, 1].min() < 1:
        message = f"{directory / _COUNTS}: expected int64 (R, 2), lengths and repeats; {_AGAIN}"
        raise CompiledSetError(message)
    # The kernel multiplies repeats by lengths in 64 bits; no real set comes near these.
    if counts[:, 1].sum(dtype=np.float64) >= 2.0**31 or counts[:, 0].sum(dtype=np.float64) >= 2.0**31:
        message = f"{directory / _COUNTS}: lengths or repeats add up to 2**31 or more; {_AGAIN}"
        raise CompiledSetError(message)
    return counts
