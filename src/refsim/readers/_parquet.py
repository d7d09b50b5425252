"""Parquet -> chunks, row group by row group. Whatever pyarrow finds wrong with a file is an InputError."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refsim.errors import InputError
from refsim.segments import Chunk, Places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refsim.readers._open import Input


def parquet(source: Input, size: int) -> Iterator[Chunk]:
    """Yield the chunks of a Parquet file; rows are named by number, from 1."""
    import pyarrow as pa  # noqa: PLC0415  # 0.1 s to load, for this format alone
    import pyarrow.parquet as pq  # noqa: PLC0415  # as above

    from refsim.segments import _arrow  # noqa: PLC0415  # as above

    done = 0
    try:
        file = pq.ParquetFile(source.seekable())
        total = file.metadata.num_rows
        # Threads in the reader would compete with the metric's own for the cores.
        for batch in file.iter_batches(batch_size=size, use_threads=False):
            rows = range(done, done + batch.num_rows)
            done = rows.stop
            if source.size and total:
                source.done = source.size * done // total
            if rows:
                places = Places(source.name, range(rows.start + 1, rows.stop + 1), "{}: row {}")
                yield _arrow.chunk_of_table(batch, places, rows)
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, MemoryError, OverflowError, KeyError, IndexError) as error:
        raise InputError(f"{source.name}: not a Parquet file, or damaged, after row {done}: {error}") from error
