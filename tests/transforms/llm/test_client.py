"""The client over real HTTP: choices, retries, errors, usage, and what is never shown."""

import asyncio
import logging
import os
import pickle
import socket
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from schemas.records import FILTERED, TRANSPORT, TRUNCATED
from tests.llm_server import IGNORED, REJECTED, LlmServer, Switches, faults
from transforms.llm.base import (
    KNOWLEDGE,
    VERIFIER,
    Completion,
    Function,
    LlmError,
    Message,
    Request,
)
from transforms.llm.capabilities import Capabilities
from transforms.llm.client import ClientSettings, OpenAiClient
from transforms.llm.endpoint import Endpoint
from transforms.llm.retry import Retry

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

        client = OpenAiClient(self.settings, sleep, lambda: 0.0, lambda: self.now)
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


@pytest.mark.parametrize(
    ("n", "requests"), [("works", 1), (IGNORED, 5), (REJECTED, 6), (1, 5), (2, 3), (4, 2)]
)
def test_the_choices_wanted_come_whatever_is_done_with_n(
    llm_server: LlmServer, n: Any, requests: int
) -> None:
    llm_server.switches = Switches(n=n)
    asked = Asked(llm_server, [sample(5)])
    assert len(asked.completion.choices) == 5
    assert len(llm_server.chats) == len(asked.completion.usage) == requests


def test_what_is_learned_about_n_is_kept(llm_server: LlmServer) -> None:
    llm_server.switches = Switches(n=REJECTED)
    Asked(llm_server, [sample(3), sample(3, messages=[Message("user", "And then?")])])
    assert [entry.status for entry in llm_server.chats] == [400, *[200] * 6]


def test_what_has_to_be_asked_one_by_one_is_asked_at_once(llm_server: LlmServer) -> None:
    llm_server.switches = Switches(n=IGNORED)
    llm_server.latency = faults.fixed(0.03)
    Asked(llm_server, [sample(5)])
    assert llm_server.chats[0].in_flight == 1
    assert llm_server.max_in_flight == 4


def test_an_endpoint_that_gives_more_than_asked(llm_server: LlmServer) -> None:
    completion = Asked(llm_server, [sample(1)], known=Capabilities(n=False)).completion
    assert len(completion.choices) == 1


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
    assert body["response_format"] == {"type": "json_object"}
    assert not {"tools", "temperature"} & set(body)


@pytest.mark.parametrize(
    ("switches", "request_", "left_out"),
    [
        (Switches(temperature_fixed=True), call(), "temperature"),
        (Switches(logprobs=REJECTED), sample(1, logprobs=True), "logprobs"),
        (Switches(max_completion_tokens=REJECTED), call(max_tokens=9), "max_completion_tokens"),
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
def test_nobody_there_is_final(llm_server: LlmServer, known: Capabilities | None) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        asked = Asked(llm_server, [call()], known, base_url=url)
    assert asked.error.final
    assert f"nothing answers at {url}" in asked.error.message
    assert asked.pauses == []


def test_a_server_that_goes_away_may_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")

    async def ask() -> tuple[Completion, LlmError]:
        async def sleep(_: float) -> None:
            pass

        with LlmServer(keys=None) as server:
            endpoint = Endpoint("offline-judge", server.base_url)
            client = OpenAiClient(
                ClientSettings(
                    {VERIFIER: endpoint}, retry=Retry(attempts=3), capabilities={endpoint: ALL}
                ),
                sleep,
            )
            first = await client.complete(call())
        try:
            await client.complete(call())
        except LlmError as error:
            return first, error
        finally:
            await client.aclose()
        raise AssertionError("an answer without a server")

    _, error = asyncio.run(ask())
    assert not error.final
    assert [row.status for row in error.usage] == ["connection"] * 3


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


def test_errors_survive_pickling(llm_server: LlmServer) -> None:
    _wrong_key(llm_server)
    error = Asked(llm_server, [call()]).error
    again = pickle.loads(pickle.dumps(error))
    assert (again.message, again.final, again.usage) == (error.message, True, error.usage)


def test_no_more_requests_are_under_way_than_allowed(llm_server: LlmServer) -> None:
    llm_server.latency = faults.fixed(0.02)
    Asked(llm_server, [call()] * 30, at_once=True, concurrency=7)
    assert llm_server.max_in_flight == 7


def test_256_requests_under_way_keep_their_connections(llm_server: LlmServer) -> None:
    # The pool of the `openai` package keeps 100: what is beyond opens a new one each time.
    llm_server.latency = faults.fixed(0.25)
    asked = Asked(llm_server, [call()] * 512, at_once=True, concurrency=256)
    assert all(isinstance(result, Completion) for result in asked.results)
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
