"""Several choices of one request: all come whatever the endpoint does with `n`."""

import asyncio
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import IGNORED, REJECTED, LlmServer, Switches, faults
from tests.transforms.llm.asked import ALL, Asked, sample
from ufo.transforms.llm.cache import CachingClient
from ufo.transforms.llm.capabilities import Capabilities
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.request import (
    VERIFIER,
    Completion,
    LlmError,
    Message,
)
from ufo.transforms.llm.shared import shared_memory


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
    assert llm_server.max_in_flight > 1


def test_an_endpoint_that_gives_more_than_asked(llm_server: LlmServer) -> None:
    completion = Asked(llm_server, [sample(1)], known=Capabilities(n=False)).completion
    assert len(completion.choices) == 1


class _Spoiled:
    """Passes over `n`, and refuses some of the requests that follow with an error."""

    def __init__(self, fault: faults.Fault, bad: Sequence[int]) -> None:
        self.fault, self.bad, self.seen = fault, bad, 0

    def next(self, body: bytes) -> faults.Fault | None:
        self.seen += 1
        if self.seen in self.bad:
            return self.fault
        return faults.ignored_n()


@pytest.mark.parametrize(
    ("fault", "final"), [(faults.filtered_prompt(), False), (faults.quota_spent(), True)]
)
def test_choices_that_came_are_reported_where_others_failed(
    llm_server: LlmServer, fault: faults.Fault, final: bool
) -> None:
    llm_server.mix = _Spoiled(fault, (3, 4))  # type: ignore[assignment]
    error = Asked(llm_server, [sample(5)], concurrency=1).error
    assert error.final == final
    answered = [entry for entry in llm_server.chats if entry.status == 200]
    assert len(error.choices) == len(answered) == (1 + 1 if final else 1 + 2)
    rows = [row for row in error.usage if row.status == "ok"]
    assert error.request_id == rows[0].request_id
    again = pickle.loads(pickle.dumps(error))
    assert (again.choices, again.request_id) == (error.choices, error.request_id)


def test_choices_that_came_are_kept_and_not_asked_for_again(
    llm_server: LlmServer, tmp_path: Path
) -> None:
    endpoint = Endpoint("offline-judge", llm_server.base_url)
    settings = ClientSettings(
        {VERIFIER: endpoint}, capabilities={endpoint: ALL}, cache=str(tmp_path / "c.sqlite")
    )
    memory = shared_memory(settings)

    async def ask() -> Completion | LlmError:
        client = OpenAiClient(settings)
        try:
            return await CachingClient(client, settings, memory).complete(sample(5))
        except LlmError as error:
            return error
        finally:
            await client.aclose()

    llm_server.mix = _Spoiled(faults.filtered_prompt(), (3, 4))  # type: ignore[assignment]
    error = asyncio.run(ask())
    assert isinstance(error, LlmError)
    assert len(error.choices) == 3
    llm_server.mix = None
    llm_server.requests.clear()
    completion = asyncio.run(ask())
    assert isinstance(completion, Completion)
    assert list(completion.choices[:3]) == list(error.choices)
    assert [(entry.body["n"], entry.status) for entry in llm_server.chats] == [(2, 200)]
