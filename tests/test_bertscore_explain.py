"""BERTScore's explanations: the definition piece by piece, losses that sum up, spans that fit, and how it is shown."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from commands import run
from refsim import BERTScore, InputError
from refsim.metrics._alignment import Side
from refsim.output.alignment import print_alignment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

torch = pytest.importorskip("torch", reason="the extra bertscore is not installed")
transformers = pytest.importorskip("transformers", reason="the extra bertscore is not installed")

import tiny  # noqa: E402  it needs them

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


def english(lang: str | None = None) -> BERTScore:
    """Return the metric with the English model, or skip where that is not installed."""
    metric = BERTScore(lang=lang)
    try:
        metric.score("a", ["b"])
    except InputError as error:
        pytest.skip(str(error))
    return metric


def test_against_the_definition(metric: Callable[..., BERTScore], model: str) -> None:
    """Partners, cosines and weights straight from hidden states."""
    alignment = metric().explain(CANDIDATE, REFERENCES[:1]).alignments[0]
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    full = transformers.AutoModel.from_pretrained(model).eval()
    states = []
    for text in (CANDIDATE, REFERENCES[0]):
        with torch.inference_mode():
            hidden = full(**tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states[2][0]
        states.append(torch.nn.functional.normalize(hidden, dim=-1).double().numpy())
    cosines = states[0] @ states[1].T
    for side, table in ((alignment.candidate, cosines), (alignment.reference, cosines.T)):
        best = table[1:-1].argmax(axis=1)
        np.testing.assert_allclose(side.cosines, table[1:-1].max(axis=1), rtol=0, atol=1e-6)
        marks = {0, table.shape[1] - 1}
        assert side.partners.tolist() == [-1 if i in marks else i - 1 for i in best.tolist()]
        assert side.weights.tolist() == [1 / len(best)] * len(best)


@given(candidate=PIECES, references=st.lists(PIECES, min_size=1, max_size=3), idf=st.booleans(), mean=st.booleans())
def test_scores_are_those_of_the_metric(
    metric: Callable[..., BERTScore], candidate: str, references: list[str], *, idf: bool, mean: bool
) -> None:
    """And on each side the losses sum to what is missing from 1; spans are slices of the texts, in order."""
    one = metric(idf="references" if idf else None, aggregate="mean" if mean else "max")
    told = one.explain(candidate, references)
    assert told.scores == pytest.approx(one.score(candidate, references), abs=1e-6)
    assert (told.best is None) == mean
    for alignment in told.alignments:
        for side, score in ((alignment.candidate, 0), (alignment.reference, 1)):
            if len(alignment.candidate.weights) and len(alignment.reference.weights):
                assert side.losses.sum() == pytest.approx(1 - alignment.scores[score], abs=1e-9)
                assert side.weights.sum() == pytest.approx(1, abs=1e-9)
            assert np.isfinite(side.losses).all()
            assert (np.diff(side.spans[:, 0]) >= 0).all()
            assert all(0 <= start < stop <= len(side.text) for start, stop in side.spans.tolist())
    verdict = one.judge(candidate, references, 0.5)
    assert verdict.passed == (verdict.score >= 0.5)
    assert 0 < len(verdict.reason) <= 400
    json.dumps(told.to_dict(), allow_nan=False)


def test_best_reference_for_each_of_the_three(metric: Callable[..., BERTScore]) -> None:
    told = metric().explain(CANDIDATE, REFERENCES)
    table = np.array([metric().score(CANDIDATE, [reference]) for reference in REFERENCES])
    assert told.best == tuple(table.argmax(axis=0))
    assert told.closest == table[:, 2].argmax()


def test_rescaled(metric: Callable[..., BERTScore]) -> None:
    """The scores are on the metric's scale, the alignment is not; the dictionary has the baseline."""
    one = metric(rescale=True, baseline=(0.1, 0.2, 0.3))
    told = one.explain(CANDIDATE, REFERENCES[:1])
    assert told.scores == pytest.approx(one.score(CANDIDATE, REFERENCES[:1]))
    assert told.alignments[0].scores == pytest.approx(metric().score(CANDIDATE, REFERENCES[:1]))
    assert told.to_dict()["baseline"] == [0.1, 0.2, 0.3]


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
    assert "read up to the model's limit" in metric().judge(long, ["a dog"]).reason
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
    ],
)
def test_sentences_at_the_edges(
    metric: Callable[..., BERTScore], candidate: str, references: list[str], reason: str
) -> None:
    assert metric().judge(candidate, references).reason == reason
    assert metric().judge(candidate, references, language="ja").reason.startswith("スコア")
    print_alignment(metric().explain(candidate, references), reason, io.StringIO())


def test_verdicts(metric: Callable[..., BERTScore]) -> None:
    """One by one or together; wrong arguments are errors before any work."""
    one = metric()
    rows = [[REFERENCES[0]], REFERENCES]
    verdicts = one.judge_batch([CANDIDATE, "a dog"], rows, 0.9)
    assert verdicts == [one.judge(CANDIDATE, rows[0], 0.9), one.judge("a dog", rows[1], 0.9)]
    assert verdicts[1].passed
    weighted = metric(idf="references").judge_batch([CANDIDATE, "a dog"], rows)
    expected = metric(idf="references").score_batch([CANDIDATE, "a dog"], rows)
    assert [verdict.score for verdict in weighted] == pytest.approx(expected.f1.tolist(), abs=1e-6)
    for wrong in ({"at_least": 2.0}, {"at_least": "0.5"}, {"language": "de"}):
        with pytest.raises(InputError, match=f"{next(iter(wrong))} is"):
            one.judge_batch([], [], **wrong)


def test_the_sentence_names_what_costs_most() -> None:
    """In the words of the text, a part of a word with dots, with its cosine."""
    metric = english()
    verdict = metric.judge("The brown fox hurdled a hound.", ["The brown fox jumped over the lazy dog."], 0.9)
    assert verdict.reason.startswith("Scores 0.6")
    assert ", below 0.90: precision 0." in verdict.reason
    assert "least covered of the reference: “jumped” (0." in verdict.reason
    assert "“lazy” (0." in verdict.reason


def test_parts_of_words() -> None:
    """Dots stand where a word goes on; in scripts without spaces there are none, and hidden characters are escaped."""

    def shown(text: str, start: int, stop: int) -> str:
        empty = np.empty(0)
        side = Side(text, np.array([[start, stop]]), np.array([-1]), empty, empty, cut=False)
        return side.shown(0)

    assert shown("unhappily", 2, 7) == "…happi…"
    assert shown("so happily", 3, 8) == "happi…"
    assert shown("猫が座った", 1, 2) == "が"
    assert shown("שלום", 0, 2) == "של…"
    assert shown("a\x1b[2J", 1, 2) == "\\x1b"


# What is shown


def test_the_view_fits_and_marks(metric: Callable[..., BERTScore]) -> None:
    """In a pipe: brackets around what is far, figures in columns, no line wider than 80 columns but the texts."""
    told = metric().explain(CANDIDATE, REFERENCES)
    out = io.StringIO()
    print_alignment(told, "Because.", out, title=["id 7"])
    lines = out.getvalue().splitlines()
    assert lines[0] == told.signature
    assert "id 7" in lines[1]
    one = told.alignments[told.closest]
    worst = one.candidate.costly()[0]
    assert any(line.startswith(f"  {one.candidate.shown(worst)} ") for line in lines)
    assert f"{one.candidate.cosines[worst]:.4f}" in out.getvalue()
    assert all(cell_len(line) <= 80 for line in lines[1:])
    figures = [line for line in lines if line.startswith(("precision", "recall", "F1 "))]
    assert [float(line.split()[1]) for line in figures] == pytest.approx(list(told.scores), abs=1e-4)


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
