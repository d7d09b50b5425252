"""ROUGE, METEOR and char-f1: equal to their own libraries called directly; what they refuse, and what they tell."""

from __future__ import annotations

import pickle
import re
import sys
import unicodedata
from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import peer_data
import refsim
from refsim.errors import InputError, MissingExtra
from refsim.metric import Metric, Stats
from refsim.metrics import parse_metric
from refsim.metrics.peers import METEOR, ROUGE, CharF1
from refsim.segments import Batch
from refsim.text import Preparation
from shared import shared_data

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer", reason="the extra peers is not installed")
fuzz = pytest.importorskip("rapidfuzz.fuzz", reason="the extra peers is not installed")
nltk = pytest.importorskip("nltk", reason="the extra peers is not installed")

VARIANTS = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
METRICS = (
    st.builds(
        ROUGE,
        variants=st.lists(st.sampled_from([*VARIANTS, "rouge3"]), min_size=1, unique=True),
        tokenizer=st.sampled_from(["unicode", "rouge-score"]),
        use_stemmer=st.booleans(),
        preparation=st.sampled_from([Preparation(), Preparation(unicode="NFC", casefold=True)]),
    )
    | st.builds(ROUGE, tokenizer=st.sampled_from(["char", "mecab", "mecab-ko"]))
    | st.builds(METEOR, alpha=st.floats(0, 1), tokenizer=st.sampled_from(["treebank", "wordpunct", "space"]))
    | st.builds(METEOR, lang=st.sampled_from([None, "en", "en-GB", "de-en"]), gamma=st.floats(0, 1))
    | st.builds(CharF1, variant=st.sampled_from(["token-sort", "ratio"]))
)


@pytest.fixture
def wordnet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nltk find WordNet, or skip the test."""
    monkeypatch.setenv("NLTK_DATA", str(shared_data("nltk-wordnet")))


@pytest.fixture
def no_wordnet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let nltk find nothing."""
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    monkeypatch.setattr(nltk.data, "path", [])


def finished(metric: Any, rows: Sequence[tuple[str, list[str]]]) -> dict[str, list[float]]:  # noqa: ANN401  any metric
    batch = Batch.from_lists(candidates=[row[0] for row in rows], references=[row[1] for row in rows])
    return {name: values.tolist() for name, values in metric.finish(metric.measure(batch)).items()}


# ROUGE


@pytest.mark.parametrize("stem", [False, True])
@pytest.mark.parametrize(("data", "every"), [("wmt17", 19), ("two references", 17), ("summeval", 151)])
def test_rouge_is_that_of_rouge_score(data: str, every: int, stem: bool) -> None:  # noqa: FBT001  a parameter
    """All four variants, with several references the best for each, with its own tokeniser."""
    rows = peer_data.rows(data, every)
    theirs = rouge_scorer.RougeScorer(VARIANTS, use_stemmer=stem)
    expected = [theirs.score_multi(references, candidate) for candidate, references in rows]
    found = finished(ROUGE(tokenizer="rouge-score", use_stemmer=stem), rows)
    assert found == {name: [row[name].fmeasure for row in expected] for name in VARIANTS}


def test_rouge_of_made_up_rows_is_that_of_rouge_score() -> None:
    """Ragged references, empty texts, lines."""
    theirs = rouge_scorer.RougeScorer([*VARIANTS, "rouge3"])
    expected = [theirs.score_multi(references, candidate) for candidate, references in peer_data.RAGGED]
    found = finished(ROUGE(variants=(*VARIANTS, "rouge3"), tokenizer="rouge-score"), peer_data.RAGGED)
    assert found == {name: [row[name].fmeasure for row in expected] for name in found}


@given(st.text(st.characters(max_codepoint=127)), st.text(st.sampled_from("abc ABC-_'1.\n")), st.booleans())
def test_on_ascii_words_of_any_script_are_those_of_rouge_score(left: str, right: str, stem: bool) -> None:  # noqa: FBT001
    """The default reads English as rouge-score does."""
    rows = [(left + right, [right, left])]
    assert finished(ROUGE(use_stemmer=stem), rows) == finished(ROUGE(tokenizer="rouge-score", use_stemmer=stem), rows)


@pytest.mark.parametrize(
    ("tokenizer", "candidate", "reference", "rouge1"),
    [
        ("rouge-score", "der Bär", "der Bar", 2 / 5),  # of "Bär" it sees "b" and "r"
        ("unicode", "der Bär", "der Bass", 1 / 2),
        ("unicode", "הכלב רץ", "הכלב ישן", 1 / 2),
        ("rouge-score", "הכלב רץ", "הכלב רץ", 0),
        ("unicode", "हिन्दी में", "हिन्दी", 2 / 3),
        ("char", "猫が、好き", "猫も好き。", 3 / 4),
        ("char", "e\u0301t", "e\u0301", 2 / 3),
        ("mecab", "猫が好きだ。", "猫が嫌いだ", 3 / 4),
        ("mecab", "\0猫\ud800が", "猫が", 1),
        ("mecab-ko", "고양이가 좋다", "고양이가 싫다", 3 / 4),
    ],
)
def test_how_words_are_found(tokenizer: str, candidate: str, reference: str, rouge1: float) -> None:
    """Runs of letters and digits; letters of scripts without spaces; MeCab's words; never punctuation."""
    assert ROUGE(tokenizer=tokenizer).score(candidate, [reference]) == pytest.approx(rouge1)


@pytest.mark.parametrize("tokenizer", ["char", "mecab"])
def test_japanese_scores_with_a_tokeniser_for_it(tokenizer: str) -> None:
    """On real data: rouge-score's own finds next to nothing, these do, and say nothing of missing spaces.

    One of the rows is a link and a name, in Latin letters mostly.
    """
    rows = [
        (candidate, references) for candidate, references in peer_data.rows("japanese", 251) if len(candidate) < 200
    ]
    source = [{"id": i, "candidate": row[0], "references": row[1]} for i, row in enumerate(rows)]
    results = refsim.evaluate(source, f"rouge1(tokenizer={tokenizer})")
    assert results.systems[""].mean > 0.4
    assert not results.notices
    with pytest.warns(UserWarning, match=f"text-unsegmented: .* in {len(rows) - 1} of {len(rows)} rows"):
        assert refsim.evaluate(source, "rouge1(tokenizer=rouge-score)").systems[""].mean < 0.2


def test_sentences_end_at_line_ends() -> None:
    """For rougeLsum, as rouge-score has it by default."""
    candidate, reference = "a b c\nd e f", "d e f\na b c"
    assert parse_metric("rougeLsum").score(candidate, [reference]) == 1  # type: ignore[attr-defined]
    assert parse_metric("rougeL").score(candidate, [reference]) == 0.5  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", VARIANTS)
def test_each_variant_is_a_metric_by_its_name(name: str) -> None:
    """The same number as among the four."""
    metric: Any = parse_metric(name)
    assert str(metric) == name
    rows = peer_data.RAGGED
    assert finished(metric, rows) == {name: finished(ROUGE(), rows)[name]}
    assert metric.score_batch(*zip(*rows, strict=True)).tolist() == finished(ROUGE(), rows)[name]


# METEOR


HYPOTHESIS = "It is a guide to action which ensures that the military always obeys the commands of the party"
REFERENCES = [
    "It is a guide to action that ensures that the military will forever heed Party commands",
    "It is the guiding principle which guarantees the military forces always being under the command of the Party",
    "It is the practical guide for the army always to heed the directions of the party",
]


@pytest.mark.usefixtures("wordnet")
def test_nltks_documented_example() -> None:
    """0.6944 with one reference and with three."""
    assert METEOR().score(HYPOTHESIS, REFERENCES[:1]) == pytest.approx(0.6944, abs=5e-5)
    assert METEOR().score(HYPOTHESIS, REFERENCES) == pytest.approx(0.6944, abs=5e-5)


@pytest.mark.usefixtures("wordnet")
@pytest.mark.parametrize(("data", "every"), [("wmt17", 29), ("two references", 37), ("summeval", 211)])
def test_meteor_is_that_of_nltk(data: str, every: int) -> None:
    """Its tokeniser, its WordNet, its parameters."""
    from refsim.metrics._meteor import _wordnet  # noqa: PLC0415  nltk's reader of the same files

    rows = peer_data.rows(data, every)
    score = nltk.translate.meteor_score.meteor_score
    tokenize = {
        "treebank": lambda text: nltk.word_tokenize(text, preserve_line=True),
        "space": str.split,
        "wordpunct": nltk.wordpunct_tokenize,
    }
    for tokenizer, words in tokenize.items():
        expected = [
            score([words(text) for text in references], words(candidate), wordnet=_wordnet(), alpha=0.8, gamma=0.4)
            for candidate, references in rows
        ]
        assert finished(METEOR(tokenizer=tokenizer, alpha=0.8, gamma=0.4), rows) == {"meteor": expected}


@pytest.mark.usefixtures("wordnet")
def test_meteor_is_signed_with_the_wordnet() -> None:
    """And nltk's version."""
    assert re.fullmatch(
        r"meteor\|nltk:[\d.]+\|wordnet:3\.0\|stem:porter\|references:best\|refsim:.*", METEOR().signature
    )


@pytest.mark.usefixtures("no_wordnet")
def test_a_missing_wordnet_is_an_error_that_says_how_to_get_it() -> None:
    """A command, or a folder for NLTK_DATA."""
    for ask in (lambda: METEOR().score("a", ["a"]), lambda: METEOR().signature):
        with pytest.raises(InputError, match=r"nltk\.downloader wordnet, or set NLTK_DATA to a folder that"):
            ask()


@pytest.mark.parametrize("lang", ["de", "ja", "en-ja"])
def test_meteor_is_for_english(lang: str) -> None:
    """Another language, as a parameter or of a row, is named."""
    with pytest.raises(InputError, match=f"lang is '{lang}', and meteor is for English"):
        METEOR(lang=lang)
    batch = Batch.from_lists(candidates=["a", "b"], references=["a", "b"], langs=["en", lang])
    with pytest.raises(InputError, match=rf"candidates\[1\]: lang is '{lang}', and meteor is for English"):
        METEOR().measure(batch)


@pytest.mark.usefixtures("wordnet")
def test_meteor_tells_text_without_word_boundaries() -> None:
    """Where no language is said."""
    with pytest.warns(UserWarning, match="text-unsegmented: .* in 1 of 1 rows"):
        refsim.evaluate([{"id": 1, "candidate": "吾輩は猫", "references": ["吾輩は猫である"]}], "meteor")


# char-f1


@pytest.mark.parametrize("data", ["japanese", "chinese", "two references"])
def test_char_f1_is_that_of_rapidfuzz(data: str) -> None:
    """After NFKC with words sorted, or as it is; the best of several references."""

    def form(text: str) -> str:
        return unicodedata.normalize("NFKC", text)

    rows = [*peer_data.rows(data, 23), *peer_data.RAGGED, ("Ｔｏｋｙｏ ﾀﾜｰ", ["タワー Tokyo", "東京"])]  # noqa: RUF001  wide
    assert finished(CharF1(), rows)["char-f1"] == [
        max(fuzz.token_sort_ratio(form(candidate), form(text)) for text in references) / 100
        for candidate, references in rows
    ]
    assert finished(CharF1(variant="ratio"), rows)["char-f1"] == [
        max(fuzz.ratio(candidate, text) for text in references) / 100 for candidate, references in rows
    ]
    assert finished(CharF1(), rows)["char-f1"][-1] == 1.0


# All of them


@pytest.mark.usefixtures("wordnet")
@pytest.mark.parametrize("text", ["rouge", "rougeL(tokenizer=char)", "rouge1(tokenizer=mecab)", "meteor", "char-f1"])
def test_totals_merge_to_equal_bits(text: str) -> None:
    """Cut anywhere and in any order, the means are those of the whole; scores lie in [0, 1], hostile texts' too."""
    metric: Any = parse_metric(text)
    rows = [*peer_data.RAGGED, *((left[:200], right[:1]) for left, right in peer_data.HOSTILE)]
    stats = metric.measure(Batch.from_lists(candidates=[r[0] for r in rows], references=[r[1] for r in rows]))
    assert ((stats.rows >= 0) & (stats.rows <= 1)).all()
    for cut in range(len(rows)):
        total = Stats(stats.rows[cut:]).total() + Stats(stats.rows[:cut][::-1]).total()
        assert metric.finish_total(total) == metric.finish_total(stats.total())
    alone = [metric.score(candidate, references) for candidate, references in rows]
    assert next(iter(metric.finish(stats).values())).tolist() == alone


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rouge(variants=rouge0)", "variants is 'rouge0'; expected some of rouge1 to rouge9"),
        ("rouge(variants=rouge1+rouge1)", "expected each of them once"),
        ("rouge(variants=3)", "variants is 3"),
        ("rouge(tokenizer=latin)", "tokenizer is 'latin'; expected one of 'unicode'"),
        ("rouge(tokenizer=char,use_stemmer)", "use_stemmer is of English words"),
        ("rougeL(variants=rouge1)", "has no parameter 'variants'"),
        ("meteor(alpha=2)", "alpha is 2; expected a number from 0 to 1"),
        ("meteor(beta=x)", "beta is 'x'"),
        ("meteor(tokenizer=punkt)", "tokenizer is 'punkt'"),
        ("char-f1(variant=f1)", "variant is 'f1'; expected one of 'token-sort', 'ratio'"),
        ("char-f1(unit=grapheme)", "unit is 'grapheme'; char-f1 counts by units of its own"),
    ],
)
def test_wrong_parameters_are_errors(text: str, message: str) -> None:
    """Each says what was found and what was expected."""
    with pytest.raises(InputError) as error:
        parse_metric(text)
    assert message in str(error.value)


@pytest.mark.parametrize("name", ["rouge", "meteor", "char-f1"])
@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [(["a"], ["a", "b"], "1 candidates but 2"), (["a"], [[]], "is empty"), ([None], ["a"], r"candidates\[0\] is None")],
)
def test_wrong_arguments_are_errors_that_say_where(name: str, candidates: Any, references: Any, message: str) -> None:  # noqa: ANN401
    """As those of every metric."""
    metric: Any = parse_metric(name)
    with pytest.raises(InputError, match=message):
        metric.score_batch(candidates, references)


@given(METRICS)
def test_the_short_name_of_a_metric_names_it(metric: Any) -> None:  # noqa: ANN401  any of them
    """What str() gives can be given back."""
    assert parse_metric(str(metric)) == metric


@given(METRICS)
def test_a_metric_is_a_value(metric: Any) -> None:  # noqa: ANN401  as above
    """Equal, hashed and pickled by its parameters; it cannot be changed."""
    again = pickle.loads(pickle.dumps(metric))  # noqa: S301  made here
    assert (again, hash(again)) == (metric, hash(metric))
    with pytest.raises(FrozenInstanceError):
        metric.preparation = Preparation()


@pytest.mark.usefixtures("wordnet")
@pytest.mark.parametrize("metric", [ROUGE(), METEOR(), CharF1()], ids=str)
def test_each_is_a_metric(metric: object) -> None:
    """By the protocol, which asks for the signature too."""
    assert isinstance(metric, Metric)


def test_texts_are_prepared() -> None:
    """Both sides, and the answer is taken out of the candidate."""
    metric: Any = parse_metric("char-f1(variant=ratio,casefold,extract='after:</think>')")
    assert metric.score("<think>x</think>The Cat", ["the CAT"]) == 1


@pytest.mark.parametrize(
    ("name", "module", "package"),
    [
        ("rouge", "rouge_score.rouge_scorer", "rouge-score"), ("rouge(tokenizer=mecab)", "MeCab", "MeCab"),
        ("meteor", "nltk.data", "nltk"), ("char-f1", "rapidfuzz.fuzz", "RapidFuzz"),
    ],
)  # fmt: skip
def test_a_library_that_is_not_installed_is_named(
    name: str, module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the extra that brings it."""
    from refsim.metrics import _rouge  # noqa: PLC0415  what it has made stays for others

    monkeypatch.setattr(_rouge, "_scorers", _rouge._Scorers())  # noqa: SLF001  a new one, that has made nothing yet
    monkeypatch.setitem(sys.modules, module, None)
    metric: Any = parse_metric(name)
    with pytest.raises(MissingExtra, match=rf'needs {package}; pip install "refsim\[peers\]"'):
        metric.score("a", ["a"])
