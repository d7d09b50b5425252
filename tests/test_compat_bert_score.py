"""The drop-in for bert-score 0.3.13: its arguments, shapes and types, refsim's values; and its name, once installed."""

from __future__ import annotations

import gzip
import inspect
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from refsim.compat import bert_score
from refsim.errors import InputError
from refsim.metrics.bertscore import BERTScore
from shared import shared_data

if TYPE_CHECKING:
    from pathlib import Path

torch = pytest.importorskip("torch", reason="the extra bertscore is not installed")
pytest.importorskip("transformers", reason="the extra bertscore is not installed")

import tiny  # noqa: E402  it needs them

CANDIDATES = ["the cat sat on the mat", "a dog ran", ""]
REFERENCES = ["a cat sat on a mat", "the dog", "a cat"]
SEVERAL = [["a cat sat", "the mat"], ["the dog"], ["", "a bird"]]

# The published parameters in their order, with their defaults.
SCORE = {
    "cands": ..., "refs": ..., "model_type": None, "num_layers": None, "verbose": False, "idf": False, "device": None,
    "batch_size": 64, "nthreads": 4, "all_layers": False, "lang": None, "return_hash": False,
    "rescale_with_baseline": False, "baseline_path": None, "use_fast_tokenizer": False,
}  # fmt: skip
SCORER = {
    "model_type": None, "num_layers": None, "batch_size": 64, "nthreads": 4, "all_layers": False, "idf": False,
    "idf_sents": None, "device": None, "lang": None, "rescale_with_baseline": False, "baseline_path": None,
    "use_fast_tokenizer": False,
}  # fmt: skip
SCORER_SCORE = {"cands": ..., "refs": ..., "verbose": False, "batch_size": 64, "return_hash": False}
PLOT = {
    "candidate": ..., "reference": ..., "model_type": None, "num_layers": None, "lang": None,
    "rescale_with_baseline": False, "baseline_path": None, "use_fast_tokenizer": False, "fname": "",
}  # fmt: skip
HASH = {
    "model": ..., "num_layers": ..., "idf": ..., "rescale_with_baseline": ..., "use_custom_baseline": ...,
    "use_fast_tokenizer": False,
}  # fmt: skip


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny.make_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (bert_score.score, SCORE), (bert_score.BERTScorer, SCORER), (bert_score.BERTScorer.score, SCORER_SCORE),
        (bert_score.plot_example, PLOT), (bert_score.get_hash, HASH),
    ],
)  # fmt: skip
def test_signatures(function: Any, expected: dict[str, object]) -> None:  # noqa: ANN401  a function
    """By position and by name as there."""
    found = {
        name: ... if one.default is inspect.Parameter.empty else one.default
        for name, one in inspect.signature(function).parameters.items() if name != "self"
    }  # fmt: skip
    assert list(found.items()) == list(expected.items())


def test_values_shapes_and_types(model: str) -> None:
    """Float32 tensors, one entry a candidate, or a row a layer; the best of several references."""
    metric = BERTScore(model=model, layer=2)
    for references in (REFERENCES, SEVERAL):
        found = bert_score.score(CANDIDATES, references, model, 2)
        for values, expected in zip(found, metric.score_batch(CANDIDATES, references), strict=True):
            assert isinstance(values, torch.Tensor)
            assert (values.dtype, tuple(values.shape)) == (torch.float32, (3,))
            np.testing.assert_allclose(values.numpy(), expected, rtol=0, atol=1e-6)
        every = bert_score.score(CANDIDATES, references, model_type=model, num_layers=2, all_layers=True)
        assert tuple(every[2].shape) == (tiny.DEPTH + 1, 3)
        for values, row in zip(every, found, strict=True):
            np.testing.assert_allclose(values[2].numpy(), row.numpy(), rtol=0, atol=1e-6)
    assert all(tuple(values.shape) == (0,) for values in bert_score.score([], [], model, 2))


def test_idf(model: str) -> None:
    """By the references of the call, by a corpus given beforehand, or by one counted later."""
    metric = BERTScore(model=model, layer=2, idf="references")
    expected = metric.score_batch(CANDIDATES, SEVERAL).f1
    np.testing.assert_allclose(bert_score.score(CANDIDATES, SEVERAL, model, 2, idf=True)[2], expected, atol=1e-6)
    corpus = [text for row in SEVERAL for text in row]
    scorer = bert_score.BERTScorer(model, 2, idf=True, idf_sents=corpus)
    np.testing.assert_allclose(scorer.score(CANDIDATES, SEVERAL)[2], expected, atol=1e-6)
    with pytest.warns(bert_score.IdfReplacedWarning, match="idf-replaced"):
        scorer.compute_idf(REFERENCES)
    assert not np.allclose(scorer.score(CANDIDATES, SEVERAL)[2], expected)
    with pytest.raises(InputError, match="no weights are counted"):
        bert_score.BERTScorer(model, 2, idf=True).score(CANDIDATES, REFERENCES)
    with pytest.raises(InputError, match="idf is a dict"):
        bert_score.score(CANDIDATES, REFERENCES, model, 2, idf={1: 0.5})


def test_baselines(model: str, tmp_path: Path) -> None:
    """A table as the published package has them, of one layer or all; what is wrong with one is said by line."""
    table = tmp_path / "base.tsv"
    rows = [(0.1 * k, 0.2 * k, 0.15 * k) for k in range(tiny.DEPTH + 1)]
    table.write_text("LAYER,P,R,F\n" + "".join(f"{k},{p},{r},{f}\n" for k, (p, r, f) in enumerate(rows)))
    plain = bert_score.score(CANDIDATES, REFERENCES, model, 2, all_layers=True)
    scorer = bert_score.BERTScorer(
        model, 2, all_layers=True, lang="en", rescale_with_baseline=True, baseline_path=str(table)
    )
    for i, (found, before) in enumerate(zip(scorer.score(CANDIDATES, REFERENCES), plain, strict=True)):
        base = np.array([row[i] for row in rows])[:, np.newaxis]
        unscaled = before.numpy()
        expected = np.where(unscaled == 0, 0, (unscaled - base) / (1 - base))
        np.testing.assert_allclose(found, expected, atol=1e-6)
    assert tuple(scorer.baseline_vals.shape) == (tiny.DEPTH + 1, 1, 3)
    one = bert_score.BERTScorer(model, 2, lang="en", rescale_with_baseline=True, baseline_path=str(table))
    assert one.baseline_vals.tolist() == pytest.approx(rows[2])
    np.testing.assert_allclose(
        one.score(CANDIDATES, REFERENCES)[0], scorer.score(CANDIDATES, REFERENCES)[0][2], atol=1e-6
    )
    assert one.hash.endswith("-custom-rescaled")
    with pytest.raises(InputError, match="Baseline not Found"):
        bert_score.score(CANDIDATES, REFERENCES, model, 2, lang="en", rescale_with_baseline=True)
    for text, message in (("LAYER,P\n", ":1: found LAYER,P"), ("LAYER,P,R,F\n2,0.1,x,0.2\n", ":2: found '2,0.1,x,0.2'"),
                          ("LAYER,P,R,F\n1,0.1,0.1,0.1\n", "no row of layer 2")):  # fmt: skip
        table.write_text(text)
        with pytest.raises(InputError, match=message):
            bert_score.score(
                CANDIDATES, REFERENCES, model, 2, lang="en", rescale_with_baseline=True, baseline_path=str(table)
            )


def test_wrong_arguments(model: str) -> None:
    """Lists of different lengths are never zipped short."""
    for wrong in ((CANDIDATES, REFERENCES[:2]), (CANDIDATES[:2], SEVERAL), ("a cat", ["a cat"]), ([None], ["a"])):
        candidates: Any = wrong[0]
        with pytest.raises(InputError):
            bert_score.score(candidates, wrong[1], model, 2)
    with pytest.raises(InputError, match="model_type and lang are None"):
        bert_score.score(CANDIDATES, REFERENCES)
    with pytest.raises(InputError, match="lang is None"):
        bert_score.BERTScorer(model, 2, rescale_with_baseline=True)
    with pytest.raises(InputError, match="no layer is known"):
        bert_score.BERTScorer(model)


def test_hash_and_properties(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    (found, told) = bert_score.score(CANDIDATES, REFERENCES, model, 2, return_hash=True, verbose=True)
    assert len(found) == 3
    scorer = bert_score.BERTScorer(model, 2, device=torch.device("cpu"), use_fast_tokenizer=True)
    assert told.startswith(f"{model}_L2_no-idf_version=0.3.13(refsim=")
    assert scorer.hash == f"{told}_fast-tokenizer" == bert_score.get_hash(model, 2, False, False, False, True)  # noqa: FBT003
    assert (scorer.model_type, scorer.num_layers, scorer.idf, scorer.lang) == (model, 2, False, None)
    assert repr(scorer) == f"BERTScorer(hash={scorer.hash}, batch_size=64, nthreads=4)"
    assert "calculating scores..." in capsys.readouterr().out
    assert bert_score.lang2model["en"] == "roberta-large"
    assert bert_score.lang2model["ja"] == "bert-base-multilingual-cased"
    assert bert_score.model2layers["roberta-large"] == 17


@pytest.mark.filterwarnings("ignore:text-truncated")
def test_published_values() -> None:
    """The golden values of a RoBERTa, through the drop-in; rows in which padding takes part are known elsewhere."""
    folder = shared_data("bertscore-golden")
    expected = json.loads(gzip.decompress((folder / "tiny-roberta.json.gz").read_bytes()))
    pairs = json.loads((folder / "pairs.json").read_text(encoding="utf-8"))["pairs"]
    # "[SEP]" and the like in texts are characters here, and the mark there.
    rows = [i for i, pair in enumerate(pairs) if "<" not in pair["candidate"] + pair["reference"]]
    place = str(shared_data("models") / "tiny-roberta-random")
    found = bert_score.score(
        [pairs[i]["candidate"] for i in rows], [pairs[i]["reference"] for i in rows], place, 3, all_layers=True
    )
    for layer, values in expected["layers"].items():
        for name, one in zip("PRF", found, strict=True):
            off = np.abs(one[int(layer)].numpy() - np.array(values[name])[rows])
            assert np.count_nonzero(off > 1e-5) <= 2


INSTALLED = """
import sys, importlib.metadata, importlib.util
import refsim.compat.bert_score as ours
assert "torch" not in sys.modules, "torch is loaded before it is needed"
package = ours.install()
assert ours.install() is package
import bert_score
from bert_score import BERTScorer, plot_example, score
from bert_score.scorer import BERTScorer as again
from bert_score.utils import get_hash, lang2model, model2layers
import bert_score.score
assert bert_score is package and again is BERTScorer is ours.BERTScorer
assert bert_score.__version__ == importlib.metadata.version("bert-score") == importlib.metadata.version("bert_score")
assert importlib.util.find_spec("bert_score") is not None
assert callable(bert_score.score) and bert_score.utils.get_hash is get_hash
print(score(["a cat"], ["a cat"], sys.argv[1], 2)[2].tolist())
"""

REFUSED = """
import sys, types
sys.modules["bert_score"] = types.ModuleType("bert_score")
import refsim.compat.bert_score as ours
try:
    ours.install()
except ValueError as error:
    assert "imported already" in str(error) and "force=True" in str(error)
else:
    raise AssertionError("nothing was said")
ours.install(force=True)
import bert_score
print(bert_score.BERTScorer is ours.BERTScorer)
"""


@pytest.mark.parametrize(("program", "expected"), [(INSTALLED, "[1.0]\n"), (REFUSED, "True\n")])
def test_installed_under_the_name(program: str, expected: str, model: str) -> None:
    """In a process of its own, for it changes what every import finds."""
    done = subprocess.run([sys.executable, "-c", program, model], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == (expected, 0), done.stderr


def test_the_drawing_without_matplotlib(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that says what to install."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(Exception, match="pip install matplotlib"):
        bert_score.plot_example("a cat", "a dog", model, 2)
