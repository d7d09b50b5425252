"""Parity with bert-score 0.3.13: every layer of three models, idf, several references; what differs is explained."""

from __future__ import annotations

import gzip
import json
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

from refsim.errors import InputError
from refsim.metrics._models import locate
from refsim.metrics.bertscore import BERTScore
from shared import shared_data

if TYPE_CHECKING:
    from numpy.typing import NDArray

pytest.importorskip("torch", reason="the extra bertscore is not installed")
pytest.importorskip("transformers", reason="the extra bertscore is not installed")

# Some of the texts are over-long on purpose: the published code cuts them without a word.
pytestmark = pytest.mark.filterwarnings("ignore:text-truncated")

MODELS = {"minilm": ("minilm-l6", 7), "e5-small-q4": ("e5-small-q4", 13), "tiny-roberta": ("tiny-roberta", 4)}
CASES = [(model, layer) for model, (_, layers) in MODELS.items() for layer in range(layers)]
CLOSE = 1e-5


@cache
def golden(model: str) -> dict[str, Any]:
    """Return the published code's values for one model."""
    path = shared_data("bertscore-golden") / f"{MODELS[model][0]}.json.gz"
    found: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return found


@cache
def texts() -> dict[str, Any]:
    """Return the pairs, and the rows with several references."""
    path = shared_data("bertscore-golden") / "pairs.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def metric(model: str, layer: int, idf: Literal["references"] | None = None) -> BERTScore:
    """Return the metric as the published code has it, or skip where the model is not here."""
    if model == "tiny-roberta":
        place = str(shared_data("models") / "tiny-roberta-random")
    else:
        try:
            place = locate(model).name
        except InputError as error:
            pytest.skip(str(error))
    return BERTScore(model=place, layer=layer, idf=idf, special_tokens="parse")


def differences(found: Any, expected: dict[str, Any]) -> NDArray[np.float64]:  # noqa: ANN401  a PRF
    """Return the greatest difference of P, R and F1 in each row (S,)."""
    columns = [np.abs(values - np.array(expected[name])) for name, values in zip("PRF", found, strict=True)]
    result: NDArray[np.float64] = np.max(columns, axis=0)
    return result


@pytest.mark.parametrize(("model", "layer"), CASES)
def test_every_layer_gives_the_published_values(model: str, layer: int) -> None:
    """P, R and F1 of all pairs within 1e-5, but for rows in which the published code's padding took part.

    It multiplies the cosines of padding by 0, so a piece whose cosines are all negative gets 0 instead, in a pair that
    is shorter than the longest of its batch. Such rows are few, and refsim's value is the lower one.
    """
    pairs = texts()["pairs"]
    expected = golden(model)["layers"][str(layer)]
    found = metric(model, layer).score_batch([p["candidate"] for p in pairs], [p["reference"] for p in pairs])
    far = np.flatnonzero(differences(found, expected) > CLOSE)
    assert len(far) <= 2
    for row in far.tolist():
        for name, values in zip("PRF", found, strict=True):
            assert values[row] <= expected[name][row] + CLOSE, pairs[row]["id"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", ["idf", "idf_mid", "multi", "multi_idf"])
def test_idf_and_several_references_give_the_published_values(model: str, kind: str) -> None:
    """Weights from all references, the best reference for P, R and F1 apart; the rows of padding aside."""
    expected = golden(model)[kind]
    scorer = metric(model, expected["layer"], "references" if "idf" in kind else None)
    if kind.startswith("multi"):
        rows = texts()["multi"]
        found = scorer.score_batch([row["candidate"] for row in rows], [row["references"] for row in rows])
    else:
        rows = texts()["pairs"]
        found = scorer.score_batch([row["candidate"] for row in rows], [row["reference"] for row in rows])
    assert np.count_nonzero(differences(found, expected) > CLOSE) <= 1
