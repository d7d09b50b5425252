"""Loading a model and its tokenizer: cut off at a layer, safetensors alone, no code of its own, errors that say why.

name  --fetch-->  directory  --load_config-->  --load_model-->  the blocks needed
                                               --load_tokenizer-->  the engine, its limit, its marks
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from refsim.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from refsim.metrics._encoder import Setting

_NO_LIMIT: Final = 10**6
# Families whose published numbers come from a tokenizer that puts a space before the first word.
_PREFIX_SPACE: Final = {"roberta", "gpt2"}
# Families with an encoder alone as a class of its own, which loads no decoder. UMT5 is no T5: each of its blocks has
# its own position biases.
_T5: Final = {"t5", "mt5", "umt5"}


def load_torch() -> Any:  # noqa: ANN401  a module
    """Return torch, or raise MissingExtra."""
    try:
        import torch  # noqa: PLC0415  seconds to load, and most of refsim needs none
        import transformers  # noqa: F401, PLC0415
    except ImportError as error:
        raise MissingExtra("bertscore", error.name or "torch", "bertscore") from error
    return torch


def find_device(torch: Any, wanted: str, dtype: str) -> Any:  # noqa: ANN401  torch is loaded late
    """Return the device that is asked for, "auto" being the fastest here. Raises InputError for one that is not."""
    if wanted == "auto":
        mps = "mps" if torch.backends.mps.is_available() else "cpu"
        wanted = "cpu" if dtype == "int8" else "cuda" if torch.cuda.is_available() else mps
    expected = "expected auto, cpu, cuda, cuda:0 or mps"
    try:
        device = torch.device(wanted)
    except (RuntimeError, TypeError) as error:
        raise InputError(f"device is {wanted!r}; {expected}") from error
    if device.type not in {"cpu", "cuda", "mps"}:
        raise InputError(f"device is {wanted!r}; {expected}")
    if dtype == "int8" and device.type != "cpu":
        raise InputError(f"dtype int8 runs on the CPU, and device is {wanted!r}; leave one of both out")
    count = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}[device.type]
    if (device.index or 0) >= count:
        raise InputError(f"device is {wanted!r}, and torch sees {count} of {device.type} here; {expected}")
    return device


def load_config(place: str) -> Any:  # noqa: ANN401  a transformers config
    from transformers import AutoConfig  # noqa: PLC0415  as torch

    with _loading(place):
        return AutoConfig.from_pretrained(place, trust_remote_code=False)


def load_model(torch: Any, setting: Setting, config: Any) -> Any:  # noqa: ANN401  torch and transformers are loaded late
    """Return the encoder with its first `layer` blocks; weights are safetensors, and none may be missing."""
    from transformers import AutoModel, AutoModelForTextEncoding  # noqa: PLC0415

    blocks = max(1, setting.layer)
    config.num_hidden_layers = blocks
    for each in ("layer_types", "attention_window"):
        # One entry a block, where a family has them.
        if isinstance(getattr(config, each, None), list):
            setattr(config, each, getattr(config, each)[:blocks])
    kind = AutoModelForTextEncoding if config.model_type in _T5 else AutoModel
    dtype = {"float16": torch.float16, "bfloat16": torch.bfloat16}.get(setting.dtype, torch.float32)
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
    if getattr(config, "is_encoder_decoder", False) and kind is AutoModel:
        model = model.get_encoder()
    if setting.dtype != "int8":
        return model
    from refsim.metrics._eight_bits import in_8_bits  # noqa: PLC0415  it imports torch

    return in_8_bits(model.eval())


def load_tokenizer(setting: Setting, config: Any) -> tuple[Any, int | None, NDArray[np.int64]]:  # noqa: ANN401  as above
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
    """Let the byte-level splitter put a space before the first word, as the slow tokenizers of these families did.

    What trims spaces off the places of pieces is told too, or the first piece would begin a character late.
    """
    for name, several in (("pre_tokenizer", "pretokenizers"), ("post_processor", "processors")):
        whole = state.get(name) or {}
        for part in (whole, *(whole.get(several) or [])):
            if part.get("type") in {"ByteLevel", "RobertaProcessing"}:
                part["add_prefix_space"] = True


def token_limit(tokenizer_limit: int | None, model: Any) -> int | None:  # noqa: ANN401  a transformers model
    """Return the most tokens of a text, marks included: what tokenizer and positions both allow."""
    positions = getattr(model.config, "max_position_embeddings", None)
    if positions is not None:
        positions = int(positions) - _positions_before_the_first(model)
    known = [value for value in (tokenizer_limit, positions) if value is not None and value > 0]
    return min(known) if known else None


def _positions_before_the_first(model: Any) -> int:  # noqa: ANN401  as above
    """Return how many rows stand before the first token's: RoBERTa and its kin count from the padding's number on."""
    for name, module in model.named_modules():
        if name.rpartition(".")[2] == "position_embeddings":
            padding = getattr(module, "padding_idx", None)
            return 0 if padding is None else padding + 1
    return 0


def hidden_width(config: Any) -> int:  # noqa: ANN401  a transformers config
    """Return the width D of a model's vectors."""
    return int(
        next((getattr(config, name) for name in ("hidden_size", "d_model", "dim") if hasattr(config, name)), 1024)
    )


def tokenizer_hash(backend: Any) -> str:  # noqa: ANN401  as above
    """Return SHA-256 (hexadecimal) of a tokenizer's engine as it is used, but for what is set per run."""
    state = json.loads(backend.to_str()) | {"truncation": None, "padding": None}
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def fetch(name: str) -> str:
    """Return the directory of a hub's model: the copy on this machine, else it is fetched, with progress bars.

    A revision is a directory of its own, so what a name stands for cannot change under a running process.
    """
    from huggingface_hub import snapshot_download  # noqa: PLC0415  comes with transformers

    wanted = ["*.json", "*.safetensors", "*.txt", "*.model"]
    with _loading(name):
        try:
            here = Path(snapshot_download(name, allow_patterns=wanted, local_files_only=True))
            # Some programs fetch a tokenizer alone.
            if (here / "config.json").is_file() and next(here.glob("*.safetensors"), None) is not None:
                return str(here)
        except (OSError, ValueError):
            pass
        return str(snapshot_download(name, allow_patterns=wanted))


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
