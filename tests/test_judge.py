"""Verdicts: one sentence that says why, in two languages, whatever the texts hold."""

from __future__ import annotations

import math
import os
import pickle
import re
import subprocess
import sys
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import refsim
from oracles import explain as oracle
from refsim._printable import figure
from refsim.errors import InputError
from strategies import SENTENCES, forms, rows

if TYPE_CHECKING:
    from refsim.metrics._verdict import Language
    from refsim.metrics.charsim import Form

LANGUAGES: tuple[Language, ...] = ("en", "ja")
thresholds = st.none() | st.floats(0, 1) | st.sampled_from([0, 1])


@given(row=rows(), form=forms, at_least=thresholds, language=st.sampled_from(LANGUAGES))
@example(row=("x" * 5000, ["y\n" * 4000, "z" * 3000]), form="main", at_least=0.5, language="en")
@example(row=("", ["\u202e\u2067abc\u0007"]), form="main", at_least=None, language="ja")
def test_a_verdict_is_a_short_sentence(
    row: tuple[str, list[str]], form: Form, at_least: float | None, language: Language
) -> None:
    """Never empty, at most 300 characters, on one line, the same each time; score, parts and `passed` agree with it."""
    candidate, references = row
    metric = refsim.Charsim(form=form)
    verdict = metric.judge(candidate, references, at_least, language=language)
    assert 0 < len(verdict.reason) <= 300
    assert not any(unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} for c in verdict.reason)
    assert not set(verdict.reason) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067")
    assert verdict.score == metric.score(candidate, references) == verdict.parts.score
    assert verdict.passed == (None if at_least is None else verdict.score >= at_least)
    assert verdict == metric.judge(candidate, references, at_least, language=language)
    assert verdict == metric.judge_batch([candidate], [references], at_least, language=language)[0]
    assert verdict == metric.compile(references).judge(candidate, at_least, language=language)


def test_the_largest_loss_and_what_is_missing_are_named() -> None:
    """Shortness, excess and content, the empty and the foreign candidate, and equality."""
    judge = refsim.Charsim().judge
    reference = ["the cat sat on the mat"]
    assert judge("the cat sat", reference).reason == (
        "Scores 0.47: most is lost to shortness (0.42), with 11 characters where the reference has 22 characters; "
        "it lacks “mat”, “on”."
    )
    assert "lost to excess length" in judge("the cat sat on the mat " * 3, reference).reason
    assert "lost to content that differs" in judge("the dog lay in the sun", reference).reason
    assert judge("", reference).reason.startswith("Scores 0.00: it is empty where the reference has 22 characters")
    assert "none of its characters occurs in a reference" in judge("xyz", reference).reason
    assert judge(reference[0], reference).reason == "Scores 1.00: it equals its reference."
    assert judge(reference[0], reference * 2).reason == "Scores 1.00: it equals its references."
    assert judge("abcdefgh xyz", ["abcdefghQ xyz"]).reason.endswith("it lacks “abcdefghQ xyz”.")
    assert "apart or in another order" in judge("on the mat the cat sat", reference).reason


def test_a_missing_piece_comes_with_its_share() -> None:
    """With several references the sentence says how many of them hold the piece."""
    references = [
        "富士山の標高は3776メートルです。",
        "標高3776メートルの富士山。",
        "高さは3776メートル。",
        "知りません。",
    ]
    verdict = refsim.Charsim().judge("富士山です。", references, 0.9, language="ja")
    assert "「は3776メートル」" in verdict.reason
    assert "(参照の50%にある)" in verdict.reason
    assert verdict.reason.startswith("スコア")
    assert verdict.reason.endswith("。")
    assert "(in 50% of the references)" in refsim.Charsim().judge("富士山です。", references, 0.9).reason


def test_right_to_left_pieces_are_isolated() -> None:
    """A Hebrew piece in an English sentence stands between isolates, so that the rest keeps its order."""
    reason = refsim.Charsim().judge("החתול ישב", ["החתול ישב על השטיח"]).reason
    assert "“\u2068" in reason
    assert reason.count("\u2068") == reason.count("\u2069") > 0


def test_a_near_miss_is_not_rounded_up() -> None:
    """As many digits as it takes: 0.4999 is never shown as 0.50 below 0.50."""
    metric = refsim.Charsim()
    score = metric.score("the cat sat", ["the cat sat on the mat"])
    for least in (score + 1e-3, score + 1e-6, score + 1e-12):
        shown = metric.judge("the cat sat", ["the cat sat on the mat"], least).reason.split(":")[0].split()
        assert float(shown[1].rstrip(",")) < float(shown[-1])
    exact = metric.judge("the cat sat", ["the cat sat on the mat"], score)
    assert exact.passed
    assert "at least" in exact.reason


# Without quotation marks, and with nothing that is shown as an escape.
plain = st.text(st.sampled_from("ab cd"), max_size=14) | st.sampled_from([text[:40] for text in SENTENCES[:5]])
PHRASES = {
    "shortness": "most is lost to shortness (",
    "excess": "most is lost to excess length (",
    "content": "most is lost to content that differs (",
}


@given(candidate=plain, references=st.lists(plain, min_size=2, max_size=5), form=forms)
@example(
    # 長針 stands in the candidate, and not where the references share it.
    candidate="長針と短針は1日に11回、11回です。",
    references=["22回です。長針は", "22回です。長針が", "22回です。長針の"],
    form="main",
)
def test_what_a_verdict_says_is_so(candidate: str, references: list[str], form: Form) -> None:
    """The loss it names is the largest; of up to three pieces, none is in the candidate, and the shares are right."""
    verdict = refsim.Charsim(form=form).judge(candidate, references)
    reason, parts = verdict.reason, verdict.parts
    losses = {name: getattr(parts, name) for name in PHRASES}
    named = [name for name, phrase in PHRASES.items() if phrase in reason]
    assert all(losses[name] == max(losses.values()) for name in named)
    assert bool(named) == (bool(candidate) and verdict.score < 1)
    assert all(f"{PHRASES[name]}{figure(losses[name])})" in reason for name in named)
    quoted = re.findall(r"“([^”…]+)” \(in (\d+)% of the references\)", reason)
    assert len(quoted) == reason.count("“") - reason.count("…") <= 3
    for piece, percent in quoted:
        assert piece not in candidate
        assert percent == f"{oracle.count(references, piece) / len(references) * 100:.0f}"


@given(row=rows())
def test_pieces_are_whole_characters(row: tuple[str, list[str]]) -> None:
    """With clusters as characters, a piece is never cut inside one: references hold what they are said to share."""
    metric = refsim.Charsim(preparation=refsim.Preparation(unit="grapheme"))
    candidate, references = row
    for extra in ("", " \u0301b", "\r\n"):
        reason = metric.judge(candidate, [reference + extra for reference in references]).reason
        assert 0 < len(reason) <= 300
        assert "(in 0%" not in reason


@given(
    candidate=st.text(st.sampled_from("abc"), min_size=1, max_size=6),
    reference=st.text(st.sampled_from("abcdefghijklmno"), min_size=7, max_size=60),
    language=st.sampled_from(LANGUAGES),
)
@example(candidate="x", reference="abcdefg", language="en")  # scores 0, below the least float
def test_a_score_one_float_below_the_threshold_reads_below_it(
    candidate: str, reference: str, language: Language
) -> None:
    """The two numbers differ as the sentence says, however near they are, and `passed` is False."""
    score = refsim.charsim(candidate, [reference])
    verdict = refsim.Charsim().judge(candidate, [reference], math.nextafter(score, 1), language=language)
    assert verdict.passed is False
    head = verdict.reason.replace("未満", "").split(": " if language == "en" else "):")[0]
    shown, least = map(float, re.findall(r"\d[\d.]*(?:e-\d+)?", head))
    assert shown < least


def test_verdicts_pickle() -> None:
    """They are values: equal after a process pool sent them back."""
    verdict = refsim.Charsim().judge("the cat", ["the cat sat"], 0.5)
    assert pickle.loads(pickle.dumps(verdict)) == verdict  # noqa: S301  written a moment ago


@pytest.mark.parametrize("at_least", [-0.1, 1.1, float("nan"), "0.5", True, [0.5]])
def test_a_threshold_outside_its_range_is_an_error(at_least: object) -> None:
    """The message has the value and the range."""
    with pytest.raises(InputError, match=r"at_least is .*; expected a number from 0 to 1, or None"):
        refsim.Charsim().judge("a", ["a"], at_least)  # type: ignore[arg-type]


def test_an_unknown_language_is_an_error() -> None:
    """The message has the choices."""
    with pytest.raises(InputError, match="language is 'de'; expected one of 'en', 'ja'"):
        refsim.Charsim().judge("a", ["a"], language="de")  # type: ignore[arg-type]


def test_judge_batch_takes_what_score_batch_takes() -> None:
    """Strings and lists of references, in order; lists that do not match are an error."""
    metric = refsim.Charsim()
    verdicts = metric.judge_batch(["a cat", "a dog"], [["the cat", "a cat"], "the dog"], 0.5)
    assert [v.score for v in verdicts] == metric.score_batch(
        ["a cat", "a dog"], [["the cat", "a cat"], "the dog"]
    ).tolist()
    assert metric.judge_batch([], []) == []
    with pytest.raises(InputError, match="2 candidates but 1 entries"):
        metric.judge_batch(["a", "b"], ["a"])


def test_the_sentence_does_not_depend_on_hash_seeds() -> None:
    """Equal bytes under three seeds of string hashing."""
    code = (
        "import refsim; m = refsim.Charsim(); refs = ['the cat sat on the mat', 'a cat lay on a mat', 'cats sit']; "
        "print([m.judge(c, refs, 0.5, language=l).reason for c in ('the dog', 'a cat sat') for l in ('en', 'ja')]); "
        "print(m.explain('the dog', refs).to_dict())"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(told) == 1
