"""Errors over real HTTP: what is tried again, what ends a request, what ends the run."""

import socket
from collections.abc import Callable

import pytest

from tests.llm_server import LlmServer, Switches, faults
from tests.transforms.llm.asked import ALL, Asked, call, sample
from ufo.schemas.records import FILTERED, TRUNCATED
from ufo.transforms.llm.capabilities import Capabilities
from ufo.transforms.llm.request import Completion, Message


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (faults.rate_limited(), "429"),
        (faults.status(500), "500"),
        (faults.html(502), "502"),
        (faults.reset(), "connection"),
        (faults.truncated_body(), "garbled"),
        (faults.no_choices(), "garbled"),
        (faults.html(200), "garbled"),
        (faults.hang(), "timeout"),
        (faults.drip(0.2), "timeout"),
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


@pytest.mark.parametrize(
    ("fault", "words", "reason"),
    [
        (faults.filtered_prompt(), 1, FILTERED),
        (faults.status(413), 1, TRUNCATED),
        (None, 100, TRUNCATED),
    ],
)
def test_what_is_wrong_with_a_request_ends_that_request(
    llm_server: LlmServer, fault: faults.Fault | None, words: int, reason: str
) -> None:
    llm_server.switches = Switches(context=60)
    llm_server.faults.append(fault)
    asked = Asked(llm_server, [sample(1, messages=[Message("user", "word " * words)]), sample(1)])
    assert (asked.error.reason, asked.error.final) == (reason, False)
    assert isinstance(asked.results[1], Completion)


@pytest.mark.parametrize("known", [None, ALL])
@pytest.mark.parametrize(
    ("spoil", "remedy"),
    [
        (lambda server: setattr(server, "keys", ["sk-other"]), "refused the key in OPENAI_API_KEY"),
        (lambda server: setattr(server, "models", ["offline-jury"]),
         "does not know the model 'offline-judge'"),
        (lambda server: server.faults.append(faults.quota_spent()), "top it up"),
        (lambda server: setattr(server, "base_url", server.base_url[:-3]), "most end in /v1"),
    ],
    ids=["key", "model", "quota", "path"],
)  # fmt: skip
def test_final_errors_come_at_once_with_the_remedy(
    llm_server: LlmServer,
    spoil: Callable[[LlmServer], None],
    remedy: str,
    known: Capabilities | None,
) -> None:
    spoil(llm_server)
    asked = Asked(llm_server, [call()] * 10, known, at_once=known is None)
    assert asked.error.final
    assert remedy in asked.error.message
    # One that is found unusable is not asked again.
    sent = sum(len(result.usage) for result in asked.results)
    assert sent == len(llm_server.chats) >= 1
    assert known or sent == 1


def test_an_unknown_model_is_answered_with_the_known_ones(llm_server: LlmServer) -> None:
    llm_server.models = ["offline-jury"]
    error = Asked(llm_server, [call()], None).error
    assert error.message.endswith("it has offline-jury. Did you mean 'offline-jury'?")


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
