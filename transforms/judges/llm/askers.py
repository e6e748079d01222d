"""Who asks a model for the steps of many responses, with one client."""

import asyncio
from collections.abc import Callable

from transforms.judges.llm.asking import Asker
from transforms.judges.llm.settings import LlmSettings
from transforms.llm.base import EXTRACTOR, Client
from transforms.prompts import Prompts


class Askers:
    """Makes the `Asker` of each step of each response.

    `client_factory` makes the client on the loop that it is used in, at the first request. Can be
    pickled before that, where the factory can.
    """

    def __init__(
        self, settings: LlmSettings, prompts: Prompts, client_factory: Callable[[], Client]
    ) -> None:
        self._settings = settings
        self._prompts = prompts
        self._client_factory = client_factory
        self._client: Client | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def asker(
        self, role: str, step: str, response_id: str | None = None, source: str | None = None
    ) -> Asker:
        """Return who asks the role's model for one step of one response."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client, self._loop = self._client_factory(), loop
        model = self._settings.model
        if role == EXTRACTOR:
            model = self._settings.extractor_model or model
        return Asker(self._client, self._prompts, role, model, step, response_id, source)

    def close(self) -> None:
        """Close the client, for whoever is not on its loop."""
        client, loop = self._client, self._loop
        self._client = self._loop = None
        if client is not None and loop is not None and loop.is_running():
            asyncio.run_coroutine_threadsafe(client.aclose(), loop).result(timeout=10)

    async def aclose(self) -> None:
        """Close the client, on its loop."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
