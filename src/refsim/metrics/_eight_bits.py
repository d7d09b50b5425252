"""Linear layers that multiply in 8 bits: weights scaled row by row, activations token by token.

    x (N, D)  --/ max|x| of the token * 127, rounded-->  int8  --times int8 weights-->  sums  --* both scales, + bias-->

A token's scale is its own, and sums of whole numbers are exact, so what stands beside a token never changes it. torch
is imported with this module; load it late.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import torch

_MOST: Final = 127
_TINY: Final = 1e-12


class EightBitLinear(torch.nn.Module):  # type: ignore[misc]  # torch is not looked into
    """Does what a `torch.nn.Linear` did, with numbers of 8 bits."""

    bias: torch.Tensor | None

    def __init__(self, linear: torch.nn.Linear, scratch: Scratch) -> None:
        """Take over a layer's weights (O, D) and bias (O,), O the width of what comes out."""
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        weight = linear.weight.detach().float()
        scales = _scales(weight)
        # Models look at a weight's dtype.
        self.weight = (weight / scales).round_().to(torch.int8)
        self._scales = scales[:, 0].contiguous()
        self.bias = None if linear.bias is None else linear.bias.detach().float().clone()
        self._zeros = torch.zeros(self.out_features, dtype=torch.int64)
        self._packed = _packed(self.weight) if _multiplies_exactly() else None
        self._scratch = scratch

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the layer's values (.., O) of x (.., D)."""
        rows = x.reshape(-1, self.in_features)
        # Fresh memory for each step would take longer than the step.
        room = self._scratch.room(rows.shape)
        scales = torch.abs(rows, out=room).amax(1, keepdim=True).clamp_min_(_TINY).div_(_MOST)
        whole = torch.div(rows, scales, out=room).round_()
        made = self._multiply(whole)
        made = made.mul_(scales) if self.bias is None else torch.addcmul(self.bias, made, scales, out=made)
        return made.view(*x.shape[:-1], self.out_features)

    def _multiply(self, whole: torch.Tensor) -> torch.Tensor:
        """Return whole numbers (N, D) of at most 127 times the weights, (N, O)."""
        if self._packed is None:
            return (whole @ self.weight.float().T).mul_(self._scales)
        return _product(whole.to(torch.int8), self._packed, self._scales, self._zeros)


class Scratch:
    """Memory that the layers of a model use in turns; one thread at a time."""

    def __init__(self) -> None:
        """Begin with none."""
        self._flat = torch.empty(0)

    def room(self, shape: torch.Size) -> torch.Tensor:
        """Return a float32 array of a shape, its values whatever they were."""
        wanted = shape.numel()
        if self._flat.numel() < wanted:
            self._flat = torch.empty(wanted)
        return self._flat[:wanted].view(shape)


def in_8_bits(model: torch.nn.Module) -> torch.nn.Module:
    """Return a model whose linear layers multiply in 8 bits; all else stays in float32."""
    scratch = Scratch()
    with torch.inference_mode():
        for part in list(model.modules()):
            for name, child in list(part.named_children()):
                # Kinds derived from it are not called but have their weights taken.
                if type(child) is torch.nn.Linear:
                    setattr(part, name, EightBitLinear(child, scratch))
    return model


def _scales(weight: torch.Tensor) -> torch.Tensor:
    """Return what the largest of each row must be divided by to be 127, (O, 1)."""
    return weight.abs().amax(1, keepdim=True).clamp_min_(_TINY).div_(_MOST)


def _packed(weight: torch.Tensor) -> torch.Tensor:
    made: torch.Tensor = torch.ops.onednn.qlinear_prepack(weight, None)
    return made


def _product(whole: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor) -> torch.Tensor:
    made: torch.Tensor = torch.ops.onednn.qlinear_pointwise(
        whole, 1.0, 0, packed, scales, zeros, None, 1.0, 0, torch.float32, "none", [], ""
    )
    return made


@cache
def _multiplies_exactly() -> bool:
    """Return whether this machine's 8-bit products are there and exact.

    Some processors add pairs of products in 16 bits, which overflow; without exact ones the same whole numbers are
    multiplied in float32: the same scores, and no faster.
    """
    row = torch.full((2, 64), _MOST, dtype=torch.int8)
    row[1, ::2] = -_MOST
    try:
        made = _product(row, _packed(row), torch.ones(2), torch.zeros(2, dtype=torch.int64))
    except (RuntimeError, AttributeError, NotImplementedError):
        return False
    return bool((made == row.float() @ row.float().T).all())
