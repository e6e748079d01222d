"""Runs by batches: what is sent together and repeated, and what providers say in any shape.

Each request is paid once, and answered.
"""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.llm_server.batch_profiles import PROFILES, Profile, lines, response, writes
from tests.llm_server.batches import written
from tests.llm_server.errors import ApiError, overloaded, quota_spent
from tests.llm_server.http import HttpRequest
from tests.llm_server.tokens import prompt_tokens
from tests.pipelines.runs.batch_runs import Running, body, key
from ufo.schemas.errors import BatchesUnderWay, CostCapped, RunError
from ufo.transforms.llm.batch_api import OpenAiBatches
from ufo.transforms.llm.batch_store import Reply
from ufo.transforms.llm.prices import Price, upper_bound

REQUESTS = 8


def texts(replies: Sequence[Reply | None]) -> list[str]:
    return [reply.payload["choices"][0]["message"]["content"] for reply in replies if reply]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The replies to the requests where nothing is odd."""
    with LlmServer() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", server.key)
        running = Running(tmp_path_factory.mktemp("plain"), server)
        with closing(running.store):
            return texts(running(requests=REQUESTS)[-1])


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_each_request_is_paid_once_and_has_its_reply(
    run: Running, llm_server: LlmServer, plain: list[str], profile: Profile
) -> None:
    profile(llm_server.batches)
    assert texts(run(requests=REQUESTS)[-1]) == plain
    answered = [one for one in llm_server.batches.requests if one.entry.status == 200]
    assert len(answered) == REQUESTS
    assert llm_server.batches.repeated() == []
    # Its usage is that of each request once.
    assert len(set(run.paid())) == len(run.paid()) == REQUESTS


# --- what the user is told


@pytest.mark.parametrize(
    ("profile", "message"),
    [
        ("a state that nobody knows", "'simmering' is no state of a batch that ufo knows"),
        ("no state", "'' is no state of a batch"),
        ("no files yet", "is completed; its replies are not all there yet"),
        ("a line of another run", f"of {REQUESTS} requests has replies to {REQUESTS + 1} requests"),
        ("a batch that is not found at first", "answered 404 to GET /v1/batches/batch_"),
    ],
)
def test_what_is_odd_is_said_once(
    run: Running, llm_server: LlmServer, profile: str, message: str
) -> None:
    PROFILES[profile](llm_server.batches)
    run(requests=REQUESTS)
    assert [message in line for line in run.told.lines].count(True) == 1


def test_no_advice_about_the_address_is_given_for_a_batch_that_is_not_there_yet(
    run: Running, llm_server: LlmServer
) -> None:
    PROFILES["a batch that is not found at first"](llm_server.batches)
    run()
    assert [line for line in run.told.lines if "most end in" in line] == []


# --- what no look can mend


def damaged(rows: list[Any]) -> bytes:
    """The first of several lines is cut off in its middle."""
    whole = written(rows)
    end = whole.index(b"\n")
    return whole if len(rows) == 1 else whole[: end // 2] + whole[end:]


def test_a_damaged_line_is_counted_and_its_request_asked_again(
    run: Running, llm_server: LlmServer, slept: list[float]
) -> None:
    writes(damaged)(llm_server.batches)
    assert None not in run(requests=REQUESTS)[-1]
    assert run.sizes == [REQUESTS, 1]
    assert sum(slept) < 60
    message = f"of {REQUESTS} requests has replies to {REQUESTS - 1} requests and 1 damaged line"
    assert message in " ".join(run.told.lines)


def test_a_reply_that_never_comes_is_waited_for_ten_minutes(
    run: Running, llm_server: LlmServer, slept: list[float]
) -> None:
    writes(lambda rows: written(rows[1:]) if len(rows) > 1 else written(rows))(llm_server.batches)
    assert None not in run(requests=REQUESTS)[-1]
    assert run.sizes == [REQUESTS, 1]
    assert 600 < sum(slept) < 700
    assert sum("its replies are not all there yet" in line for line in run.told.lines) == 1


def test_ten_minutes_are_counted_over_all_processes(
    run: Running, llm_server: LlmServer, slept: list[float]
) -> None:
    writes(lambda rows: written(rows[1:]) if len(rows) > 1 else written(rows))(llm_server.batches)
    for _ in range(3):
        with pytest.raises(BatchesUnderWay):
            run(requests=REQUESTS, wait=0)
        slept.append(250.0)
    run(requests=REQUESTS, wait=0)
    assert run.sizes == [REQUESTS, 1]


def test_replies_of_the_model_are_kept_before_all_are_there(
    run: Running, llm_server: LlmServer
) -> None:
    writes(lambda rows: written(rows[1:]))(llm_server.batches)
    with pytest.raises(BatchesUnderWay):
        run(requests=REQUESTS, wait=0)
    llm_server.batches.batches.clear()  # the provider forgets it: only what is missing is lost
    with pytest.raises(RunError, match="does not know batch"):
        run(requests=REQUESTS, wait=0)
    assert run.store.held()["batch_replies"] == REQUESTS - 1


def test_a_status_of_0_without_a_reply_is_asked_again(run: Running, llm_server: LlmServer) -> None:
    failing = {1, 2}

    def change(row: Any) -> Any:
        if failing:
            failing.pop()
            return response(row, status_code=0, body={"error": {"message": "upstream timed out"}})
        return row

    lines(change)(llm_server.batches)
    assert None not in run(requests=REQUESTS)[-1]
    assert run.sizes == [REQUESTS, 2]


# --- refusals of a whole batch


@pytest.mark.parametrize(
    ("code", "message"),
    [
        pytest.param(
            "billing_hard_limit_reached", "Billing hard limit has been reached.", id="billing"
        ),
        pytest.param("insufficient_quota", "You exceeded your current quota.", id="quota"),
        pytest.param("invalid_api_key", "Incorrect API key provided.", id="key"),
        pytest.param("model_not_found", "The model does not exist.", id="model"),
        pytest.param("402", "The moon is full.", id="a status"),
    ],
)
def test_a_batch_that_fails_for_what_holds_for_all_ends_the_run_at_once(
    run: Running, llm_server: LlmServer, code: str, message: str
) -> None:
    llm_server.batches.fails.append((code, message))
    with pytest.raises(RunError, match=message):
        run(requests=REQUESTS, repairs=3)
    assert run.sizes == [REQUESTS]
    assert None not in run(requests=REQUESTS)[-1]  # the same command goes on


def test_a_batch_that_fails_twice_in_unknown_words_ends_the_run(
    run: Running, llm_server: LlmServer
) -> None:
    llm_server.batches.fails.extend([("stop", "The moon is full.")] * 4)
    with pytest.raises(RunError, match="The moon is full"):
        run(requests=REQUESTS, repairs=3)
    assert run.sizes == [REQUESTS] * 2
    llm_server.batches.fails.clear()
    assert None not in run(requests=REQUESTS)[-1]


TEA = "No more tea on this account."


@pytest.mark.parametrize(
    ("most", "sizes"),
    [
        pytest.param(9, [5], id="in one batch"),
        pytest.param(3, [3, 2], id="in two"),
    ],
)
def test_the_same_refusal_of_five_requests_ends_the_run(
    run: Running, llm_server: LlmServer, most: int, sizes: list[int]
) -> None:
    llm_server.batches.line_faults = lambda body: ApiError(418, TEA)
    with pytest.raises(RunError, match=TEA):
        run(requests=5, most=most)
    assert run.sizes == sizes
    llm_server.batches.line_faults = None
    assert None not in run(requests=5)[-1]


def test_the_same_refusal_of_four_requests_is_the_reply_to_them(
    run: Running, llm_server: LlmServer
) -> None:
    llm_server.batches.line_faults = lambda body: ApiError(418, TEA)
    assert [reply.status for reply in run(requests=4)[-1] if reply] == ["418"] * 4


def test_a_refusal_beside_a_good_reply_is_the_reply_to_its_request(
    run: Running, llm_server: LlmServer
) -> None:
    llm_server.batches.line_faults = lambda body: None if "? 0" in str(body) else ApiError(418, TEA)
    assert [reply.status for reply in run(requests=6)[-1] if reply] == ["200", *["418"] * 5]


def test_a_refusal_of_what_a_step_may_change_ends_the_run_when_it_is_repeated(
    run: Running, llm_server: LlmServer
) -> None:
    llm_server.batches.line_faults = lambda body: ApiError(400, TEA)
    with pytest.raises(RunError, match=TEA):
        run(requests=5, new=True)
    assert run.sizes == [5, 5]


@pytest.mark.parametrize(
    ("requests", "ends"),
    [pytest.param(3, True, id="six times"), pytest.param(2, False, id="four times")],
)
def test_an_error_of_all_requests_that_is_repeated_ends_the_run(
    run: Running, llm_server: LlmServer, requests: int, ends: bool
) -> None:
    llm_server.batches.line_faults = lambda body: ApiError(503, "The moon is full.")
    with pytest.raises(RunError, match="All requests got this") if ends else nullcontext():
        run(requests=requests, repairs=1)
    assert run.sizes == [requests] * 2
    llm_server.batches.line_faults = None
    if ends:
        assert None not in run(requests=requests)[-1]


@pytest.mark.parametrize(
    "message",
    [
        "Enqueued token limit reached for gpt-4o.",
        "The batch queue is full.",
        "Too many enqueued tokens.",
        "Too many batches are running.",
        "You have reached the limit of pending batches.",
        "The queue limit is reached.",
    ],
)
def test_what_is_enqueued_too_much_is_submitted_again_in_smaller_files(
    run: Running, llm_server: LlmServer, message: str
) -> None:
    llm_server.batches.fails.extend([("invalid_request", message)] * 2)
    assert None not in run(requests=REQUESTS)[-1]
    assert run.sizes == [8, 4, 2, 4, 2]
    assert llm_server.batches.repeated() == []


@pytest.mark.parametrize("status", [400, 429])
def test_too_much_is_enqueued_also_by_the_answer_to_the_creation(
    run: Running, llm_server: LlmServer, status: int
) -> None:
    error = ApiError(status, "Enqueued token limit reached. Limit: 90,000 enqueued tokens.")
    llm_server.batches.refuses = error
    with pytest.raises(BatchesUnderWay):
        run(requests=REQUESTS, wait=0)
    llm_server.batches.refuses = None
    assert None not in run(requests=REQUESTS)[-1]
    assert llm_server.batches.repeated() == []


def refuses_more_than(requests: int, patch: pytest.MonkeyPatch, server: LlmServer) -> None:
    """Let the creation of a batch of more requests be refused."""
    create = server.batches._create

    def refusing(asked: Any) -> Any:
        if server.batches.files[asked["input_file_id"]][1].count(b"\n") > requests:
            raise ApiError(429, "Enqueued token limit reached. Limit: 90,000 enqueued tokens.")
        return create(asked)

    patch.setattr(server.batches, "_create", refusing)


@pytest.mark.parametrize("at_creation", [False, True], ids=["later", "at the creation"])
def test_a_command_that_does_not_wait_gets_on_where_too_much_is_enqueued(
    run: Running, llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch, at_creation: bool
) -> None:
    llm_server.batches.polls = 1
    if at_creation:
        refuses_more_than(1, monkeypatch, llm_server)
    else:
        llm_server.batches.token_limit = prompt_tokens(body(0))
    for _ in range(4 * REQUESTS):
        with suppress(BatchesUnderWay):
            replies = run(requests=REQUESTS, most_rounds=1, wait=0)[-1]
            break
    assert None not in replies
    assert llm_server.batches.sent == REQUESTS
    assert llm_server.batches.repeated() == []


def test_a_file_that_is_too_large_is_told_with_the_remedy(
    run: Running, llm_server: LlmServer
) -> None:
    llm_server.batches.refuses = ApiError(413, "Batch input file is 12.0 MB.")
    with pytest.raises(RunError) as caught:
        run()
    assert "answered 413 to POST /v1/batches: Batch input file is 12.0 MB" in str(caught.value)
    assert "too large, set --batch_mb" in str(caught.value)
    assert "--formulation" not in str(caught.value)


# --- servers that have no batches


@pytest.mark.parametrize("path", ["/v1/files", "/v1/batches"])
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param({"error": "Unexpected endpoint or method."}, "Unexpected end", id="an error"),
        pytest.param({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}},
                     "is spent", id="a spent quota"),
        pytest.param(b"<html>Log in</html>", "a web page is in place", id="a web page"),
        pytest.param({}, "something that is no batch and no file", id="nothing"),
        pytest.param(b"", "something that is no batch and no file", id="no body"),
    ],
)  # fmt: skip
def test_an_answer_of_status_200_that_is_no_batch_ends_the_run(
    run: Running, llm_server: LlmServer, path: str, answer: Any, message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    reply = llm_server.batches.reply
    monkeypatch.setattr(
        llm_server.batches,
        "reply",
        lambda request: answer if request.path == path else reply(request),
    )
    with pytest.raises(RunError, match=message):
        run()


def test_an_error_in_place_of_a_state_ends_the_run(run: Running, llm_server: LlmServer) -> None:
    refused = {"error": {"code": 401, "message": "Incorrect API key provided."}}
    llm_server.batches.polls = 1
    llm_server.batches.shows = lambda batch, shown: refused if batch.seen else shown
    with pytest.raises(RunError, match="refused the key in OPENAI_API_KEY"):
        run()
    llm_server.batches.shows = lambda batch, shown: shown
    assert None not in run()[-1]
    assert run.sizes == [1]


# --- the file of batches


def no_database(path: Path) -> None:
    path.write_bytes(b"no database" * 1000)


def other_program(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE customers (name)")


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")


def damaged_pages(path: Path) -> None:
    with open(path, "r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096 * 8)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        pytest.param(no_database, "file is not a database", id="no database"),
        pytest.param(other_program, "it belongs to another program", id="another program's"),
        pytest.param(newer, "a newer version of ufo wrote it", id="newer"),
        pytest.param(damaged_pages, "malformed", id="damaged"),
    ],
)
def test_a_damaged_file_of_batches_is_named_with_the_remedy(
    run: Running, damage: Callable[[Path], None], message: str
) -> None:
    path = Path(run.path)
    run.store.close()  # of an empty file of ours
    if damage in (no_database, other_program):
        path.unlink()
    damage(path)
    with pytest.raises(RunError, match=message) as caught:
        run()
    assert str(path) in str(caught.value)
    assert "Move it away" in str(caught.value)


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
    assert lost.payload["error"]["message"] == message
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


def test_a_refusal_of_all_is_no_try_of_a_request(run: Running, llm_server: LlmServer) -> None:
    llm_server.batches.line_faults = lambda body: quota_spent()
    with pytest.raises(RunError, match="the quota of the key"):
        run(requests=3, repairs=1)
    faults = [overloaded()]
    llm_server.batches.line_faults = lambda body: faults.pop() if faults else None
    replies = run(requests=3, repairs=1)[-1]
    assert [reply.status for reply in replies if reply] == ["200"] * 3


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


def test_a_reply_without_its_tokens_costs_what_it_may_cost(
    run: Running, llm_server: LlmServer
) -> None:
    def without_usage(row: Any) -> Any:
        body = {name: value for name, value in row["response"]["body"].items() if name != "usage"}
        return response(row, body=body)

    lines(without_usage)(llm_server.batches)
    price = Price(10.0, 40.0)
    cap = 2.5 * upper_bound(price.of_batch, body(0))
    with pytest.raises(CostCapped):
        run(requests=4, most=1, prices={"offline-judge": price}, max_cost=cap)
    assert run.sizes == [1, 1]


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
    with pytest.raises(RunError):
        run(most_rounds=1, new=True)
    rounds = [line.partition(":")[0] for line in run.told.lines][:2]
    assert rounds == ["round 1 of at most 1", "round 2 (asking again)"]


def test_a_run_whose_chunk_is_damaged_is_not_finished(run: Running) -> None:
    with pytest.raises(RunError, match="a part is damaged; the same command evaluates its chunk"):
        run(damaged=True)


def test_the_files_of_a_batch_are_deleted_once_its_replies_are_kept(
    run: Running, llm_server: LlmServer
) -> None:
    run()
    assert list(llm_server.batches.files) == []


def test_a_run_that_asks_something_new_in_each_pass_ends(run: Running) -> None:
    with pytest.raises(RunError, match="after 10 rounds of batches there is still something to"):
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
