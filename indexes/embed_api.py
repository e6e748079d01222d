"""Embeddings from an OpenAI-compatible `/v1/embeddings` endpoint.

The key is `OPENAI_API_KEY`, the address `OPENAI_BASE_URL`; neither is stored in the index.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ufo.indexes.vectors import Vectors, unit_rows
from ufo.schemas.errors import RunError, UsageError
from ufo.schemas.extras import need

OPENAI = "openai"
DEFAULT_MODEL = "text-embedding-3-small"

_BATCH = 64  # texts a request
_AT_ONCE = 8
_RETRIES = 5  # by the client, which respects `retry-after`
_EMPTY = " "  # endpoints refuse an empty text


class ApiEmbedder:
    """An Embedder that asks an endpoint; `version` and `dimension` are set by its first reply."""

    def __init__(self, model: str = DEFAULT_MODEL) -> None:
        self._model = model
        self.name = f"{OPENAI}:{model}"
        self.version = ""
        self.dimension = 0
        if not os.environ.get("OPENAI_API_KEY"):
            raise UsageError(
                f"the embedder {self.name!r} needs a key; set OPENAI_API_KEY (any text for a "
                "server that needs none), and OPENAI_BASE_URL for your own server"
            )
        need("llm", f"the embedder {self.name}")
        import openai  # takes a second

        self._api_error = openai.OpenAIError
        self._client = openai.OpenAI(max_retries=_RETRIES)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `ufo.indexes.embedders.Embedder`.

        Raises:
            RunError: the endpoint fails, or its replies are inconsistent.
        """
        batches = [texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH)]
        if not batches:
            return np.zeros((0, self.dimension), np.float32)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return np.concatenate(list(pool.map(self._ask, batches)))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _ask(self, texts: Sequence[str]) -> Vectors:
        client = self._client
        try:
            reply = client.embeddings.create(
                model=self._model,
                input=[text if text.strip() else _EMPTY for text in texts],
                encoding_format="float",
            )
        except self._api_error as error:
            raise RunError(
                f"the embedder {self.name!r} at {client.base_url} failed: {error}"
            ) from None
        rows = sorted(reply.data, key=lambda row: row.index)
        sizes = {len(row.embedding) for row in rows}
        if len(rows) != len(texts) or len(sizes) != 1:
            raise RunError(
                f"{client.base_url} answered {len(texts)} texts with {len(rows)} vectors of "
                f"{sorted(sizes)} dimensions; one vector a text, all of one dimension, is needed"
            )
        version, dimension = str(reply.model or self._model), sizes.pop()
        if self.version and (version, dimension) != (self.version, self.dimension):
            raise RunError(
                f"{client.base_url} changed its model between requests: {version!r} of {dimension} "
                f"dimensions after {self.version!r} of {self.dimension}; run the command again"
            )
        self.version, self.dimension = version, dimension
        return unit_rows(np.array([row.embedding for row in rows], np.float32))
