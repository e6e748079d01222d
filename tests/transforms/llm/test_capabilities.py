"""What a probe finds out about endpoints of all kinds, and what their errors lead to."""

import asyncio
from typing import Any

import pytest

from tests.golden.tables import tables
from tests.llm_server import PROFILES, LlmServer, Switches
from tests.llm_server.profiles import refusals
from tests.transforms.llm.asked import call
from ufo.transforms.llm import failures
from ufo.transforms.llm.capabilities import FORMS, JSON_SCHEMA, Capabilities, learned, probe_call
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import NO_KEY, Endpoint
from ufo.transforms.llm.failures import Overflow, SendError, of_response
from ufo.transforms.llm.request import VERIFIER, Choice, Request


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
    found = probe(llm_server, *row.get("shapes", ("call", "sample")))
    assert found == Capabilities(**changes(row.get("found", {})))
    assert row.get("requests") in (None, len(llm_server.chats))


def test_a_small_context_that_has_to_hold_the_reply_too_is_no_reason_to_give_up() -> None:
    limits: list[int | None] = []

    async def ask(request: Request, known: Capabilities, n: int) -> Any:
        limits.append(request.max_tokens)
        if (request.max_tokens or 0) > 256:
            raise SendError("maximum context length is 512 tokens", "400", reason="truncated")
        return [Choice(finish_reason="length")], known  # it was thinking

    assert asyncio.run(probe_call(ask, Capabilities())) == Capabilities()
    assert limits == [160, 1024]

    async def talk(request: Request, known: Capabilities, n: int) -> Any:
        text = "The word is ready. " * 50 if known.tools else '{"report": {"words": ['
        return [Choice(text, finish_reason="length")], known

    assert asyncio.run(probe_call(talk, Capabilities())).form == JSON_SCHEMA


@pytest.mark.parametrize("row", TABLES["lessons"], ids=str)
def test_what_a_refusal_teaches(row: dict[str, Any]) -> None:
    known = Capabilities()
    if "known" in row:
        known = Capabilities(FORMS[row["known"] :], strict=False, references=False)
    said = {"message": row.get("message", "no"), "param": row.get("param")}
    found = learned(known, call(max_tokens=9), 5, failure(row.get("status", 400), **said), 9)
    assert found == (row["learned"] and changes(row["learned"]))


KEY = "a.secret.of.no.usual.form"
ENDPOINT = Endpoint("gpt-x", "http://localhost:1/v1?token=hidden")


def failure(status: int, key: str = KEY, **error: Any) -> SendError:
    return of_response(ENDPOINT, key, status, {}, {"error": error} if error else None, now=0.0)


@pytest.mark.parametrize(("status", "error", "remedy"), TABLES["remedies"])
def test_final_errors_end_with_the_remedy(status: int, error: Any, remedy: str) -> None:
    found = failure(status, **error)
    assert found.final
    assert not found.transient
    assert found.status == str(status)
    assert remedy in found.message


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_no_message_has_the_key_or_the_query_of_the_url_and_all_are_cut(status: int) -> None:
    said = f"No entry <{KEY}>, nor Bearer sk-other-key-999999, for\nmodel gpt-x {'x' * 10_000}"
    message = failure(status, message=said).message
    assert [word for word in (KEY, "999999", "hidden", "\n") if word in message] == []
    assert len(message) < 600


@pytest.mark.parametrize(("headers", "seconds"), TABLES["waits"], ids=str)
def test_the_wait_that_is_asked_for(headers: dict[str, str], seconds: float | None) -> None:
    assert failures.retry_after(headers, now=100.0) == seconds


def test_a_budget_that_is_used_up_is_waited_for() -> None:
    def wait(reset: str, left: str = "0") -> float | None:
        headers = {"x-ratelimit-remaining-tokens": left, "x-ratelimit-reset-tokens": reset}
        return failures.used_up(headers, 1_700_000_000.0)

    resets = ("20ms", "1s", "6m0s", "1h2m3.5s", "12", "1700000030")
    assert [wait(reset) for reset in resets] == [0.02, 1.0, 360.0, 3723.5, 12.0, 30.0]
    assert [wait(reset) for reset in ("0s", "soon", "")] == [None] * 3
    assert wait("1s", left="1") is None
    assert failures.used_up({}, 0.0) is None


KINDS = [row["kind"] for row in refusals()]
ROWS = [(row["kind"], one) for row in refusals() for one in row["examples"]]


@pytest.mark.parametrize(("kind", "example"), ROWS, ids=lambda it: it if it in KINDS else it["of"])
def test_what_each_provider_says_is_known(kind: str, example: Any) -> None:
    status, said = example.get("status", 400), example["says"]
    codes = example.get("codes")
    found = failure(status, message=said, param=example.get("param"), code=codes)
    assert found.kind == kind
    assert said[:60] in found.message
    assert str(status) in found.message
    assert found.cap == example.get("cap")
    numbers = Overflow(example.get("context"), example.get("prompt"))
    assert found.overflow == (numbers if kind == "overflow" else None)
    assert found.final == (kind in ("quota", "key", "unloaded", "model"))
    assert found.transient == (kind == "busy")
    assert found.reason == {"overflow": "truncated", "filtered": "filtered"}.get(kind, "transport")


def test_a_request_that_is_too_long_is_known_by_fields_before_words() -> None:
    fields: dict[str, Any] = {"n_prompt_tokens": 1407, "n_ctx": 256}
    assert failure(500, **fields, type="exceed_context_size_error").overflow == Overflow(256, 1407)
    raw = {"raw": "prompt is too long: 210000 tokens > 200000 maximum"}
    found = failure(400, message="Provider returned error", metadata=raw)  # of a gateway
    assert found.overflow == Overflow(200000, 210000)
    assert "Provider returned error: prompt is too long" in found.message
    busy = failure(429, message="Rate limit: too many tokens in the context window")
    large = "max_tokens is too large: 9. This model supports at most 4 completion tokens"
    assert busy.overflow is failure(400, message=large).overflow is None


def test_errors_of_other_shapes_are_read() -> None:
    shapes: list[Any] = [None, [], "oops", {"error": "oops"}, {"error": None}, 3]
    assert all(of_response(ENDPOINT, KEY, 500, {}, shape, 0.0).transient for shape in shapes)
    listed = [{"error": {"code": 400, "message": "Overloaded", "status": "UNAVAILABLE"}}]
    assert of_response(ENDPOINT, KEY, 400, {}, listed, 0.0).transient
    assert "wants a key: set OPENAI_API_KEY (401: no)" in failure(401, NO_KEY, message="no").message
    unknown = [failure(status, message="the flux is inverted") for status in (400, 413, 422, 500)]
    assert [one.unexplained for one in unknown] == [True, False, True, False]
    assert "answered 413: the flux is inverted" in unknown[1].message


@pytest.mark.parametrize(("payload", "expected"), TABLES["inside"], ids=str)
def test_an_error_inside_a_reply_is_found(payload: Any, expected: int | None) -> None:
    found = failures.inside(payload)
    assert (found and found[0]) == expected
