"""BERTScore: token vectors of a language model, each matched with its closest partner on the other side.

    R = sum_i w(x_i) max_j x_i . y_j / sum_i w(x_i)     x reference, y candidate, vectors of length 1
    P = the same with the sides swapped,   F1 = 2 P R / (P + R)

    _models.py: where the model is  ->  _encoder.py: texts to vectors  ->  _matching.py: pairs to P and R  ->  rescale

w is 1, or the idf weight. Zhang et al. 2020 (arXiv 1904.09675). What is done otherwise than in the published code, and
why: docs/bertscore.md.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from refsim._version import __version__
from refsim.errors import InputError
from refsim.metric import Stats, Total
from refsim.metrics._arguments import check_references, check_rows, check_text, check_texts
from refsim.metrics._encoder import Encoder, Setting, Tokens, clean, encoders, model_depth
from refsim.metrics._matching import f_measure, match_pairs
from refsim.metrics._models import ALIASES, baseline, locate, published_default, weight_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from refsim.segments import Batch

_DTYPES = ("float32", "float16", "bfloat16")
_DEPTH_SHARE = (2, 3)
# Pairs whose vectors are held at once.
_WINDOW = 4096


class TruncatedWarning(UserWarning):
    """Texts are longer than the model takes, and are compared without their end."""


class PRF(NamedTuple):
    """Precision, recall and F1: floats, or arrays (S,); in [-1, 1] before rescaling."""

    precision: Any
    recall: Any
    f1: Any


@dataclass(frozen=True, kw_only=True)
class BERTScore:
    """BERTScore with its parameters: a value, to be shared between threads, hashed and pickled.

    `model` is an alias ("minilm", "e5-small-q4"), a directory or a name of a model hub; "published" picks the one
    that published numbers use for `lang`. `layer` counts from 0, the embeddings; None takes the tuned one, "auto" two
    thirds of the depth. `idf` "references" weighs pieces by how few of the references of a call hold them. `rescale`
    maps a baseline to 0, the published one for `lang` or `baseline` (P, R, F1). `aggregate` over several
    references is "max", for P, R and F1 apart, or "mean". `long_text` is "truncate" (counted) or "error";
    `special_tokens` "split" reads "[SEP]" in a text as characters, "parse" as the mark. Raises InputError for other
    values.
    """

    model: str = "minilm"
    layer: int | Literal["auto"] | None = None
    lang: str | None = None
    idf: Literal["references"] | None = None
    rescale: bool = False
    baseline: tuple[float, float, float] | None = None
    aggregate: Literal["max", "mean"] = "max"
    long_text: Literal["truncate", "error"] = "truncate"
    special_tokens: Literal["split", "parse"] = "split"
    dtype: Literal["float32", "float16", "bfloat16"] = "float32"
    device: str = "auto"
    batch_tokens: int | None = None

    def __post_init__(self) -> None:
        """Check the parameters once; the model is looked for when it is first needed."""
        self._check("idf", self.idf, (None, "references"))
        self._check("rescale", self.rescale, (True, False))
        self._check("aggregate", self.aggregate, ("max", "mean"))
        self._check("long_text", self.long_text, ("truncate", "error"))
        self._check("special_tokens", self.special_tokens, ("split", "parse"))
        self._check("dtype", self.dtype, _DTYPES)
        if self.layer is not None and self.layer != "auto" and (type(self.layer) is not int or self.layer < 0):
            raise InputError(f"layer is {self.layer!r}; expected a whole number from 0 on, 'auto' or None")
        if self.batch_tokens is not None and (type(self.batch_tokens) is not int or self.batch_tokens < 1):
            raise InputError(f"batch_tokens is {self.batch_tokens!r}; expected a whole number from 1 on, or None")
        model: object = self.model
        if not isinstance(model, str) or not model:
            raise InputError(f"model is {self.model!r}; expected {', '.join(ALIASES)}, a directory or a hub's name")
        if self.model == "published" and self.lang is None:
            raise InputError("model is 'published' but lang is None; expected a language, such as lang='en'")
        if self.baseline is not None:
            object.__setattr__(self, "baseline", _checked_baseline(self.baseline))
        if self.rescale and self.baseline is None and self.lang is None:
            raise InputError("rescale needs a baseline: give lang for the published one, or baseline=(P, R, F1)")

    @staticmethod
    def _check(name: str, value: object, choices: Sequence[object]) -> None:
        if not any(type(value) is type(choice) and value == choice for choice in choices):
            raise InputError(f"{name} is {value!r}; expected one of {', '.join(map(repr, choices))}")

    def __str__(self) -> str:
        """Return the short name with what is not default: `bertscore(model=minilm)`."""
        told = [f"model={self.model}"]
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in {"model", "device", "batch_tokens"} and value != field.default:
                shown = f'"{value}"' if isinstance(value, tuple) else value
                told.append(f"{field.name}={shown}")
        return f"bertscore({','.join(told)})"

    @property
    def signature(self) -> str:
        """Everything that a number depends on; numbers compare only where these are equal."""
        setting = self._setting
        parts = [
            str(self),
            f"layer:{setting.layer}{'(untuned)' if self.layer == 'auto' else ''}",
            f"weights:{weight_hash(setting.place) or setting.place}",
            f"limit:{self._encoder.limit}",
            f"refsim:{__version__}",
        ]
        return "|".join(parts)

    @property
    def chosen_layer(self) -> int:
        """The layer whose vectors are compared."""
        return self._setting.layer

    @cached_property
    def _setting(self) -> Setting:
        name = published_default(str(self.lang)) if self.model == "published" else self.model
        located = locate(name)
        layer = self.layer
        if layer == "auto":
            times, of = _DEPTH_SHARE
            layer = model_depth(located.place) * times // of
        if layer is None:
            layer = located.layer
        if layer is None:
            raise InputError(
                f"model {name!r}: no layer is known to be good for it; give layer=, or layer='auto' for two thirds of "
                "its depth"
            )
        return Setting(located.place, layer, self.device, self.dtype, self.special_tokens, self.batch_tokens)

    @property
    def _encoder(self) -> Encoder:
        return encoders.get(self._setting)

    def __getstate__(self) -> dict[str, object]:
        """Leave out what was looked up on this machine."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def score(self, candidate: str, references: Sequence[str]) -> PRF:
        """Return precision, recall and F1 of one candidate against its references, a list of one or more strings."""
        found = self.score_batch([check_text(candidate, "candidate")], [check_references(references)])
        return PRF(*(float(values[0]) for values in found))

    def score_batch(
        self, candidates: Sequence[str], references: Sequence[str | Sequence[str]], *, threads: int | None = None
    ) -> PRF:
        """Return PRF of arrays (S,): `references[i]`, a string or a list of strings, belongs to `candidates[i]`.

        Each different text is encoded once. `threads` is there for every metric alike; the model has its own. Raises
        InputError as charsim's does.
        """
        del threads
        texts, singles, lists = check_rows(candidates, references)
        rows = lists or [[text] for text in singles or ()]
        found = self._score_rows(texts, rows)
        self._warn_of_cut([*texts, *(text for row in rows for text in row)])
        return found

    def _score_rows(self, candidates: Sequence[str], rows: Sequence[Sequence[str]]) -> PRF:
        """Return PRF of arrays (S,) of checked rows."""
        left = [clean(text) for text in candidates]
        right = [[clean(text) for text in row] for row in rows]
        pairs = [(text, other) for text, row in zip(left, right, strict=True) for other in row]
        idf = self._idf([text for row in right for text in row])
        scored = self._pairs(pairs, idf)
        sizes = [len(row) for row in rows]
        starts = np.cumsum([0, *sizes[:-1]]) if sizes else np.empty(0, np.int64)
        return PRF(
            *(self._rescaled(i, self._over_references(values, starts, sizes)) for i, values in enumerate(scored))
        )

    def too_long(self, batch: Batch) -> list[int]:
        """Return the rows of a batch with a text of more tokens than the model takes, so that its end is cut off."""
        long = self._cut([*batch.candidates, *(text for row in batch.references for text in row)])
        rows = zip(batch.candidates, batch.references, strict=True)
        return [i for i, row in enumerate(rows) if row[0] in long or not long.isdisjoint(row[1])] if long else []

    def _cut(self, texts: Sequence[str]) -> set[str]:
        """Return those of the texts that are longer than the model takes."""
        different = list(dict.fromkeys(texts))
        tokens = self._encoder.tokenise([clean(text) for text in different])
        return {text for text, one in zip(different, tokens, strict=True) if one.cut}

    def _warn_of_cut(self, texts: Sequence[str]) -> None:
        if long := self._cut(texts):
            count, limit = sum(text in long for text in texts), self._encoder.limit
            message = f"{count:,} of {len(texts):,} texts have more than {limit} tokens, and lost their end"
            warnings.warn(f"text-truncated: {message}", TruncatedWarning, stacklevel=3)

    def score_matrix(self, candidates: Sequence[str], references: Sequence[str], *, threads: int | None = None) -> PRF:
        """Return PRF of arrays (C, R): each candidate against each single reference, each text encoded once."""
        del threads
        left = [clean(text) for text in check_texts(candidates, "candidates")]
        right = [clean(text) for text in check_texts(references, "references")]
        idf = self._idf(right)
        scored = self._pairs([(text, other) for text in left for other in right], idf)
        self._warn_of_cut([*left, *right])
        shape = (len(left), len(right))
        return PRF(*(self._rescaled(i, values).reshape(shape) for i, values in enumerate(scored)))

    def consensus(
        self, candidates: Sequence[str], support: Sequence[str] | None = None,
        weights: Sequence[float] | None = None, leave_one_out: bool | None = None,  # noqa: FBT001  as charsim's
        *, threads: int | None = None,
    ) -> NDArray[np.float64]:  # fmt: skip
        """Return the mean F1 (C,) of each candidate against the others, or against `support`; weights as shares."""
        texts = check_texts(candidates, "candidates")
        voters = texts if support is None else check_references(support, "support")
        if support is not None and leave_one_out is not None:
            raise InputError("leave_one_out is given with support: no candidate is in it, so leave it None")
        shares = np.ones(len(voters)) if weights is None else np.asarray(weights, np.float64)
        if shares.shape != (len(voters),) or not np.isfinite(shares).all() or (shares < 0).any():
            raise InputError(f"weights: expected {len(voters)} finite numbers from 0 on, one for each text that votes")
        table = np.tile(shares, (len(texts), 1))
        if support is None and leave_one_out is not False:
            np.fill_diagonal(table, 0.0)
        if not len(texts) or (table.sum(axis=1) <= 0).any():
            raise InputError(
                f"consensus of {len(texts)} candidates leaves nothing to compare one of them with; "
                "give two candidates with some weight, a support, or leave_one_out=False"
            )
        f1 = self.score_matrix(texts, voters, threads=threads).f1
        means: NDArray[np.float64] = (f1 * table).sum(axis=1) / table.sum(axis=1)
        return means

    def measure(self, batch: Batch, *, threads: int | None = None) -> Stats:
        """Return one row per segment: F1, precision, recall."""
        if self.idf is not None:
            raise InputError(
                "bertscore(idf=references) weighs by all references of a call, and a file is read in batches; "
                "leave idf out, or call score_batch with everything"
            )
        del threads
        found = self._score_rows(batch.candidates, batch.references)
        return Stats(np.stack([found.f1, found.precision, found.recall], axis=1).reshape(-1, 3))

    def finish(self, stats: Stats) -> dict[str, NDArray[np.float64]]:
        """Return {"f1", "precision", "recall"}: scores (S,)."""
        return dict(zip(("f1", "precision", "recall"), stats.rows.T, strict=True))

    def finish_total(self, total: Total) -> dict[str, float]:
        """Return the means of the segments' scores by the same names."""
        return dict(zip(("f1", "precision", "recall"), total.mean(), strict=True))

    def _over_references(self, values: NDArray[np.float64], starts: NDArray[np.int64], sizes: list[int]) -> Any:  # noqa: ANN401  an array
        if not sizes:
            return np.empty(0)
        if self.aggregate == "max":
            return np.maximum.reduceat(values, starts)
        return np.add.reduceat(values, starts) / np.array(sizes)

    def _pairs(self, pairs: Sequence[tuple[str, str]], idf: Mapping[int, float] | None) -> PRF:
        """Return unscaled PRF (S,) of cleaned pairs: 1 for identical ones, 0 where just one side is empty."""
        precision, recall = np.zeros(len(pairs)), np.zeros(len(pairs))
        same = np.fromiter((left == right for left, right in pairs), bool, len(pairs))
        precision[same] = recall[same] = 1.0
        different: dict[tuple[str, str], list[int]] = {}
        for i, (left, right) in enumerate(pairs):
            if not same[i] and left and right:
                different.setdefault((left, right), []).append(i)
        if self.long_text == "error":
            self._check_lengths(dict.fromkeys(text for pair in pairs for text in pair))
        keys = list(different)
        for start in range(0, len(keys), _WINDOW):
            window = keys[start : start + _WINDOW]
            for (p, r), key in zip(self._match(window, idf), window, strict=True):
                precision[different[key]], recall[different[key]] = p, r
        return PRF(precision, recall, f_measure(precision, recall))

    def _match(self, pairs: Sequence[tuple[str, str]], idf: Mapping[int, float] | None) -> Any:  # noqa: ANN401  pairs of floats
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        tokens = self._encoder.tokenise(texts)
        vectors = dict(zip(texts, self._encoder.encode(texts, tokens), strict=True))
        weights = {text: _weights(one, idf) for text, one in zip(texts, tokens, strict=True)}
        left, right = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        precision, recall = match_pairs(
            [vectors[text] for text in left], [vectors[text] for text in right],
            [weights[text] for text in left], [weights[text] for text in right],
        )  # fmt: skip
        # Of a control character nothing but the marks may be left: as empty as a text without any.
        bare = np.array([not (weights[one].any() and weights[other].any()) for one, other in pairs])
        precision[bare] = recall[bare] = 0.0
        return zip(precision.tolist(), recall.tolist(), strict=True)

    def _check_lengths(self, texts: Mapping[str, None]) -> None:
        for text, tokens in zip(texts, self._encoder.tokenise(list(texts)), strict=True):
            if tokens.cut:
                raise InputError(
                    f"{text[:40]!r}... has more than {self._encoder.limit} tokens, the model's limit; shorten it, or "
                    "choose long_text='truncate'"
                )

    def _idf(self, references: Sequence[str]) -> Mapping[int, float] | None:
        """Return the weight of each piece, and under -1 that of a piece that no reference holds; None without idf."""
        if self.idf is None:
            return None
        counts: Counter[int] = Counter()
        repeats = Counter(references)
        for text, tokens in zip(repeats, self._encoder.tokenise(list(repeats)), strict=True):
            for piece in set(tokens.ids.tolist()):
                counts[piece] += repeats[text]
        total = len(references)
        weights = {piece: math.log((total + 1) / (count + 1)) for piece, count in counts.items()}
        return weights | {-1: math.log(total + 1)}

    def _rescaled(self, column: int, values: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self.rescale:
            return values
        base = self._baseline[column]
        # A side without any text scores 0 before and after.
        return np.where(values == 0.0, 0.0, (values - base) / (1.0 - base))

    @cached_property
    def _baseline(self) -> tuple[float, float, float]:
        if self.baseline is not None:
            return self.baseline
        name = published_default(str(self.lang)) if self.model == "published" else self.model
        found = baseline(name, str(self.lang), self.chosen_layer)
        if found is None:
            raise InputError(
                f"rescale: no baseline is published for lang {self.lang!r}, model {name!r}, layer {self.chosen_layer}; "
                "give baseline=(P, R, F1), or leave rescale out"
            )
        return found


def _checked_baseline(given: Sequence[float]) -> tuple[float, float, float]:
    """Return a baseline as floats; at 1, rescaling would divide by 0."""
    try:
        precision, recall, f1 = map(float, given)
    except (TypeError, ValueError):
        precision = recall = f1 = math.nan
    if not all(-1 <= value < 1 for value in (precision, recall, f1)):
        raise InputError(f"baseline is {given!r}; expected three numbers (P, R, F1) from -1 to below 1")
    return precision, recall, f1


def _weights(tokens: Tokens, idf: Mapping[int, float] | None) -> NDArray[np.float64]:
    """Return the weights (T,) of a text's pieces, which sum to 1; marks have none."""
    weights = tokens.plain.astype(np.float64)
    if idf is not None:
        unseen = idf[-1]
        weighted = weights * np.array([idf.get(piece, unseen) for piece in tokens.ids.tolist()])
        # Where every piece is in every reference, all weights are 0: then all count alike.
        weights = weighted if weighted.sum() > 0 else weights
    total = weights.sum()
    return weights / total if total > 0 else weights
