"""Models that transformers computes with torch: the extra `hub`, imported where it is needed."""

import os
from collections.abc import Mapping
from typing import Any

import torch
from safetensors.torch import load_file
from tokenizers import Encoding
from transformers import AutoConfig, AutoModelForSequenceClassification, T5ForTokenClassification
from transformers.utils import logging

from ufo.transforms.verifiers.engines import has_types


class TorchEngine:
    """A sequence classifier of transformers, on one thread."""

    def __init__(self, folder: str, config: Mapping[str, Any]) -> None:
        _quiet()
        self._model = AutoModelForSequenceClassification.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
        self._types = has_types(config)
        _one_thread(self._model)

    def logits(self, encoding: Encoding) -> list[float]:
        """Return the model's outputs."""
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

    def logits(self, encoding: Encoding) -> list[float]:
        """Return the first token's scores."""
        with torch.inference_mode():
            found = self._model(input_ids=torch.tensor([encoding.ids])).logits
        return [float(logit) for logit in found[0, 0]]


def _quiet() -> None:
    logging.disable_progress_bar()  # many workers would each show one
    logging.set_verbosity_error()


def _one_thread(model: Any) -> None:
    torch.set_num_threads(1)
    model.eval()
