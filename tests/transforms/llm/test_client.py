"""The client over real HTTP: calls, usage, roles, choices, lengths, and what is never shown."""

import logging
import os
import pickle
import socket
import traceback
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.llm_server import IGNORED, PROFILES, REJECTED, LlmServer, Switches, faults
from tests.transforms.llm.asked import Asked, call, sample
from ufo.schemas.records import TRUNCATED
from ufo.transforms.llm.request import (
    Message,
    Request,
)


def test_a_call_and_its_usage(llm_server: LlmServer) -> None:
    completion = Asked(llm_server, [call()]).completion
    assert [choice.arguments for choice in completion.choices] == ['{"word": "x"}']
    (row,) = completion.usage
    (logged,) = llm_server.chats
    assert completion.request_id == row.request_id
    assert (row.step, row.source, row.response_id) == ("verify", "reference", "r1")
    assert (row.model, row.status, row.retries) == ("offline-judge", "ok", 0)
    said = (logged.prompt_tokens, logged.completion_tokens)
    assert (row.prompt_tokens, row.completion_tokens) == said
    assert row.worker_id == f"{socket.gethostname()}:{os.getpid()}"
    assert 0 < (row.seconds or 0) < 10
    assert (row.cached, row.coalesced, row.cost_usd) == (False, False, None)


def test_the_endpoint_is_probed_once_however_many_ask(llm_server: LlmServer) -> None:
    asked = Asked(llm_server, [call()] * 20, known=None, at_once=True)
    rows = [row for completion in asked.results for row in completion.usage]
    assert sorted(row.step for row in rows) == ["probe", *["verify"] * 20]
    assert len(llm_server.chats) == 21


@pytest.mark.parametrize(
    ("switches", "request_", "left_out"),
    [
        (Switches(temperature_fixed=True), call(), "temperature"),
        (Switches(logprobs=REJECTED), sample(1, logprobs=True), "logprobs"),
        (Switches(max_tokens=REJECTED), call(max_tokens=9), "max_tokens"),
        (Switches(strict=REJECTED), call(), "strict"),
        (PROFILES["ollama"], call(), "tools"),
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
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-4711")
    caplog.set_level(logging.DEBUG)
    asked = Asked(llm_server, [call()])
    error = asked.error
    assert llm_server.chats[0].authorization == "Bearer sk-very-secret-4711"
    frames = "".join(traceback.format_exception(error))
    shown = (str(error), repr(error.args), frames, repr(asked.settings), caplog.text)
    assert "4711" not in "".join(shown)
    assert b"4711" not in pickle.dumps((error, asked.settings))


# --- several choices of one request ---


@pytest.mark.parametrize(
    ("n", "requests"), [("works", 1), (IGNORED, 5), (REJECTED, 6), (1, 5), (2, 3), (4, 2)]
)
def test_the_choices_wanted_come_whatever_is_done_with_n(
    llm_server: LlmServer, n: Any, requests: int
) -> None:
    llm_server.switches = Switches(n=n)
    llm_server.latency = faults.fixed(0.01)
    asked = Asked(llm_server, [sample(5), sample(3, messages=[Message("user", "And then?")])])
    assert [len(one.choices) for one in asked.results] == [5, 3]
    assert len(asked.completion.usage) == requests
    assert [entry.status for entry in llm_server.chats].count(400) == (n == REJECTED)
    # What has to be asked one by one is asked at once.
    assert llm_server.chats[0].in_flight == 1
    assert (llm_server.max_in_flight > 1) == (requests > 3)


class Spoiled:
    """Passes over `n`, and refuses some of the requests that follow with an error."""

    def __init__(self, fault: faults.Fault, bad: Sequence[int]) -> None:
        self.fault, self.bad, self.seen = fault, bad, 0

    def next(self, body: bytes) -> faults.Fault | None:
        self.seen += 1
        return self.fault if self.seen in self.bad else faults.ignored_n()


@pytest.mark.parametrize(
    ("fault", "final"), [(faults.filtered_prompt(), False), (faults.quota_spent(), True)]
)
def test_choices_that_came_are_reported_where_others_failed(
    llm_server: LlmServer, fault: faults.Fault, final: bool
) -> None:
    llm_server.mix = Spoiled(fault, (3, 4))  # type: ignore[assignment]
    error = Asked(llm_server, [sample(5)], concurrency=1).error
    assert error.final == final
    assert len(error.choices) == (2 if final else 3)
    rows = [row for row in error.usage if row.status == "ok"]
    assert len(rows) == len(error.choices)
    assert error.request_id == rows[0].request_id
    again = pickle.loads(pickle.dumps(error))
    assert (again.message, again.final, again.usage) == (error.message, final, error.usage)
    assert (again.choices, again.request_id) == (error.choices, error.request_id)


# --- what is too long ---


def long() -> Request:
    return sample(1, messages=[Message("user", "word " * 3000)], max_tokens=300, expects=40)


def test_a_reply_is_limited_to_what_the_context_has_left(llm_server: LlmServer) -> None:
    llm_server.switches = replace(PROFILES["vllm"], context=3200)
    Asked(llm_server, [long(), long()])
    assert [entry.status for entry in llm_server.chats] == [400, 200, 200]
    assert llm_server.chats[0].body["max_tokens"] == 300
    assert 40 <= llm_server.chats[1].body["max_tokens"] < 200


def test_what_certainly_does_not_fit_is_sent_once(llm_server: LlmServer) -> None:
    llm_server.switches = replace(PROFILES["llamacpp"], context=1000)
    first, second, _ = Asked(llm_server, [long(), long(), sample(1)]).results
    assert [entry.status for entry in llm_server.chats] == [400, 200]
    assert [(one.reason, one.final) for one in (first, second)] == [(TRUNCATED, False)] * 2
    assert "exceeds the available context size" in first.message
    assert "was not sent" in second.message
    assert all("-c for llama.cpp" in error.message for error in (first, second))
    assert second.usage == ()


def test_a_cut_prompt_is_no_answer(llm_server: LlmServer, caplog: pytest.LogCaptureFixture) -> None:
    llm_server.switches = Switches(context=2048, cuts=True)
    with caplog.at_level(logging.WARNING, "ufo.llm"):
        asked = Asked(llm_server, [long(), long()])
    assert [error.reason for error in asked.results] == [TRUNCATED, TRUNCATED]
    assert "read 1,026 tokens of a prompt of about 3,004" in asked.error.message
    assert "--context" in asked.error.message
    (row,) = asked.error.usage  # it was paid for
    assert (row.status, row.prompt_tokens) == ("ok", 1026)
    assert len(caplog.records) == 1  # told once
