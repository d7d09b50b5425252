"""Why a BERTScore is what it is: every piece of both texts with its closest partner, its cosine, and what it costs.

    candidate, references  --_encoder-->  vectors  --align-->  Alignment, one a reference: two Sides of pieces
                                                   --_words--> words, as they are shown
                                                   --judge-->  a sentence that names the words that cost most

A piece of weight w whose best cosine is c takes w (1 - c) away from 1: these losses sum to 1 - precision on the
candidate's side and to 1 - recall on the reference's. Rescaling divides all of them by 1 - baseline.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from refsim._printable import figure
from refsim.metrics._matching import PRF
from refsim.metrics._verdict import MOST_CHARACTERS, check_judging, quotable, write_head
from refsim.metrics._words import find_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch
    from numpy.typing import NDArray

    from refsim.metrics._encoder import Tokens
    from refsim.metrics._pairs import Pairs
    from refsim.metrics._verdict import Language
    from refsim.metrics.bertscore import BERTScore

    Doubles = NDArray[np.float64]
    Longs = NDArray[np.int64]

_MOST_QUOTED, _LONGEST_QUOTE = 3, 40
# What is not worth a word: words are named that cost at least this share of what the first one does.
_LEAST_SHARE: Final = 0.3
# Losses below this are the rounding of 32 bits.
_ROUNDING: Final = 1e-6
# Cosines that are held at once: 64 MB of floats.
_MOST_COSINES: Final = 2**24
# How tokenizers write a space that is a piece of its own.
_SPACES: Final = "▁Ġ"

# What is shown for a mark at an end of a text, whatever the tokenizer calls it.
MARK: Final = "(mark)"

_PHRASES: Final = {
    "en": {
        "score": "Scores {score}: ",
        "passed": "Scores {score}, at least {least}: ",
        "failed": "Scores {score}, below {least}: ",
        "equal": "it equals {a} reference",
        "equal_one": "it equals one of {count} references, and the mean is over all of them",
        "same": "to the model it is the same as {a} reference",
        "empty": "it is empty, and no reference is",
        "unread": "the model reads nothing of it",
        "nothing": "no reference has any text, and it has",
        "figures": "precision {precision}, recall {recall}; ",
        "precision": "least supported of it: {quotes}",
        "recall": "least covered of the reference: {quotes}",
        "recall_closest": "least covered of the closest reference: {quotes}",
        "quote": "“{text}” ({cosine})",
        "cut": "; what is beyond the model's limit was not read",
        "comma": ", ",
        "end": ".",
    },
    "ja": {
        "score": "スコア{score}:",
        "passed": "スコア{score}(基準{least}以上):",
        "failed": "スコア{score}(基準{least}未満):",
        "equal": "候補は参照と完全に一致している",
        "equal_one": "候補は{count}件の参照の1つと完全に一致しているが、スコアは全参照の平均である",
        "same": "モデルにとって候補は参照と同じである",
        "empty": "候補は空で、参照は空ではない",
        "unread": "モデルは候補から何も読み取れない",
        "nothing": "参照には文字がなく、候補にはある",
        "figures": "適合率{precision}、再現率{recall}。",
        "precision": "候補のうち参照の裏付けが最も弱い部分は{quotes}",
        "recall": "参照のうち候補に最も欠けている部分は{quotes}",
        "recall_closest": "最も近い参照のうち候補に最も欠けている部分は{quotes}",
        "quote": "「{text}」({cosine})",
        "cut": "。モデルの上限を超える部分は読まれていない",
        "comma": "、",
        "end": "。",
    },
}


@dataclass(frozen=True)
class Word:
    """The pieces `first` to `last`, that one left out, which make up `text`, a word at `start` to `stop`.

    `weight` and `loss` are their sums, `cosine` is their mean by weight. `text` is empty for a mark that has a weight.
    """

    text: str
    start: int
    stop: int
    first: int
    last: int
    cosine: float
    weight: float
    loss: float

    @property
    def shown(self) -> str:
        """The word as it is shown: on one line, and never nothing."""
        return " ".join(self.text.split()) or MARK


@dataclass(frozen=True, eq=False)
class Side:
    """The pieces of one text against another: arrays (T,), one entry a piece, marks at the ends left out.

    `spans` (T, 2) says where each stands in `text`; `partners` which piece of the other side is closest, -1 for a mark
    or where the other side has no text; `cosines` how close, then 0; `weights` sum to 1; `losses` are what each takes
    away from 1. `cut` says that the text is longer than the model takes, so that its end has no pieces.
    """

    text: str
    spans: Longs
    partners: Longs
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
        """Return the part of the text that is piece `i`; empty for the mark of a space."""
        start, stop = self.spans[i].tolist()
        return self.text[start:stop]

    @cached_property
    def words(self) -> list[Word]:
        """The words that the pieces make up, in order; in scripts without spaces each piece is one."""
        losses = self.losses
        found = []
        for start, stop, first, last in find_words(self.text, self.spans):
            cosines, weights = self.cosines[first:last], self.weights[first:last]
            weight = float(weights.sum())
            cosine = min(1.0, float(cosines @ weights) / weight if weight > 0 else float(cosines.mean()))
            loss = float(losses[first:last].sum())
            found.append(Word(self.text[start:stop], start, stop, first, last, cosine, weight, loss))
        return found

    def costly(self) -> list[Word]:
        """Return the words in order of what they cost, the most first; of equal ones those that come first."""
        return sorted((word for word in self.words if word.loss > 0), key=lambda word: -word.loss)

    def partners_of(self, word: Word, other: Side) -> list[Word]:
        """Return the words of the other side that a word's pieces are closest to, those of most weight first."""
        weights: dict[int, float] = {}
        homes = other.homes
        for i in range(word.first, word.last):
            if self.partners[i] >= 0:
                home = int(homes[self.partners[i]])
                weights[home] = weights.get(home, 0.0) + float(self.weights[i])
        return [other.words[home] for home in sorted(weights, key=lambda home: (-weights[home], home))]

    @cached_property
    def homes(self) -> Longs:
        """Which of the words each piece is in (T,)."""
        return np.repeat(np.arange(len(self.words)), [word.last - word.first for word in self.words])

    def record(self, other: Side) -> dict[str, Any]:
        """Return plain values: the text, its pieces and its words."""
        losses = self.losses.tolist()
        pieces = [
            {
                "piece": self.piece(i),
                "span": self.spans[i].tolist(),
                "partner": None if partner < 0 else other.piece(partner),
                "partner_span": None if partner < 0 else other.spans[partner].tolist(),
                "cosine": float(self.cosines[i]),
                "weight": float(self.weights[i]),
                "loss": losses[i],
            }
            for i, partner in enumerate(self.partners.tolist())
        ]
        words = [
            {
                "word": word.text,
                "span": [word.start, word.stop],
                "partners": [partner.text for partner in self.partners_of(word, other)],
                "cosine": word.cosine,
                "weight": word.weight,
                "loss": word.loss,
            }
            for word in self.words
        ]
        return {"text": self.text, "cut": self.cut, "pieces": pieces, "words": words}


@dataclass(frozen=True, eq=False)
class Alignment:
    """One candidate and one reference, piece by piece, with their `scores` before rescaling.

    `equal` if they are the same text, `bare` if one of two has nothing to compare, so that everything is lost.
    """

    candidate: Side
    reference: Side
    scores: PRF
    equal: bool

    @property
    def bare(self) -> bool:
        """Whether one of two different texts is empty, or holds nothing that the model reads."""
        return not self.equal and not (len(self.candidate.weights) and len(self.reference.weights))


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

    def __repr__(self) -> str:
        """Return what it is, in one line."""
        count = len(self.references)
        return f"<refsim explanation: {self.scores.f1:.4f} by {self.metric} against {count} references>"

    @property
    def signature(self) -> str:
        """The metric's signature."""
        return self.metric.signature

    @cached_property
    def closest(self) -> int:
        """The reference with the highest F1, the first of equal ones, with text if any has: the one to look at."""
        order = [(not one.bare, one.scores.f1) for one in self.alignments]
        return order.index(max(order))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON, the caller's own."""
        names = ("precision", "recall", "f1")
        return {
            "signature": self.signature,
            "candidate": self.candidate,
            **dict(zip(names, map(float, self.scores), strict=True)),
            "best": None if self.best is None else dict(zip(names, self.best, strict=True)),
            "closest": self.closest,
            "baseline": list(self.metric.base) if self.metric.rescale else None,
            "alignments": [
                {
                    **dict(zip(names, one.scores, strict=True)),
                    "equal": one.equal,
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
    # The scores come the way that they always do, to the last bit; the vectors are known afterwards.
    scores = pairs.score([(candidate, reference) for reference in references])
    texts = list(dict.fromkeys([candidate, *references]))
    tokens = dict(zip(texts, pairs.encoder.tokenise(texts), strict=True))
    others = [text for text in texts if text and text != candidate]
    read = [candidate, *others] if candidate and others else []
    vectors = dict(zip(read, pairs.encoder.encode(read, [tokens[text] for text in read]), strict=True))
    found = []
    for reference, *values in zip(references, *scores, strict=True):
        own, their = _pieces(pairs, candidate, tokens[candidate]), _pieces(pairs, reference, tokens[reference])
        equal = candidate == reference
        if equal:
            closest = _same(len(own.ids))
        elif own.plain.any() and their.plain.any():
            closest = _closest(vectors[candidate], vectors[reference])
        else:
            closest = _none(len(own.ids)), _none(len(their.ids))
        sides = own.side(their, *closest[0]), their.side(own, *closest[1])
        found.append(Alignment(*sides, PRF(*map(float, values)), equal))
    return found


def _same(size: int) -> tuple[tuple[Doubles, Longs], tuple[Doubles, Longs]]:
    """Return the partners of equal texts: each piece is its own, and exactly so."""
    return (np.ones(size), np.arange(size)), (np.ones(size), np.arange(size))


def _none(size: int) -> tuple[Doubles, Longs]:
    return np.zeros(size), np.full(size, -1)


def _closest(left: torch.Tensor, right: torch.Tensor) -> tuple[tuple[Doubles, Longs], tuple[Doubles, Longs]]:
    """Return the best cosine of each vector of both sides, and with which it is; the first of equal ones."""
    rows, columns = np.empty(len(left)), np.full(len(right), -np.inf)
    row_partners, column_partners = np.empty(len(left), np.int64), np.empty(len(right), np.int64)
    size = max(1, _MOST_COSINES // len(right))
    for start in range(0, len(left), size):
        product = left[start : start + size].float() @ right.float().T
        cosines = product.clamp(-1.0, 1.0).cpu().numpy()
        part = slice(start, start + len(cosines))
        row_partners[part] = cosines.argmax(axis=1)
        rows[part] = cosines.max(axis=1)
        best = cosines.max(axis=0)
        better = best > columns
        columns[better], column_partners[better] = best[better], start + cosines.argmax(axis=0)[better]
    return (rows, row_partners), (columns, column_partners)


@dataclass(frozen=True, eq=False)
class _Pieces:
    """One text in pieces, marks included, where they stand, and what they weigh."""

    text: str
    ids: Longs
    plain: NDArray[np.bool_]
    spans: Longs
    weights: Doubles
    cut: bool

    def side(self, other: _Pieces, cosines: Doubles, partners: Longs) -> Side:
        """Return these pieces beside their partners, without the marks of both."""
        # Marks of the other side may be partners, and have no number of their own; nor has no partner at all.
        numbers = np.append(np.where(other.plain, np.cumsum(other.plain) - 1, -1), -1)
        plain = self.plain
        return Side(
            self.text, self.spans[plain], numbers[partners[plain]], cosines[plain], self.weights[plain], self.cut
        )


def _pieces(pairs: Pairs, text: str, tokens: Tokens) -> _Pieces:
    # Where a tokenizer has but a mark for the end, that counts; in an empty text nothing does.
    plain = tokens.plain & bool(text)
    spans = np.array(tokens.spans, np.int64).reshape(-1, 2)
    names = pairs.encoder.pieces(tokens.ids)
    end = 0
    for i in np.flatnonzero(plain).tolist():
        if not names[i].strip(_SPACES):
            # Tokenizers say that it stands where the next one does.
            spans[i, 1] = spans[i, 0]
        elif spans[i, 0] == spans[i, 1]:
            # A mark that counts.
            spans[i] = end
        end = max(end, int(spans[i, 1]))
    return _Pieces(text, tokens.ids, plain, spans, pairs.weights(tokens), tokens.cut)


def explain(metric: BERTScore, candidate: str, references: Sequence[str]) -> BERTExplanation:
    """Return why a checked candidate scores what it does against checked references."""
    (text,), theirs = metric.prepare_candidates([candidate]), metric.prepare_references(references)
    alignments = align(metric.pairs_with(metric.idf_of(references)), text, theirs)
    table = np.array([one.scores for one in alignments])
    best: tuple[int, int, int] | None = None
    if metric.aggregate == "max":
        p, r, f1 = table.argmax(axis=0).tolist()
        best = (p, r, f1)
    # Summed as the metric does, for the last bit's sake.
    found = table.max(axis=0) if best is not None else np.add.reduceat(table, [0], axis=0)[0] / len(table)
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
    head = write_head(float(told.scores.f1), at_least, phrases)
    longest = _LONGEST_QUOTE
    while True:
        text = head + "".join(_why(told, phrases, longest)) + phrases["end"]
        if len(text) <= MOST_CHARACTERS or longest < 0:
            return text
        longest -= 4


def _why(told: BERTExplanation, phrases: dict[str, str], longest: int) -> Iterator[str]:
    one, count = told.alignments[told.closest], len(told.references)
    if (edge := _edge(told, one)) is not None:
        yield phrases[edge].format(a="its" if count == 1 else "a", count=f"{count:,}")
    else:
        yield phrases["figures"].format(
            precision=figure(float(told.scores.precision)), recall=figure(float(told.scores.recall))
        )
        # The side that loses more is the one to speak of.
        precise = one.scores.precision > one.scores.recall
        side, name = (
            (one.reference, "recall" if count == 1 else "recall_closest") if precise else (one.candidate, "precision")
        )
        quotes = [
            phrases["quote"].format(text=quotable(word.shown, longest), cosine=figure(word.cosine))
            for word in _named(side)
        ]
        yield phrases[name].format(quotes=phrases["comma"].join(quotes))
    if one.candidate.cut or one.reference.cut:
        yield phrases["cut"]


def _edge(told: BERTExplanation, one: Alignment) -> str | None:
    """Return what there is to say where no words stand out."""
    if one.equal:
        return "equal" if told.scores.f1 == 1 else "equal_one"
    if not len(one.candidate.weights):
        return "unread" if told.candidate else "empty"
    if one.bare:
        return "nothing"
    losses = one.candidate.losses.sum(), one.reference.losses.sum()
    return "same" if max(losses) < _ROUNDING else None


def _named(side: Side) -> list[Word]:
    """Return up to three different words that cost most, in the order of the text.

    A long word of many pieces may cost much and yet be closer than most: those below the mean are the ones to name.
    """
    costly = side.costly()
    low = [word for word in costly if word.cosine < side.score] or costly
    first: dict[str, Word] = {}
    for word in low:
        first.setdefault(word.shown, word)
    named = [word for word in list(first.values())[:_MOST_QUOTED] if word.loss >= _LEAST_SHARE * low[0].loss]
    return sorted(named, key=lambda word: word.first)
