"""BERTScore's compiled references: every value that of `score_batch`, whole when loaded, an error when damaged."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Literal
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import refsim
from commands import run
from refsim import BERTScore, CompiledSetError, InputError, Preparation
from refsim.metrics import _embeddings, _packed, _store
from refsim.metrics._matching import match_pairs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

torch = pytest.importorskip("torch", reason="the extra bertscore is not installed")
safetensors = pytest.importorskip("safetensors.torch", reason="the extra bertscore is not installed")

import tiny  # noqa: E402  it needs them

REFERENCES = ["the cat sat on the mat", "a dog ran", "a dog ran", "", "the bird saw a tree", " A Cat "]
CANDIDATES = ["the cat sat", "", "a dog ran", "tree", "\x00", "the cat sat", "a cat"]
VECTORS = "vectors.safetensors"
TEXTS = st.lists(st.sampled_from([*tiny.WORDS, "\x00", "other"]), max_size=8).map(" ".join)


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


@pytest.mark.filterwarnings("ignore:idf-weightless", "ignore:text-truncated")
@given(
    candidates=st.lists(TEXTS, max_size=5), references=st.lists(TEXTS, min_size=1, max_size=9),
    idf=st.sampled_from([None, "references"]), aggregate=st.sampled_from(["max", "mean"]),
)  # fmt: skip
def test_every_entry_point_agrees(
    model: str,
    candidates: list[str],
    references: list[str],
    idf: Literal["references"] | None,
    aggregate: Literal["max", "mean"],
) -> None:
    """A batch, a compiled set, one that is split into blocks of a few tokens, a matrix: one value."""
    one = BERTScore(model=model, layer=2, idf=idf, aggregate=aggregate)
    expected = one.score_batch(candidates, [references] * len(candidates))
    if idf and candidates:
        # Repeats of a list make its pieces no more frequent in a set.
        expected = one.with_corpus(references).score_batch(candidates, [references] * len(candidates))
    scorer = one.compile(references)
    found = [scorer.score_batch(candidates)]
    with mock.patch.object(_packed, "_BLOCK_TOKENS", 7), mock.patch.object(_embeddings, "_MOST_TOKENS", 9):
        found.append(scorer.score_batch(candidates))
        ceiling = scorer.ceiling() if len(references) > 1 else None
    table = one.with_corpus(references) if idf else one
    matrix = table.score_matrix(candidates, scorer.references)
    for values in (*found, scorer.score_matrix(candidates)):
        wanted = expected if values.f1.ndim == 1 else matrix
        for some, others in zip(values, wanted, strict=True):
            np.testing.assert_allclose(some, others, rtol=0, atol=1e-6)
    if ceiling is not None:
        assert scorer.ceiling() == pytest.approx(ceiling, abs=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_set_of_nothing_but_an_empty_text(metric: Callable[..., BERTScore], dtype: str, tmp_path: Path) -> None:
    """It has no vectors at all, and comes back."""
    scorer = metric(dtype=dtype).compile(["", " "])
    scorer.save(tmp_path / "set")
    for made in (scorer, refsim.load(tmp_path / "set")):
        assert made.score_batch(["", "a cat"]).f1.tolist() == [1.0, 0.0]
        assert made.ceiling() == 1.0


def test_a_loaded_set_is_saved_as_the_same_bytes(saved: Path, tmp_path: Path) -> None:
    refsim.load(saved).save(tmp_path / "again")
    for path in saved.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()


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
        found = list(pool.map(lambda some: scorer.score_batch(some).f1, texts))
    # To the last bit, for each call is one batch, in whichever thread.
    assert [values.tolist() for values in found] == [values.tolist() for values in expected]


@given(
    left=st.lists(st.integers(1, 9), min_size=1, max_size=8), right=st.lists(st.integers(1, 9), min_size=1, max_size=8),
    block=st.integers(1, 30), seed=st.integers(0, 99),
)  # fmt: skip
def test_packed_texts_are_matched_as_each_pair_is(left: list[int], right: list[int], block: int, seed: int) -> None:
    """Any lengths, any blocks; each side with itself too, where half is mirrored; marks alone score 0."""
    chance = np.random.default_rng(seed)
    made = []
    for lengths in (left, right):
        vectors = [torch.nn.functional.normalize(torch.from_numpy(chance.normal(size=(n, 4))).float()) for n in lengths]
        weights = [chance.random(n) * chance.integers(0, 2) for n in lengths]
        made.append((vectors, [one / (one.sum() or 1.0) for one in weights]))
    nothing = torch.empty(0, 4)
    packed = [_packed.pack(*side, nothing) for side in made]
    for i, j in ((0, 1), (0, 0), (1, 1)):
        with mock.patch.object(_packed, "_BLOCK_TOKENS", block):
            found = _packed.match(packed[i], packed[j])
        pairs = [(a, b) for a in range(len(made[i][0])) for b in range(len(made[j][0]))]
        wanted = match_pairs(
            [made[i][0][a] for a, _ in pairs], [made[j][0][b] for _, b in pairs],
            [made[i][1][a] for a, _ in pairs], [made[j][1][b] for _, b in pairs],
        )  # fmt: skip
        bare = [not (made[i][1][a].any() and made[j][1][b].any()) for a, b in pairs]
        for some, others in zip(found, wanted, strict=True):
            np.testing.assert_allclose(some.ravel(), np.where(bare, 0.0, others), rtol=0, atol=1e-6)
    for some, one in zip(packed[0].split(), made[0][0], strict=True):
        assert torch.equal(some, one)


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


@pytest.fixture(scope="module")
def contents(model: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the files of a small set by their names."""
    place = tmp_path_factory.mktemp("sets") / "set"
    BERTScore(model=model, layer=2, idf="references").compile(REFERENCES).save(place)
    return {path.name: path.read_bytes() for path in place.iterdir()}


def test_a_set_is_four_files_and_none_is_a_pickle(contents: dict[str, bytes]) -> None:
    assert set(contents) == {"header.json", "texts.bin", "counts.bin", VECTORS}
    assert set(safetensors.load(contents[VECTORS])) == {"vectors", "lengths", "idf.pieces", "idf.counts"}
    assert not [name for name, data in contents.items() if b"pickle" in data or data[:2] in {b"\x80\x04", b"PK"}]


@pytest.mark.parametrize("name", ["header.json", "texts.bin", "counts.bin", VECTORS])
@pytest.mark.parametrize("change", ["flip", "cut", "add"])
@given(data=st.data())
def test_every_damaged_byte_is_an_error(
    contents: dict[str, bytes], name: str, change: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A byte changed, cut off or added, anywhere in any of the files: never another score, never a crash."""
    damaged = bytearray(contents[name])
    # Half of the places are in the header of the safetensors.
    ends = st.one_of(st.integers(0, min(300, len(damaged) - 1)), st.integers(0, len(damaged) - 1))
    place = data.draw(ends)
    if change == "flip":
        damaged[place] ^= data.draw(st.integers(1, 255))
    elif change == "cut":
        del damaged[place:]
    else:
        damaged[place:place] = data.draw(st.binary(min_size=1, max_size=9))
    with contextlib.suppress(ValueError):
        assume(json.loads(damaged) != json.loads(contents[name]))  # white space of JSON changes nothing
    directory = tmp_path_factory.mktemp("damaged")
    for other, whole in contents.items():
        (directory / other).write_bytes(damaged if other == name else whole)
    with pytest.raises(CompiledSetError):
        refsim.load(directory)


@pytest.mark.parametrize("name", ["texts.bin", "counts.bin", VECTORS])
def test_a_missing_file_is_named(saved: Path, name: str) -> None:
    (saved / name).unlink()
    with pytest.raises(CompiledSetError, match=name):
        refsim.load(saved)


def test_another_version_is_an_error(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_store, "VERSION", 2)
    with pytest.raises(CompiledSetError, match="version 1 of the format, expected 2"):
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


def raw(shape: list[int], offsets: list[int], again: list[int] | None = None, kind: str = "F32") -> bytes:
    """Return a file of safetensors whose header says what it likes of the 1,032 bytes behind it."""
    one = {"dtype": kind, "shape": shape}
    tensors = {"vectors": {**one, "data_offsets": offsets}}
    if again is not None:
        tensors["lengths"] = {**one, "data_offsets": again}
    header = json.dumps(tensors).encode()
    return len(header).to_bytes(8, "little") + header + bytes(max(0, min(1032, max(offsets + (again or [])))))


@pytest.mark.parametrize("text", ["\ud800", " a cat", "a cat\n"])
def test_references_that_were_never_prepared(saved: Path, text: str) -> None:
    """What no Scorer holds, as a stranger could write it: half a surrogate pair would stop the tokenizer."""
    header, texts, weights = _store.read_set(saved)
    data = _store.read_extra(saved, VECTORS, header)
    rest = {key: value for key, value in header.items() if key not in {"sha256", "header_sha256", "format", "version"}}
    _store.write_set(saved, rest, [*texts[:-1], text], weights, {VECTORS: data})
    with pytest.raises(CompiledSetError, match="outer white space or half a surrogate pair"):
        refsim.load(saved)


def test_hostile_contents_with_right_checksums(saved: Path) -> None:
    """What a stranger could write: shapes, types, lengths and headers that do not fit."""
    good = safetensors.load((saved / VECTORS).read_bytes())
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
        ({"vectors": good["vectors"].to(torch.float8_e4m3fn)}, {}, "expected vectors"),
        ({"idf.pieces": good["idf.pieces"].bfloat16()}, {}, "does not describe a metric"),
        (raw([4, 32], [0, 2**47]), {}, "cannot be read"),
        (raw([2**40, 32], [0, 2**47]), {}, "cannot be read"),
        (raw([2**62, 32], [0, 512]), {}, "cannot be read"),
        (raw([0, 2**63], [0, 0]), {}, "cannot be read"),
        (raw([0, 2**62, 8], [0, 0]), {}, "cannot be read"),
        (raw([-4, 32], [0, 512]), {}, "cannot be read"),
        (raw([4, 32], [512, 0]), {}, "cannot be read"),
        (raw([4, 32], [0, 512], again=[256, 768]), {}, "cannot be read"),
        (raw([4, 32], [0, 512], again=[0, 512]), {}, "cannot be read"),
        (raw([4, 32], [0, 512], again=[520, 1032]), {}, "cannot be read"),
        (raw([4, 32], [0, 512], kind="F4"), {}, "cannot be read"),
        ((2**60).to_bytes(8, "little") + b"{}", {}, "cannot be read"),
        (b"", {}, "cannot be read"),
        (None, {"parameters": {"layer": -1}}, "does not describe a metric"),
        (None, {"parameters": {"wrong": 1}}, "does not describe a metric"),
        (None, {"parameters": 5}, "does not describe a metric"),
        (None, {"parameters": {"baseline": "/etc/hostname", "rescale": True}}, "does not describe a metric"),
        (None, {"idf_documents": -1}, "does not describe a metric"),
        (None, {"idf_documents": 10**400}, "does not describe a metric"),
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
    with pytest.raises(InputError, match=r"set: candidates need the model .* there is no such directory"):
        refsim.load(saved, model=str(tmp_path / "absent"))
    refsim.Charsim().compile(["a"]).save(tmp_path / "charsim")
    with pytest.raises(InputError, match="has no model"):
        refsim.load(tmp_path / "charsim", model=other)


def test_a_model_that_is_not_installed_is_named(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFSIM_MODELS", str(tmp_path))
    message = "set: candidates need the model .* run: refsim models install minilm"
    with pytest.raises(InputError, match=message):
        refsim.load(saved, model="minilm")


@pytest.mark.parametrize("name", ["layer", "weights", "tokenizer", "limit"])
def test_everything_that_vectors_come_from_is_compared(saved: Path, name: str) -> None:
    header, _, _ = _store.read_set(saved)
    forge(saved, None, made_with={**header["made_with"], name: "other"})
    with pytest.raises(CompiledSetError, match=f"vectors come from {name} 'other', model .* compile the references"):
        refsim.load(saved)


def test_another_tokenizer_is_an_error(saved: Path, model: str, tmp_path: Path) -> None:
    """The same weights with one word that reads otherwise."""
    other = tmp_path / "other"
    shutil.copytree(model, other)
    place = other / "tokenizer.json"
    content = json.loads(place.read_text(encoding="utf-8"))
    vocabulary = content["model"]["vocab"]
    vocabulary["cat"], vocabulary["dog"] = vocabulary["dog"], vocabulary["cat"]
    place.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(CompiledSetError, match="vectors come from tokenizer"):
        refsim.load(saved, model=str(other))


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
