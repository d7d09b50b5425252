"""Each candidate against each single reference: in blocks of references, all columns of a block at once.

    references, longest first  --blocks-->  CellSet  --candidates in pieces-->  scores (C, R), or the best k a row

One automaton over a block serves every candidate; long texts, whose tables of orders by columns would
not fit, are scored pair by pair.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise, repeat
from typing import TYPE_CHECKING

import numpy as np

from refsim.metrics._compiled import CellSet, Texts, take
from refsim.metrics._rows import score_rows
from refsim.metrics._threads import thread_count
from refsim.metrics._workspace import Tables

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
    blocks = _score_blocks(_Matrix(candidates, references, max_order, encode), threads)
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


@dataclass(frozen=True, slots=True)
class _Matrix:
    """What every part of one matrix is scored with."""

    candidates: Sequence[str]
    references: Sequence[str]
    max_order: int | None
    encode: Encode
    tables: Tables = field(default_factory=Tables)

    def score(self, rows: range, block: _Block, threads: int | None) -> NDArray[np.float64]:
        """Return the scores (rows, columns) of some candidates against a block."""
        some = list(self.candidates[rows.start : rows.stop])
        columns, cells = block
        if cells is None:
            return _pair_by_pair(some, [self.references[i] for i in columns], self.max_order, self.encode, threads)
        return cells.score_each(*self.encode(some), self.max_order, threads, self.tables)


def _score_blocks(matrix: _Matrix, threads: int | None) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.float64]]]:
    """Yield (first candidate, columns, scores of those) until the whole matrix is covered.

    Blocks are built a thread each, as many at a time as there are threads, and scored in turns that are
    smaller than a block; a block alone spreads its candidates.
    """
    if not len(matrix.candidates) or not len(matrix.references):
        return
    codes, offsets = matrix.encode(matrix.references)
    texts = Texts(codes, offsets, np.ones(len(matrix.references), np.int64))
    count = thread_count(threads)
    width, blocks = _divide(texts.lengths, max(map(len, matrix.candidates)), count)
    with ThreadPoolExecutor(count) as pool:
        for start in range(0, len(blocks), count):
            window = blocks[start : start + count]
            built = [
                part for parts in pool.map(lambda columns: _build(texts, columns, width), window) for part in parts
            ]
            each = threads if len(built) == 1 else 1
            for rows in _in_steps(range(len(matrix.candidates)), _CANDIDATES_AT_ONCE):
                turns = [(part, block) for part in (_shrinking(rows) if len(built) > 1 else [rows]) for block in built]
                scored = pool.map(matrix.score, *zip(*turns, strict=True), repeat(each))
                yield from ((part.start, block[0], scores) for (part, block), scores in zip(turns, scored, strict=True))


def _in_steps(rows: range, step: int) -> Iterator[range]:
    """Yield parts of `step` rows, the last one shorter."""
    return (rows[i : i + step] for i in range(0, len(rows), step))


def _shrinking(rows: range) -> list[range]:
    """Return four parts, ever smaller ones, so that threads that take them in turn end at about the same time."""
    marks = [len(rows) * share // 10 for share in (0, 4, 7, 9, 10)]
    return [rows[start:stop] for start, stop in pairwise(marks) if stop > start]


def _divide(lengths: NDArray[np.int64], longest: int, threads: int) -> tuple[int, list[NDArray[np.intp]]]:
    """Return how many references a block may have, and blocks of them, longest first, of about equal characters."""
    fitting = min(_WIDEST_BLOCK, _MOST_STEPS // (longest + 3))
    # A narrow block shares little between references, so a thread gets a block of its own only where it is wide.
    shared = max(_WORTH_A_THREAD, -(-len(lengths) // threads))
    width = max(_NARROWEST_BLOCK, min(fitting, shared))
    order = np.argsort(-lengths, kind="stable")
    total = np.cumsum(lengths[order] + 1)
    marks = np.searchsorted(total, np.linspace(0, total[-1], -(-len(order) // width) + 1)[1:-1])
    most = max(_NARROWEST_BLOCK, fitting)
    blocks = [part[i : i + most] for part in np.split(order, marks) for i in range(0, len(part), most)]
    return width, blocks


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
