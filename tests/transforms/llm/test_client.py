"""The client over real HTTP: calls, usage, choices, lengths, errors, and what a run learns."""

import logging
import pickle
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.llm_server import IGNORED, PROFILES, REJECTED, LlmServer, Switches, faults
from tests.llm_server.chat import LONG, LONG_APART, MISPLACED, THOUGHTS
from tests.llm_server.errors import ApiError
from tests.transforms.llm.asked import ALL, Asked, call, sample
from ufo.schemas.records import TRANSPORT, TRUNCATED
from ufo.transforms.llm.forms import FORMS, JSON_OBJECT, WORDS, Capabilities
from ufo.transforms.llm.request import Completion, LlmError, Message, Request


def test_the_endpoint_is_probed_once_however_many_ask(llm_server: LlmServer) -> None:
    asked = Asked(llm_server, [call()] * 20, known=None, at_once=True)
    rows = [row for completion in asked.results for row in completion.usage]
    probe, *own = sorted(rows, key=lambda row: row.step)
    assert probe.step == "probe"
    assert len(llm_server.chats) == 21
    rows_of = {(row.step, row.source, row.response_id, row.status, row.retries) for row in own}
    assert len(own) == 20
    assert rows_of == {("verify", "reference", "r1", "ok", 0)}
    counts = {(row.prompt_tokens, row.completion_tokens) for row in rows}
    assert counts == {(one.prompt_tokens, one.completion_tokens) for one in llm_server.chats}
    assert all((row.seconds or 0) > 0 and row.cost_usd is None for row in rows)


@pytest.mark.parametrize(
    ("switches", "request_", "left_out"),
    [
        (Switches(temperature_fixed=True), call(), "temperature"),
        (Switches(logprobs=REJECTED), sample(1, logprobs=True), "logprobs"),
        (Switches(max_tokens=REJECTED), call(max_tokens=9), "max_tokens"),
        (Switches(strict=REJECTED), call(), "strict"),
        (PROFILES["ollama"], call(), "tools"),
    ],
    ids=["temperature", "logprobs", "max_tokens", "strict", "tools"],
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
def test_wanted_choices_come_whatever_n_does(llm_server: LlmServer, n: Any, requests: int) -> None:
    llm_server.switches = Switches(n=n)
    llm_server.latency = faults.fixed(0.01)
    asked = Asked(llm_server, [sample(5), sample(3, messages=[Message("user", "And then?")])])
    assert [len(one.choices) for one in asked.results] == [5, 3]
    assert len(asked.completion.usage) == requests
    assert [entry.status for entry in llm_server.chats].count(400) == (n == REJECTED)
    # What has to be asked one by one is asked at once.
    assert llm_server.chats[0].in_flight == 1
    assert (llm_server.max_in_flight > 1) == (requests > 3)


@pytest.mark.parametrize(
    ("fault", "final"),
    [(faults.filtered_prompt(), False), (faults.quota_spent(), True)],
    ids=["filtered", "quota spent"],
)
def test_choices_that_came_are_reported_where_others_failed(
    llm_server: LlmServer, fault: faults.Fault, final: bool
) -> None:
    whole = faults.ignored_n()
    llm_server.faults.extend([whole, whole, fault, fault, *[whole] * 9])
    error = Asked(llm_server, [sample(5)], concurrency=1).error
    assert error.final == final
    assert len(error.choices) == (2 if final else 3)
    rows = [row for row in error.usage if row.status == "ok"]
    assert len(rows) == len(error.choices)
    assert error.request_id == rows[0].request_id
    again = pickle.loads(pickle.dumps(error))
    assert again.message == error.message
    assert again.final == final
    assert again.usage == error.usage
    assert again.choices == error.choices
    assert again.request_id == error.request_id


LONG_TEXT = sample(1, messages=[Message("user", "word " * 3000)], max_tokens=300, expects=40)


# --- what is too long ---


def test_a_reply_is_limited_to_what_the_context_has_left(llm_server: LlmServer) -> None:
    llm_server.switches = replace(PROFILES["vllm"], context=3200)
    Asked(llm_server, [LONG_TEXT, LONG_TEXT])
    assert [entry.status for entry in llm_server.chats] == [400, 200, 200]
    assert llm_server.chats[0].body["max_tokens"] == 300
    assert 40 <= llm_server.chats[1].body["max_tokens"] < 200


def test_what_certainly_does_not_fit_is_sent_once(llm_server: LlmServer) -> None:
    llm_server.switches = replace(PROFILES["llamacpp"], context=1000)
    first, second, _ = Asked(llm_server, [LONG_TEXT, LONG_TEXT, sample(1)]).results
    assert [entry.status for entry in llm_server.chats] == [400, 200]
    assert [(one.reason, one.final) for one in (first, second)] == [(TRUNCATED, False)] * 2
    assert "exceeds the available context size" in first.message
    assert "was not sent" in second.message
    assert all("-c for llama.cpp" in error.message for error in (first, second))
    assert second.usage == ()


@pytest.mark.parametrize(
    "switches",
    [Switches(context=2048, cuts=True), Switches(uncached=True)],
    ids=["the prompt was cut", "only what was not read before is counted"],
)
def test_a_count_that_is_far_too_low_is_told_once_and_voids_nothing(
    llm_server: LlmServer, caplog: pytest.LogCaptureFixture, switches: Switches
) -> None:
    llm_server.switches = switches
    text = sample(1, messages=[Message("user", "word " * 6000)], max_tokens=300)
    with caplog.at_level(logging.WARNING, "ufo.llm"):
        asked = Asked(llm_server, [text, text])
    assert [len(one.choices) for one in asked.results] == [1, 1]
    (record,) = caplog.records
    assert "set --context to its size" in record.message
    assert llm_server.base_url in record.message


def test_a_context_that_the_server_states_is_kept_to(llm_server: LlmServer) -> None:
    llm_server.switches = Switches(context=3200, states="llamacpp")
    asked = Asked(llm_server, [LONG_TEXT], known=None)
    assert len(asked.completion.choices) == 1
    limits = [entry.body["max_tokens"] for entry in llm_server.chats if entry.step != "probe"]
    assert limits[-1] < 300
    too_long = Asked(
        llm_server, [sample(1, messages=[Message("user", "word " * 9000)])], known=None
    )
    assert "was not sent: the context of offline-judge" in too_long.error.message


def test_an_answer_in_the_field_for_thoughts_is_asked_for_once_more(llm_server: LlmServer) -> None:
    llm_server.switches = Switches(thinks=MISPLACED)
    asked = Asked(llm_server, [ASKED] * 3)
    assert [entry.body["max_tokens"] for entry in llm_server.chats] == [
        600,
        ROOM,
        *[ROOM, 4 * 8192 + 600] * 2,
    ]
    assert {one.choices[0].thought for one in asked.results} == {SAID}
    assert {one.choices[0].arguments for one in asked.results} == {None}


def test_a_system_message_that_is_refused_is_the_beginning_of_the_first_turn(
    llm_server: LlmServer,
) -> None:
    llm_server.switches = PROFILES["gemma"]
    Asked(llm_server, [call(), call()])
    assert [entry.status for entry in llm_server.chats[:2]] == [400, 200]
    for entry in llm_server.chats[1:]:
        (message,) = entry.body["messages"]
        assert message["role"] == "user"
        assert message["content"].startswith("Choose.\n\nOne.")


def fails(status: int, words: str) -> Callable[[LlmServer], None]:
    """Let every request fail with these words."""
    return lambda server: setattr(server, "switches", Switches(fails=ApiError(status, words)))


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        pytest.param(faults.rate_limited(), "429", id="too many requests"),
        pytest.param(faults.status(500), "500", id="a fault of the server"),
        pytest.param(faults.html(502), "502", id="a page of a gateway"),
        pytest.param(faults.reset(), "connection", id="a connection that broke"),
        pytest.param(faults.truncated_body(), "garbled", id="a body cut off"),
        pytest.param(faults.no_choices(), "garbled", id="no choices"),
        pytest.param(faults.html(200), "garbled", id="a page in place of a reply"),
        pytest.param(faults.hang(), "timeout", id="no reply"),
        pytest.param(faults.drip(0.2), "timeout", id="a reply in drops"),
    ],
)
def test_what_passes_is_tried_again(
    llm_server: LlmServer, fault: faults.Fault, status: str
) -> None:
    llm_server.faults.extend([None, fault, fault])
    asked = Asked(llm_server, [call(), call()], timeout=0.25 if status == "timeout" else 10.0)
    rows = asked.results[1].usage
    assert [(row.status, row.retries) for row in rows] == [(status, 0), (status, 1), ("ok", 2)]
    assert asked.pauses == [0.25, 0.5]
    assert len({row.request_id for row in rows}) == 3


@pytest.mark.parametrize("known", [None, ALL], ids=["new endpoint", "known endpoint"])
@pytest.mark.parametrize(
    ("spoil", "remedies"),
    [
        (lambda server: setattr(server, "keys", ["sk-other"]),
         ["refused the key in OPENAI_API_KEY"]),
        (lambda server: setattr(server, "models", ["offline-jury"]),
         ["does not know the model 'offline-judge'", "it has offline-jury. Did you mean"]),
        (lambda server: server.faults.append(faults.quota_spent()), ["top it up"]),
        (lambda server: setattr(server, "base_url", server.base_url[:-3]), ["most end in /v1"]),
        (fails(404, "No models loaded. Please load a model"),
         ["has no model loaded (404: No", "load 'offline-judge' there"]),
        (fails(404, "The model `offline-judge` does not exist."),
         ["it has offline-judge, offline-judge-small"]),
    ],
    ids=["key", "model", "quota", "path", "unloaded", "listed"],
)  # fmt: skip
def test_final_errors_come_at_once_with_the_remedy(
    llm_server: LlmServer,
    spoil: Callable[[LlmServer], None],
    remedies: Sequence[str],
    known: Capabilities | None,
) -> None:
    spoil(llm_server)
    asked = Asked(llm_server, [call()] * 10, known, at_once=known is None)
    message = asked.error.message
    assert asked.error.final
    assert [words for words in remedies if words not in message] == []
    assert ("Did you mean" in message) == ("offline-jury" in message)  # a listed one is no guess
    # One that is found unusable is not asked by those who waited for that.
    sent = sum(len(result.usage) for result in asked.results)
    assert sent == len(llm_server.chats) >= 1
    assert known or sent == 1


def test_an_endpoint_that_could_not_be_used_is_probed_again_later(llm_server: LlmServer) -> None:
    unknown = ApiError(404, "The model `offline-judge` does not exist.")
    llm_server.faults.append(faults.Fault("error", unknown))
    asked = Asked(llm_server, [call(), call()], known=None)
    assert asked.error.final
    assert replies_of(asked) == [SAID]


ASKED = call(max_tokens=600, expects=100)
SAID = '{"word": "x"}'


def replies_of(asked: Asked) -> list[str]:
    choices = [one.choices[0] for one in asked.results if isinstance(one, Completion)]
    return [choice.arguments or choice.text for choice in choices]


def test_a_refusal_of_one_text_ruins_the_form_for_nobody(llm_server: LlmServer) -> None:
    refused = ApiError(400, "the tools of the trade in this text are not allowed")
    llm_server.faults.extend([None, *[faults.Fault("error", refused)] * 5])
    asked = Asked(llm_server, [ASKED, ASKED])
    error = asked.results[1]
    llm_server.faults.clear()
    assert isinstance(error, LlmError)
    assert error.unexplained
    assert error.reason == TRANSPORT
    assert not error.final
    assert "answered 400: the tools of the trade" in error.message
    assert replies_of(Asked(llm_server, [ASKED])) == [SAID]
    assert llm_server.chats[-1].body["tool_choice"] == llm_server.chats[0].body["tool_choice"]


def test_a_reply_is_limited_to_what_the_model_allows(llm_server: LlmServer) -> None:
    llm_server.switches = Switches(cap=300)
    assert replies_of(Asked(llm_server, [ASKED, ASKED])) == [SAID] * 2
    limits = [entry.body["max_tokens"] for entry in llm_server.chats]
    assert limits[0] == 600
    assert 150 <= limits[-1] <= 300
    assert [entry.status for entry in llm_server.chats].count(400) <= 2
    llm_server.switches = Switches(cap=60)  # below what is expected
    error = Asked(llm_server, [ASKED]).error
    assert error.reason == TRUNCATED
    assert "at most 60 completion tokens" in error.message


@pytest.mark.parametrize("form", [FORMS[0], JSON_OBJECT, WORDS])
@pytest.mark.parametrize("thinks", THOUGHTS)
def test_thoughts_are_no_answer(llm_server: LlmServer, thinks: str, form: str) -> None:
    llm_server.switches = Switches(thinks=thinks)
    known = Capabilities((form,) if form == WORDS else (form, WORDS))
    asked = Asked(llm_server, [ASKED, ASKED], known)
    assert replies_of(asked) == [SAID] * 2
    statuses = [(entry.status, entry.body["max_tokens"]) for entry in llm_server.chats]
    long = thinks in (LONG, LONG_APART)
    assert statuses == [(200, 600), *[(200, 600 + 8192)] * (2 if long else 1)]
    spent = sum(row.completion_tokens for one in asked.results for row in one.usage)
    assert spent == sum(entry.completion_tokens for entry in llm_server.chats)


TOO_MUCH = "Could not finish the message because max_tokens or model output limit was reached."
ROOM = 600 + 8192


@pytest.mark.parametrize(
    ("error", "limits", "pauses"),
    [
        (ApiError(400, TOO_MUCH), [600, ROOM], 0),  # thoughts without an end
        (ApiError(200, "Provider returned error", code="502"), [600, 600], 1),
        (ApiError(200, "Overloaded, try again later"), [600, 600], 1),
    ],
    ids=["thoughts without an end", "a code of a gateway", "an overload in words"],
)
def test_an_error_that_passes_or_asks_for_more_room_is_mended(
    llm_server: LlmServer, error: ApiError, limits: list[int], pauses: int
) -> None:
    llm_server.faults.append(faults.Fault("error", error))
    asked = Asked(llm_server, [ASKED])
    assert replies_of(asked) == [SAID]
    assert [entry.body["max_tokens"] for entry in llm_server.chats] == limits
    assert len(asked.pauses) == pauses
