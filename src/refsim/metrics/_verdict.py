"""A score with one plain sentence that says why: what most of it was lost to, and what is missing.

The sentence depends on nothing but the texts, the metric and the threshold, is never empty, and has 300 characters
at most; quotations are shortened in the middle.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

from refsim._printable import figure, is_honest, percent, printable
from refsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from refsim.metrics._explain import Explanation, Missing
    from refsim.metrics._orders import Parts

Language = Literal["en", "ja"]

MOST_CHARACTERS: Final = 300
_MOST_QUOTED, _LONGEST_QUOTE, _SHORTEST_QUOTE = 3, 40, 2

_PHRASES: Final = {
    "en": {
        "score": "Scores {score}: ",
        "passed": "Scores {score}, at least {least}: ",
        "failed": "Scores {score}, below {least}: ",
        "equal": "it equals its reference{s}",
        "nothing": "nothing is lost",
        "empty": "it is empty where {theirs}",
        "foreign": "none of its characters occurs in a reference",
        "shortness": "most is lost to shortness ({loss}), with {own} where {theirs}",
        "excess": "most is lost to excess length ({loss}), with {own} where {theirs}",
        "content": "most is lost to content that differs ({loss}), with {own} where {theirs}",
        "one": "the reference has {length}",
        "mean": "the references have {length} on average",
        "median": "the references have {length} in the median",
        "characters": "{count} characters",
        "character": "{count} character",
        "missing": "it lacks {quotes}",
        "pieces": "its pieces are there, but apart or in another order",
        "share": "{quote} (in {share} of the references)",
        "quote": "“{text}”",
        "comma": ", ",
        "join": "; ",
        "end": ".",
    },
    "ja": {
        "score": "スコア{score}:",
        "passed": "スコア{score}(基準{least}以上):",
        "failed": "スコア{score}(基準{least}未満):",
        "equal": "候補は参照と完全に一致している",
        "nothing": "失点はない",
        "empty": "候補は空で、{theirs}",
        "foreign": "候補のどの文字も参照に現れない",
        "shortness": "失点の最大の原因は短さ({loss})で、候補は{own}、{theirs}",
        "excess": "失点の最大の原因は長すぎること({loss})で、候補は{own}、{theirs}",
        "content": "失点の最大の原因は内容の違い({loss})で、候補は{own}、{theirs}",
        "one": "参照は{length}",
        "mean": "参照は平均{length}",
        "median": "参照は中央値で{length}",
        "characters": "{count}文字",
        "character": "{count}文字",
        "missing": "足りない部分は{quotes}",
        "pieces": "断片は揃っているが、離れているか順序が違う",
        "share": "{quote}(参照の{share}にある)",
        "quote": "「{text}」",
        "comma": "、",
        "join": "、",
        "end": "。",
    },
}


@dataclass(frozen=True)
class Verdict:
    """A score in [0, 1], whether it `passed` (None where no threshold was given), a sentence that says why, and parts.

    `parts` are the score and the losses to shortness, excess and content, which sum to 1.
    """

    score: float
    passed: bool | None
    reason: str
    parts: Parts


def judge(explanation: Explanation, at_least: float | None, language: Language) -> Verdict:
    """Return the verdict on an explained score. Raises InputError for a threshold outside [0, 1]."""
    check_judging(at_least, language)
    passed = None if at_least is None else explanation.score >= at_least
    return Verdict(explanation.score, passed, _reason(explanation, at_least, language), explanation.parts)


def check_judging(at_least: object, language: object) -> None:
    """Raise InputError unless the threshold is None or a number in [0, 1], and the language one that there is."""
    if language not in get_args(Language):
        message = f"language is {language!r}; expected one of {', '.join(map(repr, get_args(Language)))}"
        raise InputError(message)
    if at_least is None:
        return
    if isinstance(at_least, bool) or not isinstance(at_least, int | float) or not 0 <= at_least <= 1:
        message = f"at_least is {at_least!r}; expected a number from 0 to 1, or None"
        raise InputError(message)


def _reason(explanation: Explanation, at_least: float | None, language: Language) -> str:
    phrases = _PHRASES[language]
    head, loss = write_head(explanation.score, at_least, phrases), _loss(explanation, phrases)
    longest = _LONGEST_QUOTE
    while True:
        text = head + phrases["join"].join([*loss, *_lacks(explanation, phrases, longest)]) + phrases["end"]
        if len(text) <= MOST_CHARACTERS:
            return text
        longest -= 4


def write_head(score: float, at_least: float | None, phrases: dict[str, str]) -> str:
    """Return how a sentence begins: the score, beside the threshold with as many digits as tell them apart."""
    if at_least is None:
        return phrases["score"].format(score=figure(score))
    at_least += 0.0  # -0.0 is no number that anyone means
    for digits in range(2, 18):
        shown, least = f"{score:.{digits}f}", f"{at_least:.{digits}f}"
        # As many digits as it takes for the numbers to say what the sentence does, and neither more than it is.
        agree = (float(shown) < float(least)) == (score < at_least)
        if agree and is_honest(shown, score) and is_honest(least, at_least):
            break
    else:
        shown, least = repr(score), repr(at_least)
    return phrases["passed" if score >= at_least else "failed"].format(score=shown, least=least)


def _loss(explanation: Explanation, phrases: dict[str, str]) -> list[str]:
    """Say what the largest part of 1 that is not in the score went to."""
    parts, theirs = explanation.parts, _reference_length(explanation, phrases)
    if (largest := _largest_loss(explanation)) is None:
        equal = explanation.scorer.references == [explanation.candidate]
        return [phrases["equal" if equal else "nothing"].format(s="s" if len(explanation.scorer) > 1 else "")]
    if not explanation.candidate:
        return [phrases["empty"].format(theirs=theirs)]
    own = _characters(len(explanation.symbols), phrases)
    foreign = [] if explanation.orders.overlap.any() else [phrases["foreign"]]
    loss = figure(getattr(parts, largest))
    return [*foreign, phrases[largest].format(loss=loss, own=own, theirs=theirs)]


def _largest_loss(explanation: Explanation) -> str | None:
    """Return what most was lost to; None where nothing was, for beside a score of 1 a loss is a rounding."""
    return None if explanation.score == 1 else explanation.parts.largest


def _reference_length(explanation: Explanation, phrases: dict[str, str]) -> str:
    """Say how long the references are: by the length at order 1, where an n-gram is a character."""
    length = float(explanation.orders.reference_length[0]) if len(explanation.orders) else 0.0
    if len(explanation.scorer) == 1:
        which = "one"
    else:
        which = "median" if explanation.scorer.metric.form == "median" else "mean"
    return phrases[which].format(length=_characters(length, phrases))


def _characters(count: float, phrases: dict[str, str]) -> str:
    shown = f"{count:,.1f}".removesuffix(".0")
    if shown == "0" and count:
        shown = figure(count, 1)
    return phrases["character" if shown == "1" else "characters"].format(count=shown)


def _lacks(explanation: Explanation, phrases: dict[str, str], longest: int) -> list[str]:
    """Name up to three pieces that the candidate lacks, or say that only their order is another."""
    largest = _largest_loss(explanation)
    if largest is None or not explanation.missing:
        return []
    several = len(explanation.scorer) > 1
    quotes: dict[str, str] = {}
    pieces = [piece for missing in explanation.missing for piece in _pieces(missing, explanation.scorer.split)]
    # A piece may be lacking in its place and stand elsewhere, too short to count; the sentence says that it is nowhere.
    pieces = [piece for piece in pieces if piece not in explanation.candidate]
    # Where single characters are all that is lacking, the strings that they are lacking in say more.
    pieces = pieces or [missing.text for missing in explanation.missing if missing.lacking]
    for piece in dict.fromkeys(pieces):
        if len(quotes) == _MOST_QUOTED:
            break
        # What stands within another quotation is said already.
        if any(piece in other for other in quotes):
            continue
        quote = phrases["quote"].format(text=quotable(piece, longest))
        if several:
            share = explanation.scorer.holders(piece) / len(explanation.scorer)
            quote = phrases["share"].format(quote=quote, share=percent(share))
        quotes[piece] = quote
    if not quotes:
        return [phrases["pieces"]] if largest == "content" else []
    return [phrases["missing"].format(quotes=phrases["comma"].join(quotes.values()))]


def _pieces(missing: Missing, split: Callable[[str], Sequence[str]]) -> list[str]:
    """Return the lacking parts of a string without white space around them, the longest first."""
    parts = [_trimmed(split(missing.text[start:stop])) for start, stop in missing.lacking]
    return sorted((part for part in parts if len(part) >= _SHORTEST_QUOTE), key=lambda part: -len(part))


def _trimmed(symbols: Sequence[str]) -> str:
    """Return the text without white space around it; a space with an accent is one character, and no white space."""
    start, stop = 0, len(symbols)
    while start < stop and symbols[start].isspace():
        start += 1
    while start < stop and symbols[stop - 1].isspace():
        stop -= 1
    return "".join(symbols[start:stop])


def quotable(text: str, longest: int) -> str:
    """Return the text on one line, shortened in the middle, and isolated if it runs from right to left."""
    if len(text) > longest:
        half = max(1, (longest - 1) // 2)
        text = f"{text[:half]}…{text[-half:]}"
    # Controls and what turns the direction of a line would change the sentence around it.
    shown = printable(text)
    if any(unicodedata.bidirectional(c) in {"R", "AL"} for c in shown):
        return f"\u2068{shown}\u2069"
    return shown
