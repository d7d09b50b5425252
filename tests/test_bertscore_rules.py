"""What BERTScore promises whatever the model: edges, batches, orders, idf, rescaling, errors; on a tiny random BERT."""

# ruff: noqa: SLF001, S106  what is kept and counted is looked at; marks of a tokenizer are no passwords

from __future__ import annotations

import copy
import json
import math
import os
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from refsim.errors import InputError
from refsim.metrics import _matching
from refsim.metrics._encoder import encoders
from refsim.metrics.bertscore import BERTScore, TextWarning, TruncatedWarning

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

torch = pytest.importorskip("torch", reason="the extra bertscore is not installed")
transformers = pytest.importorskip("transformers", reason="the extra bertscore is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="the extra bertscore is not installed")
safetensors = pytest.importorskip("safetensors.torch", reason="the extra bertscore is not installed")

MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["a", "and", "cat", "dog", "mat", "on", "sat", "the", "sep", "[", "]", "\N{REPLACEMENT CHARACTER}"]
LIMIT = 40
CANDIDATES = ["the cat sat on the mat", "a dog", "the dog and a cat sat", "mat", "a cat sat and sat and sat on a mat"]
REFERENCES = ["a cat sat on a mat", "the dog and the cat", "a dog sat", "on the mat", "the cat"]
CLOSE = 1e-6


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the directory of a BERT with random weights, in one whose name says T5, which must mean nothing."""
    place = tmp_path_factory.mktemp("models") / "not-a-t5-base"
    vocabulary = {word: i for i, word in enumerate([*MARKS, *WORDS])}
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=3, num_attention_heads=2, intermediate_size=48,
        max_position_embeddings=LIMIT,
    )  # fmt: skip
    torch.manual_seed(7)
    made = transformers.BertModel(config, add_pooling_layer=False)
    with torch.no_grad():
        for weights in made.parameters():
            weights.add_(torch.randn_like(weights) * 0.2)
    made.save_pretrained(place)
    engine = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    engine.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    engine.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    engine.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=engine, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]",
    ).save_pretrained(place)  # fmt: skip
    return str(place)


@pytest.fixture
def metric(model: str) -> Callable[..., BERTScore]:
    """Return `metric(**parameters)`, on the tiny model at layer 2."""

    def made(**parameters: Any) -> BERTScore:  # noqa: ANN401  whatever the metric takes
        return BERTScore(**{"model": model, "layer": 2, **parameters})

    return made


def equal(first: Any, second: Any) -> bool:  # noqa: ANN401  PRFs
    """Say whether two results are the same to the last bit."""
    return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(first, second, strict=True))


def close(first: Any, second: Any) -> None:  # noqa: ANN401  PRFs
    """Hold two results within 1e-6 of each other."""
    for a, b in zip(first, second, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=CLOSE)


@pytest.mark.filterwarnings("ignore:idf-weightless")
@pytest.mark.parametrize("parameters", [{}, {"rescale": True, "baseline": (0.3, 0.4, 0.5)}, {"idf": "references"}])
def test_empty_and_identical(metric: Callable[..., BERTScore], parameters: dict[str, Any]) -> None:
    """One empty side gives 0, rescaled or not; identical texts give exactly 1, as do two empty ones."""
    one = metric(**parameters)
    candidates = ["", "the cat", "  \n", "the cat", " the cat\t", "", "\x00", "the cat"]
    references = ["the cat", "", "the cat", "the cat", "the cat", " ", "the cat", "\x00"]
    found = one.score_batch(candidates, references)
    for values in found:
        # A text of which the tokenizer leaves nothing but marks (a control character) is empty as well.
        assert values.tolist() == [0, 0, 0, 1, 1, 1, 0, 0]
    assert all(len(values) == 0 for values in one.score_batch([], []))
    assert one.score_matrix([], ["a"]).f1.shape == (0, 1)


def test_batches_and_orders(metric: Callable[..., BERTScore]) -> None:
    """Batch sizes, order, repeats and other rows change nothing beyond 1e-6; an equal plan, not a bit."""
    expected = metric().score_batch(CANDIDATES, REFERENCES)
    encoders.clear()
    assert equal(metric().score_batch(CANDIDATES, REFERENCES), expected)
    for batch_tokens in (1, 9, 17, 100_000):
        close(metric(batch_tokens=batch_tokens).score_batch(CANDIDATES, REFERENCES), expected)
    order = [3, 0, 4, 1, 2]
    encoders.clear()
    moved = metric().score_batch([CANDIDATES[i] for i in order], [REFERENCES[i] for i in order])
    close(moved, [values[order] for values in expected])
    twice = metric().score_batch(CANDIDATES * 2, REFERENCES * 2)
    assert all(np.array_equal(values[:5], values[5:]) for values in twice)
    for i, (candidate, reference) in enumerate(zip(CANDIDATES, REFERENCES, strict=True)):
        encoders.clear()
        close(metric().score(candidate, [reference]), [values[i] for values in expected])
    for values in expected:
        assert np.isfinite(values).all()
        assert (np.abs(values) <= 1).all()


def test_matrix_and_consensus(metric: Callable[..., BERTScore]) -> None:
    one = metric()
    table = one.score_matrix(CANDIDATES, REFERENCES[:3])
    pairs = one.score_batch([c for c in CANDIDATES for _ in range(3)], REFERENCES[:3] * 5)
    close([values.ravel() for values in table], pairs)
    f1 = one.score_matrix(CANDIDATES, CANDIDATES).f1
    np.testing.assert_allclose(one.consensus(CANDIDATES), (f1.sum(axis=1) - 1) / 4, rtol=0, atol=CLOSE)
    np.testing.assert_allclose(one.consensus(CANDIDATES, REFERENCES[:3]), table.f1.mean(axis=1), rtol=0, atol=CLOSE)
    weighted = one.consensus(CANDIDATES, REFERENCES[:3], [1, 0, 3])
    np.testing.assert_allclose(weighted, table.f1 @ np.array([0.25, 0, 0.75]), rtol=0, atol=CLOSE)
    with pytest.raises(InputError, match="nothing to compare"):
        one.consensus(["a"])


@pytest.mark.parametrize("aggregate", ["max", "mean"])
def test_several_references(metric: Callable[..., BERTScore], aggregate: str) -> None:
    """P, R and F1 apart, before rescaling, which is linear and so changes no maximum."""
    rows = [REFERENCES[:3], REFERENCES[3:], [CANDIDATES[2], ""]]
    one = metric(aggregate=aggregate)
    found = one.score_batch(CANDIDATES[:3], rows)
    fold: Any = np.max if aggregate == "max" else np.mean
    for i, row in enumerate(rows):
        single = one.score_batch([CANDIDATES[i]] * len(row), row)
        close([values[i] for values in found], [fold(values) for values in single])
    rescaled = metric(aggregate=aggregate, rescale=True, baseline=(0.1, 0.2, 0.3)).score_batch(CANDIDATES[:3], rows)
    close(rescaled, [(v - b) / (1 - b) for v, b in zip(found, (0.1, 0.2, 0.3), strict=True)])


def test_typed_marks(metric: Callable[..., BERTScore]) -> None:
    """A "[SEP]" in a text is characters, unless they are to be parsed."""
    split, parse = metric().encoder, metric(special_tokens="parse").encoder
    (characters,), (mark,) = split.tokenise(["the [SEP] cat"]), parse.tokenise(["the [SEP] cat"])
    assert split.pieces(characters.ids) == ["[CLS]", "the", "[", "sep", "]", "cat", "[SEP]"]
    assert characters.plain.tolist() == [False, True, True, True, True, True, False]
    assert parse.pieces(mark.ids) == ["[CLS]", "the", "[SEP]", "cat", "[SEP]"]
    assert mark.plain.tolist() == [False, True, False, True, False]


def test_lone_surrogates(metric: Callable[..., BERTScore]) -> None:
    """Half a pair is read as U+FFFD, and told."""
    with pytest.warns(TextWarning, match="1 of 2 texts hold half a surrogate pair"):
        assert metric().score("a \ud800 cat", ["a \N{REPLACEMENT CHARACTER} cat"]) == (1, 1, 1)
    with pytest.warns(TextWarning, match="2 of 2"):
        assert np.isfinite(metric().score("\udfff", ["a cat \ud83d"])).all()


def test_idf(metric: Callable[..., BERTScore]) -> None:
    """idf(t) = ln((N + 1) / (df(t) + 1)), repeats counted; where every weight is 0 all count alike."""
    one = metric(idf="references")
    counted = one.fit_idf(["the cat", "the cat", "a cat", "dog"])
    names = dict(zip(one.encoder.pieces(counted.pieces), counted.weights(counted.pieces).tolist(), strict=True))
    assert {name: round(math.exp(weight) * 60) for name, weight in names.items()} == {
        "[CLS]": 60, "[SEP]": 60, "the": 100, "cat": 75, "a": 150, "dog": 150,
    }  # fmt: skip
    assert counted.weights(np.array([10**6])).tolist() == [math.log(5)]
    # Two halves of a corpus add up, and a corpus can be given beforehand.
    assert one.fit_idf(["the cat", "dog"]) + one.fit_idf(["a cat", "the cat"]) == counted
    assert equal(
        metric(idf=one.fit_idf(REFERENCES)).score_batch(CANDIDATES, REFERENCES), one.score_batch(CANDIDATES, REFERENCES)
    )
    # All pieces of one reference, or of equal ones, weigh 0: recall is then unweighted.
    for references in (["the cat"], ["the cat"] * 3):
        with pytest.warns(TextWarning, match="idf-weightless"):
            weighted = one.score_batch(CANDIDATES[: len(references)], references)
        plain = metric().score_batch(CANDIDATES[: len(references)], references)
        np.testing.assert_allclose(weighted.recall, plain.recall, rtol=0, atol=CLOSE)
        assert np.isfinite(weighted.precision).all()
    # What one call counted is not there in the next.
    first = one.score_batch(CANDIDATES, REFERENCES)
    one.score_batch(CANDIDATES[:2], REFERENCES[3:])
    assert equal(one.score_batch(CANDIDATES, REFERENCES), first)
    assert not equal(first, metric().score_batch(CANDIDATES, REFERENCES))


def test_rescale_without_baseline(metric: Callable[..., BERTScore]) -> None:
    with pytest.raises(InputError, match="rescale needs a baseline"):
        metric(rescale=True)
    with pytest.raises(InputError, match=r"no baseline is published.*give baseline="):
        metric(rescale=True, lang="en").score("a cat", ["a dog"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"layer": -1}, {"layer": 1.0}, {"layer": True}, {"layer": "last"}, {"layer": [1]}, {"idf": "candidates"},
        {"idf": True}, {"rescale": 1}, {"aggregate": "min"}, {"long_text": "cut"}, {"special_tokens": None},
        {"dtype": "float64"}, {"batch_tokens": 0}, {"batch_tokens": 1.5}, {"batch_tokens": True}, {"model": ""},
        {"model": None}, {"model": "published"}, {"baseline": (0.1, 0.2)}, {"baseline": 0.5}, {"baseline": ""},
        {"baseline": (0.1, 0.2, 1.0)}, {"baseline": (0.1, float("nan"), 0.2)}, {"baseline": (0.1, 0.2, 0.1)},
    ],
)  # fmt: skip
def test_wrong_parameters(metric: Callable[..., BERTScore], wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        metric(**wrong)


def test_a_device_without_doubles(metric: Callable[..., BERTScore], monkeypatch: pytest.MonkeyPatch) -> None:
    """MPS has no float64: sums are then worked out on the CPU, and no other place asks for such numbers."""
    assert _matching.doubles_device(torch.device("mps")).type == "cpu"
    assert _matching.doubles_device(torch.device("cuda:1")) == torch.device("cuda:1")
    asked: list[str] = []

    def double(values: Any) -> Any:  # noqa: ANN401  a tensor
        asked.append(sys._getframe(1).f_code.co_name)
        return values.to(torch.float64)

    monkeypatch.setattr(torch.Tensor, "double", double)
    texts = ["the cat sat", "a dog ran away", "the bird"]
    metric().score_batch(texts, texts)
    metric().score_matrix(texts, texts)
    metric().compile(texts).score_batch(texts)
    assert set(asked) == {"in_doubles"}


@pytest.mark.parametrize("device", ["nowhere", "cuda:x"])
def test_wrong_device(metric: Callable[..., BERTScore], device: str) -> None:
    with pytest.raises(InputError, match="device"):
        metric(device=device).score("a", ["a cat"])


@pytest.mark.parametrize(
    ("candidates", "references"),
    [
        ("a cat", ["a cat"]), (["a cat"], "a cat"), ([None], ["a"]), (["a"], [None]), (["a"], [float("nan")]),
        (["a", "b"], ["a"]), ([b"a"], ["a"]), (["a"], [[]]), (["a"], [["a", None]]), ([1], ["a"]),
    ],
)  # fmt: skip
def test_wrong_texts(metric: Callable[..., BERTScore], candidates: Any, references: Any) -> None:  # noqa: ANN401
    with pytest.raises(InputError):
        metric().score_batch(candidates, references)


def test_wrong_models(model: str, tmp_path: Path) -> None:
    """Each is an error that names the model, none a crash."""

    def fails(place: Path | str, match: str, layer: int | None = 2) -> None:
        with pytest.raises(InputError, match=match):
            BERTScore(model=str(place), layer=layer).score("a cat", ["the dog"])

    fails("nobody/no-such-model", "cannot be loaded")
    fails(tmp_path, r"no config\.json")
    fails(tmp_path / "absent", "no such directory")
    fails(model, "no layer is known", None)
    fails(model, "layer 4: .*expected 0", 4)
    weights = safetensors.load_file(f"{model}/model.safetensors")
    part, cut, other, config = (tmp_path / name for name in ("part", "cut", "other", "config"))
    for place in (part, cut, other, config):
        shutil.copytree(model, place)
    del weights["encoder.layer.1.output.dense.weight"]
    safetensors.save_file(weights, part / "model.safetensors", {"format": "pt"})
    fails(part, "weights lack .*layer.1.output.dense.weight and 0 more")
    (cut / "model.safetensors").write_bytes((cut / "model.safetensors").read_bytes()[:5000])
    fails(cut, "cannot be loaded")
    settings = json.loads((other / "config.json").read_text(encoding="utf-8"))
    (other / "config.json").write_text(json.dumps(settings | {"intermediate_size": 64}), encoding="utf-8")
    fails(other, "cannot be loaded")
    (config / "tokenizer.json").write_text("{", encoding="utf-8")
    fails(config, "cannot be loaded")


def test_auto_layer_is_marked(model: str) -> None:
    one = BERTScore(model=model, layer="auto")
    assert one.chosen_layer == 2
    assert "layer:2(untuned)" in one.signature


def test_value(metric: Callable[..., BERTScore]) -> None:
    """Equal, hashed and pickled by its parameters, also after use."""
    one = metric(idf="references", rescale=True, baseline=[0.1, 0.2, 0.3])
    expected = one.score_batch(CANDIDATES, REFERENCES)
    for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), replace(one, layer=2)):  # noqa: S301
        assert other == one
        assert hash(other) == hash(one)
        assert other.signature == one.signature
        assert equal(other.score_batch(CANDIDATES, REFERENCES), expected)
    assert one != metric()
    assert metric(layer=1) != metric()


def test_threads(metric: Callable[..., BERTScore]) -> None:
    """Four threads share one metric, each with texts of its own; the encoder is loaded once."""
    one = metric()
    rows = [([f"{c} {w}" for c in CANDIDATES], [f"{w} {r}" for r in REFERENCES]) for w in WORDS[:8]] * 3
    expected = [one.score_batch(*row) for row in rows]
    encoders.clear()
    with ThreadPoolExecutor(4) as pool:
        for found, wanted in zip(pool.map(lambda row: one.score_batch(*row), rows), expected, strict=True):
            close(found, wanted)
    assert len(encoders._loaded) == 1


def test_long_text(metric: Callable[..., BERTScore]) -> None:
    """An error when asked for, for identical texts too; otherwise counted, and what is cut off counts for nothing."""
    long, head = "cat " * 50, "cat " * (LIMIT - 2)
    strict = metric(long_text="error")
    for pair in ((long, "a dog"), ("a dog", long), (long, long)):
        with pytest.raises(InputError, match="more than 40 tokens"):
            strict.score(pair[0], [pair[1]])
    assert strict.score(head, ["a dog"])
    with pytest.warns(TruncatedWarning, match="1 of 2 texts"):
        found = metric().score(long, ["a dog"])
    close(found, metric().score(head, ["a dog"]))


@pytest.mark.parametrize("kept", ["0", "3000"])
def test_cache_changes_nothing(metric: Callable[..., BERTScore], kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    encoders.clear()
    expected = metric().score_batch(CANDIDATES, REFERENCES)
    monkeypatch.setenv("REFSIM_EMBEDDING_BYTES", kept)
    encoders.clear()
    one = metric()
    assert equal(one.score_batch(CANDIDATES, REFERENCES), expected)
    close(one.score_batch(CANDIDATES, REFERENCES), expected)
    vectors = one.encoder._vectors
    assert vectors._bytes <= int(kept)
    assert sum(v.nbytes for v in vectors._kept.values()) == vectors._bytes
    encoders.clear()
    monkeypatch.setenv("REFSIM_EMBEDDING_BYTES", "-1")
    with pytest.raises(InputError, match="REFSIM_EMBEDDING_BYTES"):
        metric().score("a", ["a cat"])


def test_hash_seed(model: str) -> None:
    """The same bytes whatever the order of Python's sets."""
    program = (
        "import sys; from refsim.metrics.bertscore import BERTScore as B;"
        f"m = B(model={model!r}, layer=2, idf='references');"
        f"print(b''.join(v.tobytes() for v in m.score_batch({CANDIDATES!r}, {REFERENCES!r})).hex())"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, env={**os.environ, "PYTHONHASHSEED": seed}
        )
        for seed in "012"
    ]
    told = {process.communicate()[0] for process in running}
    assert len(told) == 1
    assert len(told.pop()) > 100
