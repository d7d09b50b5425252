"""BLEU, chrF and TER: equal to sacrebleu called directly, segment by segment and for a whole system."""

from __future__ import annotations

import math
import pickle
import sys
from dataclasses import FrozenInstanceError
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import peer_data
import refsim
from refsim.errors import InputError, MissingExtra
from refsim.metric import Metric, Stats, Total
from refsim.metrics import parse_metric
from refsim.metrics.peers import BLEU, CHRF, TER
from refsim.segments import Batch
from refsim.text import Preparation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

theirs = pytest.importorskip("sacrebleu.metrics", reason="the extra peers is not installed")

# Ours, and sacrebleu's class with the arguments that mean the same.
PAIRS: dict[str, tuple[str, dict[str, Any]]] = {
    "bleu": ("BLEU", {}),
    "bleu(lowercase,tokenize=intl,max_ngram_order=2)": (
        "BLEU", {"lowercase": True, "tokenize": "intl", "max_ngram_order": 2},
    ),
    "bleu(smooth_method=add-k)": ("BLEU", {"smooth_method": "add-k"}),
    "bleu(smooth_method=floor,smooth_value=0.5)": ("BLEU", {"smooth_method": "floor", "smooth_value": 0.5}),
    "bleu(tokenize=zh)": ("BLEU", {"tokenize": "zh"}),
    "bleu(lang=ja)": ("BLEU", {"tokenize": "ja-mecab"}),
    "bleu(tokenize=char)": ("BLEU", {"tokenize": "char"}),
    "chrf": ("CHRF", {}),
    "chrf++": ("CHRF", {"word_order": 2}),
    "chrf(beta=3,char_order=4,include_whitespace)": ("CHRF", {"beta": 3, "char_order": 4, "whitespace": True}),
    "chrf(eps_smoothing,lowercase)": ("CHRF", {"eps_smoothing": True, "lowercase": True}),
    "ter": ("TER", {}),
    "ter(normalized,asian_support,no_punct)": (
        "TER", {"normalized": True, "asian_support": True, "no_punct": True},
    ),
    "ter(case_sensitive)": ("TER", {"case_sensitive": True}),
}  # fmt: skip
ENGLISH = [name for name in PAIRS if name not in ("bleu(tokenize=zh)", "bleu(lang=ja)")]
METRICS = (
    st.builds(
        BLEU,
        lowercase=st.booleans(),
        tokenize=st.sampled_from([None, "none", "13a", "zh", "char"]),
        lang=st.sampled_from([None, "ja", "en-GB", "no"]),
        smooth_method=st.sampled_from(["exp", "none"]),
        preparation=st.sampled_from([Preparation(), Preparation(unicode="NFKC", whitespace="collapse")]),
    )
    | st.builds(CHRF, word_order=st.integers(0, 3), beta=st.integers(0, 5), include_whitespace=st.booleans())
    | st.builds(TER, normalized=st.booleans(), case_sensitive=st.booleans())
)


def their_metric(name: str, *, sentences: bool) -> Any:  # noqa: ANN401  an object of sacrebleu's
    kind, arguments = PAIRS[name]
    return getattr(theirs, kind)(**arguments, **({"effective_order": sentences} if kind == "BLEU" else {}))


def corpus_score(name: str, rows: Sequence[tuple[str, list[str]]]) -> float:
    """Return sacrebleu's corpus score; rows with fewer references have None in the streams, as it wants them."""
    streams = [list(stream) for stream in zip_longest(*(references for _, references in rows))]
    return float(their_metric(name, sentences=False).corpus_score([row[0] for row in rows], streams).score)


def our_total(name: str, rows: Sequence[tuple[str, list[str]]]) -> float:
    metric = parse_metric(name)
    batch = Batch.from_lists(candidates=[row[0] for row in rows], references=[row[1] for row in rows])
    (score,) = metric.finish_total(metric.measure(batch).total()).values()
    return score


def check(name: str, rows: Sequence[tuple[str, list[str]]]) -> None:
    metric: Any = parse_metric(name)
    sentences = their_metric(name, sentences=True)
    expected = [sentences.sentence_score(candidate, references).score for candidate, references in rows]
    assert metric.score_batch([row[0] for row in rows], [row[1] for row in rows]).tolist() == expected
    # Of three references a mean length is a fraction: sacrebleu's sum of those rounds after each row, and so depends on
    # the order of the rows; refsim's rounds once.
    fractions = name.startswith("ter") and any(len(references) > 2 for _, references in rows)
    assert our_total(name, rows) == pytest.approx(corpus_score(name, rows), rel=1e-14 if fractions else 0, abs=0)


@pytest.mark.parametrize("name", PAIRS)
def test_made_up_rows_score_as_sacrebleu_scores_them(name: str) -> None:
    """Ragged references, empty texts, escapes: every segment and the corpus, to the last digit."""
    check(name, peer_data.RAGGED)


@pytest.mark.parametrize("name", ENGLISH)
@pytest.mark.parametrize(("data", "every"), [("wmt17", 9), ("two references", 11), ("plaintext", 1)])
def test_english_data_scores_as_sacrebleu_scores_it(name: str, data: str, every: int) -> None:
    """One reference and two."""
    check(name, peer_data.rows(data, every))


@pytest.mark.parametrize("name", ["bleu(lang=ja)", "bleu(tokenize=char)", "chrf", "chrf++"])
def test_japanese_scores_as_sacrebleu_scores_it(name: str) -> None:
    """MeCab's words and characters."""
    check(name, peer_data.rows("japanese", 61))


@pytest.mark.parametrize("name", ["bleu(tokenize=zh)", "chrf", "ter(normalized,asian_support,no_punct)"])
def test_chinese_scores_as_sacrebleu_scores_it(name: str) -> None:
    """Characters, and edits of characters."""
    check(name, peer_data.rows("post-edits", 71))


@pytest.mark.parametrize("name", ["bleu(tokenize=zh)", "chrf++"])
def test_chinese_paragraphs_score_as_sacrebleu_scores_them(name: str) -> None:
    """Some of several hundred characters."""
    check(name, peer_data.rows("chinese", 121))


@pytest.mark.parametrize("name", ["bleu", "chrf"])
def test_eleven_references_score_as_sacrebleu_scores_them(name: str) -> None:
    """And rows that have one to four of them."""
    rows = peer_data.rows("summeval", 13)
    check(name, rows)
    check(name, [(candidate, references[: 1 + i % 4]) for i, (candidate, references) in enumerate(rows)])


@pytest.mark.parametrize("name", ["bleu", "chrf++", "ter"])
def test_totals_merge_to_equal_bits(name: str) -> None:
    """Cut anywhere and in any order, the sums are those of the whole."""
    metric = parse_metric(name)
    rows = peer_data.rows("two references", 17)
    stats = metric.measure(Batch.from_lists(candidates=[r[0] for r in rows], references=[r[1] for r in rows]))
    whole = metric.finish_total(stats.total())
    for cut in range(0, len(rows), 7):
        parts = [Stats(stats.rows[cut:]).total(), Stats(stats.rows[:cut][::-1]).total()]
        assert metric.finish_total(parts[0] + parts[1]) == metric.finish_total(parts[1] + parts[0]) == whole


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_no_segment_has_no_score(name: str) -> None:
    """The score of nothing is NaN, as that of every metric."""
    assert all(math.isnan(value) for value in parse_metric(name).finish_total(Total(0, ())).values())
    assert refsim.evaluate([{"id": 1, "candidate": "a", "references": ["a"]}], name).systems[""].count == 1


@pytest.mark.parametrize(
    ("lang", "tokenizer"),
    [
        (None, "13a"), ("", "13a"), ("de", "13a"), ("zh", "zh"), ("zh-TW", "zh"), ("cmn", "zh"), ("ja", "ja-mecab"),
        ("ja_JP", "ja-mecab"), ("jpn", "ja-mecab"), ("en-ja", "ja-mecab"), ("ja-en", "13a"), ("ko", "ko-mecab"),
        ("th", "char"), ("khm", "char"), ("EN", "13a"),
    ],
)  # fmt: skip
def test_the_tokeniser_follows_the_language(
    lang: str | None, tokenizer: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A code in two letters or three, with a region or not; of a pair the second."""
    monkeypatch.setattr("sacrebleu.utils.SACREBLEU_DIR", str(tmp_path))
    assert BLEU().tokenizer_of(lang) == tokenizer
    assert BLEU(lang=lang).tokenizer_of(None) == tokenizer
    assert BLEU(lang=lang, tokenize="intl").tokenizer_of("ja") == "intl"


def test_a_cached_model_is_used_for_scripts_without_spaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """flores200 in sacrebleu's folder, where sentencepiece is there to read it."""
    monkeypatch.setattr("sacrebleu.utils.SACREBLEU_DIR", str(tmp_path))
    monkeypatch.setattr("refsim.metrics._sacrebleu.find_spec", lambda _: True)
    assert BLEU(lang="th").tokenizer_of(None) == "char"
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "flores200sacrebleuspm").touch()
    assert BLEU(lang="th").tokenizer_of(None) == "flores200"


def test_nothing_is_fetched_for_a_tokeniser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sacrebleu would fetch a model; the message says how to let it."""
    monkeypatch.setattr("sacrebleu.utils.SACREBLEU_DIR", str(tmp_path))
    metric = BLEU(tokenize="flores200")
    with pytest.raises(InputError, match=r"needs sentencepiece; pip install sentencepiece|refsim fetches none"):
        metric.score("a", ["a"])
    monkeypatch.setattr("refsim.metrics._sacrebleu.find_spec", lambda _: True)
    with pytest.raises(InputError, match="refsim fetches none; let sacrebleu do it once: sacrebleu --tokenize flores"):
        metric.score("a", ["a"])


ROWS: list[dict[str, Any]] = [
    {"id": "1", "system": "A", "candidate": "吾輩は猫", "references": ["吾輩は猫である"], "lang": "ja"},
    {"id": "2", "system": "A", "candidate": "我是猫", "references": ["我是一只猫", "我 是 猫"], "lang": "zh"},
    {"id": "1", "system": "B", "candidate": "a cat", "references": ["a cat sat"], "lang": "en"},
    {"id": "2", "system": "B", "candidate": "a dog", "references": ["a cat"], "lang": None},
]


def test_each_row_is_read_in_its_language() -> None:
    """Its score is that of the metric with this language, and so is its signature."""
    (part,) = refsim.evaluate(ROWS, "bleu").segments
    columns = part.columns()
    for i, row in enumerate(ROWS):
        metric = BLEU(lang=row["lang"])
        assert columns["bleu"][i] == metric.score(row["candidate"], row["references"])
        assert columns["bleu.signature"][i] == metric.signature.replace(str(metric), "bleu")


def test_a_system_is_signed_with_the_tokenisers_of_its_rows() -> None:
    """Whatever others were used for other systems."""
    systems = refsim.evaluate(ROWS, "bleu").systems
    assert "|tok:ja-mecab-0.996-IPA+zh|" in systems["A"].signature
    assert systems["B"].signature == BLEU().signature


def test_sacrebleus_own_signature_is_in_ours() -> None:
    """To be copied into a paper, the number of references in front."""
    for name in PAIRS:
        metric = their_metric(name, sentences=False)
        metric.sentence_score("a", ["a"])
        assert f"|{metric.get_signature()}|".replace("|nrefs:1|", "|") in parse_metric(name).signature


def test_a_language_that_is_no_code_names_its_row() -> None:
    """13a on Japanese would be no error, only a wrong number."""
    with pytest.raises(InputError, match=r"rows\[0\]: lang is 'Japanese'; expected a language's code"):
        refsim.evaluate([{**ROWS[0], "lang": "Japanese"}], "bleu")


def test_texts_without_spaces_are_told() -> None:
    """13a and TER take a Japanese sentence for a word; chrF and a tokeniser that suits do not."""
    with pytest.warns(UserWarning, match="text-unsegmented: .* in 1 of 1 rows"):
        results = refsim.evaluate([{**ROWS[0], "lang": None}], ["bleu", "ter"])
    assert list(results.notices) == ["unsegmented"]
    assert not refsim.evaluate(ROWS, ["bleu", "chrf", "ter(normalized,asian_support)"]).notices


def test_lower_ter_stands_first() -> None:
    """Of systems the one with fewer edits is the better."""
    better = [{**ROWS[2], "system": "C"}, {**ROWS[3], "system": "C", "candidate": "a cat"}]
    systems = refsim.evaluate([*ROWS[2:], *better], ["ter", "chrf"]).systems
    assert [row.system for row in systems] == ["C", "B", "C", "B"]
    assert systems["C"].mean < systems["B"].mean


@pytest.mark.parametrize("name", PAIRS)
def test_hostile_texts_have_scores(name: str) -> None:
    """NUL, half pairs, clusters and long words: a number in range, and the same again."""
    metric: Any = parse_metric(name)
    texts, references = [row[0] for row in peer_data.HOSTILE], [row[1] for row in peer_data.HOSTILE]
    scores = metric.score_batch(texts, references)
    assert ((scores >= 0) & (scores < 1e6)).all()
    assert metric.score_batch(texts, references).tolist() == scores.tolist()


def test_mecab_reads_on_after_nul() -> None:
    """It would end there, and half a text would have the score of the whole."""
    metric = BLEU(lang="ja")
    assert metric.score("吾輩は\0犬ではない", ["吾輩は"]) < metric.score("吾輩は", ["吾輩は"])
    with pytest.warns(UserWarning, match="lone-surrogate"):
        refsim.evaluate([{"id": 1, "candidate": "猫\ud800", "references": ["猫"], "lang": "ja"}], "bleu")


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        (["a"], ["a", "b"], "1 candidates but 2 entries"),
        (["a"], [[]], r"references\[0\] is empty"),
        (["a", None], ["a", "b"], r"candidates\[1\] is None"),
        (["a"], [["a", float("nan")]], r"references\[0\]\[1\] is NaN"),
        ("a", ["a"], "candidates is one str"),
    ],
)
@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_wrong_arguments_are_errors_that_say_where(name: str, candidates: Any, references: Any, message: str) -> None:  # noqa: ANN401
    """As those of every metric."""
    metric: Any = parse_metric(name)
    with pytest.raises(InputError, match=message):
        metric.score_batch(candidates, references)


def test_threads_are_checked() -> None:
    """They change nothing, and a wrong number of them is an error as elsewhere."""
    with pytest.raises(InputError, match="threads is 0"):
        BLEU().score_batch(["a"], ["a"], threads=0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bleu(tokenize=spm)", "tokenize is 'spm'; expected one of"),
        ("bleu(lang=Japanese)", "lang is 'Japanese'"),
        ("bleu(lowercase=1)", "lowercase is 1"),
        ("bleu(smooth_value=1)", "smooth_value is given, but smooth_method 'exp' has no use for it"),
        ("bleu(smooth_method=floor,smooth_value=-1)", "smooth_value is -1"),
        ("bleu(max_ngram_order=0)", "max_ngram_order is 0"),
        ("bleu(unit=grapheme)", "unit is 'grapheme'; bleu counts by units of its own"),
        ("chrf(beta=2.5)", "beta is 2.5"),
        ("chrf(char_order=0)", "char_order is 0"),
        ("chrf++(word_order=1)", "has no parameter 'word_order'"),
        ("ter(normalised)", "has no parameter 'normalised'; did you mean normalized?"),
    ],
)
def test_wrong_parameters_are_errors(text: str, message: str) -> None:
    """Each says what was found and what was expected."""
    with pytest.raises(InputError) as error:
        parse_metric(text)
    assert message in str(error.value)


@given(METRICS)
def test_the_short_name_of_a_metric_names_it(metric: Any) -> None:  # noqa: ANN401  any of the three
    """What str() gives can be given back."""
    assert parse_metric(str(metric)) == metric


@given(METRICS)
def test_a_metric_is_a_value(metric: Any) -> None:  # noqa: ANN401  as above
    """Equal, hashed and pickled by its parameters; it cannot be changed."""
    again = pickle.loads(pickle.dumps(metric))  # noqa: S301  made here
    assert (again, hash(again)) == (metric, hash(metric))
    with pytest.raises(FrozenInstanceError):
        metric.preparation = Preparation()
    assert isinstance(metric, Metric)


def test_texts_are_prepared() -> None:
    """Both sides, and the answer is taken out of the candidate."""
    metric: Any = parse_metric("bleu(casefold,extract='after:</think>')")
    assert metric.score("<think>x</think>The Cat sat down", ["the cat SAT down"]) == pytest.approx(100)


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter", "bleu(lang=ja)"])
def test_a_library_that_is_not_installed_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the extra that brings it."""
    monkeypatch.setattr("refsim.metrics._sacrebleu._made", type("Made", (), {"get": _load_only})())
    for module in ("sacrebleu.metrics", "MeCab"):
        monkeypatch.setitem(sys.modules, module, None)
    metric: Any = parse_metric(name)
    with pytest.raises(MissingExtra, match=r'needs \w+; pip install "refsim\[peers\]"'):
        metric.score("a", ["a"])


def _load_only(_: object, kind: str, arguments: Any) -> Any:  # noqa: ANN401  as the one in its place
    from refsim.metrics._sacrebleu import _Made  # noqa: PLC0415  a new one, that has made nothing yet

    return _Made().get(kind, arguments)
