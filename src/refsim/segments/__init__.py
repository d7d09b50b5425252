"""Segments: what is scored. A `Batch` holds columns; a `Segment` is a view of one row, made on demand.

    readers, frames, lists of dicts
        -> _fields.py   which column plays which part: candidate, references, id, system, ...
        -> _chunk.py    raw columns
        -> _assemble.py raw columns -> checked columns of texts, one row a candidate; keys must not repeat
        -> _batch.py    Batch and Segment
        -> _arrow.py    to and from Arrow tables and pandas frames

The columns are Python lists, because what metrics do first is one `"".join` over strings: texts from JSON,
TSV and plain files are never turned into Arrow and back. `Batch.to_arrow` makes Arrow columns for whoever
passes batches between machines or writes them down. Nothing here loads pyarrow before that.
"""

from refsim.segments._assemble import Assembler
from refsim.segments._batch import Batch, Places, Segment
from refsim.segments._checks import (
    MISSING,
    as_list,
    check_choice,
    check_name,
    describe,
    is_null,
    labels,
    rows_of,
    text_of,
)
from refsim.segments._chunk import Chunk, Lookup
from refsim.segments._fields import (
    NUMBERED,
    USUAL,
    USUAL_IN_REFERENCE_FILES,
    Binding,
    Fields,
    Selector,
    bind,
    bind_references,
    listed,
)
from refsim.segments._keys import Keys
from refsim.segments._references import from_columns as references_of

__all__ = [
    "MISSING",
    "NUMBERED",
    "USUAL",
    "USUAL_IN_REFERENCE_FILES",
    "Assembler",
    "Batch",
    "Binding",
    "Chunk",
    "Fields",
    "Keys",
    "Lookup",
    "Places",
    "Segment",
    "Selector",
    "as_list",
    "bind",
    "bind_references",
    "check_choice",
    "check_name",
    "describe",
    "is_null",
    "labels",
    "listed",
    "references_of",
    "rows_of",
    "text_of",
]
