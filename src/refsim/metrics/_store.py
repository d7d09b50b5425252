"""Compiled sets on disk: a directory with the prepared references and a JSON header, written whole or not at all.

    header.json   format, metric, parameters, preparation, SHA-256 of each file and of itself
    texts.bin     the different references in one UTF-8 text (lone surrogates as three bytes)
    counts.bin    int64 (R, 2), little-endian: each reference's length in code points, and how often it counts

The automaton is not stored: building it takes about as long as reading, hashing and checking one
would, from a file some 40 times larger; and since what the kernel sees always comes from texts, a
hostile file can name other references but can neither crash the kernel nor falsify a score
(docs/decisions/0005-compiled-sets-store-texts.md).
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from refsim.errors import CompiledSetError, InputError

FORMAT, VERSION = "refsim compiled set", 1
_HEADER, _TEXTS, _COUNTS = "header.json", "texts.bin", "counts.bin"
_AGAIN = "compile the references again"


def write_set(path: str | os.PathLike[str], header: dict[str, Any], texts: list[str], weights: list[int]) -> None:
    """Write a compiled set to the directory `path`; one that is there is replaced, anything else is not."""
    target = Path(path)
    if target.exists() and not (target / _HEADER).is_file():
        message = f"{target}: exists and is not a compiled set; give another name, or remove it first"
        raise InputError(message)
    counts = np.array([list(map(len, texts)), weights], "<i8").T
    files = {_TEXTS: "".join(texts).encode("utf-8", "surrogatepass"), _COUNTS: counts.tobytes()}
    header = {"format": FORMAT, "version": VERSION, **header}
    header["sha256"] = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    header["header_sha256"] = _header_digest(header)
    files[_HEADER] = json.dumps(header, ensure_ascii=True, indent=1).encode()
    _replace_directory(target, files)


def _replace_directory(target: Path, files: dict[str, bytes]) -> None:
    """Put a directory with these files under the name `target`, in one rename once all is written."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        os.chmod(fresh, 0o777 & ~_umask())  # noqa: PTH101 - mkdtemp makes it private; a set is shared like any file
        for name, data in files.items():
            with (fresh / name).open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        old = fresh.with_name(f"{fresh.name}.old")
        if target.exists():
            target.rename(old)
        try:
            fresh.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            raise
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


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
    try:
        header = json.loads(path.read_bytes())
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
        message = f"{path}: {reason}; expected a directory that `refsim compile` or scorer.save() wrote"
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
    if header.get("header_sha256") != _header_digest(header) or not isinstance(header.get("sha256"), dict):
        message = f"{path}: its checksum does not match; {_AGAIN}"
        raise CompiledSetError(message)
    return header


def _read_file(directory: Path, name: str, header: dict[str, Any]) -> bytes:
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
    # Beyond 2**53 sums would no longer be exact; no real set comes near it.
    if float(counts[:, 0].sum(dtype=np.float64)) * float(counts[:, 1].sum(dtype=np.float64)) >= 2.0**53:
        message = f"{directory / _COUNTS}: lengths times repeats exceed 2**53; {_AGAIN}"
        raise CompiledSetError(message)
    return counts
