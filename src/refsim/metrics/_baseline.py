"""Baselines of one's own: what BERTScore gives texts that have nothing to do with each other.

    lines of text  --random pairs-->  score_layers, a block at a time  --means-->  Baseline  <-->  a small JSON file

Each layer's mean precision, recall and F1 over pairs of a line and a random other line, as in Zhang et al. 2020,
section 3; rescaling maps it to 0. The published baselines stand in `_models.json`, for the models that were tuned.

The pairs come in blocks: some hundred lines are drawn, then some thousand of the pairs among them. Every pair is as
likely as if it were drawn alone, and a line is encoded once for about 16 pairs that it is in.
"""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from refsim._atomic import replacing
from refsim._numbers import check_whole
from refsim._version import __version__
from refsim.errors import InputError
from refsim.metrics._encoder import clean
from refsim.metrics._models import _data, locate, published_default, weight_hash

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from refsim.metrics.bertscore import BERTScore

    # The numbers of the lines of a block, and of its pairs: which is compared with which.
    Block = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]

FORMAT, VERSION = "refsim baseline", 1
NAMES: Final = ("precision", "recall", "f1")
_LINES, _PAIRS = 512, 4096
# Thousands of layers would not reach this; a model named by mistake is not read into memory.
_LARGEST_FILE: Final = 1 << 20
_AGAIN: Final = "fit it again with `refsim baseline fit`"
_TEXTS: Final = ("model", "weights", "dtype", "special_tokens", "corpus_sha256", "refsim")
_COUNTS: Final = ("texts", "pairs", "seed")


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """Mean scores of unrelated texts, by layer, and what they were made of.

    `rows[layer]` is (P, R, F1), each in [-1, 1). `errors[layer]` is the standard error of F1, None where there are too
    few blocks to tell, or where every pair was taken. `weights` is the beginning of the SHA-256 of the model's weights,
    "" where these are no local file. `corpus_sha256` is that of the lines, each with its line break.
    """

    model: str
    weights: str
    lang: str | None
    dtype: str
    special_tokens: str
    rows: dict[int, tuple[float, float, float]]
    errors: dict[int, float | None]
    texts: int
    pairs: int
    seed: int
    corpus_sha256: str
    refsim: str = __version__

    @property
    def sha256(self) -> str:
        """The checksum of everything in it: what a signature tells of a baseline."""
        return _digest(_record(self))

    def record(self) -> dict[str, Any]:
        """Return everything in it, its checksum too, as a dictionary: what the file holds."""
        return _record(self) | {"sha256": self.sha256}

    def row(self, layer: int, *, weights: str = "", model: str = "") -> tuple[float, float, float]:
        """Return (P, R, F1) of a layer.

        Raises InputError if the layer is not in it, or if it was fitted for other weights than `weights` ("": not
        compared; then names are, if `model` is given).
        """
        other = self.weights != weights if self.weights and weights else bool(model) and self.model != model
        if other:
            raise InputError(
                f"the baseline was fitted for model {self.model!r} (weights {self.weights or 'not known'}), not for "
                f"{model or 'this model'!r} (weights {weights or 'not known'}); {_AGAIN}"
            )
        if layer not in self.rows:
            have = f"layers {min(self.rows)} to {max(self.rows)}" if len(self.rows) > 1 else f"layer {min(self.rows)}"
            raise InputError(f"the baseline of model {self.model!r} has {have}, not layer {layer}; {_AGAIN}")
        return self.rows[layer]


def fit_baseline(  # noqa: PLR0913  what is fitted, and how it is told
    metric: BERTScore, texts: Iterable[str], *, pairs: int = 1_000_000, seed: int = 0, every_layer: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Baseline:  # fmt: skip
    """Return the mean scores of random pairs of texts, on every layer or on the metric's alone.

    Empty texts and repeats are left out first: a line beside its own copy is no unrelated pair. Where `pairs` is as
    many as there are, S (S - 1), each is taken once. Equal texts, pairs and seed give equal pairs. `progress` is
    called with the number of pairs done and of all. Raises InputError for fewer than two different texts, and for a
    metric with idf or rescaling.
    """
    pairs, seed = check_whole(pairs, "pairs"), check_whole(seed, "seed", 0)
    lines = list(dict.fromkeys(text for text in map(clean, texts) if text))
    _check(metric, lines)
    most = len(lines) * (len(lines) - 1)
    exhaustive, pairs = pairs >= most, min(pairs, most)
    means: list[NDArray[np.float64]] = []
    sizes: list[int] = []
    long: set[int] = set()
    for block in _all_pairs(len(lines)) if exhaustive else _random_pairs(len(lines), pairs, seed):
        with warnings.catch_warnings():
            # What is cut is told once, with the count of all blocks; of scripts the first block tells enough.
            warnings.filterwarnings("ignore", "text-truncated|script-uncovered" if means else "text-truncated")
            means.append(_block_means(metric, lines, block, every_layer=every_layer))
        sizes.append(len(block[1]))
        long |= _too_long(metric, lines, block[0])
        if progress is not None:
            progress(sum(sizes), pairs)
    _warn_of_cut(len(long), len(lines))
    layers = range(len(means[0])) if every_layer else [metric.chosen_layer]
    rows, errors = _average(np.stack(means), np.array(sizes, np.float64), exact=exhaustive)
    place = locate(published_default(str(metric.lang)) if metric.model == "published" else metric.model)
    return Baseline(
        model=place.name,
        weights=weight_hash(place.place),
        lang=metric.lang,
        dtype=metric.dtype,
        special_tokens=metric.special_tokens,
        rows=dict(zip(layers, rows, strict=True)),
        errors=dict(zip(layers, errors, strict=True)),
        texts=len(lines),
        pairs=pairs,
        seed=seed,
        corpus_sha256=corpus_hash(lines),
    )


def corpus_hash(lines: Sequence[str]) -> str:
    """Return the SHA-256 (hexadecimal) of texts with a line break after each: that of a file of such lines."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def _check(metric: BERTScore, lines: Sequence[str]) -> None:
    if len(lines) < 2:  # noqa: PLR2004  a pair
        raise InputError(f"a baseline needs two different texts or more, better thousands; found {len(lines)}")
    if metric.idf is not None or metric.rescale:
        raise InputError(f"{metric}: a baseline is fitted without idf and without rescaling; leave them out")


def _random_pairs(count: int, pairs: int, seed: int) -> Iterator[Block]:
    """Yield blocks until there are so many pairs; no pair is twice in a block."""
    random = np.random.default_rng(seed)
    while pairs > 0:
        lines = random.choice(count, size=min(_LINES, count), replace=False)
        others = len(lines) - 1
        drawn = random.choice(len(lines) * others, size=min(_PAIRS, pairs, len(lines) * others), replace=False)
        yield lines, *_as_pairs(drawn, others)
        pairs -= len(drawn)


def _all_pairs(count: int) -> Iterator[Block]:
    """Yield every pair of two different lines, both ways round."""
    for start in range(0, count * (count - 1), _PAIRS):
        numbers = np.arange(start, min(start + _PAIRS, count * (count - 1)))
        left, right = _as_pairs(numbers, count - 1)
        lines, places = np.unique(np.concatenate([left, right]), return_inverse=True)
        yield lines, places[: len(left)], places[len(left) :]


def _as_pairs(numbers: NDArray[np.int64], others: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of these numbers: number = left x others + right, counted without the left one itself."""
    left, right = np.divmod(numbers, others)
    return left, right + (right >= left)


def _block_means(metric: BERTScore, lines: Sequence[str], block: Block, *, every_layer: bool) -> NDArray[np.float64]:
    """Return the means of P, R and F1 over the pairs of a block (L, 3)."""
    numbers, left, right = block
    candidates = [lines[i] for i in numbers[left].tolist()]
    references = [lines[i] for i in numbers[right].tolist()]
    found = (metric.score_layers if every_layer else metric.score_batch)(candidates, references)
    means: NDArray[np.float64] = np.stack([np.atleast_2d(values) for values in found], axis=-1).mean(axis=1)
    return means


def _too_long(metric: BERTScore, lines: Sequence[str], numbers: NDArray[np.int64]) -> set[int]:
    from refsim.segments import Batch  # noqa: PLC0415  a reader of baselines needs none

    chosen = numbers.tolist()
    cut = metric.too_long(Batch.from_lists(candidates=[lines[i] for i in chosen]))
    return {chosen[i] for i in cut}


def _warn_of_cut(count: int, of: int) -> None:
    if count:
        from refsim.metrics.bertscore import TruncatedWarning  # noqa: PLC0415  which will read baselines

        message = f"{count:,} of {of:,} texts have more tokens than the model takes, and lost their end"
        warnings.warn(f"text-truncated: {message}", TruncatedWarning, stacklevel=3)


def _average(
    means: NDArray[np.float64], sizes: NDArray[np.float64], *, exact: bool
) -> tuple[list[tuple[float, float, float]], list[float | None]]:
    """Return the means of all pairs, and the standard errors of F1, from the means (B, L, 3) of blocks.

    Pairs of a block share lines, so that blocks, not pairs, are what varies independently.
    """
    shares = sizes / sizes.sum()
    total = np.einsum("b,bls->ls", shares, means)
    rows = [(float(p), float(r), float(f)) for p, r, f in total]
    blocks = len(sizes)
    if exact or blocks < 2:  # noqa: PLR2004  no variance of one
        return rows, [None] * len(rows)
    spread = np.einsum("b,bl->l", shares**2, (means[:, :, 2] - total[:, 2]) ** 2) * blocks / (blocks - 1)
    return rows, [float(value) for value in np.sqrt(spread)]


def write_baseline(path: str | os.PathLike[str], baseline: Baseline) -> None:
    """Write a baseline as JSON; a file of that name is replaced when the new one is complete."""
    text = json.dumps(baseline.record(), ensure_ascii=True, indent=1)
    with replacing(path) as file:
        file.write(text.encode() + b"\n")


def _record(baseline: Baseline) -> dict[str, Any]:
    rows = [
        {"layer": layer, **dict(zip(NAMES, row, strict=True)), "f1_standard_error": baseline.errors[layer]}
        for layer, row in baseline.rows.items()
    ]
    about = {name: getattr(baseline, name) for name in (*_TEXTS, *_COUNTS, "lang")}
    return {"format": FORMAT, "version": VERSION, **about, "rows": rows}


def _digest(record: dict[str, Any]) -> str:
    rest = {key: value for key, value in record.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, ensure_ascii=True, sort_keys=True).encode()).hexdigest()


def read_baseline(path: str | os.PathLike[str]) -> Baseline:
    """Return the baseline of a file; raises InputError for one that is missing, damaged, or something else."""
    record = _load(Path(path))
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise InputError(f"{path}: is no baseline; expected a file that `refsim baseline fit` wrote")
    if record.get("version") != VERSION:
        raise InputError(f"{path}: version {record.get('version')!r} of the format, expected {VERSION}; {_AGAIN}")
    if record.get("sha256") != _digest(record):
        raise InputError(f"{path}: its checksum does not match: it is damaged, or was changed by hand; {_AGAIN}")
    try:
        return _parsed(record)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: {error if isinstance(error, InputError) else repr(error)}; {_AGAIN}") from error


def _load(path: Path) -> object:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: {reason}; expected a file of `refsim baseline fit ... -o FILE`") from error
    if len(data) > _LARGEST_FILE:
        raise InputError(f"{path}: has more than {_LARGEST_FILE:,} bytes, so it is no baseline; give the file's name")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not JSON ({error}), so it is no baseline; {_AGAIN}") from error


def _parsed(record: dict[str, Any]) -> Baseline:
    """Return a record as a Baseline; the checksum is right, but anyone can make one."""
    for names, kind in ((_TEXTS, str), (_COUNTS, int), (("lang",), (str, type(None)))):
        for name in names:
            if not isinstance(record[name], kind) or isinstance(record[name], bool):
                raise InputError(f"{name} is {record[name]!r}")
    rows: dict[int, tuple[float, float, float]] = {}
    errors: dict[int, float | None] = {}
    for row in record["rows"]:
        layer = row["layer"]
        if type(layer) is not int or layer < 0 or layer in rows:
            raise InputError(f"layer {layer!r}: expected whole numbers from 0 on, each once")
        precision, recall, f1 = (_number(row[name], name, -1.0, 1.0) for name in NAMES)
        rows[layer] = precision, recall, f1
        error = row["f1_standard_error"]
        errors[layer] = None if error is None else _number(error, "f1_standard_error", 0.0, math.inf)
    if not rows:
        raise InputError("it has no layer")
    about = {name: record[name] for name in (*_TEXTS, *_COUNTS, "lang")}
    return Baseline(**about, rows=rows, errors=errors)


def _number(value: object, name: str, least: float, below: float) -> float:
    # At 1, rescaling would divide by 0.
    if type(value) is not float or not least <= value < below:
        raise InputError(f"{name} is {value!r}; expected a number from {least:g} to below {below:g}")
    return value


def published_baselines() -> dict[str, dict[str, int]]:
    """Return the published baselines: by language and model the number of layers that have one, from 0 on."""
    return {lang: {name: len(rows) for name, rows in tables.items()} for lang, tables in _data()["baselines"].items()}
