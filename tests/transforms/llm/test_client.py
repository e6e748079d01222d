"""The client over real HTTP: calls, usage, roles, connections, and what is never shown."""

import asyncio
import logging
import os
import pickle
import socket
import traceback

import pytest

from tests.llm_server import IGNORED, REJECTED, LlmServer, Switches, faults
from tests.transforms.llm.asked import ALL, Asked, call, sample
from ufo.transforms.llm import wire
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.connection import Transport
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.request import (
    KNOWLEDGE,
    VERIFIER,
    Request,
)


def test_a_call_and_its_usage(llm_server: LlmServer) -> None:
    completion = Asked(llm_server, [call()]).completion
    assert [choice.arguments for choice in completion.choices] == ['{"word": "x"}']
    (row,) = completion.usage
    logged = llm_server.chats[0]
    assert completion.request_id == row.request_id
    assert (row.step, row.source, row.response_id) == ("verify", "reference", "r1")
    assert (row.model, row.status, row.retries) == ("offline-judge", "ok", 0)
    assert (row.prompt_tokens, row.completion_tokens) == (
        logged.prompt_tokens,
        logged.completion_tokens,
    )
    assert row.worker_id == f"{socket.gethostname()}:{os.getpid()}"
    assert row.seconds is not None
    assert 0 < row.seconds < 10
    assert (row.cached, row.coalesced, row.cost_usd) == (False, False, None)


def test_the_endpoint_is_probed_once_however_many_ask(llm_server: LlmServer) -> None:
    asked = Asked(llm_server, [call()] * 20, known=None, at_once=True)
    assert len(llm_server.chats) == 21
    rows = [row for completion in asked.results for row in completion.usage]
    assert sorted(row.step for row in rows) == ["probe", *["verify"] * 20]


def test_the_run_uses_what_the_probe_found(llm_server: LlmServer) -> None:
    llm_server.switches = Switches(tools=IGNORED, temperature_fixed=True)
    completion = Asked(llm_server, [call()], known=None).completion
    assert completion.choices[0].arguments is None
    assert completion.choices[0].text == '{"word": "x"}'
    body = llm_server.chats[-1].body
    assert body["response_format"]["type"] == "json_schema"
    assert not {"tools", "temperature"} & set(body)


@pytest.mark.parametrize(
    ("switches", "request_", "left_out"),
    [
        (Switches(temperature_fixed=True), call(), "temperature"),
        (Switches(logprobs=REJECTED), sample(1, logprobs=True), "logprobs"),
        (Switches(max_tokens=REJECTED), call(max_tokens=9), "max_tokens"),
        (Switches(strict=REJECTED), call(), "strict"),
    ],
)
def test_a_parameter_that_is_refused_later_is_left_out_from_then_on(
    llm_server: LlmServer, switches: Switches, request_: Request, left_out: str
) -> None:
    llm_server.switches = switches
    asked = Asked(llm_server, [request_, request_])
    assert [entry.status for entry in llm_server.chats] == [400, 200, 200]
    assert left_out not in str(llm_server.chats[-1].body)
    assert [row.status for row in asked.completion.usage] == ["400", "ok"]


def test_the_key_is_nowhere_but_in_the_header(
    llm_server: LlmServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-very-secret-4711"
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    caplog.set_level(logging.DEBUG)
    asked = Asked(llm_server, [call()])
    assert llm_server.chats[0].authorization == f"Bearer {secret}"
    shown = [
        str(asked.error),
        repr(asked.error.args),
        "".join(traceback.format_exception(asked.error)),
        repr(asked.settings),
        caplog.text,
    ]
    assert all("4711" not in text for text in shown)
    assert b"4711" not in pickle.dumps((asked.error, asked.settings))


def test_no_more_requests_are_under_way_than_allowed(llm_server: LlmServer) -> None:
    # At an address on this machine it begins with two, and one more with each reply.
    llm_server.latency = faults.fixed(0.02)
    Asked(llm_server, [call()] * 60, at_once=True, concurrency=7)
    assert max(entry.in_flight for entry in llm_server.chats[:2]) <= 2
    assert 2 < llm_server.max_in_flight <= 7


def test_256_requests_under_way_keep_their_connections(llm_server: LlmServer) -> None:
    # The pool of the `openai` package keeps 100: what is beyond opens a new one each time.
    llm_server.latency = faults.fixed(0.25)

    async def ask() -> None:
        endpoint = Endpoint("offline-judge", llm_server.base_url, timeout=60.0)
        transport = Transport(endpoint, 256)
        body = wire.body(call(), "offline-judge", ALL, 1)
        for _ in range(2):
            await asyncio.gather(*(transport.send(body) for _ in range(256)))
        await transport.aclose()

    asyncio.run(ask())
    assert llm_server.max_in_flight > 128
    assert llm_server.connections <= 256


def test_roles_may_have_models_of_their_own(llm_server: LlmServer) -> None:
    base_url = llm_server.base_url
    endpoints = {
        VERIFIER: Endpoint("offline-judge", base_url),
        KNOWLEDGE: Endpoint("offline-knowledge", base_url),
    }

    async def ask() -> None:
        client = OpenAiClient(ClientSettings(endpoints))
        await client.complete(call())
        await client.complete(sample(2))
        await client.complete(call(role="extractor"))
        await client.complete(call(model="offline-judge-small"))
        await client.aclose()

    asyncio.run(ask())
    bodies = [entry.body for entry in llm_server.chats if entry.step != "probe"]
    assert [body["model"] for body in bodies] == [
        "offline-judge",
        "offline-knowledge",
        "offline-judge",
        "offline-judge-small",
    ]
    assert len(llm_server.chats) == 4 + 3  # one probe for each model
    assert llm_server.connections == 1


def test_a_closed_client_opens_again(llm_server: LlmServer) -> None:
    async def ask() -> None:
        endpoint = Endpoint("offline-judge", llm_server.base_url)
        client = OpenAiClient(ClientSettings({VERIFIER: endpoint}))
        for _ in range(2):
            await client.complete(call())
            await client.aclose()

    asyncio.run(ask())
    assert len(llm_server.chats) == 3
