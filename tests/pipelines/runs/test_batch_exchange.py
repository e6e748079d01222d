"""What a provider says of a batch, in any shape: each request is paid once, and answered."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.llm_server.batch_profiles import PROFILES, Profile, lines, response, writes
from tests.llm_server.batches import written
from tests.llm_server.errors import ApiError
from tests.pipelines.runs.batch_runs import Running
from ufo.schemas.errors import BatchesUnderWay, RunError
from ufo.transforms.llm.batch_store import Reply

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
    ("profile", "said"),
    [
        ("a state that nobody knows", "'simmering' is no state of a batch that ufo knows"),
        ("no state", "'' is no state of a batch"),
        ("no files yet", "is completed; its replies are not all there yet"),
        ("a line of another run", f"of {REQUESTS} requests has replies to {REQUESTS + 1} requests"),
        ("a batch that is not found at first", "answered 404 to GET /v1/batches/batch_"),
    ],
)
def test_what_is_odd_is_said_once(
    run: Running, llm_server: LlmServer, profile: str, said: str
) -> None:
    PROFILES[profile](llm_server.batches)
    run(requests=REQUESTS)
    assert [said in line for line in run.told.lines].count(True) == 1


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
    said = f"of {REQUESTS} requests has replies to {REQUESTS - 1} requests and 1 damaged lines"
    assert said in " ".join(run.told.lines)


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
    ("damage", "said"),
    [
        pytest.param(no_database, "file is not a database", id="no database"),
        pytest.param(other_program, "it belongs to another program", id="another program's"),
        pytest.param(newer, "a newer version of ufo wrote it", id="newer"),
        pytest.param(damaged_pages, "malformed", id="damaged"),
    ],
)
def test_a_damaged_file_of_batches_is_named_with_the_remedy(
    run: Running, damage: Callable[[Path], None], said: str
) -> None:
    path = Path(run.path)
    run.store.close()  # of an empty file of ours
    if damage in (no_database, other_program):
        path.unlink()
    damage(path)
    with pytest.raises(RunError, match=said) as caught:
        run()
    assert str(path) in str(caught.value)
    assert "Move it away" in str(caught.value)
