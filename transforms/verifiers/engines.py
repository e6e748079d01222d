"""What computes a model: onnxruntime where there is an ONNX file, else transformers with torch.

One pair is computed at a time, so that a pair's probabilities do not depend on the others
(`schemas.models.OnnxModel`).
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from schemas.models import OnnxModel

if TYPE_CHECKING:
    from tokenizers import Encoding


class Engine(Protocol):
    """Computes the outputs of one encoded pair."""

    def logits(self, encoding: "Encoding") -> list[float]:
        """Return the model's outputs."""


class OnnxEngine:
    """A model in an ONNX file, on one thread."""

    def __init__(self, path: str, config: Mapping[str, Any]) -> None:
        self._model = OnnxModel(path)
        self._types = _has_types(config)
        outputs = self._model.outputs
        self._output = "logits" if "logits" in outputs else outputs[0]

    def logits(self, encoding: "Encoding") -> list[float]:
        """Return the model's outputs."""
        types = encoding.type_ids if self._types else [0] * len(encoding.ids)
        found = self._model.run(encoding.ids, types, self._output)
        # A model that classifies tokens (HHEM) is asked for the first one.
        return [float(logit) for logit in (found[0] if found.ndim == 2 else found)]


class TorchEngine:
    """A sequence classifier of transformers, on one thread."""

    def __init__(self, folder: str, config: Mapping[str, Any]) -> None:
        from transformers import AutoModelForSequenceClassification

        _quiet()
        self._model = AutoModelForSequenceClassification.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
        self._types = _has_types(config)
        _one_thread(self._model)

    def logits(self, encoding: "Encoding") -> list[float]:
        """Return the model's outputs."""
        import torch

        ids = torch.tensor([encoding.ids])
        given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        if self._types:
            given["token_type_ids"] = torch.tensor([encoding.type_ids])
        with torch.inference_mode():
            found = self._model(**given).logits
        return [float(logit) for logit in found[0]]


class HhemEngine:
    """HHEM-2.1-open without the code that comes with it: a T5 of the size of its foundation, of
    which the first token's two scores are the model's."""

    def __init__(self, folder: str, foundation: str) -> None:
        from safetensors.torch import load_file
        from transformers import AutoConfig, T5ForTokenClassification

        _quiet()
        config = AutoConfig.from_pretrained(
            foundation, local_files_only=True, trust_remote_code=False, num_labels=2
        )
        model = T5ForTokenClassification(config)
        weights = load_file(os.path.join(folder, "model.safetensors"))
        own = {name.removeprefix("t5."): weight for name, weight in weights.items()}
        shared = own.get("transformer.shared.weight")
        if shared is not None:
            own.setdefault("transformer.encoder.embed_tokens.weight", shared)
        model.load_state_dict(own)
        self._model = model
        _one_thread(model)

    def logits(self, encoding: "Encoding") -> list[float]:
        """Return the first token's scores."""
        import torch

        with torch.inference_mode():
            found = self._model(input_ids=torch.tensor([encoding.ids])).logits
        return [float(logit) for logit in found[0, 0]]


def _has_types(config: Mapping[str, Any]) -> bool:
    """Tell whether the model is told which text a token is of; RoBERTa is not."""
    told = "roberta" not in str(config.get("model_type", ""))
    return told and int(config.get("type_vocab_size") or 0) > 1


def _quiet() -> None:
    from transformers.utils import logging

    logging.disable_progress_bar()  # many workers would each show one
    logging.set_verbosity_error()


def _one_thread(model: Any) -> None:
    import torch

    torch.set_num_threads(1)
    model.eval()
