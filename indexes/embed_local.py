"""Embeddings by a sentence-transformers model in a folder of this machine; an optional extra."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from indexes.embedders import Vectors, unit_rows
from schemas.errors import UsageError

_BATCH = 64


class LocalEmbedder:
    """A model folder; `version` is a hash of its files' names and sizes and of its settings."""

    def __init__(self, path: Path) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise UsageError(
                f"the model {path} needs a package: pip install 'ufo-factuality[dense]'"
            ) from None
        try:
            # Never from the network: a folder without a model is an error, not a download.
            self._model: Any = SentenceTransformer(str(path), local_files_only=True)
        except (OSError, ValueError) as error:
            raise UsageError(f"{path} is no sentence-transformers model: {error}") from None
        self.name = str(path)
        self.version = _version(path)
        self.dimension = int(self._model.get_sentence_embedding_dimension())

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `indexes.embedders.Embedder`."""
        return unit_rows(
            self._model.encode(list(texts), batch_size=_BATCH, show_progress_bar=False)
        )


def _version(path: Path) -> str:
    digest = sha256()
    for file in sorted(file for file in path.rglob("*") if file.is_file()):
        digest.update(f"{file.relative_to(path)} {file.stat().st_size}\n".encode())
        if file.suffix == ".json":
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
