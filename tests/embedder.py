"""A tiny embedder of a known behaviour: an ONNX model that counts words."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

_SPECIAL = ("[UNK]", "[CLS]")


def write_embedder(folder: Path, words: str) -> Path:
    """Write a model whose vector of a text is how often each of these words is in it.

    It has no settings: the vectors of a text's words are averaged. Other words count for nothing.
    """
    known = sorted(set(words.lower().split()))
    vocabulary = {word: number for number, word in enumerate((*_SPECIAL, *known))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A", special_tokens=[("[CLS]", vocabulary["[CLS]"])]
    )
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    table = np.eye(len(vocabulary), dtype=np.float32)[:, len(_SPECIAL) :]
    write_model(folder / "model.onnx", table)
    return folder


def write_model(path: Path, table: "np.ndarray[tuple[int, int], np.dtype[np.float32]]") -> None:
    """Write an encoder that gives each token the row of the table that is its number."""
    shape = ["batch", "length"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, shape)
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info(
        "last_hidden_state", TensorProto.FLOAT, [*shape, table.shape[1]]
    )
    constant = helper.make_tensor("table", TensorProto.FLOAT, table.shape, table.flatten())
    node = helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])
    graph = helper.make_graph([node], "tiny", inputs, [output], [constant])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(model, path)
