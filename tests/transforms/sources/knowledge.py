"""The source `llm` over real HTTP or before a script: what its tests share."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from tests.llm_server import LlmServer
from ufo.schemas.records import (
    FactUnit,
    OpenUnits,
)
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import endpoints
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.request import Request
from ufo.transforms.sources.fact_source import Found, SourceContext
from ufo.transforms.sources.llm import LlmSource

QUERIES = ("When was the Alma Bridge opened?", "Who built the <q1> Tower & when?", "Where is Oslo?")


def opened(*queries: str, claims: Sequence[str] = ()) -> OpenUnits:
    given = claims or [f"Claim {n}." for n in range(len(queries))]
    units = [
        FactUnit("r1", f"u{n}", None, claim, query, None)
        for n, (claim, query) in enumerate(zip(given, queries, strict=True))
    ]
    return OpenUnits("r1", " ".join(given), None, None, [], [], units)


def over_http(server: LlmServer, **options: Any) -> tuple[LlmSource, Callable[[], OpenAiClient]]:
    """A source with a client of its own, which lives on the loop of the test."""
    settings = ClientSettings(endpoints("offline-judge", server.base_url))
    made: list[OpenAiClient] = []

    def client() -> OpenAiClient:
        made[:] = made or [OpenAiClient(settings)]
        return made[0]

    source = LlmSource(model="offline-judge", context=SourceContext(client=client), **options)
    source.name = "knows"
    return source, client


def look_up(server: LlmServer, *queries: str, **options: Any) -> list[Found]:
    source, client = over_http(server, **options)

    async def ask() -> list[Found]:
        source.open()
        found = await source.look_up(opened(*queries))
        await client().aclose()
        return found

    return asyncio.run(ask())


def scripted(script: Any, *queries: str, **options: Any) -> tuple[list[Found], list[Request]]:
    client = FakeClient(script)
    source = LlmSource(context=SourceContext(client=lambda: client), **options)
    source.name = "knows"
    source.open()
    return asyncio.run(source.look_up(opened(*queries))), client.requests


def asked(server: LlmServer) -> list[dict[str, Any]]:
    """The bodies of the requests for knowledge, without those of the probe."""
    return [entry.body for entry in server.chats if entry.step == "knowledge"]


def texts(found: Found) -> list[str]:
    return [hit.passage.text for hit in found.passages]
