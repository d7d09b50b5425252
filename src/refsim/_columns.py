"""Columns of values on their way out: lines of JSON, or an Arrow table.

    {"id": [...], "charsim": [...]}  --json_lines-->  one object per row
                                     --to_arrow-->    one table, whatever the chunks' types were

Rows come from anyone's files, so types may differ from row to row and strings may hold lone surrogates.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TextIO

if TYPE_CHECKING:
    import pyarrow as pa

Columns = dict[str, list[Any]]

_WIDE: Final = b"refsim.wide"
_WIDEST: Final = 2**53
_DEEPEST: Final = 20


def json_lines(columns: Columns) -> Iterator[bytes]:
    """Yield one line of JSON per row.

    Numbers of a row come out as they came in. JSON has no NaN and no infinities; they are written as Python's json
    writes and reads them, for null would be another value.
    """
    for values in zip(*columns.values(), strict=True):
        yield json_text(dict(zip(columns, values, strict=True))).encode() + b"\n"


def json_text(value: object) -> str:
    """Return a value as JSON on one line: characters as they are, unless lone surrogates need their escapes."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if _is_encodable(text) else json.dumps(json.loads(text))


def json_for(stream: TextIO, value: object) -> str:
    """Return a value as JSON that a stream can hold: where it has no Unicode, with escapes for what is not ASCII.

    NaN and infinities are null: what is printed is refsim's own, and goes to programs of any kind.
    """
    text = json_text(_without_nan(value))
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return json.dumps(json.loads(text))
    return text


def _without_nan(value: object) -> object:
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if isinstance(value, Mapping):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(item) for item in value]
    return value


def _is_encodable(text: str) -> bool:
    # `isascii` first: encoding what is ASCII would only copy it.
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def to_arrow(chunks: Iterable[Columns]) -> pa.Table:
    """Return chunks of columns as one pyarrow Table; a column that is missing in a chunk is null there."""
    return unify([to_table(columns) for columns in chunks])


def to_table(columns: Columns) -> pa.Table:
    """Return one chunk of columns as a pyarrow Table; its schema tells of whole numbers that no float holds."""
    import pyarrow as pa  # noqa: PLC0415  pyarrow takes 0.1 s to load, and many results never become a table

    arrays = {_as_text(name) or "": to_array(values) for name, values in columns.items()}
    wide = [name for name, array in arrays.items() if pa.types.is_integer(array.type) and _is_wide(array)]
    return pa.table(arrays).replace_schema_metadata({_WIDE: json.dumps(wide)} if wide else None)


def _is_wide(array: pa.Array) -> bool:
    import pyarrow.compute as pc  # noqa: PLC0415  as above

    ends = pc.min_max(array).as_py()
    return any(end is not None and abs(end) > _WIDEST for end in ends.values())


def to_array(values: Sequence[Any]) -> pa.Array:
    """Return values as a pyarrow Array; what Arrow has no one type for becomes JSON text."""
    import pyarrow as pa  # noqa: PLC0415  as above

    try:
        array = pa.array(values)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError, RecursionError):
        array = None
    if array is None or not _is_writable(array.type):
        return pa.array([_as_text(value) for value in values], pa.string())
    return array


def _is_writable(kind: pa.DataType, depth: int = 0) -> bool:
    """Whether Parquet takes a type: no structure without fields, and none that is nested very deep."""
    import pyarrow as pa  # noqa: PLC0415  as above

    if depth > _DEEPEST or (pa.types.is_struct(kind) and not kind.num_fields):
        return False
    inner = [kind.field(i).type for i in range(kind.num_fields)] if pa.types.is_nested(kind) else []
    return all(_is_writable(one, depth + 1) for one in inner)


def unify(tables: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of all tables; columns whose types have nothing in common become JSON text."""
    import pyarrow as pa  # noqa: PLC0415  as above

    if not tables:
        return pa.table({})
    schema = unify_schemas([table.schema for table in tables])
    return pa.concat_tables([conform(table, schema) for table in tables])


def unify_schemas(schemas: Sequence[pa.Schema]) -> pa.Schema:
    """Return the schema that holds every column of all of them, wide enough for each."""
    import pyarrow as pa  # noqa: PLC0415  as above

    fields: dict[str, pa.DataType] = {}
    wide = {name for schema in schemas for name in json.loads((schema.metadata or {}).get(_WIDE, "[]"))}
    for schema in schemas:
        for field in schema:
            known = fields.setdefault(field.name, field.type)
            if known != field.type:
                fields[field.name] = _common_type(known, field.type)
    return pa.schema([(n, pa.string() if n in wide and pa.types.is_floating(t) else t) for n, t in fields.items()])


def conform(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the table with the columns and types of a schema from `unify_schemas`."""
    import pyarrow as pa  # noqa: PLC0415  as above

    arrays = []
    for field in schema:
        if field.name not in table.column_names:
            arrays.append(pa.chunked_array([pa.nulls(len(table), field.type)]))
            continue
        column = table[field.name]
        if pa.types.is_string(field.type) and not pa.types.is_string(column.type):
            column = pa.chunked_array([pa.array([_as_text(value) for value in column.to_pylist()], pa.string())])
        arrays.append(column.cast(field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def _common_type(first: pa.DataType, second: pa.DataType) -> pa.DataType:
    import pyarrow as pa  # noqa: PLC0415  as above

    try:
        merged = pa.unify_schemas(
            [pa.schema([("column", first)]), pa.schema([("column", second)])], promote_options="permissive"
        )
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.string()
    return merged.field("column").type


def _as_text(value: object) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json_text(value)
    # Arrow's strings are UTF-8, which has no lone surrogates.
    return text.encode("utf-8", "backslashreplace").decode()
