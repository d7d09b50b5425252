"""What BERTScore's settings do: windows over long texts, 8 bits, all layers at once, idf of a run, room for vectors."""

# ruff: noqa: SLF001  what is kept and counted is looked at

from __future__ import annotations

import json
import platform
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refsim
from commands import run
from refsim.errors import InputError
from refsim.metrics import _vectors
from refsim.metrics._coverage import share_outside
from refsim.metrics._encoder import encoders
from refsim.metrics._windows import plan_windows
from refsim.metrics.bertscore import BERTScore, TextWarning

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

torch = pytest.importorskip("torch", reason="the extra bertscore is not installed")
transformers = pytest.importorskip("transformers", reason="the extra bertscore is not installed")

import tiny  # noqa: E402  it needs them

WORDS = tiny.WORDS
LONG = " ".join(WORDS[i % len(WORDS)] for i in range(0, 700 * 3, 3))
PAIRS = [
    ("the cat sat on the mat", "a cat sat on a mat"),
    ("a dog", "the dog and the cat"),
    ("the bird", "the bird ran"),
]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny.make_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def metric(model: str) -> Callable[..., BERTScore]:
    """Return `metric(**parameters)`, on the tiny model at layer 2."""

    def made(**parameters: Any) -> BERTScore:  # noqa: ANN401  whatever the metric takes
        return BERTScore(**{"model": model, "layer": 2, **parameters})

    return made


# Windows


@given(st.integers(0, 400), st.integers(1, 60))
def test_windows_cover_a_text_once(length: int, room: int) -> None:
    """What is kept is side by side; each token is kept in a window that has most of the text around it."""
    windows = plan_windows(length, room)
    assert [w.keep_start for w in windows[1:]] == [w.keep_stop for w in windows[:-1]]
    assert (windows[0].keep_start, windows[-1].keep_stop) == (0, length)
    for one in windows:
        assert 0 <= one.start <= one.keep_start <= one.keep_stop <= one.stop <= length
        assert one.stop - one.start <= room

    def context(token: int, start: int, stop: int) -> int:
        """Return how far a window sees at least, to the side on which it is cut off."""
        left = length if start == 0 else token - start
        right = length if stop == length else stop - 1 - token
        return min(left, right)

    for one in windows:
        for token in range(one.keep_start, one.keep_stop):
            best = max(context(token, w.start, w.stop) for w in windows if w.start <= token < w.stop)
            # A token in the middle of an overlap of odd length has one token less on one side.
            assert context(token, one.start, one.stop) >= best - 1


def test_windows_against_the_model_itself(metric: Callable[..., BERTScore], model: str) -> None:
    """The vectors of a long text are those of its windows, marks included, as transformers gives them."""
    encoder = metric(long_text="window").encoder
    text = " ".join(LONG.split()[:60])
    (tokens,) = encoder.tokenise([text])
    assert not tokens.cut
    (found,) = encoder.encode([text], [tokens])
    full = transformers.AutoModel.from_pretrained(model).eval()
    body, room = tokens.ids[1:-1].tolist(), tiny.LIMIT - 2
    assert found.shape == (62, 32)
    windows = plan_windows(len(body), room)
    assert len(windows) > 3
    for k, window in enumerate(windows):
        ids = [int(tokens.ids[0]), *body[window.start : window.stop], int(tokens.ids[-1])]
        with torch.inference_mode():
            states = full(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states[2][0]
        unit = torch.nn.functional.normalize(states, dim=-1)
        kept = unit[1 + window.keep_start - window.start : 1 + window.keep_stop - window.start]
        torch.testing.assert_close(found[1 + window.keep_start : 1 + window.keep_stop], kept, rtol=0, atol=1e-6)
        if k == 0:
            torch.testing.assert_close(found[0], unit[0], rtol=0, atol=1e-6)
        if k == len(windows) - 1:
            torch.testing.assert_close(found[-1], unit[-1], rtol=0, atol=1e-6)


@pytest.mark.filterwarnings("ignore:text-truncated")
def test_texts_that_differ_at_their_end(metric: Callable[..., BERTScore]) -> None:
    """700 words: cut off they are the same, in windows they are not, and an error says what to do."""
    other = f"{LONG} cat cat bird bird ran"
    cut = metric().score(f"{LONG} under under tree tree", [other])
    assert min(cut) > 1 - 1e-6
    seen = metric(long_text="window").score(f"{LONG} under under tree tree", [other])
    assert max(seen) < 1 - 1e-5
    with pytest.raises(InputError, match="more than 24 tokens, the model's limit"):
        metric(long_text="error").score(LONG, [other])


def test_windows_change_no_short_text(metric: Callable[..., BERTScore]) -> None:
    """A text that the model takes at once is read at once, beside long ones too."""
    left, right = map(list, zip(*PAIRS, strict=True))
    plain = metric().score_batch(left, right)
    encoders.clear()
    beside = metric(long_text="window").score_batch([*left, LONG], [*right, LONG[5:]])
    for one, other in zip(plain, beside, strict=True):
        np.testing.assert_allclose(one, other[:3], rtol=0, atol=1e-6)


# 8 bits and 16


@pytest.mark.parametrize(("dtype", "off"), [("float16", 0.01), ("bfloat16", 0.05), ("int8", 0.02)])
def test_fewer_bits_are_nearly_the_same(metric: Callable[..., BERTScore], dtype: str, off: float) -> None:
    """And say so in the signature; identical texts are 1, empty ones 0."""
    left, right = map(list, zip(*PAIRS, strict=True))
    exact, found = metric().score_batch(left, right), metric(dtype=dtype).score_batch(left, right)
    for one, other in zip(exact, found, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=off)
        assert not np.array_equal(one, other)
    assert metric(dtype=dtype).score("a cat", ["a cat"]) == (1, 1, 1)
    assert metric(dtype=dtype).score("a cat", [""]) == (0, 0, 0)
    assert f"dtype={dtype}" in metric(dtype=dtype).signature


@pytest.mark.filterwarnings("ignore:text-truncated")
def test_8_bits_of_a_row_are_its_own(metric: Callable[..., BERTScore]) -> None:
    """What stands beside a row, and how many rows do, never changes it."""
    left, right = map(list, zip(*PAIRS, strict=True))
    alone = [metric(dtype="int8").score(one, [other]) for one, other in PAIRS]
    encoders.clear()
    many = metric(dtype="int8").score_batch([LONG, *left, *([LONG] * 40)], [LONG[5:], *right, *(["a mat"] * 40)])
    for i, expected in enumerate(alone):
        np.testing.assert_allclose([values[1 + i] for values in many], expected, rtol=0, atol=1e-3)


@pytest.mark.parametrize("bias", [True, False])
def test_8_bits_by_hand(bias: bool) -> None:  # noqa: FBT001
    """Weights rounded row by row, activations token by token, summed in whole numbers, as numpy does it."""
    eight = pytest.importorskip("refsim.metrics._eight_bits")
    generator = torch.Generator().manual_seed(8)
    linear = torch.nn.Linear(48, 7, bias=bias)
    # Rows and tokens of different sizes, or one scale for all would do.
    linear.weight.data = torch.randn(7, 48, generator=generator) * torch.logspace(-3, 2, 7)[:, None]
    x = torch.randn(3, 5, 48, generator=generator) * torch.logspace(-2, 3, 15).view(3, 5, 1)
    x[1, 2] = 0
    weights, values = linear.weight.detach().double().numpy(), x.double().numpy()
    row, token = np.abs(weights).max(1, keepdims=True) / 127, np.abs(values).max(2, keepdims=True).clip(1e-12) / 127
    sums = (values / token).round() @ (weights / row).round().T
    expected = sums * token * row[:, 0] + (linear.bias.detach().double().numpy() if bias else 0)
    with torch.inference_mode():
        found = eight.EightBitLinear(linear, eight.Scratch())(x)
        np.testing.assert_allclose(found, expected, rtol=2e-2, atol=1e-3)
        close = np.isclose(found, expected, rtol=1e-5, atol=1e-6)
        # A value in the middle between two whole numbers may go either way.
        assert close.mean() > 0.9
        assert np.abs(found.numpy() - linear(x).numpy()).max() > 1e-3


def test_8_bits_where_the_processor_has_none(metric: Callable[..., BERTScore], monkeypatch: pytest.MonkeyPatch) -> None:
    """The same whole numbers are multiplied in float32, for the same scores."""
    eight = pytest.importorskip("refsim.metrics._eight_bits")
    left, right = map(list, zip(*PAIRS, strict=True))
    exact = metric(dtype="int8").score_batch(left, right)
    encoders.clear()
    monkeypatch.setattr(eight, "_multiplies_exactly", lambda: False)
    for one, other in zip(exact, metric(dtype="int8").score_batch(left, right), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-4)
    encoders.clear()


def test_8_bits_agree_with_32(metric: Callable[..., BERTScore]) -> None:
    """Over rows that differ, Pearson's r of F1 is near 1; the rounding takes no side by more than a little."""
    left = [" ".join(WORDS[(i * k) % len(WORDS)] for i in range(3 + k % 9)) for k in range(1, 60)]
    right = [" ".join(WORDS[(i * k + i) % len(WORDS)] for i in range(2 + k % 7)) for k in range(1, 60)]
    exact, found = metric().score_batch(left, right).f1, metric(dtype="int8").score_batch(left, right).f1
    assert np.corrcoef(exact, found)[0, 1] > 0.99
    assert abs(float((found - exact).mean())) < 0.01


def test_8_bits_need_a_cpu(metric: Callable[..., BERTScore]) -> None:
    with pytest.raises(InputError, match="dtype int8 runs on the CPU"):
        metric(dtype="int8", device="mps").score("a", ["a cat"])


# Every layer at once


@pytest.mark.parametrize("idf", [None, "references"])
def test_all_layers_at_once(metric: Callable[..., BERTScore], idf: str | None) -> None:
    """Row k is what the metric gives at layer k; several references and long texts as ever."""
    left = [pair[0] for pair in PAIRS]
    rows = [[pair[1], "a mat"] for pair in PAIRS]
    found = metric(idf=idf).score_layers(left, rows)
    assert found.f1.shape == (tiny.DEPTH + 1, 3)
    for layer in range(tiny.DEPTH + 1):
        for values, expected in zip(found, metric(idf=idf, layer=layer).score_batch(left, rows), strict=True):
            np.testing.assert_allclose(values[layer], expected, rtol=0, atol=1e-6)
    spread = np.ptp(found.f1, axis=0)
    assert (spread > 1e-3).all()


def test_all_layers_of_no_rows(metric: Callable[..., BERTScore]) -> None:
    assert metric().score_layers([], []).f1.shape == (tiny.DEPTH + 1, 0)


# idf over a run


def rows_of(systems: int) -> list[dict[str, Any]]:
    return [
        {"id": str(i), "system": f"s{k}", "candidate": f"{WORDS[k]} {candidate}", "references": [reference, "a tree"]}
        for k in range(systems) for i, (candidate, reference) in enumerate(PAIRS)
    ]  # fmt: skip


def test_idf_of_a_run_does_not_depend_on_how_it_is_read(model: str, tmp_path: Path) -> None:
    """Four systems at once are four runs; any size of batches, a list or a file, gives the values of one call."""
    rows = rows_of(4)
    metric = BERTScore(model=model, layer=2, idf="references")
    expected = [
        metric.score_batch(
            [row["candidate"] for row in rows[3 * k : 3 * k + 3]], [row["references"] for row in rows[:3]]
        )
        for k in range(4)
    ]
    wanted = np.concatenate([found.f1 for found in expected])
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for batch_size in (1, 2, 100):
        for source in (rows, str(file)):
            found = refsim.evaluate(source, [metric], batch_size=batch_size)
            scores = found.segments.to_arrow()[str(metric)].to_numpy()
            np.testing.assert_allclose(scores, wanted, rtol=0, atol=1e-6)


def test_idf_of_one_item_with_other_references(model: str) -> None:
    """Where systems have references of their own, all of them count."""
    rows = rows_of(2)
    rows[3]["references"] = ["a dog sat under a tree"]
    metric = BERTScore(model=model, layer=2, idf="references")
    found = refsim.evaluate(rows, [metric]).segments.to_arrow()[str(metric)].to_numpy()
    corpus = [text for row in rows[:4] for text in row["references"]]
    given = BERTScore(model=model, layer=2, idf=metric.fit_idf(corpus))
    expected = given.score_batch([row["candidate"] for row in rows], [row["references"] for row in rows])
    np.testing.assert_allclose(found, expected.f1, rtol=0, atol=1e-6)


def test_a_stream_is_seen_once(model: str) -> None:
    """A generator of batches cannot be read twice, so idf over it is an error that says what to give."""
    from refsim.readers import read  # noqa: PLC0415

    metric = BERTScore(model=model, layer=2, idf="references")
    with read(rows_of(2)) as reader, pytest.raises(InputError, match="a stream of batches is seen once"):
        list(refsim.stream(iter(reader), [metric]))


@pytest.mark.parametrize("stdin", [False, True])
def test_idf_on_the_command_line(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, stdin: bool) -> None:
    """A file is read twice, standard input kept; the table says idf=references."""
    monkeypatch.chdir(tmp_path)
    text = "".join(json.dumps(row) + "\n" for row in rows_of(2))
    (tmp_path / "rows.jsonl").write_text(text, encoding="utf-8")
    options = ("-m", "bertscore", "--model", model, "--layer", "2", "--idf", "--json")
    done = run("score", "-", *options, stdin=text.encode()) if stdin else run("score", "rows.jsonl", *options)
    assert done.code == 0, done.err
    found = {row["system"]: row["mean"] for row in json.loads(done.out)["systems"]}
    metric = BERTScore(model=model, layer=2, idf="references")
    expected = {row.system: row.mean for row in refsim.evaluate(rows_of(2), [metric]).systems}
    assert found == pytest.approx(expected, abs=1e-9)
    assert "idf=references" in done.out


# Baselines


def test_rescaled_by_a_file_on_the_command_line(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`baseline fit` writes what --rescale --baseline takes; without --rescale it is an error."""
    monkeypatch.chdir(tmp_path)
    lines = [" ".join(WORDS[(i * k) % len(WORDS)] for k in range(1, 4 + i % 3)) for i in range(200)]
    (tmp_path / "lines.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    fitted = run("baseline", "fit", "lines.txt", "--model", model, "--layer", "2", "-o", "base.json")
    assert fitted.code == 0, fitted.err
    text = "".join(json.dumps(row) + "\n" for row in rows_of(1))
    (tmp_path / "rows.jsonl").write_text(text, encoding="utf-8")
    options = ("score", "rows.jsonl", "-m", "bertscore", "--model", model, "--layer", "2", "--json")
    plain, scaled = run(*options), run(*options, "--rescale", "--baseline", "base.json")
    assert scaled.code == 0, scaled.err
    f1, rescaled = (json.loads(done.out)["systems"][0]["mean"] for done in (plain, scaled))
    from refsim.metrics._baseline import read_baseline  # noqa: PLC0415

    base = read_baseline("base.json").rows[2][2]
    assert rescaled == pytest.approx((f1 - base) / (1 - base), abs=1e-9)
    alone = run(*options, "--baseline", "base.json")
    assert alone.code == 2
    assert "nothing is rescaled" in alone.err


def test_model_by_language_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--model-lang en takes the English model, others that of many languages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REFSIM_MODELS", str(tmp_path / "none"))
    (tmp_path / "rows.jsonl").write_text('{"id": "1", "candidate": "a", "references": ["b"]}\n', encoding="utf-8")
    for lang, name in {"en": "minilm", "en-GB": "minilm", "ja": "e5-small-q4", "he": "e5-small-q4"}.items():
        done = run("score", "rows.jsonl", "-m", "bertscore", "--model-lang", lang)
        assert done.code == 2
        assert f"refsim models install {name}" in done.err


# Scripts


@pytest.mark.parametrize(
    ("text", "scripts", "share"),
    [
        ("the cat", ("Latin",), 0), ("été naïve Łódź", ("Latin",), 0), ("猫 cat", ("Latin",), 0.25),
        ("カー", ("Latin",), 1), ("カー", ("Katakana",), 0), ("שלום", ("Latin",), 1), ("שלום", ("Hebrew",), 0),
        ("12 😀 !?", ("Latin",), 0), ("", ("Latin",), 0), ("de\u0301ja\u0300", ("Latin",), 0), ("ªº", ("Latin",), 0),
    ],
)  # fmt: skip
def test_share_of_other_scripts(text: str, scripts: tuple[str, ...], share: float) -> None:
    assert share_outside([text], scripts) == pytest.approx(share)


def test_a_script_that_the_model_hardly_knows_is_told() -> None:
    """Counted over a call, listed by rows of a run; whoever says the language has decided."""
    try:
        metric = BERTScore()
        metric.score("a cat", ["a dog"])
    except InputError as error:
        pytest.skip(str(error))
    with pytest.warns(TextWarning, match="script-uncovered: 100% of the letters"):
        metric.score("猫が座った", ["猫が寝た"])
    assert BERTScore(lang="ja").score("猫が座った", ["猫が寝た"]).f1 < 1
    metric.score("the Japanese for cat is 猫", ["a cat is 猫"])
    rows = [
        {"id": "1", "candidate": "a cat", "references": ["a dog"]},
        {"id": "2", "candidate": "חתול", "references": ["כלב"]},
    ]
    with pytest.warns(TextWarning, match="1 of 2 rows"):
        found = refsim.evaluate(rows, [metric])
    assert len(found.notices["uncovered"]) == 1
    assert "rows[1]" in found.notices["uncovered"][0]


# Room for vectors


def test_vectors_on_disk(metric: Callable[..., BERTScore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What memory has no room for is read back from a file without a name, and is not encoded again."""
    left, right = map(list, zip(*PAIRS, strict=True))
    encoders.clear()
    expected = metric().score_batch(left, right)
    monkeypatch.setenv("REFSIM_EMBEDDING_BYTES", "700")
    monkeypatch.setenv("REFSIM_EMBEDDING_SPILL", str(tmp_path))
    for parameters in ({}, {"dtype": "float16"}):
        encoders.clear()
        one = metric(**parameters)
        first = one.score_batch(left, right)
        assert list(tmp_path.iterdir()) == []
        assert len(one.encoder._vectors._spilled) > 2
        with monkeypatch.context() as patched:
            patched.setattr(one.encoder, "_model", None)
            again = one.score_batch(left, right)
        for values, same in zip(first, again, strict=True):
            assert np.array_equal(values, same)
        if not parameters:
            for values, wanted in zip(first, expected, strict=True):
                assert np.array_equal(values, wanted)


def test_vectors_on_a_disk_that_is_none(
    metric: Callable[..., BERTScore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFSIM_EMBEDDING_BYTES", "0")
    monkeypatch.setenv("REFSIM_EMBEDDING_SPILL", str(tmp_path / "absent"))
    encoders.clear()
    with pytest.raises(InputError, match=r"REFSIM_EMBEDDING_SPILL=.*expected a directory with room"):
        metric().score("a cat", ["a dog"])
    encoders.clear()


def test_memory_between_batches_is_given_back(
    metric: Callable[..., BERTScore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every 16 batches, for as long as a stream lasts; a C library without such a call changes nothing."""
    given: list[int] = []
    asked: list[str] = []
    monkeypatch.setattr(_vectors, "_malloc_trim", lambda: given.append)
    monkeypatch.setenv("REFSIM_EMBEDDING_BYTES", "0")
    encoders.clear()
    one = metric(batch_tokens=1)
    texts = [f"{word} {other}" for word in WORDS[:9] for other in WORDS[:9]]
    expected = one.score_batch(texts[:40], texts[40:80])
    assert given == [0] * (80 // 16)
    monkeypatch.setattr(_vectors, "_malloc_trim", lambda: asked.append("absent"))
    for values, wanted in zip(one.score_batch(texts[:40], texts[40:80]), expected, strict=True):
        assert np.array_equal(values, wanted)
    assert len(asked) == 80 // 16
    encoders.clear()


def test_heap_of_this_system() -> None:
    """The call is found where there is one, and made."""
    _vectors.trim_heap()
    assert (_vectors._malloc_trim() is not None) is (platform.libc_ver()[0] == "glibc")


def test_out_of_memory_halves_the_batch(metric: Callable[..., BERTScore], monkeypatch: pytest.MonkeyPatch) -> None:
    """And goes on with the same values; a single text that does not fit is the error it is."""
    left, right = map(list, zip(*PAIRS, strict=True))
    encoders.clear()
    expected = metric().score_batch(left, right)
    encoders.clear()
    encoder = metric().encoder
    whole, sizes = encoder._forward, []

    def forward(rows: list[Any]) -> Any:  # noqa: ANN401  a tensor
        sizes.append(len(rows))
        if len(rows) > 2:
            raise torch.OutOfMemoryError
        return whole(rows)

    monkeypatch.setattr(encoder, "_budget", 64)
    monkeypatch.setattr(encoder, "_forward", forward)
    found = metric().score_batch(left, right)
    for values, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(values, wanted, rtol=0, atol=1e-6)
    assert max(sizes) > 2
    assert all(later <= earlier for earlier, later in pairwise(sizes))

    def full(rows: list[Any]) -> Any:  # noqa: ANN401, ARG001  a tensor
        raise torch.OutOfMemoryError

    monkeypatch.setattr(encoder, "_forward", full)
    with pytest.raises(torch.OutOfMemoryError):
        metric().score("a cat ran", ["a dog ran"])
    encoders.clear()


# A hub's names


def test_a_hubs_model_from_its_cache(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offline a hub's name is found in its cache on this machine, at one revision; without one the error says so."""
    import shutil  # noqa: PLC0415

    from huggingface_hub import constants  # noqa: PLC0415

    cache = tmp_path / "hub"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    repository = cache / "models--someone--tiny"
    shutil.copytree(model, repository / "snapshots" / "0123456789abcdef0123456789abcdef01234567")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0123456789abcdef0123456789abcdef01234567")
    one = BERTScore(model="someone/tiny", layer=2)
    expected = BERTScore(model=model, layer=2)
    assert one.score("a cat sat", ["the cat ran"]) == expected.score("a cat sat", ["the cat ran"])
    assert one.signature.split("|")[1:] == expected.signature.split("|")[1:]
    with pytest.raises(InputError, match="someone/absent: cannot be loaded"):
        BERTScore(model="someone/absent", layer=2).score("a", ["b"])
