"""Baselines of one's own: which pairs are taken, what their file holds and refuses, and the command."""

from __future__ import annotations

import itertools
import json
import math
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from commands import run
from refsim.errors import InputError
from refsim.metrics._baseline import (
    Baseline,
    corpus_hash,
    fit_baseline,
    published_baselines,
    read_baseline,
    write_baseline,
)
from refsim.metrics.bertscore import BERTScore, TruncatedWarning

if TYPE_CHECKING:
    from collections.abc import Callable

pytest.importorskip("torch", reason="the extra bertscore is not installed")
pytest.importorskip("transformers", reason="the extra bertscore is not installed")
tiny = pytest.importorskip("tiny")

BEASTS = ["a cat", "the dog", "a bird and a dog", "the cat and the bird"]
DEEDS = ["sat on the mat", "ran", "saw the tree", "sat in a tree", "ran under the mat"]
LINES = [f"{beast} {deed}" for beast in BEASTS for deed in DEEDS]
MADE = Baseline(
    model="m", weights="0123456789ab", lang="en", dtype="float32", special_tokens="split",
    rows={0: (0.1, 0.2, 0.15), 1: (-0.25, 1 / 3, 0.0)}, errors={0: 0.001, 1: None},
    texts=20, pairs=30, seed=4, corpus_sha256="00ff",
)  # fmt: skip


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the directory of the tiny model."""
    return str(tiny.make_model(tmp_path_factory.mktemp("models") / "tiny"))


def test_few_lines_are_compared_each_with_each(model: str) -> None:
    """With as many pairs as there are, the baseline is the mean over all of them, layer by layer."""
    found = fit_baseline(BERTScore(model=model, layer=1), LINES[:6], pairs=10**6)
    pairs = list(itertools.permutations(LINES[:6], 2))
    assert (found.pairs, found.texts, list(found.rows)) == (30, 6, [0, 1, 2, 3])
    for layer, row in found.rows.items():
        scores = BERTScore(model=model, layer=layer).score_batch(*map(list, zip(*pairs, strict=True)))
        np.testing.assert_allclose(row, [values.mean() for values in scores], rtol=0, atol=1e-6)
        # What is precision one way is recall the other way round.
        assert row[0] == pytest.approx(row[1], abs=1e-9)
    assert set(found.errors.values()) == {None}


def test_random_pairs_come_near_the_mean_of_all(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few lines give every pair the same chance: the mean is met within the error that is told."""
    monkeypatch.setattr("refsim.metrics._baseline._LINES", 8)
    monkeypatch.setattr("refsim.metrics._baseline._PAIRS", 6)
    metric = BERTScore(model=model, layer=2)
    everything, some = fit_baseline(metric, LINES, pairs=380), fit_baseline(metric, LINES, pairs=300, seed=1)
    for layer, error in some.errors.items():
        assert error is not None
        assert 0 < error < 0.02
        assert some.rows[layer][2] == pytest.approx(everything.rows[layer][2], abs=4 * error)


def test_a_seed_gives_its_pairs_again(model: str) -> None:
    """Equal lines, pairs and seed give an equal baseline; another seed another."""
    metric = BERTScore(model=model, layer=2)
    first, second, other = (fit_baseline(metric, LINES, pairs=50, seed=seed) for seed in (3, 3, 4))
    assert first == second
    assert first.rows != other.rows


def test_empty_lines_and_repeats_are_left_out(model: str) -> None:
    """A line is never compared with its own copy, nor with nothing."""
    metric = BERTScore(model=model, layer=2)
    again = fit_baseline(metric, [*LINES[:5], "", "  ", *LINES[:5], f" {LINES[0]}\n"])
    assert again == fit_baseline(metric, LINES[:5])
    assert again.texts == 5


def test_one_layer_costs_one_layer(model: str) -> None:
    """With the metric's layer alone, the row is that of all layers."""
    every, one = (fit_baseline(BERTScore(model=model, layer=1), LINES, every_layer=flag) for flag in (True, False))
    assert list(one.rows) == [1]
    np.testing.assert_allclose(one.rows[1], every.rows[1], rtol=0, atol=1e-6)


def test_progress_is_told_to_the_end(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is called with growing numbers of pairs, the last of them all."""
    monkeypatch.setattr("refsim.metrics._baseline._PAIRS", 40)
    seen: list[tuple[int, int]] = []
    fit_baseline(BERTScore(model=model, layer=0), LINES, pairs=100, progress=lambda *told: seen.append(told))
    assert seen == [(40, 100), (80, 100), (100, 100)]


def test_texts_that_are_cut_are_counted_once(model: str) -> None:
    """However many pairs a long text is in, the warning counts texts."""
    with pytest.warns(TruncatedWarning, match=r"text-truncated: 1 of 3 texts"):
        fit_baseline(BERTScore(model=model, layer=1), ["cat " * 40, *LINES[:2]])


@pytest.mark.parametrize(
    ("lines", "parameters", "pairs", "message"),
    [
        (["one"], {}, 9, "two different texts"),
        ([" a cat", "a cat ", ""], {}, 9, "found 1"),
        (LINES, {}, 0, "pairs=0"),
        (LINES, {"idf": "references"}, 9, "without idf"),
        (LINES, {"rescale": True, "baseline": (0.1, 0.1, 0.1)}, 9, "without rescaling"),
    ],
)
def test_what_cannot_be_fitted(model: str, lines: list[str], parameters: Any, pairs: int, message: str) -> None:  # noqa: ANN401
    """Too few lines, no pairs, and metrics whose scores are no plain means are refused."""
    with pytest.raises(InputError, match=message):
        fit_baseline(BERTScore(model=model, layer=1, **parameters), lines, pairs=pairs)


def test_rescaling_maps_the_baseline_to_zero(model: str, tmp_path: Path) -> None:
    """The pairs that a baseline was fitted on have a rescaled mean of 0."""
    metric = BERTScore(model=model, layer=2)
    write_baseline(tmp_path / "b.json", fit_baseline(metric, LINES))
    rescaled = BERTScore(model=model, layer=2, rescale=True, baseline=str(tmp_path / "b.json"))
    scores = rescaled.score_batch(*map(list, zip(*itertools.permutations(LINES, 2), strict=True)))
    np.testing.assert_allclose([values.mean() for values in scores], 0, atol=1e-6)


def test_a_baseline_of_other_weights_is_refused(model: str, tmp_path: Path) -> None:
    """Same depth, same names, other weights: numbers of one would mean nothing for the other."""
    other = tiny.make_model(tmp_path / "other", seed=8)
    write_baseline(tmp_path / "b.json", fit_baseline(BERTScore(model=model, layer=2), LINES[:4]))
    with pytest.raises(InputError, match="was fitted for model"):
        BERTScore(model=other, layer=2, rescale=True, baseline=str(tmp_path / "b.json")).score("a", ["the"])


def test_a_layer_that_is_not_there_is_named() -> None:
    """The message says which layers there are."""
    with pytest.raises(InputError, match="has layers 0 to 1, not layer 6"):
        MADE.row(6)


def test_the_hash_of_the_corpus_is_that_of_its_file() -> None:
    """A file of different lines has the hash that sha256sum gives."""
    assert corpus_hash(["a", "b"]) == "911169ddaaf146aff539f58c26c489af3b892dff0fe283c1c264c65ae5aa59a2"


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    """Every field, every float to its last bit."""
    write_baseline(tmp_path / "b.json", MADE)
    assert read_baseline(tmp_path / "b.json") == MADE
    assert read_baseline(tmp_path / "b.json").sha256 == MADE.sha256


def test_no_changed_byte_goes_unseen(tmp_path: Path) -> None:
    """A file with one byte changed is an error that names it, or holds the very same."""
    path = tmp_path / "b.json"
    write_baseline(path, MADE)
    whole = path.read_bytes()
    dice = random.Random(5)  # noqa: S311  no secret
    for _ in range(400):
        place = dice.randrange(len(whole))
        path.write_bytes(whole[:place] + bytes([dice.randrange(256)]) + whole[place + 1 :])
        try:
            assert read_baseline(path) == MADE
        except InputError as error:
            assert str(path) in str(error)  # noqa: PT017  either way is right


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda record: record.update(format="something"), "is no baseline"),
        (lambda record: record.update(version=2), "version 2"),
        (lambda record: record.update(pairs="many"), "pairs is 'many'"),
        (lambda record: record.update(seed=True), "seed is True"),
        (lambda record: record.pop("model"), "model"),
        (lambda record: record.update(rows=[]), "no layer"),
        (lambda record: record.update(rows=7), "not iterable"),
        (lambda record: record["rows"][0].update(layer=-1), "layer -1"),
        (lambda record: record["rows"][0].update(layer=1), "layer 1"),
        (lambda record: record["rows"][0].update(f1=1.0), "f1 is 1.0"),
        (lambda record: record["rows"][0].update(recall=math.nan), "recall is nan"),
        (lambda record: record["rows"][0].update(precision="0.5"), "precision is '0.5'"),
    ],
)
def test_a_wrong_file_with_a_right_checksum(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    """Whoever makes a checksum for nonsense gets an error that says what is wrong, and no score."""
    from refsim.metrics._baseline import _digest  # noqa: PLC0415  to forge one

    record = MADE.record()
    change(record)
    (tmp_path / "b.json").write_text(json.dumps(record | {"sha256": _digest(record)}))
    with pytest.raises(InputError, match=message):
        read_baseline(tmp_path / "b.json")


@pytest.mark.parametrize("content", [None, b"", b"[]", b"{", b"\xff\xfe", b"[" * 100_000, b" " * (2 << 20)])
def test_what_is_no_baseline(tmp_path: Path, content: bytes | None) -> None:
    """Missing, empty, foreign and huge files are errors that name the file."""
    path = tmp_path / "b.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"b\.json"):
        read_baseline(path)


def test_the_published_ones_are_counted() -> None:
    """roberta-large has its 24 layers and the embeddings."""
    assert published_baselines()["en"]["roberta-large"] == 25


def write_lines(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_the_command_fits_shows_and_uses(model: str, tmp_path: Path) -> None:
    """Files of different lengths are one corpus; the file scores; `show` prints what `fit` did."""
    first, second = write_lines(tmp_path / "1.txt", LINES[:3]), write_lines(tmp_path / "2.txt", LINES[3:])
    out = tmp_path / "b.json"
    done = run("baseline", "fit", first, second, "--model", model, "-o", out, "--seed", "5", "--pairs", "100")
    assert done.code == 0, done.err
    assert f"wrote {out}" in done.err
    assert run("baseline", "show", out).out == done.out
    found = read_baseline(out)
    assert (found.texts, found.pairs, found.seed) == (20, 100, 5)
    assert json.loads(run("baseline", "show", out, "--json").out) == found.record()
    use = done.out.splitlines()[-1].strip().replace("rescale", "layer=2,rescale")
    assert run("score", first, "-r", first, "-m", use).code == 0


def test_the_command_takes_a_column_and_one_layer(model: str, tmp_path: Path) -> None:
    """JSON lines give the texts of a column, and the line on its use has the layer."""
    rows = write_lines(tmp_path / "rows.jsonl", [json.dumps({"body": line}) for line in LINES])
    out = tmp_path / "b.json"
    done = run("baseline", "fit", rows, "--column", "body", "--model", model, "--layer", "1", "-o", out)
    assert done.code == 0, done.err
    assert list(read_baseline(out).rows) == [1]
    assert "layer=1" in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit"], "expected one or more files"),
        (["fit", "x.txt"], "-o FILE"),
        (["fit", "x.txt", "-o", "b.json", "--layer", "last"], "--layer last"),
        (["fit", "x.txt", "-o", "b.json", "--pairs", "0"], "--pairs 0"),
        (["fit", "x.txt", "-o", "b.json", "--seed", "-1"], "--seed -1"),
        (["fit", "x.txt", "-o", "x.txt"], "is an input"),
        (["show"], "expected one file"),
        (["list", "x.txt"], "takes no file"),
        (["list", "--lang", "xx"], "no baseline is published"),
    ],
)
def test_slips_are_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    """Each is one line that says what was expected, before any model is loaded."""
    monkeypatch.chdir(tmp_path)
    write_lines(Path("x.txt"), LINES)
    done = run("baseline", *arguments)
    assert done.code == 2
    assert message in done.err


def test_published_baselines_are_listed() -> None:
    """One line for each language and model."""
    done = run("baseline", "list", "--lang", "zh", "--model", "bert-base-chinese")
    assert done.out == "zh      layers 0 to 12  bert-base-chinese\n"
