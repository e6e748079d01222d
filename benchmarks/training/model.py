"""The model that is trained: all-MiniLM-L6-v2 as a cross-encoder with three outcomes."""

import json
from typing import Any

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import BertConfig, BertForSequenceClassification

from benchmarks.speed.embedder import base_folder
from ufo.transforms.english.words import STOP_WORDS

OUTCOMES = ("supported", "refuted", "noans")
_NOISE = 0.02


def tokenizer() -> Tokenizer:
    """Return the base model's tokenizer, without padding and truncation."""
    trained = Tokenizer.from_file(str(base_folder() / "tokenizer.json"))
    trained.no_padding()
    trained.no_truncation()
    return trained


def common_pieces(pieces: Tokenizer) -> list[int]:
    """Return the ids of word pieces that any two texts share: function words, punctuation."""
    vocabulary = pieces.get_vocab()
    words = {word for word in STOP_WORDS if word in vocabulary}
    marks = {piece for piece in vocabulary if not any(map(str.isalnum, piece))}
    return sorted(vocabulary[piece] for piece in words | marks | {"##s"})


def new_model(seed: int) -> BertForSequenceClassification:
    """Return the base model with a new last layer and four token types instead of two.

    The types of shared pieces begin as those of other pieces, plus a little noise. No dropout: few
    epochs are made, and a processor is a tenth faster without. Attention is computed as plain
    matrix products, whose backward pass is the fastest on a processor at these lengths.
    """
    folder = base_folder()
    torch.manual_seed(seed)
    values: dict[str, Any] = json.loads((folder / "config.json").read_text())
    names = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads")
    config = BertConfig(
        **{name: values[name] for name in (*names, "intermediate_size", "layer_norm_eps")},
        type_vocab_size=4,
        num_labels=len(OUTCOMES),
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        attn_implementation="eager",
    )
    model = BertForSequenceClassification(config)
    weights = {
        f"bert.{name}": value for name, value in load_file(folder / "model.safetensors").items()
    }
    types = weights.pop("bert.embeddings.token_type_embeddings.weight")
    weights.pop("bert.embeddings.position_ids", None)
    missing, unexpected = model.load_state_dict(weights, strict=False)
    left = {"bert.embeddings.token_type_embeddings.weight", "classifier.weight", "classifier.bias"}
    assert set(missing) == left, missing
    assert not unexpected, unexpected
    noise = torch.randn(4, types.shape[1]) * _NOISE * types.std()
    with torch.no_grad():
        model.bert.embeddings.token_type_embeddings.weight.copy_(types.repeat(2, 1) + noise)
    model.bert.embeddings.word_embeddings.weight.requires_grad = False
    return model
