"""Embeddings by a local model: an ONNX file by onnxruntime, else by sentence-transformers.

The folder of an ONNX file is that of a sentence-transformers model with `model.onnx` or
`onnx/model.onnx`, and `tokenizer.json`. Token vectors are pooled by mean or first token (CLS), then
normalised. Running without an ONNX file needs an optional extra.
"""

import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from ufo.indexes.vectors import Vectors, unit_rows
from ufo.schemas.errors import UsageError
from ufo.schemas.extras import need
from ufo.schemas.models import TENSORS, TEXTS, OnnxModel, checksum

EXTRA = "hub"
_BATCH = 64
_KNOWN_MODULES = ("Transformer", "Pooling", "Normalize")
_CLS, _MEAN = "cls", "mean"
_OLD_NAMES = {"pooling_mode_cls_token": _CLS, "pooling_mode_mean_tokens": _MEAN}
_USUAL_TOKENS = 512
_WHOLE = "sentence_embedding"  # the name of an output that is pooled already


class OnnxEmbedder:
    """An Embedder by an ONNX file; `version` is a hash of settings, vocabulary and model."""

    def __init__(self, name: str, folder: Path, onnx: str) -> None:
        try:
            self._pooling = _pooling_of(folder)
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(_tokens_of(folder))
            self._model = OnnxModel(onnx)
            outputs = self._model.outputs
            self._output = _WHOLE if _WHOLE in outputs else outputs[0]
            self.dimension = len(self._vector(""))
        except UsageError:
            raise
        # Both libraries raise plain Exception for an invalid file.
        except Exception as error:
            raise UsageError(f"{folder} cannot be used as an embedder: {error}") from error
        self.name = name
        texts = (str(path) for path in folder.rglob("*") if path.is_file() and path.suffix in TEXTS)
        self.version = checksum(str(folder), [*texts, onnx])[:16]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `ufo.indexes.embedders.Embedder`."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        # onnxruntime releases the GIL while it computes.
        with ThreadPoolExecutor(min(len(texts), os.cpu_count() or 1)) as threads:
            return unit_rows(np.stack(list(threads.map(self._vector, texts))))

    def _vector(self, text: str) -> Vectors:
        encoding = self._tokenizer.encode(text)
        found: Vectors = self._model.run(encoding.ids, encoding.type_ids, self._output)
        if found.ndim == 1:
            return found
        pooled: Vectors = found[0] if self._pooling == _CLS else found.mean(axis=0)
        return pooled


class LocalEmbedder:
    """An Embedder by sentence-transformers; `version` hashes settings, vocabulary and weights."""

    def __init__(self, name: str, folder: Path) -> None:
        packages = ("sentence_transformers", "transformers")
        need(EXTRA, f"the embedder {name} has no ONNX file and", packages)
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # of loading weights in each process
        try:
            # A folder without a model is an error, not a download.
            self._model: Any = SentenceTransformer(str(folder), local_files_only=True)
        except (OSError, ValueError) as error:
            raise UsageError(f"{folder} is not a sentence-transformers model: {error}") from None
        self.name = name
        # Hashed by content: further training does not change the size of the weights.
        files = [path for path in folder.rglob("*") if path.is_file()]
        counted = (str(path) for path in files if path.suffix in (*TEXTS, *TENSORS))
        self.version = checksum(str(folder), counted)[:16]
        self.dimension = int(self._model.get_embedding_dimension())

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `ufo.indexes.embedders.Embedder`."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return unit_rows(
            self._model.encode(list(texts), batch_size=_BATCH, show_progress_bar=False)
        )


def _pooling_of(folder: Path) -> str:
    """Return the pooling of token vectors, cls or mean; mean where no settings name it."""
    modules = _settings(folder / "modules.json") or []
    for module in modules:
        kind = str(module["type"]).rpartition(".")[2]
        if kind not in _KNOWN_MODULES:
            raise UsageError(
                f"{folder} has a module {kind!r} that its ONNX file does not hold; copy the model "
                "with its weights and without the ONNX file into a folder, and name that: it is "
                "then run by sentence-transformers"
            )
        if kind == "Pooling":
            settings = _settings(folder / module["path"] / "config.json") or {}
            named = settings.get("pooling_mode") or [
                _OLD_NAMES.get(name, name)
                for name, used in settings.items()
                if name.startswith("pooling_mode_") and used
            ]
            modes = [named] if isinstance(named, str) else list(named)
            if modes not in ([_CLS], [_MEAN]):
                raise UsageError(f"{folder} pools by {modes}; known are {_CLS} and {_MEAN}")
            return str(modes[0])
    return _MEAN


def _tokens_of(folder: Path) -> int:
    """Return the number of tokens after which a text is truncated."""
    limits = (
        (_settings(folder / "sentence_bert_config.json") or {}).get("max_seq_length"),
        (_settings(folder / "config.json") or {}).get("max_position_embeddings"),
    )
    return min([int(limit) for limit in limits if limit] or [_USUAL_TOKENS])


def _settings(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
