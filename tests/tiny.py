"""A BERT with random weights and a vocabulary of a few words, on disk: what tests of BERTScore run on in milliseconds.

Whoever imports this must have the extra bertscore: pytest.importorskip("torch") first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["a", "and", "bird", "cat", "dog", "in", "mat", "on", "ran", "sat", "saw", "the", "tree", "under"]
DEPTH, LIMIT = 3, 24


def make_model(place: Path, seed: int = 7) -> str:
    """Write the model to a directory and return its name."""
    import tokenizers  # noqa: PLC0415  not there in every environment
    import torch  # noqa: PLC0415
    import transformers  # noqa: PLC0415

    vocabulary = {word: i for i, word in enumerate([*MARKS, *WORDS])}
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=DEPTH, num_attention_heads=2,
        intermediate_size=48, max_position_embeddings=LIMIT,
    )  # fmt: skip
    torch.manual_seed(seed)
    made = transformers.BertModel(config, add_pooling_layer=False)
    with torch.no_grad():
        for weights in made.parameters():
            weights.add_(torch.randn_like(weights) * 0.2)
    made.save_pretrained(place)
    engine = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))  # noqa: S106  a mark
    engine.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    engine.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    marks = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), MARKS, strict=True))
    transformers.PreTrainedTokenizerFast(tokenizer_object=engine, **marks).save_pretrained(place)
    return str(place)
