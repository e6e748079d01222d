"""The trained model as one int8 ONNX file."""

import tempfile
from pathlib import Path

import torch
from transformers import BertForSequenceClassification

_SAMPLE = 64
_LONGEST = 512


class _Logits(torch.nn.Module):  # type: ignore[misc]
    """The model for one pair without padding."""

    def __init__(self, model: BertForSequenceClassification) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        read = self.model(input_ids=ids, token_type_ids=types, attention_mask=torch.ones_like(ids))
        logits: torch.Tensor = read.logits
        return logits


def export(model: BertForSequenceClassification, path: Path) -> None:
    """Write the model: `ids` and `types` (1, n) to `logits` (1, 3), weights in int8."""
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.transformers import optimizer

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
        whole, fused = Path(folder) / "whole.onnx", Path(folder) / "fused.onnx"
        program.save(str(whole))
        optimizer.optimize_model(
            str(whole), model_type="bert", num_heads=12, hidden_size=384, opt_level=0
        ).save_model_to_file(str(fused))
        quantize_dynamic(str(fused), str(path), weight_type=QuantType.QInt8, per_channel=True)
