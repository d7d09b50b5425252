"""Greedy matching of token vectors: precision and recall of pairs, many pairs at a time.

    vectors (T, D), (U, D) of a pair  -->  cosines (T, U)  -->  best of each row, of each column  -->  weighted means

R = sum_i w(x_i) max_j x_i . y_j / sum_i w(x_i); P the same with the sides swapped; F1 = 2 P R / (P + R).
Zhang et al. 2020, section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch
    from numpy.typing import NDArray

# Cosines that are worked out at once; 64 MB of floats.
_MOST_COSINES = 1 << 24
# Tokens of a block on each side: 2,048 x 2,048 cosines are 16 MB.
_BLOCK_TOKENS = 2048
_WITHOUT_DOUBLES = {"mps"}
# Below every cosine.
_NO_PARTNER = -2.0


class PRF(NamedTuple):
    """Precision, recall and F1: floats, or arrays (S,); in [-1, 1] before rescaling."""

    precision: Any
    recall: Any
    f1: Any


def match_pairs(
    candidates: Sequence[torch.Tensor], references: Sequence[torch.Tensor],
    candidate_weights: Sequence[NDArray[np.float64]], reference_weights: Sequence[NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # fmt: skip
    """Return precision and recall (S,) of pairs of vectors (T, D) and (U, D); weights (T,) and (U,) sum to 1.

    Marks have weight 0 and are matched with nothing of their own, but stay as partners.
    """
    precision, recall = np.empty(len(candidates)), np.empty(len(candidates))
    # Pairs of like lengths together: little of a batch is padding.
    order = sorted(range(len(candidates)), key=lambda i: (len(candidates[i]), len(references[i]), i))
    start = 0
    while start < len(order):
        stop = start + 1
        rows = len(candidates[order[start]])
        columns = len(references[order[start]])
        while stop < len(order):
            rows = max(rows, len(candidates[order[stop]]))
            columns = max(columns, len(references[order[stop]]))
            if (stop - start + 1) * rows * columns > _MOST_COSINES // 64:
                break
            stop += 1
        batch = order[start:stop]
        precision[batch], recall[batch] = _match_batch(
            [candidates[i] for i in batch], [references[i] for i in batch],
            [candidate_weights[i] for i in batch], [reference_weights[i] for i in batch],
        )  # fmt: skip
        start = stop
    return precision, recall


def _match_batch(
    candidates: Sequence[torch.Tensor], references: Sequence[torch.Tensor],
    candidate_weights: Sequence[NDArray[np.float64]], reference_weights: Sequence[NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # fmt: skip
    import torch  # noqa: PLC0415  it is loaded by now

    with torch.inference_mode():
        left, right = _padded(candidates), _padded(references)
        cosines = torch.bmm(left, right.transpose(1, 2)).clamp_(-1.0, 1.0)
        # Padding is no partner: with 0 in its place a score would depend on the batch it is in. What padding itself
        # finds has weight 0.
        cosines.masked_fill_(_padding(references, right)[:, None, :], _NO_PARTNER)
        cosines.masked_fill_(_padding(candidates, left)[:, :, None], _NO_PARTNER)
        precision = (in_doubles(cosines.amax(dim=2)) * _weights(candidate_weights, left)).sum(dim=1)
        recall = (in_doubles(cosines.amax(dim=1)) * _weights(reference_weights, right)).sum(dim=1)
    return precision.cpu().numpy(), recall.cpu().numpy()


def match_all(
    candidates: Sequence[torch.Tensor], references: Sequence[torch.Tensor],
    candidate_weights: Sequence[NDArray[np.float64]], reference_weights: Sequence[NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # fmt: skip
    """Return precision and recall (C, R) of each candidate (T, D) against each reference (U, D).

    All tokens of a block of texts meet all of another in one product of matrices: several times as fast as pair by
    pair, which copies the vectors of a text for each of its pairs.
    """
    shape = (len(candidates), len(references))
    precision, recall = np.empty(shape), np.empty(shape)
    for rows in _blocks(candidates):
        for columns in _blocks(references):
            place = np.ix_(rows, columns)
            precision[place], recall[place] = _match_block(
                [candidates[i] for i in rows], [references[i] for i in columns],
                [candidate_weights[i] for i in rows], [reference_weights[i] for i in columns],
            )  # fmt: skip
    return precision, recall


def _blocks(texts: Sequence[torch.Tensor]) -> Iterator[list[int]]:
    """Yield indices of texts of like lengths, padded at most as many tokens as a block may have."""
    order = sorted(range(len(texts)), key=lambda i: (len(texts[i]), i))
    block: list[int] = []
    for i in order:
        if block and (len(block) + 1) * len(texts[i]) > _BLOCK_TOKENS:
            yield block
            block = []
        block.append(i)
    if block:
        yield block


def _match_block(
    candidates: Sequence[torch.Tensor], references: Sequence[torch.Tensor],
    candidate_weights: Sequence[NDArray[np.float64]], reference_weights: Sequence[NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # fmt: skip
    import torch  # noqa: PLC0415  as above

    with torch.inference_mode():
        left, right = _padded(candidates), _padded(references)
        products = left.flatten(0, 1) @ right.flatten(0, 1).T
        cosines = products.clamp_(-1.0, 1.0).view(*left.shape[:2], *right.shape[:2])
        cosines.masked_fill_(_padding(references, right)[None, None], _NO_PARTNER)
        cosines.masked_fill_(_padding(candidates, left)[:, :, None, None], _NO_PARTNER)
        precision = torch.einsum("ctr,ct->cr", in_doubles(cosines.amax(dim=3)), _weights(candidate_weights, left))
        recall = torch.einsum("cru,ru->cr", in_doubles(cosines.amax(dim=1)), _weights(reference_weights, right))
    return precision.cpu().numpy(), recall.cpu().numpy()


def _padded(rows: Sequence[torch.Tensor]) -> torch.Tensor:
    import torch  # noqa: PLC0415

    padded: torch.Tensor = torch.nn.utils.rnn.pad_sequence(list(rows), batch_first=True)
    return padded.float()


def _padding(rows: Sequence[torch.Tensor], padded: torch.Tensor) -> torch.Tensor:
    import torch  # noqa: PLC0415

    lengths = torch.tensor([len(row) for row in rows], device=padded.device)
    return torch.arange(padded.shape[1], device=padded.device)[None, :] >= lengths[:, None]


def _weights(weights: Sequence[NDArray[np.float64]], padded: torch.Tensor) -> torch.Tensor:
    import torch  # noqa: PLC0415

    filled = np.zeros((padded.shape[0], padded.shape[1]))
    for row, values in enumerate(weights):
        filled[row, : len(values)] = values
    return torch.from_numpy(filled).to(doubles_device(padded.device))


def in_doubles(values: torch.Tensor) -> torch.Tensor:
    """Return values as float64, on the CPU if their device has no such numbers."""
    return values.to(doubles_device(values.device)).double()


def doubles_device(device: torch.device) -> torch.device:
    """Return where float64 is worked out for what is on a device."""
    import torch  # noqa: PLC0415

    return torch.device("cpu") if device.type in _WITHOUT_DOUBLES else device


def f_measure(precision: NDArray[np.float64], recall: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 2 P R / (P + R), 0 where P + R is 0."""
    total = precision + recall
    result: NDArray[np.float64] = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total != 0)
    return result
