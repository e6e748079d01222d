"""Tiny models of a known behaviour: each word of a text adds to one of three scores."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from tokenizers import normalizers as normal

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "</s>", "<pad>")
SAYS = {"yes": 0, "no": 1, "maybe": 2}
"""Words that count, and which of (supported, refuted, noans) they count for."""
WORDS = (*SAYS, "claim", "so", "it", "is", ".", "hypothesis", "premise", "conclude")
LABELS = ("entailment", "contradiction", "neutral")


def words_of(vocabulary: Sequence[str]) -> Tokenizer:
    """Return a tokenizer of whole words."""
    numbers = {word: number for number, word in enumerate(vocabulary)}
    word_level = Tokenizer(models.WordLevel(numbers, unk_token="[UNK]"))
    word_level.normalizer = normal.Lowercase()
    word_level.pre_tokenizer = pre_tokenizers.Whitespace()
    return word_level


def tokenizer() -> Tokenizer:
    """Return a tokenizer of whole words that frames texts as BERT does."""
    word_level = words_of((*SPECIAL, *WORDS))
    word_level.add_special_tokens(list(SPECIAL))
    word_level.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return word_level


def write_texts(folder: Path, labels: Sequence[str], tokens: int, **config: object) -> None:
    """Write what a folder says of a model: its configuration and its tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "model_type": "bert",
        "architectures": ["BertForSequenceClassification"],
        "id2label": {str(place): label for place, label in enumerate(labels)},
        "max_position_embeddings": tokens,
        "type_vocab_size": 2,
    }
    (folder / "config.json").write_text(json.dumps(settings | config))
    tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": "[SEP]"}))


def write_onnx(
    folder: Path, labels: Sequence[str] = LABELS, tokens: int = 64, **config: object
) -> Path:
    """Write a model that adds up what the words of its input say, in the order of its labels."""
    write_texts(folder, labels, tokens, **config)
    order = [
        LABELS.index(label) if label in LABELS else place for place, label in enumerate(labels)
    ]
    table = np.zeros((len(SPECIAL) + len(WORDS), len(labels)), np.float32)
    for word, outcome in SAYS.items():
        if outcome in order:
            table[len(SPECIAL) + WORDS.index(word), order.index(outcome)] = 1.5
    nodes = [("Gather", ["table", "input_ids"], "said"), ("ReduceSum", ["said", "axes"], "logits")]
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    return save_model(folder, nodes, inputs, ["batch", "length"], {"table": table})


def save_model(
    folder: Path,
    nodes: Sequence[tuple[str, list[str], str]],
    inputs: Sequence[str],
    shape: Sequence[int | str],
    tables: Mapping[str, Any],
) -> Path:
    """Write a model of these operations on tables, whose rows have a number for each outcome."""
    import onnx
    from onnx import TensorProto, helper

    model_nodes = [
        helper.make_node(
            kind, node_inputs, [name], **({"keepdims": 0} if kind == "ReduceSum" else {})
        )
        for kind, node_inputs, name in nodes
    ]
    width = next(iter(tables.values())).shape[1]
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [shape[0], width])
    values = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in inputs]
    constants = [
        helper.make_tensor(name, TensorProto.FLOAT, table.shape, table.flatten())
        for name, table in tables.items()
    ]
    constants.append(helper.make_tensor("axes", TensorProto.INT64, [1], [1]))
    graph = helper.make_graph(model_nodes, "tiny", values, [logits], constants)
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(model, folder / "model.onnx")
    return folder
