"""Every family of encoders, tiny and with random weights: a model cut at layer k gives the full one's hidden state k.

A stack with a final norm (T5 and its kin, mBART, ModernBERT) applies it after the cut too, to what it is given.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from refsim.errors import InputError
from refsim.metrics._encoder import Encoder, Setting, clean, model_depth
from refsim.metrics.bertscore import BERTScore
from shared import shared_data

if TYPE_CHECKING:
    from pathlib import Path

torch = pytest.importorskip("torch", reason="the extra bertscore is not installed")
transformers = pytest.importorskip("transformers", reason="the extra bertscore is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="the extra bertscore is not installed")

DEPTH, WIDTH = 3, 32
# Of different lengths, so that a batch of them is padded.
TEXTS = ["the cat sat on the mat", "a dog", "mat", "the dog and the cat sat on a mat and a mat", "an unknown word sat"]
WORDS = sorted({word for text in TEXTS[:4] for word in text.split()})

BERT_MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA_MARKS = ("<pad>", "<unk>", "<s>", "</s>", "<mask>")
PLAIN = {"hidden_size": WIDTH, "num_hidden_layers": DEPTH, "num_attention_heads": 2, "intermediate_size": 48}
TWO_STACKS = {
    "d_model": WIDTH, "encoder_layers": DEPTH, "decoder_layers": 1, "encoder_attention_heads": 2,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "max_position_embeddings": 40,
}  # fmt: skip
T5 = {"d_model": WIDTH, "d_kv": 16, "d_ff": 48, "num_layers": DEPTH, "num_decoder_layers": 1, "num_heads": 2}


@dataclass(frozen=True, kw_only=True)
class Family:
    """How a tiny model of a family is made: its configuration's name and values, its marks, where its final norm is."""

    config: str
    values: dict[str, Any] = field(default_factory=dict)
    marks: tuple[str, str, str, str, str] = BERT_MARKS
    template: str = "{cls} $A {sep}"
    norm: str | None = None
    limit: int | None = 40


FAMILIES = {
    "bert": Family(config="BertConfig", values=PLAIN),
    "electra": Family(config="ElectraConfig", values=PLAIN | {"embedding_size": 16}),
    "roberta": Family(config="RobertaConfig", values=PLAIN, marks=ROBERTA_MARKS, limit=39),
    "xlm-roberta": Family(config="XLMRobertaConfig", values=PLAIN, marks=ROBERTA_MARKS, limit=39),
    "camembert": Family(config="CamembertConfig", values=PLAIN, marks=ROBERTA_MARKS, limit=39),
    "deberta": Family(
        config="DebertaConfig", values=PLAIN | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
    ),
    "deberta-v2": Family(
        config="DebertaV2Config", values=PLAIN | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
    ),
    "distilbert": Family(
        config="DistilBertConfig", values={"dim": WIDTH, "n_layers": DEPTH, "n_heads": 2, "hidden_dim": 48}
    ),
    "albert": Family(config="AlbertConfig", values=PLAIN | {"embedding_size": 16}),
    "xlm-roberta-xl": Family(config="XLMRobertaXLConfig", values=PLAIN, marks=ROBERTA_MARKS, limit=39,
                             norm="encoder.LayerNorm"),
    "roberta-prelayernorm": Family(
        config="RobertaPreLayerNormConfig", values=PLAIN, marks=ROBERTA_MARKS, limit=39, norm="LayerNorm"
    ),
    "data2vec-text": Family(config="Data2VecTextConfig", values=PLAIN, marks=ROBERTA_MARKS, limit=39),
    "xmod": Family(
        config="XmodConfig", values=PLAIN | {"languages": ["en_XX"], "default_language": "en_XX"}, marks=ROBERTA_MARKS,
        limit=39,
    ),
    "longformer": Family(
        config="LongformerConfig", values=PLAIN | {"attention_window": 16}, marks=ROBERTA_MARKS, limit=39
    ),
    "mpnet": Family(config="MPNetConfig", values=PLAIN, marks=ROBERTA_MARKS, limit=38),
    "xlnet": Family(
        config="XLNetConfig", values={"d_model": WIDTH, "n_layer": DEPTH, "n_head": 2, "d_inner": 48},
        marks=("<pad>", "<unk>", "<cls>", "<sep>", "<mask>"), template="$A {sep} {cls}", limit=None,
    ),
    "t5": Family(config="T5Config", values=T5, marks=ROBERTA_MARKS, template="$A {sep}",
                 norm="encoder.final_layer_norm", limit=None),
    "mt5": Family(config="MT5Config", values=T5, marks=ROBERTA_MARKS, template="$A {sep}",
                  norm="encoder.final_layer_norm", limit=None),
    "umt5": Family(config="UMT5Config", values=T5, marks=ROBERTA_MARKS, template="$A {sep}",
                   norm="encoder.final_layer_norm", limit=None),
    "bart": Family(config="BartConfig", values=TWO_STACKS, marks=ROBERTA_MARKS),
    "mbart": Family(config="MBartConfig", values=TWO_STACKS, marks=ROBERTA_MARKS, norm="encoder.layer_norm"),
    "modernbert": Family(
        config="ModernBertConfig", values=PLAIN | {"global_attn_every_n_layers": 2, "local_attention": 8},
        norm="final_norm",
    ),
}  # fmt: skip
WITHOUT_MARKS = {"t5", "mt5", "umt5"}


def write_tokenizer(place: Path, family: Family, *, marked: bool, limit: int | None = None) -> None:
    """Write a fast tokenizer of whole words with the family's marks; T5's has neither `cls` nor `sep`."""
    pad, unknown, cls, sep, mask = family.marks
    vocabulary = {word: i for i, word in enumerate([*family.marks, *WORDS])}
    engine = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token=unknown))
    engine.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    engine.post_processor = tokenizers.processors.TemplateProcessing(
        single=family.template.format(cls=cls, sep=sep), special_tokens=[(cls, vocabulary[cls]), (sep, vocabulary[sep])]
    )
    named = {"cls_token": cls, "sep_token": sep, "mask_token": mask} if marked else {"eos_token": sep}
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=engine, pad_token=pad, unk_token=unknown, **named,
        **({} if limit is None else {"model_max_length": limit}),
    )  # fmt: skip
    fast.save_pretrained(place)


def write_model(place: Path, name: str, *, limit: int | None = None, positions: int = 40) -> str:
    """Write a tiny model of a family and its tokenizer; the weights are random and always the same."""
    family = FAMILIES[name]
    values = {
        "vocab_size": len(family.marks) + len(WORDS), "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3,
        "cls_token_id": 2, "sep_token_id": 3, "decoder_start_token_id": 0,
    } | family.values  # fmt: skip
    if family.limit is not None:
        values["max_position_embeddings"] = positions
    config = getattr(transformers, family.config)(**values)
    torch.manual_seed(20)
    model = transformers.AutoModel.from_config(config)
    with torch.no_grad():
        for weights in model.parameters():
            # A norm that multiplies by 1 would change no direction, so a test could not see whether it is applied.
            weights.add_(torch.randn_like(weights) * 0.2)
    model.save_pretrained(place)
    write_tokenizer(place, family, marked=name not in WITHOUT_MARKS, limit=limit)
    return str(place)


def encoder(place: str, layer: int, special_tokens: str = "split") -> Encoder:
    """Return an encoder that nothing else holds."""
    return Encoder(Setting(place, layer, "cpu", "float32", special_tokens, None))


def hidden_states(place: str, rows: list[list[int]]) -> tuple[list[list[Any]], Any]:
    """Return the full model's hidden states, for each row of ids and each layer (T, D), and the model."""
    model = transformers.AutoModel.from_pretrained(place).eval()
    stack = model.get_encoder() if model.config.is_encoder_decoder else model
    with torch.inference_mode():
        found = [list(stack(torch.tensor([row]), output_hidden_states=True).hidden_states) for row in rows]
    return [[state[0] for state in states] for states in found], model


@pytest.mark.parametrize("name", FAMILIES)
def test_cut_model_gives_hidden_state(name: str, tmp_path: Path) -> None:
    """In every layer; with a final norm, layers from 1 on have passed it, and the last state already has."""
    place = write_model(tmp_path, name)
    assert model_depth(place) == DEPTH
    norm_path = FAMILIES[name].norm
    tokens = encoder(place, DEPTH).tokenise(TEXTS)
    states, model = hidden_states(place, [one.ids.tolist() for one in tokens])
    for layer in range(DEPTH + 1):
        found = encoder(place, layer).encode(TEXTS, tokens)
        for vectors, wanted in zip(found, states, strict=True):
            expected = wanted[layer]
            if norm_path is not None and 0 < layer < DEPTH:
                with torch.inference_mode():
                    expected = model.get_submodule(norm_path)(expected)
            expected = torch.nn.functional.normalize(expected, dim=-1)
            assert vectors.shape == expected.shape
            # Two ways through one model differ by its roundings: 1.5e-6 was seen.
            torch.testing.assert_close(vectors, expected, rtol=0, atol=3e-6)


@pytest.mark.parametrize("name", FAMILIES)
def test_layers_differ(name: str, tmp_path: Path) -> None:
    """So the test above cannot pass by chance: each layer moves the vectors."""
    place = write_model(tmp_path, name)
    tokens = encoder(place, DEPTH).tokenise(TEXTS[:1])
    found = [encoder(place, layer).encode(TEXTS[:1], tokens)[0] for layer in range(DEPTH + 1)]
    for before, after in pairwise(found):
        assert float((before - after).abs().max()) > 1e-3


@pytest.mark.parametrize("name", FAMILIES)
def test_layer_beyond_depth_is_an_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"layer 4: .* has 3; expected 0 \(embeddings\) to 3"):
        encoder(write_model(tmp_path, name), DEPTH + 1)


@pytest.mark.parametrize("name", FAMILIES)
def test_marks_have_no_weight(name: str, tmp_path: Path) -> None:
    """`cls` and `sep` have none; a tokenizer that has neither (T5) has an end token, which counts."""
    (tokens,) = encoder(write_model(tmp_path, name), 1).tokenise(["the cat"])
    expected = {
        "{cls} $A {sep}": [False, True, True, False],
        "$A {sep} {cls}": [True, True, False, False],
        "$A {sep}": [True, True, True],
    }[FAMILIES[name].template]
    assert tokens.plain.tolist() == expected
    assert not tokens.cut


@pytest.mark.parametrize("name", FAMILIES)
def test_limit_comes_from_positions(name: str, tmp_path: Path) -> None:
    """Without a limit of the tokenizer; RoBERTa's kin count from the padding's number on, T5 and XLNet have none."""
    one = encoder(write_model(tmp_path, name), 2)
    limit = FAMILIES[name].limit
    assert one.limit == limit
    texts = ["cat " * 100, "cat"]
    long, short = one.tokenise([clean(text) for text in texts])
    assert len(long.ids) == (limit or 100 + FAMILIES[name].template.count("{"))
    assert (long.cut, short.cut) == (limit is not None, False)
    # The position table is long enough for it.
    vectors = one.encode(texts, [long, short])[0]
    assert bool(torch.isfinite(vectors).all())


@pytest.mark.parametrize(
    ("name", "tokenizer_limit", "expected"),
    [
        ("bert", 12, 12), ("bert", 40, 40), ("bert", 1000, 40), ("bert", int(1e30), 40),
        ("roberta", 40, 39), ("roberta", 39, 39), ("roberta", 20, 20), ("roberta", int(1e30), 39),
        ("t5", 512, 512), ("t5", int(1e30), None), ("xlnet", 64, 64),
    ],
)  # fmt: skip
def test_limit_is_the_lesser(name: str, tokenizer_limit: int, expected: int | None, tmp_path: Path) -> None:
    one = encoder(write_model(tmp_path, name, limit=tokenizer_limit), 1)
    assert one.limit == expected
    (tokens,) = one.tokenise([clean("cat " * 60)])
    assert len(tokens.ids) == min(expected or 1000, 60 + FAMILIES[name].template.count("{"))


@pytest.mark.parametrize("name", FAMILIES)
def test_scores(name: str, tmp_path: Path) -> None:
    """Every family goes all the way: identical is 1, nothing leaves [-1, 1], nothing is undefined."""
    metric = BERTScore(model=write_model(tmp_path, name), layer=2)
    found = metric.score_batch([TEXTS[0], TEXTS[0], "", "a"], [TEXTS[0], TEXTS[3], "cat", "dog"])
    for values in found:
        assert np.isfinite(values).all()
        assert (np.abs(values) <= 1).all()
        assert values[0] == 1.0
        assert values[2] == 0.0
    assert "limit:" in metric.signature


@pytest.mark.parametrize("name", FAMILIES)
def test_8_bits(name: str, tmp_path: Path) -> None:
    """Every family runs with 8-bit layers; its vectors point nearly where those of 32 bits do, and not just there."""
    place = write_model(tmp_path, name)
    exact, eight = encoder(place, 2), Encoder(Setting(place, 2, "cpu", "int8", "split", None))
    tokens = exact.tokenise(TEXTS)
    for one, other in zip(exact.encode(TEXTS, tokens), eight.encode(TEXTS, tokens), strict=True):
        cosines = (one * other.float()).sum(-1)
        assert float(cosines.mean()) > 0.98
        assert float((one - other.float()).abs().max()) > 1e-4


def test_t5_end_token_counts(tmp_path: Path) -> None:
    """By hand: the mean over both words and the end token of the best cosine."""
    place = write_model(tmp_path, "t5")
    one = encoder(place, 2)
    texts = ["the cat", "a dog"]
    left, right = one.encode(texts, one.tokenise(texts))
    cosines = (left.double() @ right.double().T).numpy()
    assert cosines.shape == (3, 3)
    found = BERTScore(model=place, layer=2).score("the cat", ["a dog"])
    assert found.precision == pytest.approx(cosines.max(axis=1).mean(), abs=1e-6)
    assert found.recall == pytest.approx(cosines.max(axis=0).mean(), abs=1e-6)


def test_bert_marks_are_partners_without_weight(tmp_path: Path) -> None:
    """By hand: the mean over the words of the best cosine, marks among the partners."""
    place = write_model(tmp_path, "bert")
    one = encoder(place, 2)
    texts = ["the cat sat", "a dog"]
    left, right = one.encode(texts, one.tokenise(texts))
    cosines = (left.double() @ right.double().T).numpy()
    found = BERTScore(model=place, layer=2).score(texts[0], texts[1:])
    assert found.precision == pytest.approx(cosines.max(axis=1)[1:-1].mean(), abs=1e-6)
    assert found.recall == pytest.approx(cosines.max(axis=0)[1:-1].mean(), abs=1e-6)


def test_roberta_gets_its_space() -> None:
    """The published numbers have a space before the first word, so its ids are those that it has inside a text."""
    one = encoder(str(shared_data("models") / "tiny-roberta-random"), 1)
    first, inside, twice = one.tokenise(["house", "a house", "house house"])
    assert inside.ids[-len(first.ids) + 1 :].tolist() == first.ids[1:].tolist()
    word = first.ids[1:-1].tolist()
    assert twice.ids[1:-1].tolist() == word * 2
    assert one.pieces(first.ids)[1].startswith("Ġ")
