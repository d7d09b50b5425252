"""BERTScore's explanations: the definition piece by piece, losses that sum up, words, sentences, the command.

How it looks on a terminal: test_bertscore_explain_view.py.
"""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import run
from oracles import bertscore as oracle
from refsim import BERTScore, InputError
from refsim.metrics import _alignment
from refsim.metrics._encoder import encoders
from refsim.metrics._matching import PRF
from refsim.metrics._words import find_words
from refsim.output.alignment import print_alignment
from shared import shared_data

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

torch = pytest.importorskip("torch", reason="the extra bertscore is not installed")
transformers = pytest.importorskip("transformers", reason="the extra bertscore is not installed")

import tiny  # noqa: E402  it needs them
from test_bertscore_families import write_model  # noqa: E402  as above

pytestmark = [pytest.mark.filterwarnings(f"ignore:{slug}") for slug in ("idf-weightless", "text-truncated")]
CANDIDATE, REFERENCES = "the cat sat on the mat", ["a cat sat on a mat", "the bird ran", "a dog"]
PIECES = st.lists(st.sampled_from([*tiny.WORDS, "zebra", "😀", "é", "猫", "\x00"]), max_size=12).map(" ".join)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny.make_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def metric(model: str) -> Callable[..., BERTScore]:
    """Return `metric(**parameters)`, on the tiny model at layer 2."""

    def made(**parameters: Any) -> BERTScore:  # noqa: ANN401  whatever the metric takes
        return BERTScore(**{"model": model, "layer": 2, **parameters})

    return made


def installed(model: str = "minilm") -> BERTScore:
    """Return the metric with a model of its own, or skip where that is not installed."""
    metric = BERTScore(model=model, lang="en")
    try:
        metric.score("a", ["b"])
    except InputError as error:
        pytest.skip(str(error))
    return metric


# Against the definition


def check_definition(metric: BERTScore, candidate: str, reference: str) -> None:
    """Hold partners, cosines, weights and losses of a pair against the oracle, from the model's own hidden states."""
    place, layer, encoder = metric.setting.place, metric.chosen_layer, metric.encoder
    full = transformers.AutoModel.from_pretrained(place).eval()
    documents = [one.ids.tolist() for one in encoder.tokenise([reference])]
    states, marks, weights = [], [], []
    for tokens in encoder.tokenise([candidate, reference]):
        with torch.inference_mode():
            told = full(input_ids=torch.from_numpy(tokens.ids)[None], output_hidden_states=True)
        states.append(told.hidden_states[layer][0].double().numpy())
        marks.append((~tokens.plain).tolist())
        weights.append([oracle.idf(documents, piece) if metric.idf else 1.0 for piece in tokens.ids.tolist()])
    alignment = metric.explain(candidate, [reference]).alignments[0]
    for side, own in ((alignment.candidate, 0), (alignment.reference, 1)):
        expected = oracle.align(states[own], states[1 - own], marks[own], marks[1 - own], weights[own])
        assert side.partners.tolist() == [piece.partner for piece in expected]
        for name, values in (("cosine", side.cosines), ("weight", side.weights), ("loss", side.losses)):
            wanted = [getattr(piece, name) for piece in expected]
            np.testing.assert_allclose(values, wanted, rtol=0, atol=2e-6, err_msg=name)
        assert 1 - sum(piece.loss for piece in expected) == pytest.approx(alignment.scores[own], abs=2e-6)


@pytest.mark.parametrize("parameters", [{}, {"idf": "references"}, {"layer": 1}])
@pytest.mark.parametrize("candidate", [CANDIDATE, "a zebra", "dog dog dog"])
def test_random_model_against_the_definition(
    metric: Callable[..., BERTScore], candidate: str, parameters: dict[str, Any]
) -> None:
    """Partners, cosines, weights and losses straight from hidden states; with idf too, which weighs some pieces 0."""
    check_definition(metric(**parameters), candidate, REFERENCES[0])


@pytest.mark.parametrize(
    ("candidate", "reference"),
    [
        ("The brown fox hurdled a hound.", "The quick brown fox jumped over the lazy dog."),
        ("Prices rose by 3.5% in May.", "In May, prices fell by 3.5 percent."),
    ],
)
def test_trained_model_against_the_definition(candidate: str, reference: str) -> None:
    check_definition(installed(), candidate, reference)


@given(candidate=PIECES, references=st.lists(PIECES, min_size=1, max_size=3), idf=st.booleans(), mean=st.booleans())
def test_scores_are_those_of_the_metric(
    metric: Callable[..., BERTScore], candidate: str, references: list[str], *, idf: bool, mean: bool
) -> None:
    """To the last bit; on each side the losses sum to what is missing from 1; all values are finite and JSON."""
    one = metric(idf="references" if idf else None, aggregate="mean" if mean else "max")
    told = one.explain(candidate, references)
    assert told.scores == one.score(candidate, references)
    assert (told.best is None) == mean
    for alignment in told.alignments:
        for side, score in ((alignment.candidate, 0), (alignment.reference, 1)):
            if len(side.weights):
                assert side.losses.sum() == pytest.approx(1 - alignment.scores[score], abs=1e-6)
                assert side.weights.sum() == pytest.approx(1, abs=1e-9)
            assert np.isfinite(side.losses).all()
            assert (side.losses >= 0).all()
    verdict = one.judge(candidate, references, 0.5)
    assert (verdict.score, verdict.passed) == (told.scores.f1, told.scores.f1 >= 0.5)
    assert 0 < len(verdict.reason) <= 300
    json.dumps(told.to_dict(), allow_nan=False)


@given(candidate=PIECES, reference=PIECES)
def test_words_hold_every_piece(metric: Callable[..., BERTScore], candidate: str, reference: str) -> None:
    """Each once and in order; weights and losses of words sum to those of pieces; partners are the pieces' words."""
    alignment = metric().explain(candidate, [reference]).alignments[0]
    for side, other in ((alignment.candidate, alignment.reference), (alignment.reference, alignment.candidate)):
        assert [i for word in side.words for i in range(word.first, word.last)] == list(range(len(side.weights)))
        for word in side.words:
            pieces = slice(word.first, word.last)
            assert word.text == side.text[word.start : word.stop]
            assert word.loss == pytest.approx(side.losses[pieces].sum())
            assert word.loss == pytest.approx(word.weight * (1 - word.cosine))
            assert all(word.start <= start <= stop <= word.stop for start, stop in side.spans[pieces].tolist())
            named = {i for partner in side.partners_of(word, other) for i in range(partner.first, partner.last)}
            assert {i for i in side.partners[pieces].tolist() if i >= 0} <= named


@pytest.mark.filterwarnings("ignore:script-uncovered")
@pytest.mark.parametrize("text", ["", "[SEP]", " \n"])
def test_where_a_side_has_no_text_all_of_the_other_is_lost(metric: Callable[..., BERTScore], text: str) -> None:
    """Nothing has a partner, each piece costs its weight; texts of marks alone are as empty as those of nothing."""
    one = metric(special_tokens="parse")
    alignment = one.explain("a cat", [text]).alignments[0]
    assert alignment.scores == (0, 0, 0)
    assert alignment.candidate.partners.tolist() == [-1, -1]
    assert alignment.candidate.losses.tolist() == [0.5, 0.5]
    assert alignment.reference.words == []
    assert one.explain(text, ["a cat"]).alignments[0].reference.losses.tolist() == [0.5, 0.5]


def test_equal_texts_lose_nothing_and_the_model_is_not_run(metric: Callable[..., BERTScore]) -> None:
    """Each piece is its own partner; long texts take no table of all pairs."""
    one = metric(long_text="window")
    encoders.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(one.encoder), "_forward", None)
        side = one.explain("cat " * 50_000, ["cat " * 50_000]).alignments[0].candidate
    assert side.partners.tolist() == list(range(50_000))
    assert side.losses.sum() == 0


def test_long_texts_are_matched_in_parts(metric: Callable[..., BERTScore], monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same partners as all at once, the first of equal ones."""
    texts = "the cat sat on a mat and a dog saw the cat in the tree " * 3, ["a bird ran under the tree " * 5]
    one = metric(long_text="window")
    expected = one.explain(*texts).alignments[0]
    monkeypatch.setattr(_alignment, "_MOST_COSINES", 100)
    found = one.explain(*texts).alignments[0]
    for side, other in ((found.candidate, expected.candidate), (found.reference, expected.reference)):
        assert side.partners.tolist() == other.partners.tolist()
        np.testing.assert_allclose(side.cosines, other.cosines, rtol=0, atol=1e-6)


def test_best_reference_for_each_of_the_three(metric: Callable[..., BERTScore]) -> None:
    told = metric().explain(CANDIDATE, REFERENCES)
    table = np.array([metric().score(CANDIDATE, [reference]) for reference in REFERENCES])
    assert told.best == tuple(table.argmax(axis=0))
    assert told.closest == table[:, 2].argmax()


@pytest.mark.parametrize("aggregate", ["max", "mean"])
def test_rescaled(metric: Callable[..., BERTScore], aggregate: str) -> None:
    """The scores are on the metric's scale, the losses are not: they are divided by 1 - baseline to be."""
    one = metric(rescale=True, baseline=(0.1, 0.2, 0.3), aggregate=aggregate)
    told = one.explain(CANDIDATE, REFERENCES)
    assert told.scores == one.score(CANDIDATE, REFERENCES)
    assert told.to_dict()["baseline"] == [0.1, 0.2, 0.3]
    alignment = one.explain(CANDIDATE, REFERENCES[:1]).alignments[0]
    assert alignment.scores == metric().score(CANDIDATE, REFERENCES[:1])
    rescaled = one.score(CANDIDATE, REFERENCES[:1])
    assert alignment.candidate.losses.sum() / (1 - 0.1) == pytest.approx(1 - rescaled.precision, abs=1e-6)
    assert alignment.reference.losses.sum() / (1 - 0.2) == pytest.approx(1 - rescaled.recall, abs=1e-6)


def test_the_closest_reference_has_text_if_any_has(metric: Callable[..., BERTScore]) -> None:
    """An empty reference gives 0, and that may be more than what the others give."""
    told = metric().explain("cat", ["", "a dog"])
    scores = [(0.0, 0.0, 0.0), (-0.2, 0.1, -0.4)]
    alignments = [replace(one, scores=PRF(*values)) for one, values in zip(told.alignments, scores, strict=True)]
    assert replace(told, alignments=alignments).closest == 1


def test_a_dictionary_is_the_callers_own(metric: Callable[..., BERTScore]) -> None:
    told = metric().explain(CANDIDATE, REFERENCES)
    before = json.dumps(told.to_dict())
    changed = told.to_dict()
    changed["alignments"][0]["candidate"]["pieces"].clear()
    changed["best"]["f1"] = 99
    assert json.dumps(told.to_dict()) == before


def test_what_was_cut_off_is_told(metric: Callable[..., BERTScore]) -> None:
    """A text over the limit; in windows all of it is read."""
    long = "cat " * 50
    side = metric().explain(long, ["a dog"]).alignments[0].candidate
    assert side.cut
    assert len(side.cosines) == tiny.LIMIT - 2
    assert (side.words[-1].stop, len(side.text)) == (4 * (tiny.LIMIT - 2) - 1, 199)
    assert metric().judge(long, ["a dog"]).reason.endswith("; what is beyond the model's limit was not read.")
    side = metric(long_text="window").explain(long, ["a dog"]).alignments[0].candidate
    assert not side.cut
    assert len(side.cosines) == 50


@pytest.mark.parametrize(
    ("candidate", "references", "reason"),
    [
        ("", ["a cat"], "Scores 0.00: it is empty, and no reference is."),
        ("a cat", [""], "Scores 0.00: no reference has any text, and it has."),
        ("a cat", [" a cat "], "Scores 1.00: it equals its reference."),
        ("a cat", ["a dog", "a cat"], "Scores 1.00: it equals a reference."),
        ("", ["", "a"], "Scores 1.00: it equals a reference."),
        ("[SEP]", ["a cat"], "Scores 0.00: the model reads nothing of it."),
        ("a cat", ["[SEP]"], "Scores 0.00: no reference has any text, and it has."),
        ("zebra", ["horse"], "Scores 1.00: to the model it is the same as its reference."),
    ],
)
def test_sentences_at_the_edges(
    metric: Callable[..., BERTScore], candidate: str, references: list[str], reason: str
) -> None:
    one = metric(special_tokens="parse")
    assert one.judge(candidate, references).reason == reason
    assert one.judge(candidate, references, language="ja").reason.startswith("スコア")
    print_alignment(one.explain(candidate, references), reason, io.StringIO())


def test_an_equal_reference_among_several_that_are_averaged(metric: Callable[..., BERTScore]) -> None:
    verdict = metric(aggregate="mean").judge("a cat", ["a cat", "the bird ran"])
    assert verdict.score < 1
    assert verdict.reason.endswith(": it equals one of 2 references, and the mean is over all of them.")


def test_verdicts(metric: Callable[..., BERTScore]) -> None:
    """One by one or together; wrong arguments are errors before any work."""
    one = metric()
    rows = [[REFERENCES[0]], REFERENCES]
    encoders.clear()
    verdicts = one.judge_batch([CANDIDATE, "a dog"], rows, 0.9)
    assert verdicts == [one.judge(CANDIDATE, rows[0], 0.9), one.judge("a dog", rows[1], 0.9)]
    assert verdicts[1].passed
    for idf in (None, "references"):
        judged = metric(idf=idf).judge_batch([CANDIDATE, "a dog"], rows)
        expected = metric(idf=idf).score_batch([CANDIDATE, "a dog"], rows)
        assert [verdict.score for verdict in judged] == expected.f1.tolist()
    for wrong in ({"at_least": 2.0}, {"at_least": "0.5"}, {"language": "de"}):
        with pytest.raises(InputError, match=f"{next(iter(wrong))} is"):
            one.judge_batch([], [], **wrong)


def test_a_threshold_that_is_the_score_is_passed(metric: Callable[..., BERTScore]) -> None:
    """And the next number is not; the sentence has the digits to tell."""
    score = metric().score(CANDIDATE, REFERENCES).f1
    assert metric().judge(CANDIDATE, REFERENCES, score).passed
    verdict = metric().judge(CANDIDATE, REFERENCES, float(np.nextafter(score, 1)))
    assert not verdict.passed
    assert repr(score)[:12] in verdict.reason


@pytest.mark.parametrize("aggregate", ["max", "mean"])
def test_rescaled_verdicts_may_be_below_nothing(metric: Callable[..., BERTScore], aggregate: str) -> None:
    verdict = metric(rescale=True, baseline=(0.97, 0.97, 0.97), aggregate=aggregate).judge(
        "a dog", REFERENCES[1:2], 0.5
    )
    assert verdict.score < 0
    assert not verdict.passed
    assert verdict.reason.startswith(f"Scores {verdict.score:.2f}, below 0.50: precision -")


def test_the_sentence_names_the_words_that_cost_most() -> None:
    """In the words of the text, whole, in its order, with their cosines; those that are closer than most are not."""
    metric = installed()
    verdict = metric.judge("The brown fox hurdled a hound.", ["The brown fox jumped over the lazy dog."], 0.9)
    assert verdict.reason.startswith("Scores 0.6")
    assert ", below 0.90: precision 0." in verdict.reason
    assert "least covered of the reference: “jumped” (0." in verdict.reason
    assert "“lazy” (0." in verdict.reason
    side = metric.explain("It was unbelievably slow.", ["It was unbelievably quick."]).alignments[0].candidate
    assert [word.text for word in side.words] == ["It", "was", "unbelievably", "slow", "."]
    assert "unbelievably" not in metric.judge("It was unbelievably slow.", ["It was unbelievably quick."]).reason


def test_the_sentence_names_a_word_once(metric: Callable[..., BERTScore]) -> None:
    """However often it stands there."""
    reason = metric().judge("cat dog cat dog cat dog bird", ["the tree"]).reason
    quoted = re.findall("“(.*?)”", reason)
    assert len(quoted) == len(set(quoted)) > 1


def test_the_sentence_in_japanese_and_hebrew() -> None:
    """In corner brackets; what runs from right to left is isolated, so that its cosine stays behind it."""
    metric = installed("e5-small-q4")
    reason = metric.judge("猫が寝ている。", ["犬が走っている。"], 0.99, language="ja").reason
    assert reason.startswith("スコア0.")
    assert "(基準0.99未満):適合率0." in reason
    assert "「" in reason
    assert "\u2068" in metric.judge("החתול ישן", ["הכלב רץ"]).reason


# Words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The hurdling fox's unbelievably slow", ["The", "hurdling", "fox's", "unbelievably", "slow"]),
        ("22.5% of a_b, well-known", ["22.5", "%", "of", "a_b", ",", "well", "-", "known"]),
        ("cafe\u0301 😀👨\u200d👩\u200d👧 👍🏽🇯🇵", ["cafe\u0301", "😀", "👨\u200d👩\u200d👧", "👍🏽", "🇯🇵"]),
        ('עַל־הַשָּׁטִיחַ, צה"ל', ["עַל", "־", "הַשָּׁטִיחַ", ",", 'צה"ל']),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("a  b\n\nc", ["a", "b", "c"]),
    ],
)
def test_pieces_of_one_character_make_words(text: str, words: list[str]) -> None:
    """Whatever a tokenizer does, a word is whole, and so is a cluster."""
    spans = np.array([(i, i + 1) for i, character in enumerate(text) if not character.isspace()])
    assert [text[word.start : word.stop] for word in find_words(text, spans)] == words


@pytest.mark.parametrize(
    ("text", "spans", "words"),
    [
        ("猫がマット", [(0, 0), (0, 1), (1, 2), (2, 3), (3, 5)], ["猫", "が", "マット"]),
        ("the fox", [(0, 3), (4, 4), (4, 7)], ["the", "fox"]),
        ("the  fox", [(0, 3), (3, 4), (4, 5), (5, 8)], ["the", "fox"]),
        ("😀!", [(0, 1), (0, 1), (0, 1), (0, 1), (1, 2)], ["😀", "!"]),
        ("cafe\u0301 x", [(0, 4), (6, 7)], ["cafe\u0301", "x"]),
        ("unbelievable", [(0, 2), (2, 8)], ["unbeliev"]),
        ("fox", [(0, 3), (3, 3)], ["fox", ""]),
        ("", [], []),
    ],
)
def test_marks_of_spaces_bytes_and_accents_are_parts_of_words(
    text: str, spans: list[tuple[int, int]], words: list[str]
) -> None:
    """A space goes with what is behind it, bytes of one character are one, scripts without spaces stay in pieces."""
    found = find_words(text, np.array(spans, np.int64).reshape(-1, 2))
    assert [text[word.start : word.stop] for word in found] == words
    assert [i for word in found for i in range(word.first, word.last)] == list(range(len(spans)))


@pytest.mark.parametrize("model", ["minilm", "e5-small-q4"])
def test_no_mark_of_a_tokenizer_is_shown(model: str) -> None:
    """Neither "##ing" nor "▁": a piece is a slice of the text, that of a space is empty."""
    text = "The hurdling fox's café, 東京で猫を見た 😀 שלום עולם"
    (alignment,) = installed(model).explain(text, ["A fox saw שלום 東京"]).alignments
    record = alignment.candidate.record(alignment.reference)
    for entry in (*record["pieces"], *record["words"]):
        start, stop = entry["span"]
        assert entry.get("piece", entry.get("word")) == text[start:stop]
    assert not set("#▁Ġ") & set(json.dumps(record, ensure_ascii=False))
    assert [word.text for word in alignment.candidate.words][:4] == ["The", "hurdling", "fox's", "café"]
    starts = [start for start, _ in alignment.candidate.spans.tolist()]
    assert starts == sorted(starts)


def test_bytes_of_one_character_are_one_word() -> None:
    """RoBERTa writes an emoji in several pieces, none of which is text of its own."""
    metric = BERTScore(model=str(shared_data("models") / "tiny-roberta-random"), layer=1)
    (alignment,) = metric.explain("the 🦊 jumped", ["猫 a fox"]).alignments
    assert [word.text for word in alignment.candidate.words] == ["the", "🦊", "jumped"]
    assert alignment.candidate.words[1].last - alignment.candidate.words[1].first > 1
    assert [word.text for word in alignment.reference.words] == ["猫", "a", "fox"]


def test_an_end_mark_that_counts_is_a_word_of_its_own(tmp_path: Path) -> None:
    """T5 has no other marks: it costs what it costs, has no text, and an empty text has none."""
    metric = BERTScore(model=write_model(tmp_path, "t5"), layer=2)
    told = metric.explain("the cat", ["a dog", ""])
    assert told.scores == metric.score("the cat", ["a dog", ""])
    side = told.alignments[0].candidate
    assert [word.text for word in side.words] == ["the", "cat", ""]
    assert side.words[-1].shown == "(mark)"
    assert side.spans.tolist() == [[0, 3], [4, 7], [7, 7]]
    assert side.losses.sum() == pytest.approx(1 - told.alignments[0].scores.precision, abs=1e-6)
    assert told.alignments[1].reference.words == []
    assert told.alignments[1].candidate.losses.sum() == pytest.approx(1)


# The command


def test_the_command(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two texts, a row of a file, a compiled set; JSON; options that are charsim's are errors."""
    monkeypatch.chdir(tmp_path)
    options = ("-m", "bertscore", "--model", model, "--layer", "2")
    metric = BERTScore(model=model, layer=2)
    done = run("explain", CANDIDATE, *REFERENCES, *options)
    assert done.code == 0, done.err
    assert "costs most of the candidate" in done.out
    told = json.loads(run("explain", CANDIDATE, *REFERENCES, *options, "--json").out)
    assert told["f1"] == pytest.approx(metric.score(CANDIDATE, REFERENCES).f1, abs=1e-6)
    assert told["reason"] == metric.judge(CANDIDATE, REFERENCES).reason
    for wrong in (("--share", "0.4"), ("--against", "a bird"), ("--form", "base")):
        failed = run("explain", CANDIDATE, *REFERENCES, *options, *wrong)
        assert failed.code == 2, wrong
        assert wrong[0] in failed.err
    rows = [
        {"id": str(i), "candidate": one, "references": REFERENCES[i:]} for i, one in enumerate([CANDIDATE, "a bird"])
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    told = json.loads(run("explain", "rows.jsonl", "--id", "1", *options, "--idf", "--json").out)
    corpus = [text for row in rows for text in row["references"]]
    weighted = BERTScore(model=model, layer=2, idf=metric.fit_idf(corpus))
    assert told["f1"] == pytest.approx(weighted.score("a bird", REFERENCES[1:]).f1, abs=1e-6)
    metric.compile(REFERENCES).save(tmp_path / "set")
    told = json.loads(run("explain", CANDIDATE, "--compiled", "set", "--json").out)
    assert told["f1"] == pytest.approx(metric.score(CANDIDATE, REFERENCES).f1, abs=1e-6)
    done = run("score", "rows.jsonl", *options, "--worst", "1")
    assert done.code == 0, done.err
    assert "precision 0." in " ".join(done.out.split())
