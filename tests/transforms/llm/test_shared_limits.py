"""Processes that ask one endpoint share its limits: what one does not need, the others use."""

import asyncio
import multiprocessing
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer, faults
from tests.llm_server.log import Logged, most_in
from tests.transforms.llm.simulated import BODY, Simulated, exchange, limiter, refused, simulate
from transforms.llm.base import VERIFIER, Message, Request
from transforms.llm.capabilities import Capabilities
from transforms.llm.client import ClientSettings, OpenAiClient
from transforms.llm.endpoint import Endpoint
from transforms.llm.limits import Limiter, Limits, books_of, estimated


def both(loop: Simulated, limits: Limits, folder: Path) -> list[Limiter]:
    """The limiters of two processes."""
    path = str(folder / "books")
    return [limiter(loop, limits, books=books_of(limits, loop.time(), path)) for _ in range(2)]


@pytest.mark.parametrize("shares", [(600, 600), (900, 300), (1200, 0)], ids=str)
def test_nine_tenths_of_a_minute_are_used_however_the_work_is_cut(
    tmp_path: Path, shares: tuple[int, int]
) -> None:
    chance = random.Random(3)

    async def main(loop: Simulated) -> list[Logged]:
        its = both(loop, Limits(64, requests_per_minute=120), tmp_path)
        jobs = [
            exchange(one, loop, chance.uniform(0.0, 3.0))
            for one, share in zip(its, shares, strict=True)
            for _ in range(share)
        ]
        return [Logged("", "", None, start, 0, 0) for start, _ in await asyncio.gather(*jobs)]

    seen = simulate(main)
    assert most_in(seen, 60.0) <= 120
    times = sorted(entry.started for entry in seen)
    assert len(times) / 120 * 60.0 / (times[-1] - times[0] + 1.0) >= 0.9


def test_tokens_are_shared(tmp_path: Path) -> None:
    async def main(loop: Simulated) -> list[tuple[float, float]]:
        its = both(loop, Limits(64, tokens_per_minute=20 * estimated(BODY)), tmp_path)
        jobs = [exchange(its[n < 300], loop, 1.0) for n in range(400)]
        return await asyncio.gather(*jobs)

    times = sorted(start for start, _ in simulate(main))
    answered = estimated(BODY) // 2
    for first in times:
        sent = sum(first <= one < first + 60.0 for one in times)
        assert sent * answered <= 20 * estimated(BODY)
    # In the first minute, it is not known yet how many tokens a request comes to.
    rest = [one for one in times if one >= 60.0]
    assert len(rest) * answered >= 0.9 * 20 * estimated(BODY) * (rest[-1] - 60.0) / 60.0


def test_the_places_that_one_process_leaves_are_the_others(tmp_path: Path) -> None:
    async def main(loop: Simulated) -> tuple[int, float, list[float]]:
        its = both(loop, Limits(concurrency=8), tmp_path)
        most = 0

        async def ask(one: Limiter) -> float:
            nonlocal most
            async with one.admitted(BODY):
                most = max(most, one.in_flight)
                await asyncio.sleep(1.0)
            return loop.time()

        first = [asyncio.create_task(ask(its[0])) for _ in range(80)]
        await asyncio.sleep(2.5)
        # The other one comes late, and has its half all the same.
        ended = await asyncio.gather(*(ask(its[1]) for _ in range(8)))
        await asyncio.gather(*first)
        return most, loop.time(), ended

    most, last, ended = simulate(main)
    assert most == 8
    assert last == pytest.approx(11.0, abs=0.5)
    assert max(ended) <= 5.5


def test_a_cut_of_the_limit_is_everybodys(tmp_path: Path) -> None:
    async def main(loop: Simulated) -> list[float]:
        its = both(loop, Limits(concurrency=64), tmp_path)
        async with its[0].admitted(BODY) as sent:
            its[0].failed(sent, refused())
        return [one.limit for one in its]

    assert simulate(main) == [1.0, 1.0]


def test_what_was_sent_before_is_counted_once(tmp_path: Path) -> None:
    async def main(loop: Simulated) -> list[float]:
        allowed = Limits(64, requests_per_minute=10)
        path = str(tmp_path / "books")
        its = [
            limiter(loop, allowed, books=books_of(allowed, loop.time(), path, before=8))
            for _ in range(2)
        ]
        jobs = (exchange(its[n % 2], loop, 0.1) for n in range(3))
        return sorted(start for start, _ in await asyncio.gather(*jobs))

    times = simulate(main)
    assert times[1] < 20.0
    assert times[2] >= 60.0


def test_where_nothing_can_be_shared_each_process_has_its_share(
    tmp_path: Path, llm_server: LlmServer
) -> None:
    llm_server.latency = faults.fixed(0.02)
    endpoint = Endpoint("offline-judge", llm_server.base_url)
    settings = ClientSettings(
        {VERIFIER: endpoint},
        6,
        capabilities={endpoint: Capabilities()},
        workers=2,
        notices=str(tmp_path / "nowhere"),
    )

    async def ask() -> None:
        client = OpenAiClient(settings)
        request = Request(VERIFIER, "", [Message("user", "One.")])
        await asyncio.gather(*(client.complete(request) for _ in range(12)))
        await client.aclose()

    asyncio.run(ask())
    assert llm_server.max_in_flight == 3


# --- at the server ------------------------------------------------------------------------------

WORKERS, REQUESTS, MINUTE = 2, 18, 1.5


def _worker(base_url: str, key: str, notices: str) -> None:
    """A process of a run: its share of what the endpoint allows."""
    import os

    from transforms.llm import books

    # A busy machine may take longer to bring a request to its server than any network would.
    books._ON_ITS_WAY = 600.0
    os.environ["OPENAI_API_KEY"] = key
    endpoint = Endpoint("offline-judge", base_url)
    settings = ClientSettings(
        {VERIFIER: endpoint},
        10,
        capabilities={endpoint: Capabilities()},
        requests_per_minute=24,
        workers=WORKERS,
        notices=notices,
        minute=MINUTE,
    )

    async def ask() -> None:
        client = OpenAiClient(settings)
        request = Request(VERIFIER, "", [Message("user", "One.")])
        await asyncio.gather(*(client.complete(request) for _ in range(REQUESTS)))
        await client.aclose()

    asyncio.run(ask())


@pytest.fixture
def processes() -> Iterator[list[Any]]:
    started: list[Any] = []
    yield started
    for process in started:
        process.kill()


def test_several_processes_keep_what_is_allowed_at_the_server(
    llm_server: LlmServer, tmp_path: Path, processes: list[Any]
) -> None:
    llm_server.latency = faults.fixed(0.3)
    context = multiprocessing.get_context("spawn")
    for _ in range(WORKERS):
        arguments = (llm_server.base_url, llm_server.key, str(tmp_path))
        processes.append(context.Process(target=_worker, args=arguments))
        processes[-1].start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert len(llm_server.chats) == WORKERS * REQUESTS
    assert 1 < llm_server.max_in_flight <= 10
    assert llm_server.most_in(MINUTE) <= 24
