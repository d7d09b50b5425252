"""Texts to contextual vectors: tokenise, plan batches by tokens, run the layers needed, scale to length 1.

    texts  --tokenise-->  Tokens: ids, plain (T,)  --plan, run-->  vectors (T, D) of length 1, one array a text

Encoders are kept for the process, one for each model, layer, device and dtype. Vectors of texts are kept up to a
number of bytes, so that references which many systems share are encoded once (_vectors.py).
"""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from refsim.errors import InputError
from refsim.metrics._loading import (
    find_device,
    hidden_width,
    load_config,
    load_model,
    load_tokenizer,
    load_torch,
    token_limit,
    tokenizer_hash,
)
from refsim.metrics._vectors import VectorCache, trim_heap
from refsim.metrics._windows import plan_windows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import torch
    from numpy.typing import NDArray

    Ids = NDArray[np.int64]

_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_CPU_TOKENS, _GPU_TOKENS = 1024, 65536
# Texts whose tokens are kept: of each the references of several systems are asked for again and again.
_TOKENS_KEPT: Final = 20_000
# What comes and goes leaves holes between what stays; without this a stream grows by a tenth each 10,000 pairs.
_TRIM_EVERY: Final = 16

_watcher: ContextVar[Callable[[int, int], None] | None] = ContextVar("_watcher", default=None)


@contextmanager
def watched(watcher: Callable[[int, int], None]) -> Iterator[None]:
    """Tell `watcher` in this block how many tokens are encoded, of how many of the call that is running."""
    before = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(before)


@dataclass(frozen=True, eq=False)
class Tokens:
    """One text in pieces: `ids` (T,), `plain` (T,) False for the marks at its ends, `cut` if it was too long."""

    ids: Ids
    plain: NDArray[np.bool_]
    cut: bool
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """What an encoder depends on."""

    place: str
    layer: int
    device: str
    dtype: str
    special_tokens: str
    batch_tokens: int | None
    windows: bool = False


def clean(text: str) -> str:
    """Return a text as it is encoded: without outer white space, lone surrogates as U+FFFD."""
    return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text.strip())


def has_surrogate(text: str) -> bool:
    """Return whether a text holds half of a pair, which no encoder can read."""
    return not text.isascii() and _SURROGATES.search(text) is not None


class Encoder:
    """A model cut off at a layer, and its tokenizer."""

    def __init__(self, setting: Setting) -> None:
        """Load both from a directory; nothing is fetched."""
        self._torch = load_torch()
        self.setting = setting
        self.device = find_device(self._torch, setting.device, setting.dtype)
        self._lock = threading.Lock()
        config = load_config(setting.place)
        self.depth = int(config.num_hidden_layers)
        if not 0 <= setting.layer <= self.depth:
            raise InputError(
                f"layer {setting.layer}: {setting.place} has {self.depth}; expected 0 (embeddings) to {self.depth}"
            )
        self._tokenizer = load_tokenizer(setting, config)
        self.width = hidden_width(config)
        self._pad = int(getattr(config, "pad_token_id", 0) or 0)
        self._model = load_model(self._torch, setting, config).to(self.device).eval()
        self.limit = token_limit(self._tokenizer[1], self._model)
        if self.limit is not None and not setting.windows:
            # Once: to change an engine while other threads use it is an error.
            self._tokenizer[0].enable_truncation(self.limit)
        self._budget = setting.batch_tokens or (_CPU_TOKENS if self.device.type == "cpu" else _GPU_TOKENS)
        self._vectors = VectorCache()
        self._batches = 0
        self._known: dict[str, Tokens] = {}

    @cached_property
    def tokenizer_hash(self) -> str:
        """SHA-256 (hexadecimal) of the tokenizer as it is used here."""
        return tokenizer_hash(self._tokenizer[0])

    def tokenise(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the pieces of cleaned texts, cut at the model's limit unless windows are read."""
        known = self._known
        new = list(dict.fromkeys(text for text in texts if text not in known))
        made = dict(zip(new, self._tokenise(new), strict=True))
        found = [made[text] if text in made else known[text] for text in texts]
        if len(known) + len(made) > _TOKENS_KEPT:
            known = {}
        # A new dictionary, for other threads may be reading the old one.
        self._known = known | made if len(made) <= _TOKENS_KEPT else known
        return found

    def _tokenise(self, texts: Sequence[str]) -> list[Tokens]:
        backend, _, marks = self._tokenizer
        found = []
        for encoding in backend.encode_batch(list(texts), add_special_tokens=True):
            ids = np.array(encoding.ids, np.int64)
            cut = bool(encoding.overflowing)
            found.append(Tokens(ids, ~np.isin(ids, marks), cut, tuple(encoding.offsets)))
        return found

    def pieces(self, ids: Ids) -> list[str]:
        """Return the pieces as the tokenizer writes them."""
        backend = self._tokenizer[0]
        return [backend.id_to_token(int(i)) or "" for i in ids]

    def encode(self, texts: Sequence[str], tokens: Sequence[Tokens]) -> list[torch.Tensor]:
        """Return the vectors (T, D) of each text, of length 1; texts that were encoded before are not encoded again."""
        with self._lock:
            found = [self._vectors.get(text) for text in texts]
            wanted = {text: i for i, text in enumerate(texts) if found[i] is None}
            made = dict(zip(wanted, self._encode([tokens[i].ids for i in wanted.values()]), strict=True))
            for text, vectors in made.items():
                self._vectors.put(text, vectors)
        return [made[text] if one is None else one for text, one in zip(texts, found, strict=True)]

    def encode_layers(self, tokens: Sequence[Tokens]) -> list[list[torch.Tensor]]:
        """Return for each layer, from 0 to that of the setting, the vectors (T, D) of each text; nothing is kept."""
        with self._lock:
            rows = [one.ids for one in tokens]
            stacked = self._in_windows(rows, lambda some: self._run(some, self._forward_layers))
        return [[one[layer] for one in stacked] for layer in range(self.setting.layer + 1)]

    def _encode(self, rows: Sequence[Ids]) -> list[torch.Tensor]:
        return self._in_windows(rows, lambda some: self._run(some, self._forward))

    def _in_windows(
        self, rows: Sequence[Ids], run: Callable[[Sequence[Ids]], list[torch.Tensor]]
    ) -> list[torch.Tensor]:
        """Return the vectors (.., T, D) of rows of ids, those longer than the limit put together from windows."""
        if not self.setting.windows or self.limit is None or all(len(ids) <= self.limit for ids in rows):
            return run(rows)
        front, back = self._marks_around
        room = self.limit - front - back
        plans = [plan_windows(len(ids) - front - back, room) for ids in rows]
        parts = [
            np.concatenate([ids[:front], ids[front + one.start : front + one.stop], ids[len(ids) - back :]])
            for ids, plan in zip(rows, plans, strict=True) for one in plan
        ]  # fmt: skip
        made = iter(run(parts))
        found = []
        for plan in plans:
            kept = []
            for i, (window, vectors) in enumerate(zip(plan, made, strict=False)):
                # The marks come from the windows at the ends.
                start = 0 if i == 0 else front + window.keep_start - window.start
                stop = vectors.shape[-2] if i == len(plan) - 1 else front + window.keep_stop - window.start
                kept.append(vectors[..., start:stop, :])
                if i == len(plan) - 1:
                    break
            found.append(self._torch.cat(kept, dim=-2))
        return found

    @cached_property
    def _marks_around(self) -> tuple[int, int]:
        """The number of marks before and behind a text."""
        mask = self._tokenizer[0].encode("a", add_special_tokens=True).special_tokens_mask
        inside = mask.index(0)
        return inside, len(mask) - inside - mask.count(0)

    def _run(self, ids: Sequence[Ids], forward: Callable[[Sequence[Ids]], torch.Tensor]) -> list[torch.Tensor]:
        """Return the vectors of each row of ids, longest rows first through the model, in batches of so many tokens."""
        found: list[Any] = [None] * len(ids)
        order = sorted(range(len(ids)), key=lambda i: (-len(ids[i]), i))
        watch, total, done, start = _watcher.get(), sum(map(len, ids)), 0, 0
        while start < len(order):
            batch = order[start : start + max(1, self._budget // max(1, len(ids[order[start]])))]
            try:
                vectors = forward([ids[i] for i in batch])
            except self._torch.OutOfMemoryError:
                if self._budget <= len(ids[order[start]]):
                    raise
                self._budget //= 2
                continue
            lengths = [len(ids[i]) for i in batch]
            for i, kept in zip(batch, _without_padding(vectors, lengths), strict=True):
                found[i] = kept
            done += sum(lengths)
            start += len(batch)
            if watch is not None:
                watch(done, total)
            self._batches += 1
            if self._batches % _TRIM_EVERY == 0:
                trim_heap()
        return found

    def _forward(self, rows: Sequence[Ids]) -> torch.Tensor:
        """Return unit vectors (S, T, D) of the setting's layer."""
        first = self.setting.layer == 0
        told = self._through(rows, hidden_states=first)
        return self._unit(told.hidden_states[0] if first else told.last_hidden_state)

    def _forward_layers(self, rows: Sequence[Ids]) -> torch.Tensor:
        """Return unit vectors (S, L + 1, T, D) of every layer."""
        told = self._through(rows, hidden_states=True)
        return self._unit(self._torch.stack(told.hidden_states[: self.setting.layer + 1], dim=1))

    def _unit(self, hidden: torch.Tensor) -> torch.Tensor:
        torch = self._torch
        with torch.inference_mode():
            unit = torch.nn.functional.normalize(hidden.float(), dim=-1)
            # What is worked out with 8 or 16 bits is kept in 16.
            return unit if self.setting.dtype == "float32" else unit.half()

    def _through(self, rows: Sequence[Ids], *, hidden_states: bool) -> Any:  # noqa: ANN401  what transformers returns
        torch = self._torch
        padded = np.full((len(rows), max(map(len, rows))), self._pad, np.int64)
        mask = np.zeros(padded.shape, np.int64)
        for row, ids in enumerate(rows):
            padded[row, : len(ids)] = ids
            mask[row, : len(ids)] = 1
        with torch.inference_mode():
            return self._model(
                input_ids=torch.from_numpy(padded).to(self.device),
                attention_mask=torch.from_numpy(mask).to(self.device),
                output_hidden_states=hidden_states,
            )


def _without_padding(vectors: torch.Tensor, lengths: Sequence[int]) -> list[torch.Tensor]:
    """Return the vectors of each text of a batch, copied so that the padded batch can be given back.

    One block for all of them: blocks of a text each, between the large ones that come and go, would leave the heap
    twice as large as what it holds.
    """
    kept = [vectors[row][..., :length, :] for row, length in enumerate(lengths)]
    block = vectors.new_empty((*kept[0].shape[:-2], sum(lengths), vectors.shape[-1]))
    parts = list(block.split(list(lengths), dim=-2))
    for part, one in zip(parts, kept, strict=True):
        part.copy_(one)
    return parts


class Encoders:
    """The encoders of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: dict[Setting, Encoder] = {}

    def get(self, setting: Setting) -> Encoder:
        """Return the encoder of a setting, loaded once."""
        with self._lock:
            if setting not in self._loaded:
                self._loaded[setting] = Encoder(setting)
            return self._loaded[setting]

    def clear(self) -> None:
        """Forget every encoder and what it has encoded."""
        with self._lock:
            self._loaded.clear()


encoders = Encoders()


def model_depth(place: str) -> int:
    """Return the number of layers of a model."""
    load_torch()
    return int(load_config(place).num_hidden_layers)


def cut_equals_stack(setting: Setting) -> bool:
    """Return whether a model cut off at a layer gives what the whole one has there; a last norm makes it differ."""
    whole = encoders.get(setting)
    if whole.depth < 2 or setting.layer < 2:  # noqa: PLR2004  with one block there is nothing in between
        return True
    text = ["the cat sat on the mat"]
    cut = Encoder(replace(setting, layer=1))
    inside = whole.encode_layers(whole.tokenise(text))[1][0]
    return bool((cut.encode(text, cut.tokenise(text))[0] - inside).abs().max() <= 1e-5)  # noqa: PLR2004  rounding
