"""Token vectors of many texts, one after another, matched with those of many others.

    vectors (T, D) of each text  --pack-->  Packed: texts of rising length, (sum of T, D)
    Packed, Packed  --match-->  cosines of a block with a block  -->  best of each text  -->  P, R (C, R)

What `_matching.match_all` works out, without padding: the columns of a product that belong to texts of one length are
a view (texts, length), whose maxima need no mask. References that are packed once are not copied for each call.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from refsim.metrics._matching import doubles_device, in_doubles

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch
    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]

# Tokens of a block on each side: 2,048 x 2,048 cosines are 16 MB.
_BLOCK_TOKENS = 2048


class Run(NamedTuple):
    """Neighbours of one length in a block: texts from `first` to `last`, tokens from `start` to `stop`."""

    first: int
    last: int
    start: int
    stop: int
    length: int


class Block(NamedTuple):
    """Some of the texts of a pack: which ones, their vectors (T, D), weights (T,), and the runs of one length."""

    texts: NDArray[np.int64]
    vectors: torch.Tensor
    weights: torch.Tensor
    runs: list[Run]


@dataclass(frozen=True, eq=False)
class Packed:
    """Texts that are not empty, shortest first: `order` (S,) says which text stands where."""

    order: NDArray[np.int64]
    lengths: NDArray[np.int64]
    vectors: torch.Tensor
    weights: torch.Tensor

    @property
    def nbytes(self) -> int:
        """Bytes of memory held, about."""
        return int(self.vectors.nbytes + self.weights.nbytes)

    @cached_property
    def bare(self) -> NDArray[np.bool_]:
        """Which of the texts (S,), as they were given, have marks alone, so that nothing of them counts."""
        sums = np.add.reduceat(self.weights.cpu().numpy(), self._starts[:-1]) if len(self.order) else np.empty(0)
        found = np.empty(len(self.order), bool)
        found[self.order] = sums == 0.0
        return found

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.lengths)])

    def split(self) -> list[torch.Tensor]:
        """Return the vectors (T, D) of each text, as they were given."""
        parts = self.vectors.split(self.lengths.tolist())
        places = np.argsort(self.order).tolist()
        return [parts[place] for place in places]

    def blocks(self) -> Iterator[Block]:
        """Yield all texts, so many at a time that they have no more tokens than a block, or one."""
        for first, last in spans(self.lengths.tolist(), _BLOCK_TOKENS):
            start, stop = self._starts[first], self._starts[last]
            lengths, offsets = self.lengths[first:last], self._starts[first : last + 1] - start
            edges = [0, *(np.flatnonzero(np.diff(lengths)) + 1).tolist(), last - first]
            runs = [Run(a, b, int(offsets[a]), int(offsets[b]), int(lengths[a])) for a, b in pairwise(edges)]
            vectors, weights = self.vectors[start:stop].float(), self.weights[start:stop]
            yield Block(self.order[first:last], vectors, weights, runs)


def pack(vectors: Sequence[torch.Tensor], weights: Sequence[Doubles], nothing: torch.Tensor) -> Packed:
    """Return texts as one: vectors (T, D) of each, weights (T,) that sum to 1 or are all 0.

    `nothing` (0, D) is of the type and on the device that the vectors are to have.
    """
    import torch  # noqa: PLC0415  it is loaded by now

    lengths = np.fromiter(map(len, vectors), np.int64, len(vectors))
    order = np.argsort(lengths, kind="stable")
    with torch.inference_mode():
        joined = torch.cat([nothing, *(vectors[i].to(nothing.device) for i in order)])
    counted = np.concatenate([np.empty(0), *(weights[i] for i in order)])
    return Packed(order, lengths[order], joined, torch.from_numpy(counted).to(doubles_device(nothing.device)))


def spans(lengths: Sequence[int], most: int) -> Iterator[tuple[int, int]]:
    """Yield where parts of a sequence begin and end, whose lengths add up to `most` at most; one alone may be more."""
    first, total = 0, 0
    for i, length in enumerate(lengths):
        if i > first and total + length > most:
            yield first, i
            first, total = i, 0
        total += length
    if first < len(lengths):
        yield first, len(lengths)


def match(left: Packed, right: Packed) -> tuple[Doubles, Doubles]:
    """Return precision and recall (C, R) of each text on the left against each on the right.

    Where both are the same object, precision one way is recall the other way, and half of the work is saved.
    """
    shape = (len(left.order), len(right.order))
    precision, recall = np.empty(shape), np.empty(shape)
    blocks = list(right.blocks())
    for i, rows in enumerate(left.blocks()):
        for columns in blocks[i:] if left is right else blocks:
            p, r = _match_blocks(rows, columns)
            place, mirrored = np.ix_(rows.texts, columns.texts), np.ix_(columns.texts, rows.texts)
            precision[place], recall[place] = p, r
            if left is right:
                precision[mirrored], recall[mirrored] = r.T, p.T
    for values in (precision, recall):
        values[left.bare] = 0.0
        values[:, right.bare] = 0.0
    return precision, recall


def _match_blocks(rows: Block, columns: Block) -> tuple[Doubles, Doubles]:
    import torch  # noqa: PLC0415  as above

    with torch.inference_mode():
        cosines = rows.vectors @ columns.vectors.T
        # The best of all of a text's tokens, clamped after: that changes no maximum, and is less to clamp.
        theirs = torch.cat([_of_columns(cosines, run).amax(dim=2) for run in columns.runs], dim=1)
        ours = torch.cat([_of_rows(cosines, run).amax(dim=1) for run in rows.runs], dim=0)
        theirs = in_doubles(theirs.clamp_(-1.0, 1.0)) * rows.weights[:, None]
        ours = in_doubles(ours.clamp_(-1.0, 1.0)) * columns.weights[None, :]
        precision = torch.cat([_of_rows(theirs, run).sum(dim=1) for run in rows.runs], dim=0)
        recall = torch.cat([_of_columns(ours, run).sum(dim=2) for run in columns.runs], dim=1)
    return precision.cpu().numpy(), recall.cpu().numpy()


def _of_rows(table: torch.Tensor, run: Run) -> torch.Tensor:
    """Return the rows of a run: (texts, length, U)."""
    return table[run.start : run.stop].view(run.last - run.first, run.length, -1)


def _of_columns(table: torch.Tensor, run: Run) -> torch.Tensor:
    """Return the columns of a run: (T, texts, length)."""
    return table[:, run.start : run.stop].unflatten(1, (run.last - run.first, run.length))
