"""ROUGE through rouge-score: n-grams and longest common subsequences of words, F-measures in [0, 1].

    texts  --_tokenisers.py-->  words  --rouge-score's score_multi-->  of each variant the best reference's F

Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries. A row has one F-measure for each variant.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

from refsim.errors import InputError
from refsim.metrics._languages import unsegmented_rows
from refsim.metrics._peer import Peer, check_choice, check_flags, check_preparation, load, version_of
from refsim.metrics._tokenisers import TOKENIZERS, make_tokenizer
from refsim.text import Preparation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refsim.segments import Batch

VARIANTS: Final = ("rouge1", "rouge2", "rougeL", "rougeLsum")
_VARIANT: Final = re.compile(r"rouge([1-9]|L|Lsum)")
_AT_SPACES: Final = frozenset({"unicode", "rouge-score"})


class _Scorers(threading.local):
    """rouge-score's objects of one thread, by variants, tokeniser and stemming, with the tokeniser of each."""

    def __init__(self) -> None:
        self._made: dict[tuple[Any, ...], tuple[Any, Any]] = {}

    def get(self, variants: tuple[str, ...], tokenizer: str, *, stem: bool) -> tuple[Any, Any]:
        key = (variants, tokenizer, stem)
        if key not in self._made:
            made = make_tokenizer(tokenizer, stem=stem)
            scorer = load("rouge", "rouge_score.rouge_scorer", "rouge-score").RougeScorer(variants, tokenizer=made)
            self._made[key] = scorer, made
        return self._made[key]


_scorers = _Scorers()


@dataclass(frozen=True, kw_only=True)
class ROUGE(Peer):
    """ROUGE's F-measures, 0 to 1: of several references the best, for each variant by itself.

    `variants` are rouge1 to rouge9, rougeL and rougeLsum, whose sentences end at line ends; the first is the headline.
    `tokenizer` is "unicode", words of any script with spaces; "char", "mecab" (Japanese) or "mecab-ko" for scripts
    without; "rouge-score" for that library's own, which deletes all but a-z and 0-9. `use_stemmer` stems English words.
    Raises InputError for other values.
    """

    variants: tuple[str, ...] = VARIANTS
    tokenizer: str = "unicode"
    use_stemmer: bool = False
    preparation: Preparation = field(default_factory=Preparation)

    name: ClassVar[str] = "rouge"

    def __post_init__(self) -> None:
        """Check the parameters once; variants may be given as a list, or as a text with + between them."""
        given: object = self.variants
        listed = given.split("+") if isinstance(given, str) else given
        if not isinstance(listed, list | tuple) or not listed or not all(map(_is_variant, listed)):
            raise InputError(f"variants is {given!r}; expected some of rouge1 to rouge9, rougeL, rougeLsum")
        if len(set(listed)) < len(listed):
            raise InputError(f"variants is {given!r}; expected each of them once")
        object.__setattr__(self, "variants", tuple(listed))
        check_choice("tokenizer", self.tokenizer, TOKENIZERS)
        check_flags(self, "use_stemmer")
        if self.use_stemmer and self.tokenizer not in _AT_SPACES:
            raise InputError(f"use_stemmer is of English words, and tokenizer {self.tokenizer!r} is not; leave one out")
        check_preparation(self.name, self.preparation)

    @property
    def _alone(self) -> bool:
        return len(self.variants) == 1 and self.variants[0] in VARIANTS

    @property
    def _short_name(self) -> str:
        return self.variants[0] if self._alone else self.name

    @property
    def _untold(self) -> tuple[str, ...]:
        return ("preparation", "variants") if self._alone else ("preparation",)

    def _library(self) -> list[str]:
        parts = [version_of(self.name, "rouge-score")]
        if self.tokenizer != "rouge-score":
            parts.append(f"tok:{self.tokenizer}[{self._scorer()[1].signature}]")
        if self.use_stemmer:
            parts.append(version_of(self.name, "nltk"))
        return [*parts, "f-measure", "references:best"]

    def _scorer(self) -> tuple[Any, Any]:
        return _scorers.get(self.variants, self.tokenizer, stem=self.use_stemmer)

    @property
    def _columns(self) -> tuple[str, ...]:
        return self.variants

    def _rows(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], langs: Sequence[str | None]
    ) -> list[list[float]]:
        del langs
        scorer, _ = self._scorer()
        rows = []
        for candidate, texts in zip(candidates, references, strict=True):
            found = scorer.score_multi(texts, candidate)
            rows.append([float(found[variant].fmeasure) for variant in self.variants])
        return rows

    def notices(self, batch: Batch) -> dict[str, list[int]]:
        """Return the rows whose texts are read as few long words."""
        rows = unsegmented_rows(batch, self.tokenizer in _AT_SPACES)
        return {"unsegmented": rows} if rows else {}


def _is_variant(value: object) -> bool:
    return isinstance(value, str) and _VARIANT.fullmatch(value) is not None
