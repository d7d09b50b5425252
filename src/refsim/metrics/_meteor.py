"""METEOR through nltk: words matched as they are, by Porter's stems and by WordNet's synonyms, in [0, 1].

    texts  --nltk's tokeniser-->  words  --nltk.translate.meteor_score, WordNet-->  the best reference's score

Lavie and Agarwal 2007. The stems and the WordNet are of English, and so are the texts.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

from refsim.errors import InputError
from refsim.metrics._languages import check_lang, unsegmented_rows
from refsim.metrics._peer import Peer, check_choice, check_number, check_preparation, load, version_of
from refsim.text import Preparation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from refsim.segments import Batch

_TOKENIZERS: Final = ("treebank", "wordpunct", "space")
_NO_WORDNET: Final = (
    "meteor needs WordNet 3.0, which is no package: python -m nltk.downloader wordnet, "
    "or set NLTK_DATA to a folder that has corpora/wordnet.zip"
)

# WordNet's reader seeks in its files, and so serves one thread at a time.
_lock = threading.RLock()
_readers: dict[str, Any] = {}


@dataclass(frozen=True, kw_only=True)
class METEOR(Peer):
    """METEOR for English, 0 to 1, with nltk's parameters; of several references the best.

    `tokenizer` is "treebank", nltk's word_tokenize without its sentence splitter; "wordpunct", which takes all
    punctuation apart; or "space" for texts that are tokenised. `lang` may say that texts are English. Raises InputError
    for other values, another language, and where there is no WordNet.
    """

    alpha: float = 0.9
    beta: float = 3.0
    gamma: float = 0.5
    tokenizer: str = "treebank"
    lang: str | None = None
    preparation: Preparation = field(default_factory=Preparation)

    name: ClassVar[str] = "meteor"

    def __post_init__(self) -> None:
        """Check the parameters once."""
        check_number("alpha", self.alpha, 0, 1)
        check_number("beta", self.beta, 0, 100)
        check_number("gamma", self.gamma, 0, 1)
        check_choice("tokenizer", self.tokenizer, _TOKENIZERS)
        _check_english(check_lang(self.lang), "lang", self.lang)
        check_preparation(self.name, self.preparation)

    def _check_langs(self, batch: Batch, langs: Sequence[str | None]) -> None:
        for i, lang in enumerate(langs):
            _check_english(lang, f"{batch.place(i)}: lang", batch.column("lang")[i])

    def _library(self) -> list[str]:
        return [version_of(self.name, "nltk"), f"wordnet:{_wordnet().get_version()}", "stem:porter", "references:best"]

    def _rows(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], langs: Sequence[str | None]
    ) -> list[list[float]]:
        del langs
        score = load(self.name, "nltk.translate.meteor_score", "nltk").meteor_score
        wordnet = _wordnet()
        rows = []
        for candidate, texts in zip(candidates, references, strict=True):
            words = [self._words(text) for text in texts]
            with _lock:
                found = score(
                    words, self._words(candidate), wordnet=wordnet, alpha=self.alpha, beta=self.beta, gamma=self.gamma
                )
            rows.append([float(found)])
        return rows

    def _words(self, text: str) -> list[str]:
        if self.tokenizer == "space":
            return text.split()
        tokenize = load(self.name, "nltk.tokenize", "nltk")
        words: list[str]
        if self.tokenizer == "wordpunct":
            words = tokenize.wordpunct_tokenize(text)
        else:
            words = tokenize.word_tokenize(text, preserve_line=True)
        return words

    def notices(self, batch: Batch) -> dict[str, list[int]]:
        """Return the rows whose texts are read as few long words."""
        rows = unsegmented_rows(batch)
        return {"unsegmented": rows} if rows else {}


def _check_english(lang: str | None, place: str, given: object) -> None:
    if lang not in (None, "en"):
        raise InputError(
            f"{place} is {given!r}, and meteor is for English (en): its stems and its WordNet are; "
            "leave such rows out, or choose chrf or charsim, which need no words"
        )


def find_wordnet() -> Any:  # noqa: ANN401  nltk's pointer to a folder
    """Return where WordNet is, in a folder of NLTK_DATA as it is now or of nltk's own search; None if nowhere."""
    with _searching() as data:
        for name in ("corpora/wordnet.zip/wordnet/", "corpora/wordnet/"):
            with suppress(LookupError):
                return data.find(name)
    return None


@contextmanager
def _searching() -> Iterator[Any]:
    """Let nltk look in the folders of NLTK_DATA as it is now: it reads that once, when it is imported."""
    data = load("meteor", "nltk.data", "nltk")
    with _lock:
        before = list(data.path)
        data.path[:0] = [folder for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep) if folder]
        try:
            yield data
        finally:
            data.path[:] = before


def _wordnet() -> Any:  # noqa: ANN401  nltk's reader
    """Return the reader of WordNet, made once for each place."""
    with _searching():
        place = find_wordnet()
        if place is None:
            raise InputError(_NO_WORDNET)
        if str(place) not in _readers:
            readers, util = (load("meteor", f"nltk.corpus.{name}", "nltk") for name in ("reader", "util"))
            # As nltk.corpus has it; that of other languages is found when somebody asks for it, and nobody does.
            others = util.LazyCorpusLoader("omw-1.4", readers.CorpusReader, r".*/wn-data-.*\.tab")
            _readers[str(place)] = readers.WordNetCorpusReader(place, others)
        return _readers[str(place)]
