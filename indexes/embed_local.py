"""Embeddings by a sentence-transformers model; an optional extra."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from indexes.vectors import Vectors, unit_rows
from schemas.errors import UsageError
from schemas.models import TENSORS, TEXTS, checksum

EXTRA = "dense"
_BATCH = 64


class LocalEmbedder:
    """A model folder; `version` is a hash of its settings, vocabulary and weights."""

    def __init__(self, name: str, folder: Path) -> None:
        try:
            from sentence_transformers import SentenceTransformer
            from transformers.utils.logging import disable_progress_bar
        except ImportError:
            raise UsageError(
                f"the embedder {name} has no ONNX file, and without one it needs a package: pip "
                f"install 'ufo-factuality[{EXTRA}]'"
            ) from None
        disable_progress_bar()  # of loading weights, for each process that opens the index
        try:
            # Never from the network: a folder without a model is an error, not a download.
            self._model: Any = SentenceTransformer(str(folder), local_files_only=True)
        except (OSError, ValueError) as error:
            raise UsageError(f"{folder} is no sentence-transformers model: {error}") from None
        self.name = name
        # The content and not the size: a model that is trained on has weights of the same size.
        files = [path for path in folder.rglob("*") if path.is_file()]
        counted = (str(path) for path in files if path.suffix in (*TEXTS, *TENSORS))
        self.version = checksum(str(folder), counted)[:16]
        self.dimension = int(self._model.get_embedding_dimension())

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `indexes.embedders.Embedder`."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return unit_rows(
            self._model.encode(list(texts), batch_size=_BATCH, show_progress_bar=False)
        )
