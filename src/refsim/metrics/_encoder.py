"""Texts to contextual vectors: tokenise, plan batches by tokens, run the layers needed, scale to length 1.

    texts  --tokenise-->  Tokens: ids, weights (T,)  --plan, run-->  vectors (T, D) of length 1, one array a text

Encoders are kept for the process, one for each model, layer, device and dtype. Vectors of texts are kept up to a
number of bytes, so that references which many systems share are encoded once.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from refsim._numbers import whole_number
from refsim.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from numpy.typing import NDArray

_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_NO_LIMIT: Final = 10**6
_DEFAULT_BYTES: Final = 2**30
_CPU_TOKENS, _GPU_TOKENS = 2048, 65536
# Positions that a family's table has before the first token's: padding_idx + 1.
_OFFSETS: Final = {
    "roberta": 2,
    "xlm-roberta": 2,
    "camembert": 2,
    "mpnet": 2,
    "xlm-roberta-xl": 2,
    "roberta-prelayernorm": 2,
}
# Families whose published numbers come from a tokenizer that puts a space before the first word.
_PREFIX_SPACE: Final = {"roberta", "gpt2"}
# Families with an encoder alone as a class of its own, which loads no decoder. UMT5 is no T5: each of its blocks has
# its own position biases.
_T5: Final = {"t5", "mt5", "umt5"}


@dataclass(frozen=True, eq=False)
class Tokens:
    """One text in pieces: `ids` (T,), `plain` (T,) False for the marks at its ends, `cut` if it was too long."""

    ids: NDArray[np.int64]
    plain: NDArray[np.bool_]
    cut: bool


@dataclass(frozen=True, slots=True)
class Setting:
    """What an encoder depends on."""

    place: str
    layer: int
    device: str
    dtype: str
    special_tokens: str
    batch_tokens: int | None


def load_torch() -> Any:  # noqa: ANN401  a module
    """Return torch, or raise MissingExtra."""
    try:
        import torch  # noqa: PLC0415  seconds to load, and most of refsim needs none
        import transformers  # noqa: F401, PLC0415
    except ImportError as error:
        raise MissingExtra("bertscore", error.name or "torch", "bertscore") from error
    return torch


def clean(text: str) -> str:
    """Return a text as it is encoded: without outer white space, lone surrogates as U+FFFD."""
    return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text.strip())


class Encoder:
    """A model cut off at a layer, and its tokenizer."""

    def __init__(self, setting: Setting) -> None:
        """Load both from a directory or a hub; nothing is fetched that is on this machine."""
        self._torch = load_torch()
        self.setting = setting
        self.device = _device(self._torch, setting.device)
        self._lock = threading.Lock()
        config = _config(setting.place)
        self.depth = int(config.num_hidden_layers)
        if not 0 <= setting.layer <= self.depth:
            raise InputError(
                f"layer {setting.layer}: {setting.place} has {self.depth}; expected 0 (embeddings) to {self.depth}"
            )
        self._tokenizer = _tokenizer(setting, config)
        self._pad = int(getattr(config, "pad_token_id", 0) or 0)
        self.limit = _limit(self._tokenizer[1], config)
        if self.limit is not None:
            # Once: to change an engine while other threads use it is an error.
            self._tokenizer[0].enable_truncation(self.limit)
        self._model = _model(self._torch, setting, config).to(self.device).eval()
        self._budget = setting.batch_tokens or (_CPU_TOKENS if self.device.type == "cpu" else _GPU_TOKENS)
        self._kept: OrderedDict[str, torch.Tensor] = OrderedDict()
        self._bytes = 0
        self._most_bytes = _byte_limit()

    def tokenise(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the pieces of cleaned texts, cut at the model's limit."""
        backend, _, marks = self._tokenizer
        found = []
        for encoding in backend.encode_batch(list(texts), add_special_tokens=True):
            ids = np.array(encoding.ids, np.int64)
            found.append(Tokens(ids, ~np.isin(ids, marks), bool(encoding.overflowing)))
        return found

    def pieces(self, ids: NDArray[np.int64]) -> list[str]:
        """Return the pieces as the tokenizer writes them."""
        backend = self._tokenizer[0]
        return [backend.id_to_token(int(i)) or "" for i in ids]

    def encode(self, texts: Sequence[str], tokens: Sequence[Tokens]) -> list[torch.Tensor]:
        """Return the vectors (T, D) of each text, of length 1; texts that were encoded before are not encoded again."""
        with self._lock:
            wanted = [i for i, text in enumerate(texts) if text not in self._kept]
            made = dict(zip((texts[i] for i in wanted), self._run([tokens[i].ids for i in wanted]), strict=True))
            found = [made[text] if text in made else self._touch(text) for text in texts]
            for text, vectors in made.items():
                self._keep(text, vectors)
        return found

    def _touch(self, text: str) -> torch.Tensor:
        self._kept.move_to_end(text)
        return self._kept[text]

    def _keep(self, text: str, vectors: torch.Tensor) -> None:
        size = vectors.numel() * vectors.element_size()
        if size > self._most_bytes:
            return
        self._kept[text] = vectors
        self._bytes += size
        while self._bytes > self._most_bytes:
            gone = self._kept.popitem(last=False)[1]
            self._bytes -= gone.numel() * gone.element_size()

    def _run(self, ids: Sequence[NDArray[np.int64]]) -> list[torch.Tensor]:
        """Return the vectors of each row of ids, longest rows first through the model, in batches of so many tokens."""
        found: list[Any] = [None] * len(ids)
        order = sorted(range(len(ids)), key=lambda i: (-len(ids[i]), i))
        start = 0
        while start < len(order):
            batch = order[start : start + max(1, self._budget // max(1, len(ids[order[start]])))]
            try:
                vectors = self._forward([ids[i] for i in batch])
            except self._torch.OutOfMemoryError:
                if self._budget <= len(ids[order[start]]):
                    raise
                self._budget //= 2
                continue
            for row, i in enumerate(batch):
                # A copy, so that the padded batch can be given back.
                found[i] = vectors[row, : len(ids[i])].clone()
            start += len(batch)
        return found

    def _forward(self, rows: Sequence[NDArray[np.int64]]) -> torch.Tensor:
        torch = self._torch
        longest = max(map(len, rows))
        padded = np.full((len(rows), longest), self._pad, np.int64)
        mask = np.zeros((len(rows), longest), np.int64)
        for row, ids in enumerate(rows):
            padded[row, : len(ids)] = ids
            mask[row, : len(ids)] = 1
        first = self.setting.layer == 0
        with torch.inference_mode():
            told = self._model(
                input_ids=torch.from_numpy(padded).to(self.device),
                attention_mask=torch.from_numpy(mask).to(self.device),
                output_hidden_states=first,
            )
            hidden = told.hidden_states[0] if first else told.last_hidden_state
            return torch.nn.functional.normalize(hidden.float(), dim=-1)


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
    return int(_config(place).num_hidden_layers)


def _byte_limit() -> int:
    given = os.environ.get("REFSIM_EMBEDDING_BYTES", str(_DEFAULT_BYTES))
    limit = whole_number(given)
    if limit is None or limit < 0:
        raise InputError(f"REFSIM_EMBEDDING_BYTES is {given!r}; expected a whole number of bytes, 0 to keep none")
    return limit


def _device(torch: Any, wanted: str) -> Any:  # noqa: ANN401  torch is loaded late
    if wanted != "auto":
        try:
            return torch.device(wanted)
        except RuntimeError as error:
            raise InputError(f"device is {wanted!r}; expected auto, cpu, cuda, cuda:0 or mps") from error
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def _config(place: str) -> Any:  # noqa: ANN401  a transformers config
    from transformers import AutoConfig  # noqa: PLC0415  as torch

    with _loading(place):
        return AutoConfig.from_pretrained(place, trust_remote_code=False)


def _model(torch: Any, setting: Setting, config: Any) -> Any:  # noqa: ANN401  torch and transformers are loaded late
    """Return the encoder with its first `layer` blocks; weights are safetensors, and none may be missing."""
    from transformers import AutoModel, AutoModelForTextEncoding  # noqa: PLC0415

    blocks = max(1, setting.layer)
    config.num_hidden_layers = blocks
    if hasattr(config, "layer_types") and config.layer_types is not None:
        config.layer_types = config.layer_types[:blocks]
    kind = AutoModelForTextEncoding if config.model_type in _T5 else AutoModel
    dtype = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}[setting.dtype]
    options = {"config": config, "dtype": dtype, "use_safetensors": True, "output_loading_info": True}
    with _loading(setting.place), _quiet():
        try:
            model, told = kind.from_pretrained(setting.place, add_pooling_layer=False, **options)
        except TypeError:
            model, told = kind.from_pretrained(setting.place, **options)
    missing = sorted(name for name in told["missing_keys"] if "pooler" not in name)
    if missing:
        raise InputError(
            f"model {setting.place}: its weights lack {missing[0]} and {len(missing) - 1} more; "
            "they would be random, so this is no complete model"
        )
    return model.get_encoder() if getattr(config, "is_encoder_decoder", False) and kind is AutoModel else model


def _tokenizer(setting: Setting, config: Any) -> tuple[Any, int | None, NDArray[np.int64]]:  # noqa: ANN401  as above
    """Return the fast tokenizer's engine, its limit, and the ids of the marks at the ends of a text."""
    from tokenizers import Tokenizer  # noqa: PLC0415
    from transformers import AutoTokenizer  # noqa: PLC0415

    with _loading(setting.place), _quiet():
        loaded = AutoTokenizer.from_pretrained(setting.place, use_fast=True, trust_remote_code=False)
    if not getattr(loaded, "is_fast", False):
        raise InputError(f"model {setting.place}: it has no fast tokenizer (tokenizer.json); convert it first")
    state = json.loads(loaded.backend_tokenizer.to_str())
    if config.model_type in _PREFIX_SPACE:
        _add_prefix_space(state)
    backend = Tokenizer.from_str(json.dumps(state))
    backend.no_padding()
    backend.no_truncation()
    backend.encode_special_tokens = setting.special_tokens == "split"
    limit = loaded.model_max_length if loaded.model_max_length < _NO_LIMIT else None
    # Without marks of its own (T5) a tokenizer's end token counts like any other.
    marks = [i for i in (loaded.cls_token_id, loaded.sep_token_id) if i is not None]
    return backend, limit, np.array(marks, np.int64)


def _add_prefix_space(state: dict[str, Any]) -> None:
    """Let the byte-level splitter put a space before the first word, as the slow tokenizers of these families did."""
    for part in [state.get("pre_tokenizer") or {}, *((state.get("pre_tokenizer") or {}).get("pretokenizers") or [])]:
        if part.get("type") == "ByteLevel":
            part["add_prefix_space"] = True


def _limit(tokenizer_limit: int | None, config: Any) -> int | None:  # noqa: ANN401  a transformers config
    """Return the most tokens of a text, marks included: what tokenizer and positions both allow."""
    positions = getattr(config, "max_position_embeddings", None)
    if positions is not None:
        positions = int(positions) - _OFFSETS.get(config.model_type, 0)
        if positions <= 0:
            positions = None
    known = [value for value in (tokenizer_limit, positions) if value is not None]
    return min(known) if known else None


class _loading:  # noqa: N801  a block, not a thing
    """Turns what transformers raises for a model that is not there into an error that says what to do."""

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        # Damaged weights, sizes that do not fit and damaged tokenizers raise a type of error each.
        if isinstance(error, Exception) and not isinstance(error, InputError | MemoryError):
            lines = str(error).strip().splitlines()
            raise InputError(
                f"model {self._place}: cannot be loaded ({lines[0] if lines else kind}); expected an alias such as "
                "minilm, a directory with safetensors, or a name of a model hub that can be reached"
            ) from error


class _quiet:  # noqa: N801  a block, not a thing
    """Silences the progress bars and reports of transformers, which would stand between ours."""

    def __enter__(self) -> None:
        from transformers.utils import logging  # noqa: PLC0415

        self._level = logging.get_verbosity()
        self._bars = logging.is_progress_bar_enabled()
        logging.set_verbosity_error()
        logging.disable_progress_bar()

    def __exit__(self, *_: object) -> None:
        from transformers.utils import logging  # noqa: PLC0415

        logging.set_verbosity(self._level)
        if self._bars:
            logging.enable_progress_bar()
