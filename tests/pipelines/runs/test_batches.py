"""The rounds of a run by batches: what is sent together, what is repeated, and the time to wait."""

from contextlib import closing, nullcontext
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.llm_server.errors import quota_spent
from tests.llm_server.http import HttpRequest
from tests.llm_server.tokens import prompt_tokens
from tests.pipelines.runs.batch_runs import Running, body, key
from ufo.schemas.errors import BatchesUnderWay, CostCapped, RunError
from ufo.transforms.llm.batch_api import OpenAiBatches
from ufo.transforms.llm.budget import Price, upper_bound

# --- requests that their batch does not answer


def lose_replies(server: LlmServer) -> None:
    """Empty the files of replies of the batches that end from now on."""

    def empty(request: HttpRequest) -> None:
        for batch in server.batches.batches.values():
            for name in batch.files.values():
                if name in server.batches.files:
                    server.batches.files[name] = (server.batches.files[name][0], b"")

    server.carried_out = empty


def fail(server: LlmServer) -> None:
    server.batches.fails.append(("server_error", "Something broke."))


@pytest.mark.parametrize(
    ("spoil", "status", "message"),
    [
        pytest.param(
            lose_replies,
            "completed",
            "the batch ended without a reply to this request (completed)",
            id="how its batch ended",
        ),
        pytest.param(fail, "server_error", "Something broke.", id="the error of its batch"),
    ],
)
def test_a_request_that_is_not_answered_is_told(
    run: Running, llm_server: LlmServer, spoil: Any, status: str, message: str
) -> None:
    spoil(llm_server)
    (lost,) = run(repairs=0)[-1]
    (batch,) = llm_server.batches.batches
    assert lost is not None
    assert lost.status == status
    assert lost.payload is None
    assert lost.message == message
    assert lost.request_id == f"{batch}/{key(0)}"


@pytest.mark.parametrize(
    ("repairs", "batches"),
    [
        pytest.param(0, 1, id="never"),
        pytest.param(1, 2, id="once"),
        pytest.param(2, 3, id="twice"),
    ],
)
def test_a_request_that_is_not_answered_is_repeated(
    run: Running, llm_server: LlmServer, repairs: int, batches: int
) -> None:
    lose_replies(llm_server)
    run(repairs=repairs)
    assert run.sizes == [1] * batches


def test_an_error_that_every_request_would_meet_ends_the_run_at_once(
    run: Running, llm_server: LlmServer
) -> None:
    llm_server.batches.line_faults = lambda body: quota_spent()
    with pytest.raises(RunError, match="the quota of the key in OPENAI_API_KEY"):
        run(repairs=3)
    assert run.sizes == [1]


def test_what_met_such_an_error_is_asked_again_later(run: Running, llm_server: LlmServer) -> None:
    llm_server.batches.line_faults = lambda body: quota_spent()
    with pytest.raises(RunError, match="the quota of the key"):
        run(repairs=0)
    llm_server.batches.line_faults = None
    (reply,) = run(repairs=0)[-1]
    assert reply is not None
    assert reply.status == "200"


# --- how much is in a batch


@pytest.mark.parametrize(
    ("most", "sizes"),
    [
        pytest.param(3, [3], id="as many as there are"),
        pytest.param(2, [2, 1], id="one less"),
        pytest.param(1, [1, 1, 1], id="one"),
    ],
)
def test_a_batch_has_so_many_requests(run: Running, most: int, sizes: list[int]) -> None:
    run(requests=3, most=most)
    assert run.sizes == sizes


@pytest.mark.parametrize(
    ("less", "sizes"),
    [
        pytest.param(0, [2], id="all that there are"),
        pytest.param(1, [1, 1], id="one less"),
    ],
)
def test_a_batch_has_so_many_bytes(run: Running, less: int, sizes: list[int]) -> None:
    with closing(OpenAiBatches(run.endpoint)) as api:
        size = sum(len(api.line_of(key(number), body(number))) for number in range(2))
    run(requests=2, bytes=size - less)
    assert run.sizes == sizes


def test_a_request_that_is_larger_than_a_batch_may_be_is_sent_alone(
    run: Running, slept: list[float]
) -> None:
    run(requests=2, bytes=1)
    assert run.sizes == [1, 1]


@pytest.mark.parametrize(("share", "sizes"), [(1.0, [1]), (0.999, [])], ids=["all", "more than"])
def test_what_may_cost_what_is_left(run: Running, share: float, sizes: list[int]) -> None:
    price = Price(10.0, 40.0)
    cap = share * upper_bound(price.of_batch, body(0))
    with nullcontext() if sizes else pytest.raises(CostCapped):
        run(prices={"offline-judge": price}, max_cost=cap)
    assert run.sizes == sizes


@pytest.mark.parametrize(
    ("requests", "taken", "most", "polls", "sizes"),
    [
        pytest.param(4, 2, 9, 0, [4, 2, 2], id="is halved when it is refused"),
        pytest.param(5, 3, 9, 0, [5, 2, 3], id="is sent with more once another has ended"),
        pytest.param(4, 2, 2, 4, [2, 2, 2], id="beside another waits for its end"),
    ],
)
def test_a_batch_of_more_tokens_than_are_taken(
    run: Running, llm_server: LlmServer, slept: list[float], requests: int, taken: int,
    most: int, polls: int, sizes: list[int],
) -> None:  # fmt: skip
    llm_server.batches.token_limit = taken * prompt_tokens(body(0))
    llm_server.batches.polls = polls
    run(requests, most)
    assert run.sizes == sizes
    assert list(llm_server.batches.files) == []


# --- the time to wait, and the rounds


def test_looks_at_a_batch_are_twice_as_far_apart_each_time_up_to_a_minute(
    run: Running, llm_server: LlmServer, slept: list[float]
) -> None:
    llm_server.batches.polls = 10
    run()
    assert slept == [0.25, 0.5, 1, 2, 4, 8, 16, 32, 60, 60]


def test_the_time_to_wait_is_that_of_all_pauses(
    run: Running, llm_server: LlmServer, slept: list[float]
) -> None:
    llm_server.batches.polls = 10
    with pytest.raises(BatchesUnderWay, match="round 1: 1 batch under way with 2 requests;"):
        run(requests=2, wait=1.0)
    assert slept == [0.25, 0.5, 0.25]


def test_a_round_is_told_of_how_many(run: Running, llm_server: LlmServer) -> None:
    lose_replies(llm_server)
    run(most_rounds=1, repairs=1)
    told = [line.partition(":")[0] for line in run.told.lines]
    assert [line for line in told if line.startswith("round")] == [
        "round 1 of at most 1",
        "round 2 (asking again)",
    ]


def test_a_run_whose_chunk_is_damaged_is_not_finished(run: Running) -> None:
    with pytest.raises(RunError, match="a part is damaged; the same command evaluates its chunk"):
        run(damaged=True)


def test_the_files_of_a_batch_are_deleted_once_its_replies_are_kept(
    run: Running, llm_server: LlmServer
) -> None:
    run()
    assert list(llm_server.batches.files) == []


def test_a_run_that_asks_something_new_in_each_pass_ends(run: Running) -> None:
    with pytest.raises(RunError, match="after 10 rounds of batches there is still something new"):
        run(most_rounds=1, new=True)
    assert run.sizes == [1] * 10


@pytest.mark.parametrize("what", [("loses", "late"), ("loses_files",)], ids=["listed yet", "there"])
def test_a_batch_whose_submission_was_not_answered_and_that_is_not(
    run: Running, llm_server: LlmServer, slept: list[float], what: tuple[str, ...]
) -> None:
    for name in what:
        setattr(llm_server.batches, name, 1)
    run()
    assert run.sizes == [1]
