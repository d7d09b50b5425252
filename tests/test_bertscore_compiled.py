"""BERTScore's compiled references: every value that of `score_batch`, whole when loaded, an error when damaged."""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import refsim
from commands import run
from refsim import BERTScore, CompiledSetError, InputError, Preparation
from refsim.metrics import _store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

torch = pytest.importorskip("torch", reason="the extra bertscore is not installed")
safetensors = pytest.importorskip("safetensors.torch", reason="the extra bertscore is not installed")

import tiny  # noqa: E402  it needs them

REFERENCES = ["the cat sat on the mat", "a dog ran", "a dog ran", "", "the bird saw a tree", " A Cat "]
CANDIDATES = ["the cat sat", "", "a dog ran", "tree", "\x00", "the cat sat", "a cat"]
VECTORS = "vectors.safetensors"


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny.make_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def metric(model: str) -> Callable[..., BERTScore]:
    """Return `metric(**parameters)`, on the tiny model at layer 2."""

    def made(**parameters: Any) -> BERTScore:  # noqa: ANN401  whatever the metric takes
        return BERTScore(**{"model": model, "layer": 2, **parameters})

    return made


@pytest.fixture
def saved(metric: Callable[..., BERTScore], tmp_path: Path) -> Path:
    """Return where a small set stands."""
    metric(idf="references").compile(REFERENCES).save(tmp_path / "set")
    return tmp_path / "set"


SETTINGS: list[dict[str, Any]] = [
    {}, {"aggregate": "mean"}, {"idf": "references"}, {"idf": "references", "aggregate": "mean"}, {"dtype": "float16"},
    {"rescale": True, "baseline": (0.1, 0.2, 0.3)}, {"preparation": Preparation(casefold=True)},
    {"long_text": "window"}, {"special_tokens": "parse"},
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:idf-weightless")
@pytest.mark.parametrize("parameters", SETTINGS)
def test_values_are_those_of_a_batch(
    metric: Callable[..., BERTScore], parameters: dict[str, Any], tmp_path: Path
) -> None:
    """Compiled, saved and loaded, pickled; one candidate or many, each reference alone."""
    one = metric(**parameters)
    scorer = one.compile(REFERENCES)
    fixed = scorer.metric
    expected = fixed.score_batch(CANDIDATES, [REFERENCES] * len(CANDIDATES))
    scorer.save(tmp_path / "set")
    loaded = refsim.load(tmp_path / "set")
    assert (loaded, hash(loaded), loaded.signature) == (scorer, hash(scorer), scorer.signature)
    for made in (scorer, loaded, pickle.loads(pickle.dumps(scorer))):  # noqa: S301  our own bytes
        for values, wanted in zip(made.score_batch(CANDIDATES), expected, strict=True):
            np.testing.assert_allclose(values, wanted, rtol=0, atol=1e-6)
        assert made.score(CANDIDATES[0]) == pytest.approx([values[0] for values in expected], abs=1e-6)
        rows = made.score_rows(CANDIDATES)
        np.testing.assert_allclose(rows.T, [expected.f1, expected.precision, expected.recall], rtol=0, atol=1e-6)
    table = scorer.score_matrix(CANDIDATES)
    assert table.f1.shape == (len(CANDIDATES), len(scorer.references))
    for i, reference in enumerate(scorer.references):
        wanted = fixed.score_batch(CANDIDATES, [reference] * len(CANDIDATES))
        np.testing.assert_allclose(table.f1[:, i], wanted.f1, rtol=0, atol=1e-6)
    assert len(scorer.score_batch([]).f1) == 0


@pytest.mark.parametrize("aggregate", ["max", "mean"])
def test_ceiling(metric: Callable[..., BERTScore], aggregate: Any) -> None:  # noqa: ANN401  a literal
    """Each reference against all the others, by definition."""
    one = metric(aggregate=aggregate, rescale=True, baseline=(0.1, 0.2, 0.3))
    rest = [[other for j, other in enumerate(REFERENCES) if j != i] for i in range(len(REFERENCES))]
    expected = one.score_batch(REFERENCES, rest).f1.mean()
    assert one.compile(REFERENCES).ceiling() == pytest.approx(expected, abs=1e-6)
    with pytest.raises(InputError, match="a ceiling needs two references"):
        one.compile(["a"]).ceiling()


def test_a_run_tells_the_ceiling(metric: Callable[..., BERTScore]) -> None:
    """Each list of references is compiled once, whatever the number of systems, and warns of nothing by itself."""
    rows = [
        {"id": "1", "system": s, "candidate": c, "references": REFERENCES}
        for s, c in zip("ab", CANDIDATES, strict=False)
    ]
    found = refsim.evaluate(rows, [metric()]).systems
    expected = metric().compile(REFERENCES).ceiling()
    assert [row.ceiling for row in found] == pytest.approx([expected] * 2)


def test_idf_weighs_by_the_set(metric: Callable[..., BERTScore]) -> None:
    """Its own references are the corpus, unless another one is given."""
    one = metric(idf="references")
    scorer = one.compile(REFERENCES)
    assert scorer.metric.idf == one.fit_idf(REFERENCES)
    other = metric(idf=one.fit_idf(["the cat", "a dog"]))
    assert other.compile(REFERENCES).metric == other


def test_a_set_says_what_it_is(metric: Callable[..., BERTScore]) -> None:
    scorer = metric().compile(REFERENCES)
    assert len(scorer) == 6
    assert scorer.references == ["the cat sat on the mat", "a dog ran", "", "the bird saw a tree", "A Cat"]
    assert scorer.weights == [1, 2, 1, 1, 1]
    assert "6 references, 5 different" in repr(scorer)
    assert scorer == metric().compile(REFERENCES[::-1])
    assert scorer != metric().compile(REFERENCES[1:])
    assert scorer != metric(layer=1).compile(REFERENCES)
    assert scorer.nbytes > 1000
    for wrong in ([], "a", ["a", None]):
        with pytest.raises(InputError):
            metric().compile(wrong)  # type: ignore[arg-type]


def test_threads_share_a_set(metric: Callable[..., BERTScore]) -> None:
    scorer = metric().compile(REFERENCES)
    texts = [[f"{word} {candidate}" for candidate in CANDIDATES] for word in tiny.WORDS]
    expected = [scorer.score_batch(some).f1 for some in texts]
    with ThreadPoolExecutor(4) as pool:
        for found, wanted in zip(pool.map(lambda some: scorer.score_batch(some).f1, texts), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)


# Files


def test_a_failed_save_leaves_what_was_there(
    metric: Callable[..., BERTScore], saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def fail(_: int) -> None:
        calls.append(1)
        if len(calls) > 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(KeyboardInterrupt):
        metric().compile(["new"]).save(saved)
    assert len(refsim.load(saved)) == len(REFERENCES)
    assert [path.name for path in saved.parent.iterdir()] == ["set"]


def test_every_damaged_byte_is_an_error(saved: Path) -> None:
    """A byte changed, cut off or added, in any of the files: never another score, never a crash."""
    chance = random.Random(5)  # noqa: S311  places, no secrets
    contents = {path.name: path.read_bytes() for path in saved.iterdir()}
    assert set(contents) == {"header.json", "texts.bin", "counts.bin", VECTORS}
    for _ in range(60):
        name = chance.choice(sorted(contents))
        data = bytearray(contents[name])
        place = chance.randrange(len(data))
        change = chance.choice(["flip", "cut", "add"])
        if change == "flip":
            data[place] ^= chance.randrange(1, 256)
        elif change == "cut":
            del data[place:]
        else:
            data[place:place] = b"\0"
        (saved / name).write_bytes(data)
        try:
            assert json.loads(data) == json.loads(contents[name])  # white space of JSON alone
        except (ValueError, AssertionError):
            with pytest.raises(CompiledSetError):
                refsim.load(saved)
        (saved / name).write_bytes(contents[name])
    (saved / VECTORS).unlink()
    with pytest.raises(CompiledSetError, match=VECTORS):
        refsim.load(saved)


def forge(path: Path, tensors: dict[str, Any] | bytes | None = None, **header: object) -> None:
    """Write a set with contents of one's own and checksums that are right."""
    old, texts, weights = _store.read_set(path)
    data = _store.read_extra(path, VECTORS, old)
    if isinstance(tensors, dict):
        data = safetensors.save(safetensors.load(data) | tensors)
    elif tensors is not None:
        data = tensors
    rest = {key: value for key, value in old.items() if key not in {"sha256", "header_sha256", "format", "version"}}
    _store.write_set(path, {**rest, **header}, texts, weights, {VECTORS: data})


def test_hostile_contents_with_right_checksums(saved: Path) -> None:
    """What a stranger could write: shapes, types, lengths and headers that do not fit."""
    good = safetensors.load((saved / VECTORS).read_bytes())
    huge = json.dumps({"vectors": {"dtype": "F32", "shape": [2**40, 32], "data_offsets": [0, 2**47]}}).encode()
    cases: list[tuple[dict[str, Any] | bytes | None, dict[str, object], str]] = [
        ({"vectors": good["vectors"][:-1]}, {}, "expected vectors"),
        ({"vectors": good["vectors"].double()}, {}, "expected vectors"),
        ({"vectors": good["vectors"] * 3}, {}, "not of length 1"),
        ({"vectors": good["vectors"] * float("nan")}, {}, "not of length 1"),
        ({"lengths": good["lengths"].flip(0)}, {}, "expected vectors"),
        ({"lengths": good["lengths"].float()}, {}, "expected vectors"),
        ({"idf.pieces": good["idf.pieces"].flip(0)}, {}, "pieces do not rise"),
        ({"idf.counts": good["idf.counts"][1:]}, {}, "equal length"),
        ({"idf.counts": good["idf.counts"] + 99}, {}, "more than documents"),
        (len(huge).to_bytes(8, "little") + huge, {}, "cannot be read"),
        ((2**60).to_bytes(8, "little") + b"{}", {}, "cannot be read"),
        (b"", {}, "cannot be read"),
        (None, {"parameters": {"layer": -1}}, "does not describe a metric"),
        (None, {"parameters": {"wrong": 1}}, "does not describe a metric"),
        (None, {"parameters": 5}, "does not describe a metric"),
        (None, {"idf_documents": -1}, "does not describe a metric"),
        (None, {"made_with": None}, "does not describe a metric"),
        (None, {"preparation_signature": "casefold[1.0.0]"}, "were prepared with"),
        (None, {"metric": "other"}, "unknown here"),
    ]
    for i, (tensors, header, message) in enumerate(cases):
        other = saved.parent / f"case{i}"
        shutil.copytree(saved, other)
        forge(other, tensors, **header)
        with pytest.raises(CompiledSetError, match=message):
            refsim.load(other)


def test_another_model_is_an_error(saved: Path, model: str, tmp_path: Path) -> None:
    """Other weights under the old name; a model that is not here; one that has moved."""
    moved = tmp_path / "moved"
    shutil.copytree(model, moved)
    assert refsim.load(saved, model=str(moved)).score("a cat") == refsim.load(saved).score("a cat")
    other = tiny.make_model(tmp_path / "other", seed=8)
    with pytest.raises(CompiledSetError, match=r"vectors come from weights .* here has .*model="):
        refsim.load(saved, model=other)
    with pytest.raises(InputError, match="there is no such directory"):
        refsim.load(saved, model=str(tmp_path / "absent"))
    refsim.Charsim().compile(["a"]).save(tmp_path / "charsim")
    with pytest.raises(InputError, match="has no model"):
        refsim.load(tmp_path / "charsim", model=other)


# Commands


def write_rows(tmp_path: Path) -> list[dict[str, Any]]:
    sets = {"q1": REFERENCES[:3], "q2": REFERENCES[3:]}
    rows = [
        {"question": key, "id": f"{key}-{i}", "candidate": candidate, "references": texts}
        for key, texts in sets.items() for i, candidate in enumerate(CANDIDATES[:4])
    ]  # fmt: skip
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    lines = [{"question": key, "text": text} for key, texts in sets.items() for text in texts]
    (tmp_path / "references.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines), encoding="utf-8")
    return rows


@pytest.mark.parametrize("idf", [(), ("--idf",)])
def test_compile_and_score_by_commands(
    model: str, idf: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A set for each question; the table is that of the same rows with their references; idf weighs by all sets."""
    monkeypatch.chdir(tmp_path)
    rows = write_rows(tmp_path)
    options = ("-m", "bertscore", "--model", model, "--layer", "2", *idf)
    done = run("compile", "references.jsonl", "--field", "text", "--on", "question", *options, "-o", "sets")
    assert done.code == 0, done.err
    assert "compiled 6 references in 2 sets" in done.err
    scored = run("score", "rows.jsonl", "--compiled", "sets", "--per-segment", "out.jsonl", "--json")
    assert scored.code == 0, scored.err
    metric = BERTScore(model=model, layer=2, idf="references" if idf else None)
    if idf:
        metric = metric.with_corpus(REFERENCES)
    expected = metric.score_batch([row["candidate"] for row in rows], [row["references"] for row in rows])
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    (label,) = {key for key in found[0] if key.endswith(".precision")}
    name = label.removesuffix(".precision")
    for key, values in ((name, expected.f1), (label, expected.precision), (f"{name}.recall", expected.recall)):
        assert [row[key] for row in found] == pytest.approx(values.tolist(), abs=1e-6)
    ceilings = [refsim.load(tmp_path / "sets" / place).ceiling() for place in ("0", "1")]
    assert json.loads(scored.out)["systems"][0]["ceiling"] == pytest.approx(np.mean(ceilings), abs=1e-6)


def test_one_set_by_commands(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "references.txt").write_text("the cat sat\na dog ran\n", encoding="utf-8")
    (tmp_path / "candidates.txt").write_text("a cat sat\nthe dog\n", encoding="utf-8")
    options = ("-m", "bertscore", "--model", model, "--layer", "2")
    assert run("compile", "references.txt", *options, "-o", "set").code == 0
    done = run("score", "candidates.txt", "--compiled", "set", "--json")
    assert done.code == 0, done.err
    metric = BERTScore(model=model, layer=2)
    expected = metric.score_batch(["a cat sat", "the dog"], [["the cat sat", "a dog ran"]] * 2).f1.mean()
    assert json.loads(done.out)["systems"][0]["mean"] == pytest.approx(expected, abs=1e-6)
    assert "references:2,sha256" in done.out
