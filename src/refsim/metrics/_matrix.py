"""Each candidate against each single reference: in blocks of references, all columns of a block at once.

    references, longest first  --blocks-->  CellSet  --candidates in pieces-->  scores (C, R), or the best k a row

One automaton over a block serves every candidate; long texts, whose tables of orders by columns would
not fit, are scored pair by pair.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from refsim.metrics._compiled import CellSet, Texts, take
from refsim.metrics._rows import score_rows
from refsim.metrics._threads import thread_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from refsim.metrics._rows import Encode

    # Columns of the matrix, and those references compiled; None: too long to be compiled together.
    _Block = tuple[NDArray[np.intp], CellSet | None]

# A thread's table of orders by columns (8 bytes each), and a block's cells (8 bytes each), stay below this many.
_MOST_STEPS, _MOST_CELLS = 2**22, 2**26
_WIDEST_BLOCK, _NARROWEST_BLOCK = 512, 4
_WORTH_A_THREAD = 100
_CANDIDATES_AT_ONCE = 4096


@dataclass(frozen=True, slots=True)
class TopK:
    """The best k references of each candidate, best first: `indices` and `scores`, both (C, k)."""

    indices: NDArray[np.int64]
    scores: NDArray[np.float64]


def score_matrix(  # noqa: PLR0913 - what a matrix depends on
    candidates: Sequence[str], references: Sequence[str], *,
    max_order: int | None, top_k: int | None, encode: Encode, threads: int | None,
) -> NDArray[np.float64] | TopK:  # fmt: skip
    """Return scores (C, R), or the best `top_k` of each row."""
    width = len(references)
    blocks = _score_blocks(candidates, references, max_order, encode, threads)
    if top_k is None:
        scores = np.empty((len(candidates), width))
        for start, columns, block in blocks:
            scores[start : start + len(block), columns] = block
        return scores
    kept = min(top_k, width)
    best = TopK(np.full((len(candidates), kept), width, np.int64), np.full((len(candidates), kept), -1.0))
    for start, columns, block in blocks:
        rows = slice(start, start + len(block))
        indices = np.concatenate([best.indices[rows], np.broadcast_to(columns, block.shape)], axis=1)
        scores = np.concatenate([best.scores[rows], block], axis=1)
        order = np.lexsort((indices, -scores), axis=1)[:, :kept]
        best.indices[rows] = np.take_along_axis(indices, order, axis=1)
        best.scores[rows] = np.take_along_axis(scores, order, axis=1)
    return best


def _score_blocks(
    candidates: Sequence[str], references: Sequence[str], max_order: int | None, encode: Encode, threads: int | None
) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.float64]]]:
    """Yield (first candidate, columns, scores of those) until the whole matrix is covered.

    Blocks are built and scored a thread each, as many at a time as there are threads; a block alone
    spreads its candidates.
    """
    if not len(candidates) or not len(references):
        return
    codes, offsets = encode(references)
    texts = Texts(codes, offsets, np.ones(len(references), np.int64))
    order = np.argsort(-texts.lengths, kind="stable")
    width = _block_width(len(references), max(map(len, candidates)), thread_count(threads))
    blocks = [order[start : start + width] for start in range(0, len(order), width)]
    with ThreadPoolExecutor(thread_count(threads)) as pool:
        for start in range(0, len(blocks), thread_count(threads)):
            window = blocks[start : start + thread_count(threads)]
            built = [
                part for parts in pool.map(lambda columns: _build(texts, columns, width), window) for part in parts
            ]
            each = 1 if len(built) > 1 else threads
            for first in range(0, len(candidates), _CANDIDATES_AT_ONCE):
                some = list(candidates[first : first + _CANDIDATES_AT_ONCE])

                def score(part: _Block, some: list[str] = some, each: int | None = each) -> NDArray[np.float64]:
                    columns, cells = part
                    if cells is None:
                        return _pair_by_pair(some, [references[i] for i in columns], max_order, encode, each)
                    return cells.score_each(*encode(some), max_order, each)

                yield from (
                    (first, part[0], scores) for part, scores in zip(built, pool.map(score, built), strict=True)
                )


def _block_width(references: int, longest: int, threads: int) -> int:
    """Return how many references go into one block."""
    fitting = min(_WIDEST_BLOCK, _MOST_STEPS // (longest + 3))
    # A narrow block shares little between references, so a thread gets a block of its own only where it is wide.
    shared = max(_WORTH_A_THREAD, -(-references // threads))
    return max(_NARROWEST_BLOCK, min(fitting, shared))


def _build(texts: Texts, columns: NDArray[np.intp], width: int) -> list[_Block]:
    """Return the block of these references compiled; halved where it takes too many cells, None for pair by pair."""
    if width <= _NARROWEST_BLOCK:
        return [(columns, None)]
    block = CellSet.each(take(texts, columns), most_cells=_MOST_CELLS)
    if block is not None:
        return [(columns, block)]
    middle = len(columns) // 2
    return [*_build(texts, columns[:middle], middle), *_build(texts, columns[middle:], middle)]


def _pair_by_pair(
    candidates: list[str], references: list[str], max_order: int | None, encode: Encode, threads: int | None
) -> NDArray[np.float64]:
    """Return scores (C, R) of a few long references, one pair at a time."""
    count, width = len(candidates), len(references)
    scores = np.empty((count, width))
    for column, reference in enumerate(references):
        scores[:, column] = score_rows(
            candidates, [reference] * count, np.arange(count + 1, dtype=np.int64),
            form="main", max_order=max_order, encode=encode, threads=threads,
        )  # fmt: skip
    return scores
