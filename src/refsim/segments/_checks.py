"""Checks of one column: texts, lists of texts, labels, numbers; each fault is said with its place.

Each check first asks the types of the whole column in one pass of C code; rows are looked at one by one only
when something is wrong, or rare.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, TypeVar

from refsim._numbers import whole_number
from refsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

MANY_BITS = 1000


class Missing(Enum):
    """The value of a cell that is not there at all, which is neither null nor an empty text."""

    MISSING = "nothing"


MISSING: Final = Missing.MISSING


def is_null(value: object) -> bool:
    """Whether a value stands for nothing: absent, None, NaN, or pandas' NA and NaT."""
    if value is None or value is MISSING:
        return True
    if isinstance(value, float):
        return math.isnan(value)
    return type(value).__name__ in ("NAType", "NaTType")


def describe(value: object) -> str:
    """Return what a value is, in the words of its file format, for messages."""
    for constant, name in ((MISSING, "nothing"), (None, "null"), (True, "true"), (False, "false")):
        if value is constant:
            return name
    if isinstance(value, int | float):
        return "NaN" if isinstance(value, float) and math.isnan(value) else f"a number ({_short(_digits(value))})"
    if isinstance(value, str):
        return f"the text {_short(repr(value))}"
    if isinstance(value, bytes | bytearray):
        return "bytes"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    return "an object" if isinstance(value, dict) else f"a {type(value).__name__}"


def _digits(value: float) -> str:
    # Python refuses to print whole numbers of more than 4,300 digits.
    return (
        f"about 2**{value.bit_length()}" if isinstance(value, int) and value.bit_length() > MANY_BITS else repr(value)
    )


def _short(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else f"{text[:limit]}..."


def as_list(value: object) -> list[object] | None:
    """Return a list, tuple or array as a list; None for anything else."""
    if isinstance(value, list):
        return value
    if isinstance(value, tuple):
        return list(value)
    made: object = value.tolist() if type(value).__module__ == "numpy" and hasattr(value, "tolist") else None
    return made if isinstance(made, list) else None


def check_name(value: object, name: str) -> None:
    """Raise InputError unless an argument is the name of a column, or None."""
    if value is not None and not isinstance(value, str):
        raise InputError(f"{name} is {describe(value)}; the name of a column is expected")


def check_choice(value: object, name: str, known: Sequence[str]) -> None:
    """Raise InputError unless an argument is one of those known, or None."""
    if value is not None and not (isinstance(value, str) and value in known):
        raise InputError(f"{name}={value!r}; one of {', '.join(known)} is expected")


def _at(place: str, what: str) -> str:
    """Return the subject of a message: "file:7: candidate", or a place that says it all, "references[1][0]"."""
    return f"{place}: {what}" if what else place


def text_of(value: object, what: str, place: str) -> str:
    """Return a text; a subclass such as numpy's becomes a plain one."""
    if isinstance(value, str):
        return value if type(value) is str else str.__str__(value)
    raise InputError(f"{_at(place, what)} is {describe(value)}; a text is expected")


def texts(values: Sequence[object], what: str, places: Sequence[str]) -> list[str]:
    """Return a column of texts."""
    if set(map(type, values)) <= {str}:
        return list(values)  # type: ignore[arg-type]  # the line above has looked
    return [text_of(value, what, places[row]) for row, value in enumerate(values)]


def texts_or_null(values: Sequence[object], what: str, places: Sequence[str]) -> list[str | None]:
    """Return a column of texts in which rows may have none; whole numbers are labels too."""
    return _each(values, {str, type(None)}, lambda value, row: _label_or_null(value, what, places[row]))


def _label_or_null(value: object, what: str, place: str) -> str | None:
    return None if is_null(value) else label_of(value, what, place)


def label_of(value: object, what: str, place: str) -> str:
    """Return an id or a name: a text, or a whole number as text."""
    if type(value) is int:
        # A number of 10,000 digits is a fault of the file, and Python refuses to print it.
        if abs(value) >= 10**40:
            raise InputError(f"{_at(place, what)} is a number of more than 40 digits; a text is expected")
        return str(value)
    if isinstance(value, str):
        return text_of(value, what, place)
    raise InputError(f"{_at(place, what)} is {describe(value)}; a text or a whole number is expected")


def labels(values: Sequence[object], what: str, places: Sequence[str]) -> list[str]:
    """Return a column of ids or names."""
    return _each(values, {str}, lambda value, row: label_of(value, what, places[row]))


def whole_numbers(values: Sequence[object], what: str, places: Sequence[str]) -> list[int]:
    """Return a column of whole numbers; text files hold them as digits."""

    def whole(value: object, row: int) -> int:
        if isinstance(value, str) and (number := whole_number(value)) is not None:
            return number
        if type(value) is int and abs(value) < 2**63:
            return value
        raise InputError(f"{_at(places[row], what)} is {describe(value)}; a whole number is expected")

    return [whole(value, row) for row, value in enumerate(values)]


def scores(values: Sequence[object], what: str, places: Sequence[str]) -> list[float | None]:
    """Return a column of numbers in which rows may have none: null, NaN, an empty cell."""

    def score(value: object, row: int) -> float | None:
        if is_null(value) or value == "":
            return None
        try:
            if isinstance(value, str | int | float) and not isinstance(value, bool):
                return None if math.isnan(number := float(value)) else number
        except (ValueError, OverflowError):
            pass
        raise InputError(f"{_at(places[row], what)} is {describe(value)}; a number is expected")

    return [score(value, row) for row, value in enumerate(values)]


def optional(part: str, values: Sequence[object], places: Sequence[str]) -> list[Any]:
    """Return the column of a part in which rows may have nothing: numbers for "human", texts for others."""
    return list(scores(values, part, places) if part == "human" else texts_or_null(values, part, places))


def list_of_texts(value: object, what: str, place: str) -> list[str]:
    """Return a list of texts, the very same object if it is one."""
    listed = as_list(value)
    if listed is None:
        raise InputError(f"{_at(place, what)} is {describe(value)}; a list of texts is expected")
    if set(map(type, listed)) <= {str}:
        return listed  # type: ignore[return-value]  # the line above has looked
    return [text_of(text, f"{what}[{index}]", place) for index, text in enumerate(listed)]


def rows_of(values: object, first: int = 0) -> list[Mapping[str, object]]:
    """Return rows that are dicts, the first of which is number `first` in messages."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InputError(f"rows is {describe(values)}; a list of dicts is expected, one a segment")
    rows = list(values)
    for number, row in enumerate(rows, first):
        if not isinstance(row, Mapping):
            raise InputError(f"rows[{number}] is {describe(row)}; a dict is expected, one a segment")
        for name in row:
            if not isinstance(name, str):
                raise InputError(f"rows[{number}] has {describe(name)} for the name of a column; a text is expected")
    return rows


def _each(values: Sequence[object], fine: set[type], convert: Callable[[object, int], T]) -> list[T]:
    if set(map(type, values)) <= fine:
        return list(values)  # type: ignore[arg-type]  # the line above has looked
    return [convert(value, row) for row, value in enumerate(values)]
