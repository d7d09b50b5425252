"""Weights of references as integers, so that overlaps stay integers until the division."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from refsim.errors import InputError
from refsim.metrics._arguments import as_list, found

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Integers up to here are exact as float64, so one division of two of them is correctly rounded.
_EXACT = 2**53
_TOO_LARGE = 1e300
# Fractional weights are put on the finest grid on which sums of weight x length still fit 64 bits.
_LARGEST_SUM = 2**61


def integer_weights(weights: object, voters: Sequence[str], place: str, longest: int) -> tuple[NDArray[np.int64], bool]:
    """Return the weights (R,) as integers, and whether those are the weights themselves.

    Whole numbers stay as they are. Others are scaled by a power of two and rounded; with R texts of up
    to `longest` characters the error of a score stays below 1e-12 for any R x longest below 2**20.
    """
    if weights is None:
        return np.ones(len(voters), np.int64), True
    listed = as_list(weights, "weights", example="[1, 2, 0.5]")
    if len(listed) != len(voters):
        message = f"{len(voters)} {place} but {len(listed)} weights; give each of {place} a weight"
        raise InputError(message)
    for index, weight in enumerate(listed):
        number = isinstance(weight, int | float | np.integer | np.floating)
        number = number and not isinstance(weight, bool | np.timedelta64)
        if not number or not 0 <= weight < _TOO_LARGE:
            message = f"weights[{index}] is {found(weight)}; expected a number from 0 to 1e300"
            raise InputError(message)
    if not any(listed):
        message = f"all {len(listed)} weights are 0; give at least one of {place} some weight"
        raise InputError(message)
    widest = 8 * max(1, longest)
    if all(weight == int(weight) for weight in listed):
        repeats = [int(weight) for weight in listed]
        if sum(repeats) * widest >= _EXACT:
            message = (
                f"weights add up to {sum(repeats):,}; whole numbers count as repeats, and with texts of {longest:,} "
                f"characters sums are exact up to {_EXACT // widest:,}: divide them, or give shares such as 0.5"
            )
            raise InputError(message)
        return np.array(repeats, np.int64), True
    shares = [float(weight) for weight in listed]
    largest = max(shares)
    total = math.fsum(share / largest for share in shares)
    shift = math.floor(math.log2(_LARGEST_SUM / widest / total))
    # A share too small for the grid still counts: its text may be the longest, and say how many orders there are.
    grid = [max(round(math.ldexp(share / largest, shift)), 1) if share else 0 for share in shares]
    return np.array(grid, np.int64), False


def own_weights(weights: NDArray[np.int64], *, exact: bool) -> NDArray[np.int64]:
    """Return how much of each candidate's weight leaves the set with it: one repeat, or all of it."""
    return np.minimum(weights, 1) if exact else weights
