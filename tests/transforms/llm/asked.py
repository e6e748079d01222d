"""What the tests of the client share: requests as they are made, and one client that sends them."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.forms import Capabilities
from ufo.transforms.llm.request import Completion, Function, LlmError, Message, Request
from ufo.transforms.llm.retry import Timing

WORDS = {"type": "object", "properties": {"word": {"type": "string"}}}
SCHEMA = {**WORDS, "required": ["word"], "additionalProperties": False}
FUNCTION = Function("choose", "Chooses a word.", SCHEMA)
ALL = Capabilities()


ASKED = [Message("system", "Choose."), Message("user", "One.")]
WHOSE: dict[str, Any] = {"step": "verify", "source": "reference", "response_id": "r1"}
CALL = Request("verifier", "", ASKED, function=FUNCTION, **WHOSE)
QUESTION = [Message("user", "When was the bridge opened?")]
SAMPLE = Request("knowledge", "", QUESTION, temperature=1.0, step="knowledge")


def call(**changes: Any) -> Request:
    """As the judge asks."""
    return replace(CALL, **changes)


def sample(n: int = 5, **changes: Any) -> Request:
    """As the knowledge source asks."""
    return replace(SAMPLE, n=n, **changes)


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
        capabilities = {endpoint: known} if known else {}
        self.settings = ClientSettings(
            {"verifier": endpoint}, capabilities=capabilities, **settings
        )
        self.pauses: list[float] = []
        self.now = 0.0
        self.results: list[Any] = asyncio.run(self._ask(requests, at_once))

    async def _ask(self, requests: Sequence[Request], at_once: bool) -> list[Any]:
        async def sleep(seconds: float) -> None:
            self.pauses.append(seconds)
            self.now += seconds
            await asyncio.sleep(0)

        client = OpenAiClient(self.settings, Timing(sleep, lambda: 0.0, lambda: self.now))
        results: list[Any] = []
        for together in [requests] if at_once else [[request] for request in requests]:
            jobs = (client.complete(request) for request in together)
            results += await asyncio.gather(*jobs, return_exceptions=True)
        await client.aclose()
        return results

    @property
    def completion(self) -> Completion:
        assert isinstance(self.results[0], Completion), self.results[0]
        return self.results[0]

    @property
    def error(self) -> LlmError:
        assert isinstance(self.results[0], LlmError), self.results[0]
        return self.results[0]
