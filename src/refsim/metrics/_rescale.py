"""The baseline that BERTScore is rescaled by, as it is given: three numbers, or the name of a file."""

from __future__ import annotations

import math

from refsim.errors import InputError

Base = tuple[float, float, float]


def check_baseline(given: object) -> Base | str:
    """Return a baseline as floats, or as the name of a file; "0.1, 0.2, 0.15" is three numbers too.

    Raises InputError for other things, and for 1, at which rescaling would divide by 0.
    """
    if isinstance(given, str):
        numbers = _numbers(given.strip("() ").split(","))
        if numbers is None:
            if not given or "\0" in given:
                raise InputError(f"baseline is {given!r}; expected (P, R, F1) or a file's name")
            return given
    else:
        numbers = _numbers(given)
    if numbers is None or not all(-1 <= value < 1 for value in numbers):
        raise InputError(f"baseline is {given!r}; expected three numbers (P, R, F1) from -1 to below 1, or a file")
    return numbers


def _numbers(given: object) -> Base | None:
    try:
        precision, recall, f1 = (float(value) for value in given)  # type: ignore[attr-defined]  # what is none raises
    except (TypeError, ValueError):
        return None
    # NaN is a number to float, and none here.
    return None if math.isnan(precision + recall + f1) else (precision, recall, f1)
