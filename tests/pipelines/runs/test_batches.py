"""The rounds of a run by batches: what becomes of a request that its batch does not answer."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.llm_server import LlmServer
from tests.llm_server.http import HttpRequest
from ufo.pipelines.runs.attempt import Attempt, Written
from ufo.pipelines.runs.batches import Rounds
from ufo.pipelines.runs.chunks import Chunk
from ufo.pipelines.runs.progress import Progress
from ufo.transforms.job import WAITING
from ufo.transforms.llm.batch_store import BatchStore, Reply
from ufo.transforms.llm.client_settings import BatchSettings, ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.request import VERIFIER
from ufo.transforms.llm.usage import usage_row

KEY = "r-1-a-0"
BODY = {"model": "offline-judge", "messages": [{"role": "user", "content": "Who?"}]}
ROW = usage_row("verify", None, "offline-judge", "r1")
Asked = Callable[[int], list[Reply | None]]


@pytest.fixture
def asked(tmp_path: Path, llm_server: LlmServer) -> Iterator[Asked]:
    """Runs the rounds of a run of one request, repeated at most so often; returns what the request
    had for a reply in each pass."""
    endpoint = Endpoint("offline-judge", llm_server.base_url)
    attempt = Attempt.open(str(tmp_path / "run=r"), {})
    path = str(tmp_path / "cache.batches")

    def asked(repairs: int) -> list[Reply | None]:
        settings = BatchSettings(path, "r", repairs=repairs)
        client = ClientSettings(endpoints={VERIFIER: endpoint}, batch=settings)
        found: list[Reply | None] = []

        def evaluate(chunks: Sequence[Chunk]) -> Written:
            reply, _ = store.ask(KEY, endpoint, BODY, ROW)
            found.append(reply)
            if reply is None:
                return Written([], {"verify": {WAITING: 1}})
            written = Written([], {})
            attempt.mark_done(0, written)
            return written

        rounds = Rounds(client, settings, 2, Progress(1, quiet=True), attempt.usage_log())
        with closing(rounds):
            rounds.evaluate([Chunk(0, (), 1)], attempt, evaluate)
        return found

    with closing(BatchStore(path, "r")) as store:
        yield asked


def lose_replies(server: LlmServer) -> None:
    """Empty the files of replies of the batches that end from now on."""

    def empty(request: HttpRequest) -> None:
        for batch in server.batches.batches.values():
            for name in batch.files.values():
                if name in server.batches.files:
                    server.batches.files[name] = (server.batches.files[name][0], b"")

    server.carried_out = empty


def test_a_request_that_is_not_answered_is_told_how_its_batch_ended(
    asked: Asked, llm_server: LlmServer
) -> None:
    lose_replies(llm_server)
    before, lost = asked(0)
    assert before is None
    assert lost is not None
    assert lost.status == "completed"
    assert lost.payload is None
    assert lost.message.endswith(
        "completed: the batch ended without a reply to this request (completed)"
    )


def test_a_request_of_a_batch_that_failed_is_told_the_error_of_the_batch(
    asked: Asked, llm_server: LlmServer
) -> None:
    llm_server.batches.fails.append(("server_error", "Something broke."))
    before, lost = asked(0)
    assert before is None
    assert lost is not None
    assert lost.status == "server_error"
    assert lost.message.endswith("server_error: Something broke.")


def test_a_reply_that_is_lost_bears_the_name_of_its_batch(
    asked: Asked, llm_server: LlmServer
) -> None:
    lose_replies(llm_server)
    lost = asked(0)[-1]
    (batch,) = llm_server.batches.batches
    assert lost is not None
    assert lost.request_id == f"{batch}/{KEY}"


@pytest.mark.parametrize(
    ("repairs", "batches"),
    [
        pytest.param(0, 1, id="never"),
        pytest.param(1, 2, id="once"),
        pytest.param(2, 3, id="twice"),
    ],
)
def test_a_request_that_is_not_answered_is_repeated(
    asked: Asked, llm_server: LlmServer, repairs: int, batches: int
) -> None:
    lose_replies(llm_server)
    assert [one is None for one in asked(repairs)] == [True] * batches + [False]
    assert len(llm_server.batches.batches) == batches
