"""Batches to and from Arrow tables, and the columns of pandas frames. pyarrow is loaded here and not before.

    texts                      large_string; large_binary (UTF-8, "surrogatepass") where a text has a lone surrogate
    references                 large_list of those; dictionary-encoded where rows share one list object, so that
                               10,000 rows with the same 3,000 references hold them once
    extra.NAME                 what Arrow makes of the values; JSON text where it can make nothing of them

A field's metadata say which of these it is, so `from_own` gives back the batch that `to_table` was given. Fields
without such metadata were added by others, and are extras of their own names.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from refsim.errors import InputError
from refsim.segments import _checks
from refsim.segments._batch import Batch, Places
from refsim.segments._chunk import Chunk
from refsim.segments._fields import OPTIONAL, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

MARK = b"refsim"
LONE = "surrogatepass"
_NEEDED = ("id", "system", "sample", "candidate", "references", "place")


def to_table(batch: Batch) -> Any:  # noqa: ANN401  # pyarrow has no types
    """Return the table of a batch."""
    texts = {"id": batch.ids, "system": batch.systems, "candidate": batch.candidates, "place": list(batch.places)}
    texts |= {name: batch.optional[name] for name in OPTIONAL if name in batch.optional and name != "human"}
    columns = {name: _texts(column) for name, column in texts.items()}
    columns["sample"] = pa.array(batch.samples, pa.int64()), b""
    columns["references"] = _references(batch.references)
    if "human" in batch.optional:
        columns["human"] = pa.array(batch.optional["human"], pa.float64()), b""
    columns |= {f"extra.{name}": _anything(column) for name, column in batch.extra.items()}
    schema = pa.schema(
        [pa.field(name, array.type, metadata={MARK: how}) for name, (array, how) in columns.items()],
        metadata={MARK: b"batch 1"},
    )
    return pa.table([array for array, _ in columns.values()], schema=schema)


def _texts(values: Sequence[str | None]) -> tuple[Any, bytes]:
    try:
        return pa.array(values, pa.large_string()), b""
    except UnicodeEncodeError:
        coded = [None if text is None else text.encode("utf-8", LONE) for text in values]
        return pa.array(coded, pa.large_binary()), LONE.encode()


def _references(lists: list[list[str]]) -> tuple[Any, bytes]:
    """Return the column of references; lists are told apart by identity, which is how rows share them."""
    numbers: dict[int, int] = {}
    indices = [numbers.setdefault(id(texts), len(numbers)) for texts in lists]
    shared = len(numbers) < len(lists)
    distinct = [lists[row] for row in {index: row for row, index in reversed(list(enumerate(indices)))}.values()]
    distinct = sorted(distinct, key=lambda texts: numbers[id(texts)]) if shared else lists
    flat, how = _texts([text for texts in distinct for text in texts])
    offsets = [0]
    for texts in distinct:
        offsets.append(offsets[-1] + len(texts))
    column = pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), flat)
    return (pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), column) if shared else column), how


def _anything(values: list[object]) -> tuple[Any, bytes]:
    try:
        array = pa.array(values)
        if array.to_pylist() == values:
            return array, b""
    except (pa.ArrowException, UnicodeError, OverflowError, ValueError, TypeError):
        pass
    return pa.array([json.dumps(value, default=str) for value in values], pa.large_string()), b"json"


def is_own(table: Any) -> bool:  # noqa: ANN401
    """Whether a table was made by `to_table`; raises InputError for what is no table."""
    if not (hasattr(table, "schema") and hasattr(table, "num_rows")):
        raise InputError(f"table is {_checks.describe(table)}; a pyarrow Table is expected")
    return MARK in (table.schema.metadata or {})


def from_own(table: Any) -> Batch:  # noqa: ANN401
    """Return the batch that a table was made of; columns that were added since are among its extras.

    Raises InputError for a table that lacks a column of the batch, or holds what does not belong into it.
    """
    columns = {name: _of_column(table.column(name), table.field(name)) for name in _different_names(table)}
    if missing := [name for name in _NEEDED if name not in columns]:
        raise InputError(f"the table of a batch lacks {listed(missing)}; leave the columns of the batch in it")
    places = Places("rows", range(table.num_rows), "{}[{}]")
    return Batch(
        _checks.texts(columns["candidate"], "candidate", places),
        [_checks.list_of_texts(value, "references", places[row]) for row, value in enumerate(columns["references"])],
        _checks.labels(columns["id"], "id", places),
        _checks.labels(columns["system"], "system", places),
        _checks.whole_numbers(columns["sample"], "sample", places),
        {name: _checks.optional(name, columns[name], places) for name in OPTIONAL if name in columns},
        _extras(columns),
        _checks.texts(columns["place"], "place", places),
    )


def _of_column(column: Any, field: Any) -> list[Any]:  # noqa: ANN401
    values, how = values_of(column), (field.metadata or {}).get(MARK, b"")
    if how == b"json":
        return [json.loads(value) for value in values]
    return _decoded(values) if how else values


def _extras(columns: dict[str, list[Any]]) -> dict[str, list[object]]:
    extra: dict[str, list[object]] = {}
    for own, values in columns.items():
        if own in _NEEDED or own in OPTIONAL:
            continue
        name = own.removeprefix("extra.")
        if name in extra:
            raise InputError(f"the table has both {name!r} and 'extra.{name}'; rename one of them")
        extra[name] = values
    return extra


def _decoded(values: list[Any]) -> list[Any]:
    """Decode texts, and lists of texts; a list that rows share is decoded once and stays shared."""
    done: dict[int, list[str]] = {}

    def decode(value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, bytes):
            return value.decode("utf-8", LONE)
        if value is None:
            return None
        return done.setdefault(id(value), [text.decode("utf-8", LONE) for text in value])

    return [decode(value) for value in values]


def values_of(column: Any) -> list[Any]:  # noqa: ANN401
    """Return the values of an Arrow column; rows of a dictionary share their value as one object."""
    if not pa.types.is_dictionary(column.type):
        return list(column.to_pylist())
    made: list[Any] = []
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        distinct = chunk.dictionary.to_pylist()
        made += [None if index is None else distinct[index] for index in chunk.indices.to_pylist()]
    return made


def chunk_of_table(table: Any, places: Places | None = None, rows: Sequence[int] | None = None) -> Chunk:  # noqa: ANN401
    """Return the columns of a Table or a RecordBatch; without places they are "rows[3]"."""
    names = _different_names(table)
    columns: dict[str, Sequence[object]] = {name: values_of(table.column(number)) for number, name in enumerate(names)}
    own = range(table.num_rows)
    return Chunk(columns, places or Places("rows", own, "{}[{}]"), own if rows is None else rows)


def _different_names(table: Any) -> list[str]:  # noqa: ANN401
    names: list[str] = table.schema.names
    if len(set(names)) < len(names):
        raise InputError(f"two columns of the table have one name: {listed(names)}")
    return names


def chunk_of_frame(frame: Any) -> Chunk:  # noqa: ANN401  # pandas may be absent
    """Return the columns of a pandas DataFrame."""
    if not (hasattr(frame, "iloc") and hasattr(frame, "columns")):
        raise InputError(f"frame is {_checks.describe(frame)}; a pandas DataFrame is expected")
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise InputError(f"two columns of the frame have one name: {listed(names)}")
    rows = range(len(frame))
    # What pandas has in place of a value, NaN, NA or NaT, is null to pandas itself, and so it is here.
    columns: dict[str, Sequence[object]] = {
        name: [None if _checks.is_null(value) else value for value in frame.iloc[:, number].tolist()]
        for number, name in enumerate(names)
    }
    return Chunk(columns, Places("rows", rows, "{}[{}]"), rows)
