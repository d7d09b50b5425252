"""Many candidates, each against a few references of its own: a thin caller of the kernel's `score_rows`.

Pieces of the batch become code points and scores on their own, so that one thread's strings are being
encoded while another's kernel runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from refsim.metrics._kernel import kernel
from refsim.metrics._threads import interruptible, spread
from refsim.metrics._workspace import RowSpace, forget_row_space, order_weights, row_space

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Encode = Callable[[Sequence[str]], tuple[NDArray[np.int32], NDArray[np.int64]]]

FORMS = {"main": 0, "base": 1, "median": 2}


def score_rows(
    candidates: list[str], references: list[str], row_offsets: NDArray[np.int64],
    *, form: str, max_order: int | None, encode: Encode, threads: int | None,
) -> NDArray[np.float64]:  # fmt: skip
    """Return scores (S,): candidate i against `references[row_offsets[i]:row_offsets[i + 1]]`."""
    out = np.empty(len(candidates))
    if len(candidates) == 1:
        texts = (*encode(candidates), *encode(references))
        interruptible(lambda: _score_piece(*texts, row_offsets, form, max_order, out), len(texts[0]) + len(texts[2]))
        return out
    lengths = np.fromiter(map(len, references), np.int64, len(references))
    sizes = np.add.reduceat(lengths, row_offsets[:-1]) if len(candidates) else np.empty(0, np.int64)
    sizes = sizes + np.fromiter(map(len, candidates), np.int64, len(candidates))

    def work(start: int, stop: int) -> None:
        first, last = int(row_offsets[start]), int(row_offsets[stop])
        heads = row_offsets[start : stop + 1] - first
        _score_piece(
            *encode(candidates[start:stop]), *encode(references[first:last]), heads, form, max_order, out[start:stop]
        )

    spread(work, sizes, threads)
    return out


def _score_piece(
    codes: NDArray[np.int32], offsets: NDArray[np.int64],
    references: NDArray[np.int32], reference_offsets: NDArray[np.int64], heads: NDArray[np.int64],
    form: str, max_order: int | None, out: NDArray[np.float64],
) -> None:  # fmt: skip
    sizes = (_largest_gap(offsets), _largest_gap(reference_offsets), _largest_gap(heads))
    top = int(references.max()) if len(references) else 0
    space, shared = row_space(*sizes, top)
    texts = (codes.data, offsets.data, references.data, reference_offsets.data, heads.data)
    weights = order_weights(max(sizes))
    done = 0
    while True:
        try:
            done = kernel.score_rows(*texts, done, FORMS[form], max_order or 0, *weights, *space.views, out.data)
        except BaseException:
            # Only interpreted can the kernel be interrupted, halfway through a row.
            forget_row_space()
            raise
        if done == len(out):
            return
        if shared:
            space, shared = RowSpace(*sizes, top), False
        space.more_hash_room()


def _largest_gap(offsets: NDArray[np.int64]) -> int:
    return int((offsets[1:] - offsets[:-1]).max()) if len(offsets) > 1 else 0


def overlap_alone(
    codes: NDArray[np.int32], reference: NDArray[np.int32], orders: int
) -> tuple[float, NDArray[np.int64], NDArray[np.int64]]:
    """Return one pair's score over so many orders, its overlaps (orders,), and its matches: `score_rows`, told in full.

    The last are, for each position of the candidate (T,), the length of the longest match that ends there. With
    no orders the score is 0. Neither text may be empty.
    """
    return interruptible(lambda: _overlap_alone(codes, reference, orders), len(codes) + len(reference))


def _overlap_alone(
    codes: NDArray[np.int32], reference: NDArray[np.int32], orders: int
) -> tuple[float, NDArray[np.int64], NDArray[np.int64]]:
    overlaps, lengths = np.empty(orders, np.int64), np.empty(len(codes), np.int64)
    sizes = (len(codes), len(reference), 1)
    top = int(reference.max())
    space, shared = row_space(*sizes, top)
    weights = order_weights(max(sizes))
    while True:
        given = (codes.data, reference.data, *weights, *space.alone)
        try:
            score = kernel.overlap_alone(*given, overlaps.data, lengths.data)
        except BaseException:
            # As in `_score_piece`.
            forget_row_space()
            raise
        if score >= 0:
            return score, overlaps, lengths
        if shared:
            space, shared = RowSpace(*sizes, top), False
        space.more_hash_room()
