"""Runs by batches: the tables of the plain run, also where batches go wrong and after kills."""

import json
import os
import re
import signal
from collections import Counter
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer, Switches
from tests.llm_server.batch_profiles import PROFILES
from tests.llm_server.batches import Line
from tests.llm_server.errors import ApiError, overloaded, server_error
from tests.llm_server.http import HttpRequest
from tests.pipelines.conftest import ends, ok, tables, ufo, write_lines
from tests.pipelines.killed import kill, started
from tests.pipelines.llm_runs import results, rows
from tests.pipelines.other_judges import judge as judge_of
from ufo.transforms.llm.prices import load_prices, upper_bound

PRICE = {"input": 10.0, "output": 40.0}  # US dollars a million tokens, without a batch
SHARE = 0.25  # of the price, for what a batch asks
Flags = tuple[object, ...]
OWN = ("--sources", "reference,wikipedia", "--judge")


def priced(path: Path, **more: float) -> Path:
    path.write_text(json.dumps({"offline-judge": {**PRICE, **more}}))
    return path


def cost(row: Any, share: float = SHARE) -> Any:
    """What a row of the usage costs, of a batch or not."""
    full = (10 * row["prompt_tokens"] + 40 * row["completion_tokens"]) / 1e6
    return pytest.approx(full * (share if row["worker_id"] == "batch" else 1))


@pytest.fixture
def arguments(tmp_path: Path, few: Path, index: Path, llm_server: LlmServer) -> Callable[..., Any]:
    """The words of a run into a folder of that name, with a cache of its own."""
    prices = priced(tmp_path / "prices.yaml", batch=SHARE)

    def words(name: str, *flags: object) -> list[Any]:
        return [
            "evaluate",
            "--input",
            few,
            "--output",
            tmp_path / name,
            "--run",
            "r",
            "--judge",
            "llm",
            "--base_url",
            llm_server.base_url,
            "--model",
            "offline-judge",
            "--sources",
            "reference,wikipedia,llm",
            "--index",
            index,
            "--prices",
            prices,
            "--cache",
            tmp_path / f"{name}.sqlite",
            "--workers",
            1,
            *flags,
        ]

    return words


@pytest.fixture
def run(arguments: Any) -> Callable[..., Any]:
    return lambda name, *flags, code=0: ends(code, *arguments(name, *flags))


def as_plain(folder: Path) -> bool:
    """Whether the run by batches found what the plain one did."""
    batched, plain = (results(tables(folder / name)) for name in ("batch", "plain"))
    return bool(batched == plain)


# --- the tables of the plain run, whatever goes wrong


def once(fault: ApiError) -> Callable[[Any], ApiError | None]:
    """Spoils a third of the requests, each the first time that it is asked."""
    asked: set[str] = set()

    def spoiled(body: Any) -> ApiError | None:
        digest = sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        if int(digest[:8], 16) % 3 or digest in asked:
            return None
        asked.add(digest)
        return fault

    return spoiled


def nothing(server: LlmServer) -> Flags:
    return ()


def fails(server: LlmServer) -> Flags:
    server.batches.expires.extend([2])
    server.batches.cancels.extend([None, None, 1])
    broken = [("server_error", "Something broke."), None, ("other", "Again.")]
    server.batches.fails.extend(broken)
    server.batches.disturbs.extend([overloaded()] * 3)
    return ()


def loses(server: LlmServer) -> Flags:
    batches = server.batches
    batches.loses, batches.loses_files, batches.late, batches.breaks = 2, 1, 1, 1
    return ()


def everything(server: LlmServer) -> Flags:
    loses(server)
    server.batches.polls = 1
    server.batches.line_faults = once(server_error())
    server.batches.token_limit = 4000
    return ("--batch_requests", 4)


def azure(server: LlmServer) -> Flags:
    server.switches = Switches(azure="offline-judge")
    server.batches.loses, server.batches.pending = 1, 2
    return ("--base_url", f"{server.base_url.removesuffix('/v1')}/?api-version=2024-10-21")


def check_usage(server: LlmServer, output: Path) -> None:
    """Each reply has one row, with its share of the price."""
    used = rows(output, "SELECT * FROM usage WHERE worker_id = 'batch' AND status = 'ok'")
    answered = [one.entry for one in server.batches.requests if one.entry.status == 200]
    assert len(used) == len({row["request_id"] for row in used}) == len(answered)
    assert [row["cost_usd"] for row in used] == [cost(row) for row in used]
    for name in ("prompt_tokens", "completion_tokens"):
        assert sum(row[name] for row in used) == sum(getattr(one, name) for one in answered)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "flags"),
    [
        (nothing, ("--mode", "mv", "--formulation", "stepwise")),
        (nothing, ("--mode", "all", "--sampling", "bundled", "--units", "sentence")),
        (nothing, ("--mode", "seq", "--no_share", "--formulation", "rationale")),
        (fails, ()),
        (loses, ()),
        (everything, ("--chunk_size", 2)),
        (azure, ()),
    ],
    ids=[
        "steps and votes of all",
        "bundled knowledge of sentences",
        "rationales without sharing",
        "batches that fail",
        "replies that are lost",
        "all that goes wrong",
        "Azure",
    ],
)
def test_tables_are_those_of_the_plain_run(
    run: Any, tmp_path: Path, llm_server: LlmServer, monkeypatch: Any, spoil: Any, flags: Any
) -> None:
    run("plain", *flags)
    asked = llm_server.by_step()
    llm_server.requests.clear()
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", llm_server.key)
    run("batch", "--batch", *flags, *spoil(llm_server))
    assert as_plain(tmp_path)
    assert not llm_server.batches.repeated()
    check_usage(llm_server, tmp_path / "batch")
    # The same requests as without batches; those that probe are sent as ever.
    assert {entry.step for entry in llm_server.chats} == {"probe"}
    assert llm_server.batches.by_step() == {k: v for k, v in asked.items() if k != "probe"}


# Further ones are compared by their replies: tests/pipelines/runs/test_batches.py.
@pytest.mark.slow
@pytest.mark.parametrize(
    "profile",
    [
        "states of Vertex AI",
        "a state that nobody knows",
        "TIMEOUT_EXCEEDED",
        "counts of null",
        "no files yet",
        "half a file at first",
        "a batch that is not found at first",
        "a file of requests that is not found at first",
        "an error before each reply",
        "lines without a status",
        "a body as text",
        "CRLF and blank lines",
    ],
)
def test_tables_are_those_of_the_plain_run_whatever_the_server_writes(
    run: Any, tmp_path: Path, llm_server: LlmServer, profile: str
) -> None:
    run("plain", *OWN, "llm")
    plain = [one for one in llm_server.chats if one.step != "probe"]
    PROFILES[profile](llm_server.batches)
    run("batch", *OWN, "llm", "--batch")
    assert as_plain(tmp_path)
    assert not llm_server.batches.repeated()
    paid = [one for one in llm_server.batches.requests if one.entry.status == 200]
    assert len(paid) == len(plain)


@pytest.mark.slow
def test_recall_by_batches_is_the_plain_recall(
    recall: Any, tmp_path: Path, server: LlmServer
) -> None:
    for name, flags in (("plain", ()), ("batch", ("--batch",))):
        cache = tmp_path / f"{name}.sqlite"
        recall(tmp_path / name, "--run", "r", "--cache", cache, *flags)
    query = "SELECT * EXCLUDE (request_id) FROM recall_verdicts ORDER BY ALL"
    assert rows(tmp_path / "batch", query) == rows(tmp_path / "plain", query) != []
    assert not server.batches.repeated()


# --- the time to wait, and what a batch costs ---


@pytest.mark.slow
def test_the_same_command_submits_collects_and_goes_on(
    arguments: Any, tmp_path: Path, llm_server: LlmServer
) -> None:
    def held() -> Any:
        return ufo("cache", "stats", "--cache", tmp_path / "batch.sqlite", "--json").json

    llm_server.batches.polls = 1
    waits = 0
    words = arguments("batch", "--batch", "--batch_wait", 0, "--batch_requests", 4)
    while (done := ufo(*words)).code == 5:
        waits += 1
        assert done.out == ""
        assert "the same command collects the replies and goes on" in done.err
        if waits == 1:
            assert "round 1 of at most 5: 0 of 6 done" in done.err
            (status,) = ufo("status", tmp_path / "batch", "--json").json
            assert [one["requests"] for one in status["batches"]] == [4, 2]
            assert "of 4 requests done" in ufo("status", tmp_path / "batch").out
            assert held()["batch_requests"] == 6
            assert held()["batch_replies"] == 0
            assert held()["batch_bytes"] > 1000
    assert done.code == 0, done.err
    assert 4 <= waits <= 5  # each round is looked at once more
    assert not llm_server.batches.repeated()
    assert held()["batch_requests"] == 0
    assert held()["batch_replies"] == 0


@pytest.mark.slow
def test_a_cap_counts_the_price_of_batches(run: Any, tmp_path: Path, llm_server: LlmServer) -> None:
    prices = ("--prices", priced(tmp_path / "usual.yaml"))
    estimated = run("batch", "--batch", *prices, "--dry_run", "--json").json
    usual = run("batch", *prices, "--dry_run", "--json").json
    assert estimated["total"]["cost_usd"] == pytest.approx(usual["total"]["cost_usd"] / 2)
    assert "Priced as batches" in estimated["method"]
    stopped = run("batch", "--batch", *prices, "--max_cost", 0.04, code=4)
    assert "half the usual one is assumed" in stopped.err
    assert "stopped at --max_cost 0.04" in stopped.err
    sent = llm_server.batches.sent
    assert sent > 0
    run("batch", "--batch", *prices, "--max_cost", 10)
    assert llm_server.batches.sent > sent
    assert not llm_server.batches.repeated()
    selected = rows(tmp_path / "batch", "SELECT * FROM usage WHERE NOT (cached OR coalesced)")
    assert [row["cost_usd"] for row in selected] == [cost(row, 0.5) for row in selected]


@pytest.mark.slow
def test_a_cap_holds_what_batches_under_way_may_cost_and_frees_it_once_they_are_answered(
    arguments: Any, few: Path, tmp_path: Path, llm_server: LlmServer
) -> None:
    records = [
        {"id": city, "response": f"{city} is big.", "reference_answers": f"{city} is big.",
         "claims": [f"{city} is big."]}
        for city in ("Oslo", "Lima", "Rome", "Cairo")
    ]  # fmt: skip
    path = write_lines(tmp_path / "given.jsonl", records)

    def run(name: str, *flags: object) -> None:
        words = arguments(name, "--sources", "reference", "--batch", *flags)
        ok(*(path if word == few else word for word in words))

    run("free")
    price = load_prices(str(tmp_path / "prices.yaml"))["offline-judge"].of_batch

    def bound(line: Line) -> float:
        return upper_bound(price, line.body)

    def paid(lines: list[Line]) -> float:
        return sum(
            price.cost(line.entry.prompt_tokens, line.entry.completion_tokens) for line in lines
        )

    lines = llm_server.batches.requests
    (spent,) = rows(tmp_path / "free", "SELECT sum(cost_usd) AS usd FROM usage")
    cap = spent["usd"] + max(map(bound, lines))
    assert sum(map(bound, lines)) > cap  # so that what is never freed stops it
    llm_server.batches.batches.clear()
    worst = []

    def look(request: HttpRequest) -> None:
        if request.method == "POST":
            lines = llm_server.batches.requests
            done = [one for one in lines if one.entry.status]
            worst.append(paid(done) + sum(bound(one) for one in lines if not one.entry.status))

    llm_server.carried_out = look
    run("capped", "--batch_requests", 1, "--max_cost", cap)
    assert max(worst) <= cap
    assert llm_server.batches.sent == len(lines)


@pytest.mark.slow
def test_an_endpoint_that_is_not_named_is_asked_at_once(
    run: Any, tmp_path: Path, llm_server: LlmServer
) -> None:
    with LlmServer() as other:
        at = ("--knowledge_base_url", other.base_url, "--knowledge_model", "offline-knowledge")
        run("plain", *at)
        plain = len(other.chats)
        run("batch", *at, "--batch", "--batch_endpoints", llm_server.base_url)
        assert other.batches.sent == 0
        assert len(other.chats) == 2 * plain
    assert llm_server.batches.sent > 0
    assert as_plain(tmp_path)


# --- models and plug-ins that are not as others ---


@pytest.mark.parametrize("name", ["Plain", "Catching"])
def test_a_judge_of_ones_own_is_asked_by_batches(
    run: Any, tmp_path: Path, llm_server: LlmServer, name: str
) -> None:
    run("plain", *OWN, judge_of(name))
    run("batch", *OWN, judge_of(name), "--batch")
    assert as_plain(tmp_path)
    assert len(llm_server.batches.batches) <= 2  # one for each source
    assert not llm_server.batches.repeated()


# --- what cannot be ---


@pytest.mark.slow
def test_batches_that_the_provider_forgot_are_asked_again_on_request(
    run: Any, llm_server: LlmServer
) -> None:
    llm_server.batches.polls = 1
    waiting = ("--batch", "--batch_wait", 0)
    run("batch", *waiting, code=5)
    message = "batches of this run are under way; give --batch as before"
    assert message in run("batch", code=2).err
    llm_server.batches.batches.clear()
    assert "--fresh forgets the batches of the run" in run("batch", *waiting, code=1).err
    refused = run("batch", *waiting, "--fresh", code=2)
    assert "so that --batch_wait could not go on" in refused.err
    run("batch", "--batch", "--fresh")


def test_an_endpoint_without_batches_ends_the_run_in_its_words(
    run: Any, llm_server: LlmServer
) -> None:
    llm_server.batches.refuses = ApiError(404, "Invalid URL (POST /v1/batches)")
    done = run("batch", "--batch", code=1)
    assert "Invalid URL (POST /v1/batches)" in done.err
    assert "most end in" not in done.err
    assert "where the endpoint has none, leave it out" in done.err


@pytest.mark.slow
def test_a_request_that_fails_each_time_is_an_error_with_the_providers_words(
    run: Any, tmp_path: Path, llm_server: LlmServer
) -> None:
    def fault(body: Any) -> ApiError | None:
        verifies = any(tool["function"]["name"] == "verify_facts" for tool in body.get("tools", ()))
        moon = ApiError(500, "The moon is in the way.")
        return moon if verifies and "Oslo" in str(body) else None

    llm_server.batches.line_faults = fault
    run("batch", "--batch")
    errors = rows(tmp_path / "batch", "SELECT * FROM evidence WHERE outcome = 'error'")
    assert {row["reason"] for row in errors} == {"transport"}
    assert [row for row in errors if "The moon is in the way." not in str(row)] == []
    failed = [one.body for one in llm_server.batches.requests if one.entry.status == 500]
    assert set(Counter(map(json.dumps, failed)).values()) == {2}


@pytest.mark.slow
def test_a_batch_that_fails_for_billing_ends_the_run_which_goes_on_later(
    run: Any, tmp_path: Path, llm_server: LlmServer
) -> None:
    run("plain", *OWN, "llm")
    failed = ("billing_hard_limit_reached", "Billing hard limit has been reached.")
    llm_server.batches.fails.append(failed)
    stopped = run("batch", *OWN, "llm", "--batch", code=1)
    assert "Billing hard limit has been reached" in stopped.err
    assert len(llm_server.batches.batches) == 1
    run("batch", *OWN, "llm", "--batch")
    assert as_plain(tmp_path)


@pytest.mark.parametrize("content", [b"no database" * 1000, b"SQLite format 3\x00" + b"x" * 9000])
def test_a_damaged_file_of_batches_is_named_by_every_command(
    run: Any, tmp_path: Path, llm_server: LlmServer, content: bytes
) -> None:
    llm_server.batches.polls = 1
    run("batch", "--batch", "--batch_wait", 0, code=5)
    path = tmp_path / "batch.sqlite.batches"
    for name in tmp_path.glob("batch.sqlite.batches*"):
        name.unlink()
    path.write_bytes(content)
    commands = (
        lambda: run("batch", "--batch", code=1),
        lambda: run("batch", code=1),
        lambda: ends(1, "status", tmp_path / "batch"),
        lambda: ends(1, "cache", "stats", "--cache", tmp_path / "batch.sqlite"),
    )
    for command in commands:
        message = command().err
        assert str(path) in message
        assert "Move it away" in message
        assert "Traceback" not in message


# --- kills: nothing is lost, and nothing is in two batches


# Each is a request that the provider has carried out, of which the command does not learn.
MOMENTS = (
    "POST /v1/files",
    "POST /v1/batches",
    "GET /v1/batches",
    "GET /v1/batches/ID",
    "GET /v1/files/ID/content",
    "DELETE /v1/files/ID",
    "POST /v1/batches",
    "GET /v1/files/ID/content",
    "POST /v1/files",
    "POST /v1/batches",
)


def _moment(request: HttpRequest) -> str:
    path = re.sub(r"/(file-|batch_)\w+", "/ID", request.path)
    return f"{request.method} {path}"


def _kill_at(moment: str, process: Any, request: HttpRequest) -> None:
    if _moment(request) == moment and process.is_alive():
        kill(process)


@pytest.mark.slow
def test_a_run_killed_ten_times_asks_nothing_twice(
    arguments: Any, tmp_path: Path, llm_server: LlmServer
) -> None:
    ok(*arguments("plain"))
    live = len(llm_server.chats)
    batched = arguments("batch", "--batch", "--batch_requests", 4)
    for moment in MOMENTS:
        process = started(batched)
        llm_server.carried_out = partial(_kill_at, moment, process)
        process.join(60)
        llm_server.carried_out = None
        assert process.exitcode == -signal.SIGKILL, moment
    ok(*batched)
    assert not llm_server.batches.repeated()
    # The probes alone were sent.
    assert len(llm_server.chats) - live == live - llm_server.batches.sent
    assert as_plain(tmp_path)
    paid = rows(tmp_path / "batch", "SELECT * FROM usage WHERE NOT (cached OR coalesced)")
    assert sum(row["worker_id"] == "batch" for row in paid) == llm_server.batches.sent
    assert [row["cost_usd"] for row in paid] == [cost(row) for row in paid]


@pytest.mark.slow
def test_a_signal_leaves_the_batches_to_the_same_command(
    run: Any, tmp_path: Path, llm_server: LlmServer
) -> None:
    def interrupt(request: HttpRequest) -> None:
        if _moment(request) == "GET /v1/batches/ID":
            llm_server.carried_out = None
            os.kill(os.getpid(), signal.SIGINT)

    def under_way() -> Any:
        return ufo("status", tmp_path / "batch", "--json").json[0]["batches"]

    llm_server.carried_out = interrupt
    stopped = run("batch", "--batch", code=1)
    assert "batches under way go on at their provider" in stopped.err
    assert [one["requests"] for one in under_way()] == [llm_server.batches.sent]
    run("batch", "--batch")
    assert not llm_server.batches.repeated()
    assert under_way() is None
