"""Rows in memory -> batches: dicts, pandas DataFrames, pyarrow Tables, batches. Messages name them `rows[3]`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from refsim.errors import InputError
from refsim.readers import _join
from refsim.segments import Assembler, Batch, Chunk, Fields, Keys, Places, describe, rows_of

if TYPE_CHECKING:
    from refsim.readers._job import Job


def from_memory(source: Iterator[Chunk | Batch], job: Job, skipped: list[str]) -> Iterator[Batch]:
    """Yield the batches of what `rows_in` found."""
    lookup: _join.ByKey | _join.ByLine | None = None
    assembler: Assembler | None = None
    for one in source:
        if isinstance(one, Batch):
            _refuse_beside_batches(job)
            yield from job.pieces(one)
            continue
        if assembler is None:
            lookup = job.lookup()
            assembler = job.assembler(lookup, Keys(), skipped, "", moses=False)
        for start in range(0, len(one), job.batch_size):
            yield from job.batches(assembler, one.take(range(start, min(start + job.batch_size, len(one)))))
    if isinstance(lookup, _join.ByLine):
        lookup.check_all_used("the input")


def _refuse_beside_batches(job: Job) -> None:
    """A batch has its references, its keys and its columns; what asks for others would be passed over."""
    asked: dict[str, object] = {
        "references": job.references,
        "on": job.on,
        "fields": job.fields != Fields(),
        "samples": job.samples,
    }
    asked |= {"num_candidates": job.num_candidates, "systems": job.systems}
    for name, value in asked.items():
        if value:
            raise InputError(f"{name} is given with rows that are batches already; leave it out, or give the rows")


def rows_in(candidates: Any, size: int) -> Iterator[Chunk | Batch]:  # noqa: ANN401  # pandas and pyarrow may be absent
    """Return the rows of an object as chunks, or as batches if it is made of those."""
    if hasattr(candidates, "iloc") and hasattr(candidates, "columns"):
        from refsim.segments import _arrow  # noqa: PLC0415  # loads pyarrow

        return iter((_arrow.chunk_of_frame(candidates),))
    if hasattr(candidates, "schema") and hasattr(candidates, "column_names"):
        from refsim.segments import _arrow  # noqa: PLC0415  # as above

        return iter((Batch.from_arrow(candidates) if _arrow.is_own(candidates) else _arrow.chunk_of_table(candidates),))
    if isinstance(candidates, Batch):
        return iter((candidates,))
    if isinstance(candidates, Mapping) or not isinstance(candidates, Iterable):
        raise InputError(
            f"candidates is {describe(candidates)}; a path, '-', a file, dicts, a DataFrame or a Table is expected"
        )
    return _of_dicts(iter(candidates), size)


def _of_dicts(rows: Iterator[Any], size: int) -> Iterator[Chunk | Batch]:
    done = 0
    while run := list(islice(rows, size)):
        if all(isinstance(one, Batch) for one in run):
            yield from run
            continue
        made = [dict(row) for row in rows_of(run, done)]
        numbers = range(done, done + len(made))
        yield Chunk.from_rows(made, Places("rows", numbers, "{}[{}]"), numbers)
        done = numbers.stop
