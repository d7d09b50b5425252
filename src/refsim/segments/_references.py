"""The references of rows, from their own columns.

One field: a text, or a list of texts, in each row. Several columns (ref1, ref2, ...): a text or a list each,
where null or an absent cell is one reference fewer. Null inside a list is a fault, and so is a null field.
No reference at all is always an error: no formula has a value for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from refsim.errors import InputError
from refsim.segments import _checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refsim.segments._chunk import Chunk
    from refsim.segments._fields import Binding


def from_columns(chunk: Chunk, binding: Binding, faults: dict[int, str]) -> list[list[str]]:
    """Return the references of each row; rows with a null are noted in `faults`, their entry is unusable."""
    picked = [(str(selector), chunk.pick(selector)) for selector in binding.references]
    # A table without nulls has no null field: a row may be too short for it, that is all.
    if binding.numbered or chunk.ragged:
        made = _merged(picked, chunk, faults)
    else:
        (name, values), names = picked[0], [picked[0][0]]
        # A file of references has one text in each of a hundred thousand rows.
        if set(map(type, values)) <= {str}:
            return [[value] for value in values]  # type: ignore[list-item]  # the line above has looked
        made = [_of_field(value, name, chunk.places, row, faults) for row, value in enumerate(values)]
    for row, texts in enumerate(made):
        if not texts and row not in faults:
            names = [name for name, _ in picked]
            raise InputError(f"{chunk.places[row]}: no references in {', '.join(names)}; at least one is expected")
    return made


def _merged(picked: Sequence[tuple[str, Sequence[object]]], chunk: Chunk, faults: dict[int, str]) -> list[list[str]]:
    """Return the references of each row from several columns."""
    columns = [values for _, values in picked]
    if all(set(map(type, values)) <= {str} for values in columns):
        return list(map(list, zip(*columns, strict=True)))
    made: list[list[str]] = [[] for _ in range(len(chunk))]
    for name, values in picked:
        for row, value in enumerate(values):
            if not _checks.is_null(value):
                made[row] += _of_field(value, name, chunk.places, row, faults)
    return made


def _of_field(value: object, name: str, places: Sequence[str], row: int, faults: dict[int, str]) -> list[str]:
    if type(value) is list and set(map(type, value)) <= {str}:
        return value
    if isinstance(value, str):
        return [_checks.text_of(value, name, places[row])]
    if _checks.is_null(value):
        faults.setdefault(row, f"{places[row]}: {_checks.describe(value)} in {name!r} (references)")
        return []
    if (texts := _checks.as_list(value)) is None:
        raise InputError(f"{places[row]}: {name} is {_checks.describe(value)}; a text or a list of texts is expected")
    for index, text in enumerate(texts):
        if _checks.is_null(text):
            faults.setdefault(row, f"{places[row]}: {_checks.describe(text)} in {name}[{index}] (references)")
            return []
    return [_checks.text_of(text, f"{name}[{index}]", places[row]) for index, text in enumerate(texts)]
