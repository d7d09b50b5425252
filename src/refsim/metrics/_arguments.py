"""Arguments of a call, checked: lists of texts, and rows of references, with errors that say where.

Whatever holds strings in order is taken (list, tuple, array, Series, Arrow array); a bare string, a
missing value, a number or bytes never are, and nothing is cut to the shorter of two lists.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Any

from refsim.errors import InputError


def found(value: object) -> str:
    """Say what a wrong value is, in few words."""
    if value is None:
        return "None"
    if isinstance(value, float) and value != value:  # noqa: PLR0124 - true of NaN alone
        return "NaN"
    kind = type(value).__name__
    return f"{kind} {reprlib.repr(value)}" if isinstance(value, str | bytes | int | float) else kind


def check_text(value: object, place: str) -> str:
    """Return the value as a plain string if it is one; else raise an error that names the place."""
    if isinstance(value, str):
        # Of a subclass (numpy.str_, or one with a length of its own) only the characters count.
        return value if type(value) is str else str.__str__(value)
    hints = {
        "bytes": "; decode it first",
        "list": "; a list of strings does not belong here",
        "tuple": "; a tuple does not belong here",
    }
    missing = value is None or (isinstance(value, float) and value != value)  # noqa: PLR0124 - NaN
    hint = "; leave the row out, or give ''" if missing else hints.get(type(value).__name__, "")
    message = f"{place} is {found(value)}; expected a str{hint}"
    raise InputError(message)


def as_list(values: object, place: str, *, example: str) -> list[Any]:
    """Return an ordered collection as a list; a string, a mapping, a set or a single value is an error."""
    if isinstance(values, list):
        return values
    if isinstance(values, str | bytes):
        message = f"{place} is one {type(values).__name__}; expected a list of strings: write {example}"
        raise InputError(message)
    for name in ("to_pylist", "tolist"):  # Arrow arrays, then arrays and Series
        if hasattr(values, name):
            listed = getattr(values, name)()
            return listed if isinstance(listed, list) else [listed]
    # A DataFrame iterates over the names of its columns.
    unordered = isinstance(values, Mapping | AbstractSet) or hasattr(values, "columns")
    if unordered or not isinstance(values, Iterable):
        message = f"{place} is {found(values)}; expected a list of strings: write {example}"
        raise InputError(message)
    return list(values)


def check_texts(values: object, place: str, *, example: str = "['...', '...']") -> list[str]:
    """Return the values as a list of strings; the first that is none is named by its index."""
    listed = as_list(values, place, example=example)
    if not set(map(type, listed)) <= {str}:
        return [check_text(value, f"{place}[{index}]") for index, value in enumerate(listed)]
    return listed


def check_share(share: object, place: str = "share") -> None:
    """Raise InputError unless the value is a number above 0 and at most 1."""
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        message = f"{place} is {share!r}; expected a number above 0 and at most 1"
        raise InputError(message)


def check_path(path: object) -> str | os.PathLike[str]:
    """Return the value if it is the name of a file or directory; else raise InputError."""
    if not isinstance(path, str | os.PathLike):
        message = f"path is {found(path)}; expected a str or a Path"
        raise InputError(message)
    return path


def check_references(references: object, place: str = "references") -> list[str]:
    """Return one candidate's references as a list of strings, at least one."""
    texts = check_texts(
        references, place, example=f"[{references[:20]!r}]" if isinstance(references, str) else "['...']"
    )
    if not texts:
        message = f"{place} is empty; a score needs at least one reference, so leave the row out or give one"
        raise InputError(message)
    return texts


def check_rows(candidates: object, references: object) -> tuple[list[str], list[str] | None, list[list[str]] | None]:
    """Return candidates and their references, checked: entry i of both belongs together.

    The references come twice: as one string for each candidate, where every row has just one, and as lists,
    where they were given so. One of the two may be None.
    """
    if not isinstance(candidates, str) and not isinstance(references, str):
        _check_shape(candidates, references)
    texts = check_texts(candidates, "candidates")
    listed = as_list(
        references, "references", example="[['...', '...'], ...], a str or a list of str for each candidate"
    )
    if len(texts) != len(listed):
        raise InputError(_uneven(texts, listed))
    plain = _plain_rows(listed)
    if plain is not None:
        return texts, *plain
    rows: list[list[str]] = []
    checked: dict[int, list[str]] = {}
    for index, entry in enumerate(listed):
        if isinstance(entry, str):
            rows.append([check_text(entry, f"references[{index}]")])
            continue
        row = checked.get(id(entry))
        if row is None:
            if not isinstance(entry, Iterable):
                check_text(entry, f"references[{index}]")
            row = checked[id(entry)] = check_references(entry, f"references[{index}]")
        rows.append(row)
    return texts, None, rows


def _plain_rows(listed: list[Any]) -> tuple[list[str] | None, list[list[str]] | None] | None:
    """Return references that are strings, or lists of strings, as `check_rows` does; None if they are anything else."""
    kinds = set(map(type, listed))
    if kinds <= {str}:
        return listed, None
    if kinds != {list} or not all(listed):
        return None
    if set(map(len, listed)) == {1}:
        singles = [entry[0] for entry in listed]
        return (singles, listed) if set(map(type, singles)) == {str} else None
    # Of a list that many rows share, thousands of texts are looked at once, not once a row.
    different = {id(entry): entry for entry in listed}.values()
    return (None, listed) if set(map(type, chain.from_iterable(different))) == {str} else None


def _check_shape(candidates: object, references: object) -> None:
    """Name the mistake that would otherwise look like one wrong entry: candidates and references swapped."""
    if isinstance(candidates, list | tuple) and isinstance(references, list | tuple) and candidates and references:
        nested = isinstance(candidates[0], list | tuple)
        if nested and all(isinstance(entry, str) for entry in references):
            message = (
                f"candidates[0] is a {type(candidates[0]).__name__} and every entry of references is a str; "
                "expected one str a candidate: were candidates and references swapped?"
            )
            raise InputError(message)


def _uneven(candidates: list[str], references: list[Any]) -> str:
    """Say what to do about two lists of different lengths."""
    count, given = len(candidates), len(references)
    message = f"{count} candidates but {given} entries in references; entry i must hold the references of candidate i"
    columns = [entry for entry in references if isinstance(entry, list | tuple)]
    if given and len(columns) == given and all(len(entry) == count for entry in columns):
        return f"{message}. These look like one list per reference: write list(zip(*references))"
    if given == 1 or (count == 1 and all(isinstance(entry, str) for entry in references)):
        fixed = "references[0]" if given == 1 and columns else "references"
        return (
            f"{message}. For one set of references for every candidate: metric.compile({fixed}).score_batch(candidates)"
        )
    return message
