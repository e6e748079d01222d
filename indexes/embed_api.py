"""Embeddings from an OpenAI-compatible `/v1/embeddings` endpoint.

The key is `OPENAI_API_KEY`, the address `OPENAI_BASE_URL`; neither is ever written anywhere.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, Self

import numpy as np

from indexes.vectors import Vectors, unit_rows
from schemas.errors import RunError, UsageError

OPENAI = "openai"
DEFAULT_MODEL = "text-embedding-3-small"

_BATCH = 64  # texts a request: 64 passages of 100 words are far below the limits of any endpoint
_AT_ONCE = 8
_RETRIES = 5  # the client's own, which waits as long as the endpoint says
_EMPTY = " "  # endpoints refuse an empty text


class ApiEmbedder:
    """Asks the endpoint in batches; `version` and `dimension` are known after the first answer."""

    def __init__(self, model: str = DEFAULT_MODEL) -> None:
        self._model = model
        self.name = f"{OPENAI}:{model}"
        self.version = ""
        self.dimension = 0
        if not os.environ.get("OPENAI_API_KEY"):
            raise UsageError(
                f"the embedder {self.name!r} needs a key; set OPENAI_API_KEY (any text for a "
                "server that asks for none), and OPENAI_BASE_URL for one of your own"
            )

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `indexes.embedders.Embedder`. Raises RunError where the endpoint does not answer."""
        batches = [texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH)]
        if not batches:
            return np.zeros((0, self.dimension), np.float32)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return np.concatenate(list(pool.map(self._ask, batches)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; an embedder that lives as long as its process need not."""
        if "_client" in self.__dict__:
            self._client.close()

    @cached_property
    def _library(self) -> Any:
        import openai  # a second, and only here

        return openai

    @cached_property
    def _client(self) -> Any:
        return self._library.OpenAI(max_retries=_RETRIES)

    def _ask(self, texts: Sequence[str]) -> Vectors:
        client = self._client
        try:
            answer = client.embeddings.create(
                model=self._model,
                input=[text if text.strip() else _EMPTY for text in texts],
                encoding_format="float",
            )
        except self._library.OpenAIError as error:
            raise RunError(
                f"the embedder {self.name!r} at {client.base_url} failed: {error}"
            ) from None
        rows = sorted(answer.data, key=lambda row: row.index)
        sizes = {len(row.embedding) for row in rows}
        if len(rows) != len(texts) or len(sizes) != 1:
            raise RunError(
                f"{client.base_url} answered {len(texts)} texts with {len(rows)} vectors of "
                f"{sorted(sizes)} dimensions; one vector a text, all of one dimension, is needed"
            )
        version, dimension = str(answer.model or self._model), sizes.pop()
        if self.version and (version, dimension) != (self.version, self.dimension):
            raise RunError(
                f"{client.base_url} changed its model on the way: {version!r} of {dimension} "
                f"dimensions after {self.version!r} of {self.dimension}; run the command again"
            )
        self.version, self.dimension = version, dimension
        return unit_rows(np.array([row.embedding for row in rows], np.float32))
