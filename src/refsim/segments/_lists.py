"""Columns given as lists by name, as code has them: checked, and named as Python indexes them in messages."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

from refsim.errors import InputError
from refsim.segments import _checks
from refsim.segments._batch import Batch, Places
from refsim.segments._keys import Keys

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PARTS: dict[str, tuple[str, Callable[..., list[Any]]]] = {
    "sources": ("source", _checks.texts_or_null),
    "groups": ("group", _checks.texts_or_null),
    "humans": ("human", _checks.scores),
    "langs": ("lang", _checks.texts_or_null),
}


def from_lists(columns: dict[str, Sequence[Any]], extra: Mapping[str, Sequence[Any]]) -> Batch:
    """Return the batch of columns by the names that `Batch.from_lists` gives them; `candidates` is among them."""
    if not isinstance(extra, Mapping):
        raise InputError(f"extra is {_checks.describe(extra)}; a dict of columns by name is expected")
    for name in extra:
        _checks.text_of(name, "the name of a column of extra", f"extra[{name!r}]")
    size = _common_length(columns)
    _common_length({"candidates": columns["candidates"]} | {f"extra[{name!r}]": extra[name] for name in extra})

    def places(name: str) -> Places:
        return Places(name, range(size), "{}[{}]")

    def of(name: str, default: list[Any]) -> Sequence[Any]:
        return columns.get(name, default)

    batch = Batch(
        _checks.texts(columns["candidates"], "", places("candidates")),
        [_own_list(value, f"references[{row}]") for row, value in enumerate(of("references", [()] * size))],
        _checks.labels(of("ids", [str(row + 1) for row in range(size)]), "", places("ids")),
        _checks.labels(of("systems", [""] * size), "", places("systems")),
        _checks.whole_numbers(of("samples", [0] * size), "", places("samples")),
        {
            part: list((_checks.scores if part == "human" else _checks.texts_or_null)(columns[name], "", places(name)))
            for name, (part, check) in PARTS.items()
            if name in columns
        },
        {name: list(column) for name, column in extra.items()},
        places("candidates"),
    )
    if "references" in columns and not all(batch.references):
        raise InputError(f"references[{batch.references.index([])}] is empty; at least one reference is expected")
    Keys().check(batch.ids, batch.systems, batch.samples, places("candidates"))
    return batch


def _common_length(columns: Mapping[str, Sequence[Any]]) -> int:
    size = 0
    for name, column in columns.items():
        if isinstance(column, str | bytes | Mapping | AbstractSet) or not hasattr(column, "__len__"):
            raise InputError(f"{name} is {_checks.describe(column)}; a list is expected, one entry a segment")
        if name == "candidates":
            size = len(column)
        if len(column) != size:
            raise InputError(f"{name} has {len(column)} entries, candidates {size}; one entry a segment is expected")
    return size


def _own_list(value: object, place: str) -> list[str]:
    if isinstance(value, str):
        return [value]
    if (texts := _checks.as_list(value)) is None:
        raise InputError(f"{place} is {_checks.describe(value)}; a text or a list of texts is expected")
    if set(map(type, texts)) <= {str}:
        return texts  # type: ignore[return-value]  # the line above has looked
    return [_checks.text_of(text, "", f"{place}[{index}]") for index, text in enumerate(texts)]
