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
        number = isinstance(weight, int | float | np.number) and not isinstance(weight, bool)
        if not number or not 0 <= weight < math.inf:
            message = f"weights[{index}] is {found(weight)}; expected a finite number, 0 or more"
            raise InputError(message)
    total = math.fsum(listed)
    if total == 0:
        message = f"all {len(listed)} weights are 0; give at least one of {place} some weight"
        raise InputError(message)
    widest = 8 * max(1, longest)
    if all(float(weight).is_integer() for weight in listed) and total * widest < _EXACT:
        return np.array([int(weight) for weight in listed], np.int64), True
    shift = math.floor(math.log2(_LARGEST_SUM / widest)) - math.ceil(math.log2(total))
    return np.array([round(math.ldexp(float(weight), shift)) for weight in listed], np.int64), False


def own_weights(weights: NDArray[np.int64], *, exact: bool) -> NDArray[np.int64]:
    """Return how much of each candidate's weight leaves the set with it: one repeat, or all of it."""
    return np.minimum(weights, 1) if exact else weights
