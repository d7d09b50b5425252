"""Why a BERTScore is what it is: every piece of both texts with its closest partner, its cosine, and what it costs.

    candidate, references  --_encoder-->  vectors  --align-->  Alignment, one a reference: two Sides of pieces
                                                   --judge-->  a sentence that names the pieces that cost most

A piece of weight w whose best cosine is c takes w (1 - c) away from 1: these losses sum to 1 - precision on the
candidate's side and to 1 - recall on the reference's, before rescaling, which divides all of them by 1 - baseline.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from refsim._printable import figure, printable
from refsim.metrics._matching import PRF, f_measure
from refsim.metrics._verdict import check_judging

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from numpy.typing import NDArray

    from refsim.metrics._encoder import Tokens
    from refsim.metrics._pairs import Pairs
    from refsim.metrics._verdict import Language
    from refsim.metrics.bertscore import BERTScore

    Doubles = NDArray[np.float64]

_MOST_QUOTED, _LONGEST_QUOTE = 3, 40
# A loss that is not worth a word: the pieces named cost at least this share of the largest.
_LEAST_SHARE: Final = 0.3
# Thai, Lao, Khmer, Myanmar, and Kana and Han with what stands beside them.
_WITHOUT_SPACES: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)

_PHRASES: Final = {
    "en": {
        "score": "Scores {score}: ",
        "passed": "Scores {score}, at least {least}: ",
        "failed": "Scores {score}, below {least}: ",
        "equal": "it equals {a} reference",
        "empty": "it is empty, and no reference is",
        "nothing": "no reference has any text, and it has",
        "precision": "precision {precision}, recall {recall}; least supported of it: {quotes}",
        "recall": "precision {precision}, recall {recall}; least covered of the reference: {quotes}",
        "quote": "“{text}” ({cosine})",
        "cut": "; it was read up to the model's limit",
        "comma": ", ",
        "end": ".",
    },
    "ja": {
        "score": "スコア{score}:",
        "passed": "スコア{score}(基準{least}以上):",
        "failed": "スコア{score}(基準{least}未満):",
        "equal": "候補は参照と完全に一致している",
        "empty": "候補は空で、参照は空ではない",
        "nothing": "参照には文字がなく、候補にはある",
        "precision": "適合率{precision}、再現率{recall}。候補のうち参照の裏付けが最も弱い部分は{quotes}",
        "recall": "適合率{precision}、再現率{recall}。参照のうち候補に最も欠けている部分は{quotes}",
        "quote": "「{text}」({cosine})",
        "cut": "。モデルの上限までしか読まれていない",
        "comma": "、",
        "end": "。",
    },
}


@dataclass(frozen=True, eq=False)
class Side:
    """The pieces of one text against another: arrays (T,), one entry a piece, marks at the ends left out.

    `spans` (T, 2) says where each stands in `text`; `partners` which piece of the other side is closest, -1 for a mark;
    `cosines` how close; `weights` sum to 1; `losses` are what each takes away from 1.
    """

    text: str
    spans: NDArray[np.int64]
    partners: NDArray[np.int64]
    cosines: Doubles
    weights: Doubles
    cut: bool

    @property
    def losses(self) -> Doubles:
        """What each piece takes away from 1 (T,), before rescaling."""
        losses: Doubles = self.weights * (1.0 - self.cosines)
        return losses

    @property
    def score(self) -> float:
        """The weighted mean of the cosines: precision on the candidate's side, recall on the reference's."""
        return float(self.cosines @ self.weights) if len(self.weights) else 0.0

    def piece(self, i: int) -> str:
        """Return the part of the text that is piece `i`."""
        start, stop = self.spans[i].tolist()
        return self.text[start:stop]

    def shown(self, i: int) -> str:
        """Return piece `i` as it may be shown, with dots where it is a part of a word."""
        start, stop = self.spans[i].tolist()
        before = 0 < start < len(self.text) and _joined(self.text[start - 1], self.text[start])
        after = 0 < stop < len(self.text) and _joined(self.text[stop - 1], self.text[stop])
        return f"{'…' * before}{printable(self.text[start:stop])}{'…' * after}"

    def costly(self) -> list[int]:
        """Return the pieces in order of what they cost, the most first; of equal ones those that come first."""
        order: list[int] = np.argsort(-self.losses, kind="stable").tolist()
        return order

    def record(self, other: Side) -> dict[str, Any]:
        """Return plain values: the text and its pieces."""
        return {
            "text": self.text,
            "cut": self.cut,
            "pieces": [
                {
                    "piece": self.piece(i),
                    "span": self.spans[i].tolist(),
                    "partner": None if partner < 0 else other.piece(partner),
                    "partner_span": None if partner < 0 else other.spans[partner].tolist(),
                    "cosine": float(self.cosines[i]),
                    "weight": float(self.weights[i]),
                    "loss": float(self.losses[i]),
                }
                for i, partner in enumerate(self.partners.tolist())
            ],
        }


@dataclass(frozen=True, eq=False)
class Alignment:
    """One candidate and one reference, piece by piece; `equal` if they are the same text."""

    candidate: Side
    reference: Side
    equal: bool

    @property
    def scores(self) -> PRF:
        """Precision, recall and F1 of the two, before rescaling."""
        if self.equal:
            return PRF(1.0, 1.0, 1.0)
        # A text of marks alone is as empty as one without anything.
        bare = not (len(self.candidate.weights) and len(self.reference.weights))
        precision, recall = (0.0, 0.0) if bare else (self.candidate.score, self.reference.score)
        return PRF(precision, recall, float(f_measure(np.array([precision]), np.array([recall]))[0]))


@dataclass(frozen=True, eq=False)
class BERTExplanation:
    """Why a candidate scores what it does: `scores` on the metric's scale, an `alignment` with each reference.

    `best` says which references gave precision, recall and F1 their maximum, None where the mean of all is taken.
    """

    metric: BERTScore
    candidate: str
    references: Sequence[str]
    scores: PRF
    alignments: Sequence[Alignment]
    best: tuple[int, int, int] | None

    @property
    def signature(self) -> str:
        """The metric's signature."""
        return self.metric.signature

    @cached_property
    def closest(self) -> int:
        """The reference with the highest F1, the first of equal ones: the one to look at."""
        return int(np.argmax([one.scores.f1 for one in self.alignments]))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON, the caller's own."""
        names = ("precision", "recall", "f1")
        return {
            "signature": self.signature,
            "candidate": self.candidate,
            **dict(zip(names, map(float, self.scores), strict=True)),
            "best": None if self.best is None else dict(zip(names, self.best, strict=True)),
            "baseline": list(self.metric.base) if self.metric.rescale else None,
            "alignments": [
                {
                    **dict(zip(names, one.scores, strict=True)),
                    "candidate": one.candidate.record(one.reference),
                    "reference": one.reference.record(one.candidate),
                }
                for one in self.alignments
            ],
        }


@dataclass(frozen=True)
class BERTVerdict:
    """F1, whether it `passed` (None where no threshold was given), a sentence that says why, and the three `scores`."""

    score: float
    passed: bool | None
    reason: str
    scores: PRF


def align(pairs: Pairs, candidate: str, references: Sequence[str]) -> list[Alignment]:
    """Return the alignment of a prepared candidate with each of its prepared references."""
    texts = list(dict.fromkeys([candidate, *references]))
    pairs.check_lengths(texts)
    tokens = pairs.encoder.tokenise(texts)
    known = dict(zip(texts, zip(tokens, pairs.encoder.encode(texts, tokens), strict=True), strict=True))
    return [_align(pairs, candidate, reference, known) for reference in references]


def _align(pairs: Pairs, left: str, right: str, known: dict[str, tuple[Tokens, torch.Tensor]]) -> Alignment:
    (own, own_vectors), (their, their_vectors) = known[left], known[right]
    if left == right:
        # Each piece is its own partner, and exactly so.
        cosines = np.eye(len(own.ids))
    else:
        product = own_vectors.float() @ their_vectors.float().T
        cosines = product.clamp(-1.0, 1.0).double().cpu().numpy()
    return Alignment(
        _side(pairs, left, own, their, cosines), _side(pairs, right, their, own, cosines.T), equal=left == right
    )


def _side(pairs: Pairs, text: str, own: Tokens, their: Tokens, cosines: Doubles) -> Side:
    plain = np.flatnonzero(own.plain)
    best = cosines[plain].argmax(axis=1)
    # Marks of the other side may be partners, and have no number of their own.
    numbers = np.where(their.plain, np.cumsum(their.plain) - 1, -1)
    return Side(
        text=text,
        spans=np.array([own.spans[i] for i in plain], np.int64).reshape(-1, 2),
        partners=numbers[best],
        cosines=cosines[plain, best],
        weights=pairs.weights(own)[plain],
        cut=own.cut,
    )


def explain(metric: BERTScore, candidate: str, references: Sequence[str]) -> BERTExplanation:
    """Return why a checked candidate scores what it does against checked references."""
    (text,), theirs = metric.prepare_candidates([candidate]), metric.prepare_references(references)
    alignments = align(metric.pairs_with(metric.idf_of(references)), text, theirs)
    table = np.array([one.scores for one in alignments])
    best: tuple[int, int, int] | None = None
    if metric.aggregate == "max":
        p, r, f1 = table.argmax(axis=0).tolist()
        best = (p, r, f1)
    found = table.max(axis=0) if best is not None else table.mean(axis=0)
    scores = PRF(*(float(metric.rescaled(i, found[i : i + 1])[0]) for i in range(3)))
    return BERTExplanation(metric, text, theirs, scores, alignments, best)


def judge(told: BERTExplanation, at_least: float | None, language: Language) -> BERTVerdict:
    """Return the verdict on an explained score. Raises InputError for a threshold outside [0, 1]."""
    check_judging(at_least, language)
    score = float(told.scores.f1)
    passed = None if at_least is None else score >= at_least
    return BERTVerdict(score, passed, _reason(told, at_least, language), told.scores)


def _reason(told: BERTExplanation, at_least: float | None, language: Language) -> str:
    phrases = _PHRASES[language]
    score = float(told.scores.f1)
    if at_least is None:
        head = phrases["score"].format(score=figure(score))
    else:
        shown, least = _apart(score, at_least)
        head = phrases["passed" if score >= at_least else "failed"].format(score=shown, least=least)
    return head + _why(told, phrases) + phrases["end"]


def _apart(score: float, least: float) -> tuple[str, str]:
    """Return two numbers with as many digits as it takes to show which is larger."""
    least += 0.0  # -0.0 is no number that anyone means
    for digits in range(2, 18):
        shown, wanted = f"{score:.{digits}f}", f"{least:.{digits}f}"
        if (float(shown) < float(wanted)) == (score < least):
            return shown, wanted
    return repr(score), repr(least)


def _why(told: BERTExplanation, phrases: dict[str, str]) -> str:
    one = told.alignments[told.closest]
    if any(alignment.equal for alignment in told.alignments):
        return phrases["equal"].format(a="its" if len(told.references) == 1 else "a")
    if not len(one.candidate.weights):
        return phrases["empty"]
    if not len(one.reference.weights):
        return phrases["nothing"]
    # The side that loses more is the one to speak of.
    name, side = (
        ("precision", one.candidate) if one.candidate.score <= one.reference.score else ("recall", one.reference)
    )
    quotes = phrases["comma"].join(
        phrases["quote"].format(text=_quotable(side.shown(i)), cosine=figure(float(side.cosines[i])))
        for i in _named(side)
    )
    figures = {"precision": figure(float(told.scores.precision)), "recall": figure(float(told.scores.recall))}
    cut = phrases["cut"] if one.candidate.cut or one.reference.cut else ""
    return phrases[name].format(quotes=quotes, **figures) + cut


def _named(side: Side) -> list[int]:
    """Return up to three pieces that cost most, in the order of the text."""
    order = side.costly()[:_MOST_QUOTED]
    most = side.losses[order[0]]
    return sorted(i for i in order if side.losses[i] >= _LEAST_SHARE * most)


def _joined(left: str, right: str) -> bool:
    """Say if two characters side by side are of one word, in scripts that put spaces between words."""
    return all(c.isalnum() and not _WITHOUT_SPACES.match(c) for c in left + right)


def _quotable(text: str) -> str:
    text = " ".join(text.split())
    half = _LONGEST_QUOTE // 2
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:half]}…{text[-half + 1 :]}"
