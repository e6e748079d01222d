"""Errors over real HTTP: what is tried again, what ends a request, what ends the run."""

import asyncio
import pickle
import socket
from collections.abc import Callable
from typing import Any

import pytest

from tests.llm_server import LlmServer, Switches, faults
from tests.transforms.llm.asked import ALL, Asked, call, sample
from ufo.schemas.records import FILTERED, TRANSPORT, TRUNCATED
from ufo.transforms.llm.capabilities import Capabilities
from ufo.transforms.llm.client import OpenAiClient, Shared
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.request import (
    KNOWLEDGE,
    VERIFIER,
    Completion,
    LlmError,
    Message,
)
from ufo.transforms.llm.retry import Retry, Stop, Timing


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (faults.rate_limited(), "429"),
        (faults.status(500), "500"),
        (faults.status(503), "503"),
        (faults.status(408), "408"),
        (faults.html(502), "502"),
        (faults.reset(), "connection"),
        (faults.truncated_body(), "garbled"),
        (faults.no_choices(), "garbled"),
        (faults.html(200), "garbled"),
    ],
)
def test_what_passes_is_tried_again(
    llm_server: LlmServer, fault: faults.Fault, status: str
) -> None:
    llm_server.faults.extend([None, fault, fault])
    asked = Asked(llm_server, [call(), call()])
    rows = asked.results[1].usage
    assert [(row.status, row.retries) for row in rows] == [(status, 0), (status, 1), ("ok", 2)]
    assert asked.pauses == [0.25, 0.5]
    assert len({row.request_id for row in rows}) == 3


@pytest.mark.parametrize("fault", [faults.hang(), faults.drip(0.2)])
def test_a_request_that_takes_too_long_is_tried_again(
    llm_server: LlmServer, fault: faults.Fault
) -> None:
    llm_server.faults.append(fault)
    completion = Asked(llm_server, [call()], timeout=0.25).completion
    assert [row.status for row in completion.usage] == ["timeout", "ok"]


def test_the_pause_that_is_asked_for_is_kept(llm_server: LlmServer) -> None:
    llm_server.faults.append(faults.rate_limited(300))
    assert Asked(llm_server, [call()]).pauses == [300.0]


def test_attempts_are_bounded_and_all_accounted_for(llm_server: LlmServer) -> None:
    llm_server.faults.extend([faults.status(503)] * 10)
    error = Asked(llm_server, [call()], retry=Retry(attempts=4)).error
    assert (error.final, error.reason) == (False, TRANSPORT)
    assert [row.status for row in error.usage] == ["503"] * 4
    assert len(llm_server.chats) == 4


@pytest.mark.parametrize(
    ("fault", "reason"),
    [(faults.filtered_prompt(), FILTERED), (faults.status(413), TRUNCATED)],
)
def test_what_is_wrong_with_a_request_ends_that_request(
    llm_server: LlmServer, fault: faults.Fault, reason: str
) -> None:
    llm_server.faults.append(fault)
    asked = Asked(llm_server, [call(), call()])
    assert (asked.error.reason, asked.error.final) == (reason, False)
    assert isinstance(asked.results[1], Completion)


def test_a_text_too_long_for_the_model(llm_server: LlmServer) -> None:
    llm_server.switches = Switches(context=20)
    asked = Asked(llm_server, [call(messages=[Message("user", "word " * 50)])])
    assert asked.error.reason == TRUNCATED


@pytest.mark.parametrize(
    ("fault", "finish", "refusal"),
    [
        (faults.refusal(), "stop", "I'm sorry, I can't help with that."),
        (faults.content_filter(), "content_filter", None),
        (faults.length(), "length", None),
        (faults.empty_tool_calls(), "tool_calls", None),
        (faults.prose(), "stop", None),
    ],
)
def test_bad_answers_are_passed_on_as_they_are(
    llm_server: LlmServer, fault: faults.Fault, finish: str, refusal: str | None
) -> None:
    llm_server.faults.append(fault)
    choice = Asked(llm_server, [call()]).completion.choices[0]
    assert (choice.finish_reason, choice.refusal) == (finish, refusal)
    assert choice.arguments is None or finish == "length"


def _wrong_key(server: LlmServer) -> None:
    server.keys = ["sk-another"]


def _unknown_model(server: LlmServer) -> None:
    server.models = ["offline-jury"]


def _spent(server: LlmServer) -> None:
    server.faults.append(faults.quota_spent())


@pytest.mark.parametrize("known", [None, ALL])
@pytest.mark.parametrize(
    ("break_", "remedy"),
    [
        (_wrong_key, "refused the key in OPENAI_API_KEY"),
        (_unknown_model, "does not know the model 'offline-judge'"),
        (_spent, "top it up"),
    ],
)
def test_final_errors_come_at_once_with_the_remedy(
    llm_server: LlmServer,
    break_: Callable[[LlmServer], None],
    remedy: str,
    known: Capabilities | None,
) -> None:
    break_(llm_server)
    error = Asked(llm_server, [call()], known).error
    assert error.final
    assert remedy in error.message
    assert len(llm_server.chats) == len(error.usage) == 1


def test_an_unknown_model_is_answered_with_the_known_ones(llm_server: LlmServer) -> None:
    _unknown_model(llm_server)
    error = Asked(llm_server, [call()], None).error
    assert error.message.endswith("it has offline-jury. Did you mean 'offline-jury'?")


def test_an_endpoint_found_unusable_is_not_asked_again(llm_server: LlmServer) -> None:
    _wrong_key(llm_server)
    asked = Asked(llm_server, [call()] * 10, None, at_once=True)
    assert all(result.final for result in asked.results)
    assert len(llm_server.chats) == 1
    assert sum(len(result.usage) for result in asked.results) == 1


@pytest.mark.parametrize("known", [None, ALL])
def test_a_wrong_path_is_final(llm_server: LlmServer, known: Capabilities | None) -> None:
    url = llm_server.base_url.removesuffix("/v1")
    error = Asked(llm_server, [call()], known, base_url=url).error
    assert error.final
    assert "most end in /v1" in error.message


@pytest.mark.parametrize("known", [None, ALL])
def test_an_address_without_a_server_is_final(
    llm_server: LlmServer, known: Capabilities | None
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        asked = Asked(llm_server, [call()], known, base_url=url)
    assert asked.error.final
    assert f"nothing answers at {url}" in asked.error.message
    assert asked.pauses == []


def test_a_server_that_goes_away_is_waited_for_and_then_ends_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    now = 0.0

    async def ask() -> LlmError:
        async def sleep(seconds: float) -> None:
            nonlocal now
            now += seconds

        with LlmServer(keys=None) as server:
            endpoint = Endpoint("offline-judge", server.base_url)
        # It answered another process of this run.
        settings = ClientSettings(
            {VERIFIER: endpoint},
            capabilities={endpoint: ALL},
            reached=frozenset([endpoint.url]),
        )
        client = OpenAiClient(settings, Timing(sleep, lambda: 0.5, lambda: now))
        try:
            await client.complete(call())
        except LlmError as error:
            return error
        finally:
            await client.aclose()
        raise AssertionError("an answer without a server")

    error = asyncio.run(ask())
    assert now == pytest.approx(900.0)
    assert error.final
    assert "has not answered for 15 minutes" in error.message
    assert {row.status for row in error.usage} == {"connection"}
    assert len(error.usage) > 8


def test_errors_survive_pickling(llm_server: LlmServer) -> None:
    _wrong_key(llm_server)
    error = Asked(llm_server, [call()]).error
    again = pickle.loads(pickle.dumps(error))
    assert (again.message, again.final, again.usage) == (error.message, True, error.usage)


@pytest.mark.parametrize("of_a_run", [True, False])
def test_a_final_error_at_one_endpoint_stops_the_others_of_a_run(
    llm_server: LlmServer, of_a_run: bool
) -> None:
    with LlmServer() as other:
        places = {
            VERIFIER: Endpoint("offline-judge", llm_server.base_url),
            KNOWLEDGE: Endpoint("offline-judge", other.base_url),
        }
        settings = ClientSettings(places, capabilities=dict.fromkeys(places.values(), ALL))
        llm_server.faults.append(faults.quota_spent())

        async def ask() -> list[Any]:
            client = OpenAiClient(settings, shared=Shared(Stop() if of_a_run else None))
            results: list[Any] = [await client.complete(sample(1))]
            for request in (call(), sample(1)):
                try:
                    results.append(await client.complete(request))
                except LlmError as error:
                    results.append(error)
            await client.aclose()
            return results

        first, spent, stopped = asyncio.run(ask())
        assert isinstance(first, Completion)
        assert spent.final
        if of_a_run:
            assert (stopped.final, stopped.message) == (True, spent.message)
        else:
            assert isinstance(stopped, Completion)
        assert len(other.chats) == (1 if of_a_run else 2)
