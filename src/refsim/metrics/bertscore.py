"""BERTScore: token vectors of a language model, each matched with its closest partner on the other side.

    R = sum_i w(x_i) max_j x_i . y_j / sum_i w(x_i)     x reference, y candidate, vectors of length 1
    P = the same with the sides swapped,   F1 = 2 P R / (P + R)

    _models.py: where the model is  ->  _encoder.py: texts to vectors  ->  _pairs.py, _matching.py: P and R  ->  rescale

w is 1, or the idf weight (_idf.py). Zhang et al. 2020 (arXiv 1904.09675). What is done otherwise than in the published
code, and why: docs/bertscore.md.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from collections import Counter
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from refsim._version import __version__
from refsim.errors import InputError
from refsim.extraction import quoted
from refsim.metric import Stats, Total
from refsim.metrics._arguments import check_references, check_rows, check_text, check_texts
from refsim.metrics._coverage import MOST_OUTSIDE, share_outside
from refsim.metrics._encoder import Encoder, Setting, clean, cut_equals_stack, encoders, has_surrogate, model_depth
from refsim.metrics._idf import Idf
from refsim.metrics._loading import fetch
from refsim.metrics._matching import PRF as PRF  # noqa: PLC0414  it is public here
from refsim.metrics._models import ALIASES, baseline, locate, published_default, weight_hash
from refsim.metrics._pairs import Pairs
from refsim.metrics._rescale import Base, check_baseline
from refsim.metrics._verdict import check_judging
from refsim.metrics._weights import integer_weights, own_weights
from refsim.text import Preparation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from refsim.metrics._alignment import BERTExplanation, BERTVerdict
    from refsim.metrics._embeddings import BERTScorer
    from refsim.metrics._verdict import Language
    from refsim.segments import Batch

_DTYPES = ("float32", "float16", "bfloat16", "int8")
_DEPTH_SHARE = (2, 3)
_SPARE: Final = ("model", "device", "batch_tokens", "preparation")
_LANG: Final = re.compile(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*")
# What a bare value of a parameter may be written with; others are quoted.
_BARE: Final = re.compile(r"[A-Za-z_./][\w./:+-]*")


class TruncatedWarning(UserWarning):
    """Texts are longer than the model takes, and are compared without their end."""


class TextWarning(UserWarning):
    """Texts are in a script that the model hardly knows, hold half a surrogate pair, or have no idf weight."""


@dataclass(frozen=True, kw_only=True)
class BERTScore:
    """BERTScore with its parameters: a value, to be shared between threads, hashed and pickled.

    `model` is an alias ("minilm", "e5-small-q4"), a directory or a name of a model hub; "published" picks the one
    that published numbers use for `lang`. `layer` counts from 0, the embeddings; None takes the tuned one, "auto" two
    thirds of the depth. `idf` "references" weighs pieces by how few of the references of a call hold them, an `Idf`
    by those of another corpus. `rescale` maps a baseline to 0: the published one for `lang`, or `baseline`, (P, R, F1)
    or a file that `refsim baseline fit` wrote. `aggregate` over several references is "max", for P, R and F1 apart, or
    "mean". `long_text` is "truncate" (counted), "window" (overlapping windows) or "error"; `special_tokens` "split"
    reads "[SEP]" in a text as characters, "parse" as the mark. `dtype` int8 is about twice as fast on a CPU, its scores
    within 0.02 of float32's and mostly 0.002 lower; so is bfloat16, and ten times closer, where a processor multiplies
    such numbers itself. `preparation` is done to every text first. Raises InputError for other values.
    """

    model: str = "minilm"
    layer: int | Literal["auto"] | None = None
    lang: str | None = None
    idf: Literal["references"] | Idf | None = None
    rescale: bool = False
    baseline: tuple[float, float, float] | str | None = None
    aggregate: Literal["max", "mean"] = "max"
    long_text: Literal["truncate", "window", "error"] = "truncate"
    special_tokens: Literal["split", "parse"] = "split"
    dtype: Literal["float32", "float16", "bfloat16", "int8"] = "float32"
    device: str = "auto"
    batch_tokens: int | None = None
    preparation: Preparation = field(default_factory=Preparation)

    def __post_init__(self) -> None:
        """Check the parameters once; the model is looked for when it is first needed."""
        if not isinstance(self.idf, Idf):
            self._check("idf", self.idf, (None, "references"))
        self._check("rescale", self.rescale, (True, False))
        self._check("aggregate", self.aggregate, ("max", "mean"))
        self._check("long_text", self.long_text, ("truncate", "window", "error"))
        self._check("special_tokens", self.special_tokens, ("split", "parse"))
        self._check("dtype", self.dtype, _DTYPES)
        if self.layer is not None and self.layer != "auto" and (type(self.layer) is not int or self.layer < 0):
            raise InputError(f"layer is {self.layer!r}; expected a whole number from 0 on, 'auto' or None")
        if self.batch_tokens is not None and (type(self.batch_tokens) is not int or self.batch_tokens < 1):
            raise InputError(f"batch_tokens is {self.batch_tokens!r}; expected a whole number from 1 on, or None")
        for name, example in (("model", ", ".join(ALIASES)), ("device", "auto, cpu, cuda")):
            value: object = getattr(self, name)
            if not isinstance(value, str) or not value or not value.isprintable():
                raise InputError(f"{name} is {value!r}; expected the name of one, as {example}")
        lang: object = self.lang
        if lang is not None and not (isinstance(lang, str) and _LANG.fullmatch(lang)):
            raise InputError(f"lang is {lang!r}; expected a language's code, such as en or en-sci, or None")
        preparation: object = self.preparation
        if not isinstance(preparation, Preparation):
            raise InputError(f"preparation is {preparation!r}; expected a refsim.Preparation")
        if preparation.unit != "codepoint":
            raise InputError(f"unit is {preparation.unit!r}; bertscore counts no characters, so leave it out")
        self._check_scale()

    def _check_scale(self) -> None:
        if self.model == "published" and self.lang is None:
            raise InputError("model is 'published' but lang is None; expected a language, such as lang='en'")
        if self.baseline is not None:
            object.__setattr__(self, "baseline", check_baseline(self.baseline))
            if not self.rescale:
                raise InputError("baseline is given, but nothing is rescaled; add rescale=True, or leave baseline out")
        if self.rescale and self.baseline is None and self.lang is None:
            raise InputError("rescale needs a baseline: give lang for the published one, or baseline=(P, R, F1)")

    @staticmethod
    def _check(name: str, value: object, choices: Sequence[object]) -> None:
        if not any(type(value) is type(choice) and value == choice for choice in choices):
            raise InputError(f"{name} is {value!r}; expected one of {', '.join(map(repr, choices))}")

    def __str__(self) -> str:
        """Return the short name with what is not default: `bertscore(model=minilm)`."""
        told = [f"model={_written(self.model)}"]
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name not in _SPARE and value != one.default:
                told.append(f"{one.name}={_written(value)}")
        told += [self.preparation.signature] if not self.preparation.is_default else []
        return f"bertscore({','.join(told)})"

    @property
    def signature(self) -> str:
        """Everything that a number depends on; numbers compare only where these are equal."""
        setting, encoder = self.setting, self.encoder
        parts = [
            str(self),
            f"layer:{setting.layer}{'(untuned)' if self.layer == 'auto' else ''}",
            f"weights:{weight_hash(setting.place) or setting.place}",
            f"tokenizer:{encoder.tokenizer_hash[:12]}",
            f"limit:{encoder.limit}",
        ]
        if isinstance(self.idf, Idf):
            parts.append(f"idf:{self.idf.digest[:12]}")
        if self.rescale:
            parts.append(f"baseline:{hashlib.sha256(repr(self.base).encode()).hexdigest()[:12]}")
        return "|".join([*parts, f"refsim:{__version__}"])

    @property
    def chosen_layer(self) -> int:
        """The layer whose vectors are compared."""
        return self.setting.layer

    @property
    def depth(self) -> int:
        """The number of layers that the model has."""
        return model_depth(self.setting.place)

    @cached_property
    def _name(self) -> str:
        return published_default(str(self.lang)) if self.model == "published" else self.model

    @cached_property
    def setting(self) -> Setting:
        """What the encoder depends on."""
        located = locate(self._name)
        place = located.place if located.local else fetch(located.place)
        layer = self.layer
        if layer == "auto":
            times, of = _DEPTH_SHARE
            layer = model_depth(place) * times // of
        if layer is None:
            layer = located.layer
        if layer is None:
            raise InputError(
                f"model {self._name!r}: no layer is known to be good for it; give layer=, or layer='auto' for two "
                "thirds of its depth; `refsim tune-layer` finds one from scores that people gave"
            )
        windows = self.long_text == "window"
        return Setting(place, layer, self.device, self.dtype, self.special_tokens, self.batch_tokens, windows)

    @property
    def encoder(self) -> Encoder:
        """The encoder of this process for the setting."""
        return encoders.get(self.setting)

    def pairs_with(self, idf: Idf | None) -> Pairs:
        """Return how texts are compared, with the weights of an idf or without."""
        return Pairs(self.encoder, idf, self.long_text == "error")

    def __getstate__(self) -> dict[str, object]:
        """Leave out what was looked up on this machine."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

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
        self.warn_of([*texts, *(text for row in rows for text in row)], [text for row in rows for text in row])
        return found

    def score_layers(self, candidates: Sequence[str], references: Sequence[str | Sequence[str]]) -> PRF:
        """Return PRF of arrays (L + 1, S): the scores of every layer from 0, the embeddings, to the model's last.

        Not rescaled, for a baseline belongs to one layer. The model runs once, unless it ends in a norm of its own:
        such a one is cut off at each layer in turn.
        """
        depth = self.depth
        whole = replace(self, layer=depth, rescale=False)
        if not cut_equals_stack(whole.setting):
            each = [replace(whole, layer=k).score_batch(candidates, references) for k in range(depth + 1)]
            return PRF(*(np.stack(values) for values in zip(*each, strict=True)))
        texts, singles, lists = check_rows(candidates, references)
        rows = lists or [[text] for text in singles or ()]
        pairs, starts, sizes = self._paired(texts, rows)
        theirs = [text for row in rows for text in row]
        found = whole.pairs_with(self.idf_of(theirs)).score_layers(pairs)
        self.warn_of([*texts, *theirs], theirs)
        return PRF(*(np.stack([self._over_references(row, starts, sizes) for row in values]) for values in found))

    def _score_rows(self, candidates: Sequence[str], rows: Sequence[Sequence[str]]) -> PRF:
        """Return PRF of arrays (S,) of checked rows."""
        pairs, starts, sizes = self._paired(candidates, rows)
        scored = self.pairs_with(self.idf_of([text for row in rows for text in row])).score(pairs)
        return PRF(*(self.rescaled(i, self._over_references(values, starts, sizes)) for i, values in enumerate(scored)))

    def _paired(
        self, candidates: Sequence[str], rows: Sequence[Sequence[str]]
    ) -> tuple[list[tuple[str, str]], NDArray[np.int64], list[int]]:
        """Return each candidate with each of its references, cleaned; where each row begins; how long it is."""
        sizes = [len(row) for row in rows]
        left = self.prepare_candidates(candidates)
        right = iter(self.prepare_references([text for row in rows for text in row]))
        pairs = [(text, next(right)) for text, size in zip(left, sizes, strict=True) for _ in range(size)]
        starts = np.cumsum([0, *sizes[:-1]], dtype=np.int64) if sizes else np.empty(0, np.int64)
        return pairs, starts, sizes

    def prepare_candidates(self, texts: Sequence[str], name: Any = "candidates[{}]".format) -> list[str]:  # noqa: ANN401  a function
        """Return candidates as they are compared."""
        return list(map(clean, self.preparation.apply_candidates(texts, name)))

    def prepare_references(self, texts: Sequence[str]) -> list[str]:
        """Return references as they are compared."""
        return list(map(clean, self.preparation.apply(texts)))

    def fit_idf(self, references: Iterable[str]) -> Idf:
        """Return the document frequencies of a corpus, to be given as `idf`: each string is one document."""
        counts = Counter(self.prepare_references(list(references)))
        tokens = self.encoder.tokenise(list(counts))
        return Idf.of((one.ids, repeats) for one, repeats in zip(tokens, counts.values(), strict=True))

    def idf_of(self, references: Sequence[str]) -> Idf | None:
        """Return the document frequencies that weigh texts with these references; None without idf."""
        return self.fit_idf(references) if self.idf == "references" else self.idf

    def too_long(self, batch: Batch) -> list[int]:
        """Return the rows of a batch with a text of more tokens than the model takes, so that its end is cut off."""
        return self.notices(batch).get("truncated", [])

    def notices(self, batch: Batch) -> dict[str, list[int]]:
        """Return the rows of a batch with something to tell, by what it is.

        "truncated": longer than the model takes; "surrogates": half a pair, read as U+FFFD; "uncovered": more than a
        fifth of its letters are of scripts that the model hardly knows; "weightless": idf weighs no piece of a text.
        """
        texts = [*batch.candidates, *(text for row in batch.references for text in row)]
        found = {
            "truncated": self._cut(texts),
            "surrogates": {text for text in texts if has_surrogate(text)},
            "uncovered": {text for text in dict.fromkeys(texts) if self._is_uncovered([text])},
            "weightless": self._weightless(texts, self.idf if isinstance(self.idf, Idf) else None),
        }
        rows = list(zip(batch.candidates, batch.references, strict=True))
        told = {
            name: [i for i, row in enumerate(rows) if row[0] in texts or not texts.isdisjoint(row[1])]
            for name, texts in found.items() if texts
        }  # fmt: skip
        return {name: places for name, places in told.items() if places}

    def _cut(self, texts: Sequence[str]) -> set[str]:
        """Return those of the texts that are longer than the model takes."""
        different = list(dict.fromkeys(texts))
        tokens = self.encoder.tokenise(self.prepare_references(different))
        return {text for text, one in zip(different, tokens, strict=True) if one.cut}

    def _weightless(self, texts: Sequence[str], idf: Idf | None) -> set[str]:
        different = dict.fromkeys(texts)
        none = self.pairs_with(idf).weightless(cleaned := self.prepare_references(list(different)))
        return {text for text, one in zip(different, cleaned, strict=True) if one in none}

    def _is_uncovered(self, texts: Sequence[str]) -> bool:
        """Return whether too many of the letters are of other scripts; whoever gives a language has decided."""
        if self.lang is not None or self.model not in ALIASES:
            return False
        return share_outside(texts, ALIASES[self.model].scripts) > MOST_OUTSIDE

    def warn_of(self, texts: Sequence[str], references: Sequence[str] = ()) -> None:
        """Raise one counted warning for each thing that there is to tell of the texts of a call."""
        if long := self._cut(texts):
            count = sum(text in long for text in texts)
            message = (
                f"{count:,} of {len(texts):,} texts have more than {self.encoder.limit} tokens, and lost their end"
            )
            warnings.warn(f"text-truncated: {message}", TruncatedWarning, stacklevel=3)
        if broken := sum(map(has_surrogate, texts)):
            message = f"{broken:,} of {len(texts):,} texts hold half a surrogate pair, which is read as U+FFFD"
            warnings.warn(f"lone-surrogate: {message}", TextWarning, stacklevel=3)
        if self._is_uncovered(texts):
            share = share_outside(texts, ALIASES[self.model].scripts)
            message = f"{share:.0%} of the letters are of scripts that model {self.model} hardly knows"
            warnings.warn(f"script-uncovered: {message}; choose another model, or give lang", TextWarning, stacklevel=3)
        if self.idf is not None and (none := self._weightless(texts, self.idf_of(references))):
            count = sum(text in none for text in texts)
            message = f"idf weighs no piece of {count:,} of {len(texts):,} texts, whose pieces count alike then"
            warnings.warn(f"idf-weightless: {message}", TextWarning, stacklevel=3)

    def score_matrix(self, candidates: Sequence[str], references: Sequence[str], *, threads: int | None = None) -> PRF:
        """Return PRF of arrays (C, R): each candidate against each single reference, each text encoded once."""
        del threads
        left, right = check_texts(candidates, "candidates"), check_texts(references, "references")
        found = self._matrix(self.prepare_candidates(left), self.prepare_references(right), right)
        self.warn_of([*left, *right], right)
        return found

    def _matrix(self, left: Sequence[str], right: Sequence[str], corpus: Sequence[str]) -> PRF:
        scored = self.pairs_with(self.idf_of(corpus)).score_matrix(left, right)
        return PRF(*(self.rescaled(i, values) for i, values in enumerate(scored)))

    def consensus(
        self, candidates: Sequence[str], support: Sequence[str] | None = None,
        weights: Sequence[float] | None = None, leave_one_out: bool | None = None,  # noqa: FBT001  as charsim's
        *, threads: int | None = None,
    ) -> NDArray[np.float64]:  # fmt: skip
        """Return the mean F1 (C,) of each candidate against the others, or against `support`.

        `leave_one_out` and `weights` mean what they do for charsim: whole numbers are repeats, of which leaving one
        out takes one away; of others it takes the candidate's whole weight away.
        """
        del threads
        texts = self.prepare_candidates(check_texts(candidates, "candidates"))
        if leave_one_out not in (None, True, False) or isinstance(leave_one_out, int) != isinstance(
            leave_one_out, bool
        ):
            raise InputError(f"leave_one_out is {leave_one_out!r}; expected True, False or None")
        if support is not None and leave_one_out is not None:
            raise InputError("leave_one_out is given with support: no candidate is in it, so leave it None")
        voters = texts
        if support is not None:
            voters = self.prepare_candidates(check_references(support, "support"), "support[{}]".format)
        whole, exact = integer_weights(weights, voters, "candidates" if support is None else "support", 1)
        table = np.tile(whole.astype(np.float64), (len(texts), 1))
        if support is None and leave_one_out is not False:
            table[np.diag_indices(len(texts))] -= own_weights(whole, exact=exact)
        if not len(texts) or (table.sum(axis=1) <= 0).any():
            raise InputError(
                f"consensus of {len(texts)} candidates leaves nothing to compare one of them with; "
                "give two candidates with some weight, a support, or leave_one_out=False"
            )
        f1 = self._matrix(texts, voters, voters).f1
        self.warn_of([*texts, *voters], voters)
        means: NDArray[np.float64] = (f1 * table).sum(axis=1) / table.sum(axis=1)
        return means

    def explain(self, candidate: str, references: Sequence[str]) -> BERTExplanation:
        """Return why a candidate scores what it does: each piece's closest partner, its cosine, and what it costs."""
        from refsim.metrics._alignment import explain  # noqa: PLC0415  few need it

        texts = check_references(references)
        told = explain(self, check_text(candidate, "candidate"), texts)
        self.warn_of([candidate, *texts], texts)
        return told

    def judge(
        self, candidate: str, references: Sequence[str], at_least: float | None = None, *, language: Language = "en"
    ) -> BERTVerdict:
        """Return F1 with a sentence that says why; `passed` is whether it is `at_least` that, in [0, 1]."""
        from refsim.metrics._alignment import judge  # noqa: PLC0415  as above

        check_judging(at_least, language)
        return judge(self.explain(candidate, references), at_least, language)

    def judge_batch(
        self, candidates: Sequence[str], references: Sequence[str | Sequence[str]], at_least: float | None = None,
        *, language: Language = "en",
    ) -> list[BERTVerdict]:  # fmt: skip
        """Return the verdict on each candidate (S,); arguments as in `score_batch` and `judge`.

        idf weighs by the references of the whole call, as in `score_batch`.
        """
        from refsim.metrics._alignment import explain, judge  # noqa: PLC0415  as above

        check_judging(at_least, language)
        texts, singles, lists = check_rows(candidates, references)
        self.preparation.check_candidates(texts)
        rows = lists or [[text] for text in singles or ()]
        every = [text for row in rows for text in row]
        fixed = self.with_corpus(every) if self.needs_corpus else self
        # Once for all rows, in full batches: explanations find their vectors kept, and scores are those of a batch.
        fixed._score_rows(texts, rows)  # noqa: SLF001  of this class
        found = [judge(explain(fixed, *row), at_least, language) for row in zip(texts, rows, strict=True)]
        self.warn_of([*texts, *every], every)
        return found

    def compile(self, references: Sequence[str], *, threads: int | None = None) -> BERTScorer:
        """Return a Scorer of this metric for one fixed list of references, encoded once.

        idf weighs by the references of this list, unless an `Idf` is given. `threads` is there for every metric alike.
        """
        scorer = self.compile_quietly(references, threads=threads)
        scorer.metric.warn_of(references)
        return scorer

    def compile_quietly(self, references: Sequence[str], *, threads: int | None = None) -> BERTScorer:
        """Return what `compile` does, without its warnings."""
        from refsim.metrics._embeddings import compile_references  # noqa: PLC0415  which makes metrics

        del threads
        return compile_references(self, check_references(references))

    @property
    def needs_corpus(self) -> bool:
        """Whether numbers depend on all references of a run, so that `with_corpus` must see them before `measure`."""
        return self.idf == "references"

    def with_corpus(self, references: Iterable[str]) -> BERTScore:
        """Return the metric with the document frequencies of all references of a run."""
        return replace(self, idf=self.fit_idf(references))

    def measure(self, batch: Batch, *, threads: int | None = None) -> Stats:
        """Return one row per segment: F1, precision, recall."""
        if self.needs_corpus:
            raise InputError(
                "bertscore(idf=references) weighs by all references of a run, and a stream of batches is seen once; "
                "give a file or a list of batches, or the weights: BERTScore(idf=metric.fit_idf(references))"
            )
        del threads
        self.preparation.check_candidates(batch.candidates, batch.place)
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

    def rescaled(self, column: int, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values of P, R or F1, columns 0 to 2, on the scale of the metric."""
        if not self.rescale:
            return values
        base = self.base[column]
        # A side without any text scores 0 before and after.
        return np.where(values == 0.0, 0.0, (values - base) / (1.0 - base))

    @cached_property
    def base(self) -> Base:
        """The baseline of P, R and F1."""
        if isinstance(self.baseline, str):
            from refsim.metrics._baseline import read_baseline  # noqa: PLC0415  which takes metrics

            place = self.setting.place
            return read_baseline(self.baseline).row(self.chosen_layer, weights=weight_hash(place), model=self._name)
        if self.baseline is not None:
            return self.baseline
        found = baseline(self._name, str(self.lang), self.chosen_layer)
        if found is None:
            raise InputError(
                f"rescale: no baseline is published for lang {self.lang!r}, model {self._name!r}, layer "
                f"{self.chosen_layer}; fit one with `refsim baseline fit`, or give baseline=(P, R, F1)"
            )
        return found


def _written(value: object) -> str:
    """Return a value as `parse_metric` reads it."""
    if isinstance(value, Idf):
        return "references"
    if isinstance(value, tuple):
        return f'"{", ".join(map(repr, value))}"'
    if not isinstance(value, str):
        return str(value)
    from refsim.metrics import read_value  # noqa: PLC0415  the registry stands above the metrics

    return value if _BARE.fullmatch(value) and read_value(value) == value else quoted(value)
