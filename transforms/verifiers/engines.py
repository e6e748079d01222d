"""What computes a model: onnxruntime where there is an ONNX file, else transformers with torch
(`ufo.transforms.verifiers.torch_engines`).

One pair is computed at a time, so that a pair's probabilities do not depend on the others
(`ufo.schemas.models.OnnxModel`).
"""

from collections.abc import Mapping
from typing import Any, Protocol

from tokenizers import Encoding

from ufo.schemas.models import OnnxModel


class Engine(Protocol):
    """Computes the outputs of one encoded pair."""

    def logits(self, encoding: Encoding) -> list[float]:
        """Return the model's outputs."""


class OnnxEngine:
    """A model in an ONNX file, on one thread."""

    def __init__(self, path: str, config: Mapping[str, Any]) -> None:
        self._model = OnnxModel(path)
        self._types = has_types(config)
        outputs = self._model.outputs
        self._output = "logits" if "logits" in outputs else outputs[0]

    def logits(self, encoding: Encoding) -> list[float]:
        """Return the model's outputs."""
        types = encoding.type_ids if self._types else [0] * len(encoding.ids)
        found = self._model.run(encoding.ids, types, self._output)
        # A model that classifies tokens (HHEM) is asked for the first one.
        return [float(logit) for logit in (found[0] if found.ndim == 2 else found)]


def has_types(config: Mapping[str, Any]) -> bool:
    """Return whether the model takes the text that a token is of as an input; RoBERTa does not."""
    known = "roberta" not in str(config.get("model_type", ""))
    return known and int(config.get("type_vocab_size") or 0) > 1
