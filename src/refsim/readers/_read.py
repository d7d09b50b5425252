"""read: one stream of batches over files, standard input, or rows in memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from refsim._numbers import check_whole
from refsim.errors import InputError
from refsim.readers._files import from_files
from refsim.readers._job import Job
from refsim.readers._memory import from_memory, rows_in
from refsim.readers._presets import FORMATS, PLAIN, PRESETS, Preset
from refsim.segments import Batch, Fields, check_choice, check_name, describe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from refsim.readers._job import Progress
    from refsim.readers._open import Target


class Reader(Iterator[Batch]):
    """The batches of an input, once. `skipped` says of each row that was left out where it is and why."""

    def __init__(self, batches: Callable[[Reader], Iterator[Batch]]) -> None:
        self.rows = 0
        self.skipped: list[str] = []
        self._batches = batches(self)

    def __next__(self) -> Batch:
        """Return the next batch, which is not empty."""
        for batch in self._batches:
            if len(batch):
                self.rows += len(batch)
                return batch
        raise StopIteration

    def __enter__(self) -> Self:
        """Return the reader."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the files."""
        self.close()

    def close(self) -> None:
        """Close the files."""
        if hasattr(self._batches, "close"):
            self._batches.close()


def read(  # noqa: PLR0913  # the options of the command line, each by its name
    candidates: Any,  # noqa: ANN401  # pandas and pyarrow may be absent
    *,
    references: Target | Sequence[Target] | None = None,
    format: str | None = None,  # noqa: A002  # what users call it
    reference_format: str | None = None,
    fields: Fields | None = None,
    reference_field: str | None = None,
    on: str | None = None,
    num_candidates: int | None = None,
    samples: bool = False,
    systems: Sequence[str] | None = None,
    header: bool = True,
    on_missing: Literal["error", "skip"] = "error",
    need_references: bool = True,
    batch_size: int = 1024,
    progress: Progress | None = None,
) -> Reader:
    """Return the batches of an input.

    `candidates` is a path, "-" for standard input, a file opened in binary mode, or a list of those, one a system;
    or rows in memory: dicts, a pandas DataFrame, a pyarrow Table, batches. `format` is one of FORMATS, None to detect.
    `references` are files: without `on` row n goes with row n, with `on="key"` (or "left=right") they are joined.
    `num_candidates`: so many candidate lines go with each reference line. `samples` numbers repeats of (id, system),
    unless a column does. `on_missing="skip"` leaves rows with a null out and lists them in `Reader.skipped`.
    `progress` is called after each batch with the number of compressed bytes read and their total, None if unknown.

    Everything that is wrong with the input raises InputError.
    """
    check_choice(format, "format", FORMATS)
    check_choice(reference_format, "reference_format", PLAIN)
    check_choice(on_missing, "on_missing", ("error", "skip"))
    check_name(on, "on")
    check_name(reference_field, "reference_field")
    # More rows than a machine counts are all rows.
    batch_size = min(check_whole(batch_size, "batch_size"), sys.maxsize)
    if num_candidates is not None:
        num_candidates = check_whole(num_candidates, "num_candidates")
    if not isinstance(fields, Fields | None):
        raise InputError(f"fields is {describe(fields)}; refsim.readers.Fields(candidate=...) is expected")
    if progress is not None and not callable(progress):
        raise InputError(f"progress is {describe(progress)}; a function of two numbers is expected")
    preset = PRESETS.get(format or "", Preset(format=format))
    given = [] if references is None else _as_targets(references)
    if format == "pfgen":
        candidates, given = _pfgen(candidates, given, need_references=need_references)
    if on is not None and not given:
        raise InputError(f"on={on!r} joins references from another file; name it with references (--references FILE)")
    if [*(_as_targets(candidates) if _is_files(candidates) else ()), *given].count("-") > 1:
        raise InputError("'-' is given twice; standard input can be read once")
    job = Job(
        references=given,
        format=preset.format,
        reference_format=reference_format,
        fields=preset.fill(fields or Fields()),
        reference_field=reference_field or preset.reference_field,
        on=on or (preset.on if given else None),
        num_candidates=num_candidates,
        samples=samples,
        systems=systems,
        header=header,
        on_missing=on_missing,
        need_references=need_references,
        batch_size=batch_size,
        progress=progress,
        preset=preset,
        keep_target=bool(given) or (fields is not None and fields.references is not None),
    )
    if _is_files(candidates):
        return Reader(lambda reader: from_files(_as_targets(candidates), job, reader.skipped))
    source = rows_in(candidates, batch_size)
    return Reader(lambda reader: from_memory(source, job, reader.skipped))


def _is_target(value: object) -> bool:
    return isinstance(value, str | os.PathLike) or hasattr(value, "read")


def _is_files(value: object) -> bool:
    many = isinstance(value, list | tuple) and bool(value)
    return _is_target(value) or (many and all(map(_is_target, value)))  # type: ignore[call-overload]  # many: a list


def _as_targets(value: Target | Sequence[Target]) -> list[Target]:
    return list(value) if isinstance(value, list | tuple) else [value]  # type: ignore[list-item]  # no list is a target


def _pfgen(candidates: Any, references: list[Target], *, need_references: bool) -> tuple[Any, list[Target]]:  # noqa: ANN401
    """Find outputs.jsonl in a folder, and references.parquet beside it."""
    if not isinstance(candidates, str | os.PathLike) or candidates == "-":
        return candidates, references
    path = Path(candidates)
    if path.is_dir():
        path = next(iter(sorted(path.glob("outputs.jsonl*"))), path / "outputs.jsonl")
    beside = path.parent / "references.parquet"
    if not references and need_references:
        if not beside.exists():
            raise InputError(f"{beside}: no such file; say where the references are with --references FILE")
        references = [beside]
    return path, references
