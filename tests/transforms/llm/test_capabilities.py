"""What a probe finds out about endpoints of all kinds, and with how many requests."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pytest

from tests.golden.tables import tables
from tests.llm_server import PROFILES, LlmServer, Switches
from tests.transforms.llm.asked import call
from ufo.schemas.records import TRUNCATED
from ufo.transforms.llm.capabilities import (
    CALL,
    FORMS,
    JSON_SCHEMA,
    REQUIRED,
    SAMPLE,
    WORDS,
    Capabilities,
    learned,
    probe_call,
)
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import NO_KEY, Endpoint
from ufo.transforms.llm.failures import SendError, of_response
from ufo.transforms.llm.request import VERIFIER, Choice, LlmError, Request


def probe(server: LlmServer, *shapes: str) -> Capabilities:
    async def ask() -> Capabilities:
        endpoint = Endpoint("offline-judge", server.base_url)
        client = OpenAiClient(ClientSettings({VERIFIER: endpoint}))
        try:
            known, rows = await client.probe(VERIFIER, *shapes)
            assert await client.probe(VERIFIER, *shapes) == (known, [])
            assert [row.step for row in rows] == ["probe"] * len(server.chats)
            return known
        finally:
            await client.aclose()

    return asyncio.run(ask())


TABLES = tables("endpoints")


def changes(told: dict[str, Any]) -> dict[str, Any]:
    """The fields of Capabilities that a table tells of, where forms are those from a number on."""
    lists = {name: tuple(value) for name, value in told.items() if isinstance(value, list)}
    forms = {"forms": FORMS[told["forms"] :]} if "forms" in told else {}
    return {**told, **lists, **forms}


@pytest.mark.parametrize("row", TABLES["probes"], ids=str)
def test_probe(llm_server: LlmServer, row: dict[str, Any]) -> None:
    llm_server.switches = (
        PROFILES[row["profile"]] if "profile" in row else Switches(**row["switches"])
    )
    found = probe(llm_server, *row.get("shapes", (CALL, SAMPLE)))
    assert found == Capabilities(**changes(row.get("found", {})))
    assert row.get("requests") in (None, len(llm_server.chats))


def test_an_endpoint_that_refuses_the_plainest_request_is_unusable(llm_server: LlmServer) -> None:
    llm_server.switches = Switches(context=1)
    with pytest.raises(LlmError, match="maximum context length") as error:
        probe(llm_server)
    assert error.value.final


Answered = tuple[Sequence[Choice], Capabilities]


def test_a_small_context_that_has_to_hold_the_reply_too_is_no_reason_to_give_up() -> None:
    limits: list[int | None] = []

    async def ask(request: Request, known: Capabilities, n: int) -> Answered:
        limits.append(request.max_tokens)
        if (request.max_tokens or 0) > 256:
            raise SendError("maximum context length is 512 tokens", "400", reason=TRUNCATED)
        return [Choice(finish_reason="length")], known  # it was thinking

    assert asyncio.run(probe_call(ask, Capabilities())) == Capabilities()
    assert limits == [160, 1024]


def test_a_model_that_talks_on_in_place_of_calling_has_ignored_the_form() -> None:
    async def ask(request: Request, known: Capabilities, n: int) -> Answered:
        text = "The word is ready. " * 50 if known.tools else '{"report": {"words": ['
        return [Choice(text, finish_reason="length")], known

    assert asyncio.run(probe_call(ask, Capabilities())).form == JSON_SCHEMA


def refused(message: str, param: str | None, status: int) -> SendError:
    payload = {"error": {"message": message, "param": param}}
    return of_response(Endpoint("m", "http://localhost:1"), NO_KEY, status, {}, payload, 0.0)


@pytest.mark.parametrize("row", TABLES["lessons"], ids=str)
def test_what_a_refusal_teaches(row: dict[str, Any]) -> None:
    known = Capabilities()
    if "known" in row:
        known = Capabilities(FORMS[row["known"] :], strict=False, references=False)
    error = refused(row.get("message", "no"), row.get("param"), row.get("status", 400))
    found = learned(known, call(max_tokens=9), 5, error, 9)
    assert found == (row["learned"] and changes(row["learned"]))


def test_what_is_known_is_kept_as_json() -> None:
    known = Capabilities((REQUIRED, WORDS), n=False)
    assert Capabilities.from_json(json.loads(json.dumps(asdict(known)))) == known
    with pytest.raises(TypeError):
        Capabilities.from_json({"tools": True, "limit_fields": []})
