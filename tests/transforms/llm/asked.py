"""What the tests of the client share: requests as they are made, and one client that sends them."""

import asyncio
from collections.abc import Sequence
from typing import Any

from ufo.transforms.llm.capabilities import Capabilities
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.request import (
    KNOWLEDGE,
    VERIFIER,
    Completion,
    Function,
    LlmError,
    Message,
    Request,
)
from ufo.transforms.llm.retry import Timing

FUNCTION = Function(
    "choose",
    "Chooses a word.",
    {
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": False,
    },
)


ALL = Capabilities()


def call(**changes: Any) -> Request:
    """As the judge asks."""
    values: dict[str, Any] = {
        "role": VERIFIER,
        "model": "",
        "messages": [Message("system", "Choose."), Message("user", "One.")],
        "function": FUNCTION,
        "step": "verify",
        "source": "reference",
        "response_id": "r1",
    }
    return Request(**(values | changes))


def sample(n: int = 5, **changes: Any) -> Request:
    """As the knowledge source asks."""
    values: dict[str, Any] = {
        "role": KNOWLEDGE,
        "model": "",
        "messages": [Message("user", "When was the bridge opened?")],
        "temperature": 1.0,
        "n": n,
        "step": "knowledge",
    }
    return Request(**(values | changes))


class Asked:
    """What came of some requests of one client: completions or errors, and its pauses."""

    def __init__(
        self,
        server: Any,
        requests: Sequence[Request],
        known: Capabilities | None = ALL,
        at_once: bool = False,
        base_url: str | None = None,
        timeout: float = 10.0,
        **settings: Any,
    ) -> None:
        endpoint = Endpoint("offline-judge", base_url or server.base_url, timeout=timeout)
        given = {endpoint: known} if known else {}
        self.settings = ClientSettings({VERIFIER: endpoint}, capabilities=given, **settings)
        self.pauses: list[float] = []
        self.now = 0.0
        self.results: list[Any] = asyncio.run(self._ask(requests, at_once))

    async def _ask(self, requests: Sequence[Request], at_once: bool) -> list[Any]:
        async def sleep(seconds: float) -> None:
            self.pauses.append(seconds)
            self.now += seconds
            await asyncio.sleep(0)

        client = OpenAiClient(self.settings, Timing(sleep, lambda: 0.0, lambda: self.now))
        try:
            if at_once:
                jobs = (client.complete(request) for request in requests)
                return list(await asyncio.gather(*jobs, return_exceptions=True))
            results: list[Any] = []
            for request in requests:
                try:
                    results.append(await client.complete(request))
                except LlmError as error:
                    results.append(error)
            return results
        finally:
            await client.aclose()

    @property
    def completion(self) -> Completion:
        result = self.results[0]
        if isinstance(result, Exception):
            raise result
        assert isinstance(result, Completion)
        return result

    @property
    def error(self) -> LlmError:
        assert isinstance(self.results[0], LlmError), self.results[0]
        return self.results[0]
