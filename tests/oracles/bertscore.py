"""BERTScore's alignments by their definition, from hidden states, one piece at a time.

hidden states (T, D), (U, D), which are marks, weights  -->  for each piece its partner, its cosine, its loss
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


class Piece(NamedTuple):
    """The partner of a piece, -1 for a mark; the cosine with it, the weight, what it takes away from 1."""

    partner: int
    cosine: float
    weight: float
    loss: float


def cosine(left: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """Return the cosine of two vectors."""
    return float(left @ right) / math.sqrt(float(left @ left) * float(right @ right))


def align(
    own: NDArray[np.float64], theirs: NDArray[np.float64], own_marks: Sequence[bool], their_marks: Sequence[bool],
    weights: Sequence[float],
) -> list[Piece]:  # fmt: skip
    """Return the alignment of a text's pieces, marks left out, with those of another; weights need not sum to 1."""
    counted = [0.0 if mark else weight for mark, weight in zip(own_marks, weights, strict=True)]
    if not any(counted):
        counted = [0.0 if mark else 1.0 for mark in own_marks]
    found = []
    for vector, mark, weight in zip(own, own_marks, counted, strict=True):
        if mark:
            continue
        cosines = [cosine(vector, other) for other in theirs]
        best = cosines.index(max(cosines))
        partner = -1 if their_marks[best] else sum(not one for one in their_marks[:best])
        share = weight / sum(counted)
        found.append(Piece(partner, cosines[best], share, share * (1 - cosines[best])))
    return found


def idf(documents: Sequence[Sequence[int]], piece: int) -> float:
    """Return ln((N + 1) / (df + 1)) of a piece in N documents of pieces, of which df hold it."""
    return math.log((len(documents) + 1) / (sum(piece in document for document in documents) + 1))
