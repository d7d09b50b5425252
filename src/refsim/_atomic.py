"""A file that appears under its name when it is complete, or not at all.

    with replacing("scores.jsonl") as file:   written as .scores.jsonl.<process>.tmp in the same directory
        file.write(...)                       ... and renamed when the block ends; removed when it fails

An interrupt, an error or a full disk in the middle leaves what stood under the name before.
"""

from __future__ import annotations

import io
import os
import secrets
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from refsim.errors import InputError, RefsimError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Buffer


def resolved(path: str | os.PathLike[str]) -> Path:
    """Return the path that a name leads to, links followed. Raises InputError for a name that leads nowhere."""
    try:
        return Path(path).resolve()
    except (RuntimeError, ValueError) as error:
        raise InputError(f"{path!r}: is no name of a file ({error}); give another") from error


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing in binary that takes the name `path` when the block ends without an error.

    A file of that name is replaced, keeping its mode; a device or a pipe is written directly. Raises RefsimError
    that names the path when it cannot be written, and BrokenPipeError as it is, for a closed pipe is no failure.
    """
    direct = is_stream(path)
    # A link is followed: renaming over it would leave its target as it was.
    final = Path(path) if direct else resolved(path)
    # A name of its own for each: two threads may write one file, and the later of them has it.
    temporary = final if direct else final.with_name(f".{final.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    with naming(path):
        raw = _Output(temporary, "wb")
    raw.shown = str(path)
    try:
        file = io.BufferedWriter(raw)
        yield cast("BinaryIO", file)
        file.flush()
        if not direct:
            with naming(path):
                _put_in_place(raw, temporary, final)
    except BaseException:
        # Not through the buffer, which would try once more to write what is left of it.
        raw.close()
        if not direct:
            temporary.unlink(missing_ok=True)
        raise
    raw.close()


@contextmanager
def replacing_directory(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a fresh directory that takes the name `path` when the block ends without an error.

    A directory that had the name is removed then; if anything fails, an interrupt too, it has its name again. A
    link is followed. Whether what is there may be replaced is the caller's to check.
    """
    final = resolved(path)
    if Path.cwd().is_relative_to(final):
        raise InputError(f"{path}: leads to {final}, in which this process works; give the name of a new directory")
    final.parent.mkdir(parents=True, exist_ok=True)
    mark = f"{os.getpid()}.{secrets.token_hex(4)}"
    fresh, old = final.with_name(f".{final.name}.{mark}.tmp"), final.with_name(f".{final.name}.{mark}.old")
    fresh.mkdir()
    try:
        yield fresh
        if final.exists():
            final.rename(old)
        fresh.rename(final)
    except BaseException:
        if old.exists() and not final.exists():
            old.rename(final)
        raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        if final.exists():
            shutil.rmtree(old, ignore_errors=True)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Say whether a path is a device or a pipe, which takes bytes as they come and cannot be replaced."""
    place = Path(path)
    # /dev/stdout may be a link to a file, which whoever redirected it there expects to be written, not replaced.
    return place.exists() and not place.is_dir() and (not place.is_file() or place.is_relative_to("/dev"))


class _Output(io.FileIO):
    """A raw file whose failures to write name the file, as those to open do."""

    shown: str

    def write(self, data: Buffer, /) -> int:
        with naming(self.shown):
            return super().write(data)


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn failures of the system in the block into a RefsimError that names the path; a closed pipe stays as it is."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise RefsimError(f"{os.fspath(path)}: cannot be written: {error.strerror or error}") from error


def _put_in_place(raw: io.FileIO, temporary: Path, final: Path) -> None:
    # A disk over its quota may say so only now; after the rename it would be too late.
    os.fsync(raw.fileno())
    if final.exists():
        shutil.copymode(final, temporary)
    temporary.replace(final)
