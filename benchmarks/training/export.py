"""The trained model as one int8 ONNX file."""

import tempfile
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional
from transformers import BertForSequenceClassification

_SAMPLE = 64
_LONGEST = 512


class _Logits(torch.nn.Module):  # type: ignore[misc]
    """The model for one pair without padding, with the work that one pair needs.

    Query, key and value are one product, so that what they read is quantised once, and the last
    layer is computed for the first token alone: no other reaches the logits.
    """

    def __init__(self, model: BertForSequenceClassification) -> None:
        super().__init__()
        self.model = model
        self.heads = model.config.num_attention_heads
        for layer in model.bert.encoder.layer:
            read = layer.attention.self
            last = layer is model.bert.encoder.layer[-1]
            joint = (read.key, read.value) if last else (read.query, read.key, read.value)
            layer.weight = torch.nn.Parameter(torch.cat([one.weight for one in joint]))
            layer.bias = torch.nn.Parameter(torch.cat([one.bias for one in joint]))

    def forward(self, ids: Tensor, types: Tensor) -> Tensor:
        bert = self.model.bert
        states = bert.embeddings(input_ids=ids, token_type_ids=types)
        for layer in bert.encoder.layer[:-1]:
            joint = functional.linear(states, layer.weight, layer.bias)
            states = self._transformed(layer, states, *joint.chunk(3, dim=-1))
        layer, first = bert.encoder.layer[-1], states[:, :1]
        joint = functional.linear(states, layer.weight, layer.bias)
        query = layer.attention.self.query(first)
        states = self._transformed(layer, first, query, *joint.chunk(2, dim=-1))
        logits: Tensor = self.model.classifier(bert.pooler(states))
        return logits

    def _transformed(
        self, layer: torch.nn.Module, states: Tensor, query: Tensor, key: Tensor, value: Tensor
    ) -> Tensor:
        """Return the states after a layer; dropout is left out, as it is when a model is used."""
        query, key, value = (
            vectors.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for vectors in (query, key, value)
        )
        scores = query @ key.transpose(2, 3) * query.shape[-1] ** -0.5
        read = (scores.softmax(dim=-1) @ value).transpose(1, 2).flatten(2)
        attended = layer.attention.output
        states = attended.LayerNorm(attended.dense(read) + states)
        inner = functional.gelu(layer.intermediate.dense(states))
        done: Tensor = layer.output.LayerNorm(layer.output.dense(inner) + states)
        return done


def export(model: BertForSequenceClassification, path: Path) -> None:
    """Write the model: `ids` and `types` (1, n) to `logits` (1, 3), weights in int8."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    ids, types = torch.randint(1000, 2000, (1, _SAMPLE)), torch.randint(0, 4, (1, _SAMPLE))
    length = torch.export.Dim("length", min=4, max=_LONGEST)
    program = torch.onnx.export(
        _Logits(model.float()).eval(),
        (ids, types),
        dynamo=True,
        dynamic_shapes={"ids": {1: length}, "types": {1: length}},
        input_names=["ids", "types"],
        output_names=["logits"],
    )
    assert program is not None
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        program.save(str(whole))
        quantize_dynamic(str(whole), str(path), weight_type=QuantType.QInt8, per_channel=True)
