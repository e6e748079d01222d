"""What the folder of a cross-encoder says of it, and the files that its outputs depend on."""

import json
import os
from collections.abc import Mapping
from typing import Any, Final

from ufo.schemas import models
from ufo.schemas.errors import UsageError

EXTRA: Final = "hub"


def config_of(folder: str) -> dict[str, Any]:
    """Return what config.json says.

    Raises:
        UsageError: there is none, or it is not a JSON object.
    """
    path = os.path.join(folder, "config.json")
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        raise UsageError(
            f"the folder {folder!r} is not a verifier: it has neither config.json, as a model has, "
            "nor verifier.json, as benchmarks/train_verifier.py writes it"
        ) from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path!r} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise UsageError(f"{path!r} is not a JSON object")
    return found


def said_of_tokenizer(folder: str) -> Mapping[str, Any]:
    """Return what tokenizer_config.json and special_tokens_map.json say, empty without them."""
    found: dict[str, Any] = {}
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                found |= json.load(file)
    return found


def checksum(folder: str, weights: bool = True) -> str:
    """Return a checksum of the files that a model's outputs depend on, or of its tokenizer's."""
    onnx = models.onnx_file(folder) if weights else None
    endings = models.TEXTS if onnx or not weights else (*models.TEXTS, *models.TENSORS)
    paths = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(endings)]
    return models.checksum(folder, [*filter(os.path.isfile, paths), *([onnx] if onnx else [])])
