"""Runs by batches: the tables of the plain run, also where batches go wrong and after kills."""

import json
import os
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer, Logged, Switches, faults
from tests.llm_server.batches import Batches
from tests.llm_server.errors import ApiError, overloaded, quota_spent, server_error
from tests.llm_server.http import HttpRequest
from tests.pipelines.conftest import ok, tables, ufo
from tests.pipelines.killed import kill, started
from tests.pipelines.llm_runs import results, rows
from tests.pipelines.other_judges import judge as judge_of

PRICE = {"offline-judge": {"input": 10.0, "output": 40.0}}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmServer]:
    """A server of its own for each test, which knows every request of its batches."""
    with LlmServer() as running:
        monkeypatch.setenv("OPENAI_API_KEY", running.key)
        yield running


@pytest.fixture
def run(tmp_path: Path, few: Path, index: Path, server: LlmServer) -> Callable[..., Any]:
    """Evaluates into a folder of that name, with a cache of its own."""

    def evaluate(name: str, *flags: object, input: Path = few) -> Any:
        return ufo(
            *("evaluate", "--input", input, "--output", tmp_path / name, "--run", "r"),
            *("--judge", "llm", "--base_url", server.base_url, "--model", "offline-judge"),
            *("--sources", "reference,wikipedia,llm", "--index", index),
            *("--cache", tmp_path / f"{name}.sqlite", *flags),
        )

    return evaluate


@pytest.mark.parametrize(
    "flags",
    [
        ("--mode", "mv", "--formulation", "stepwise"),
        ("--mode", "all", "--sampling", "bundled", "--units", "sentence"),
        ("--mode", "seq", "--no_share", "--formulation", "rationale"),
    ],
)
def test_tables_are_those_of_the_plain_run(
    run: Any, tmp_path: Path, server: LlmServer, flags: tuple[object, ...]
) -> None:
    assert run("plain", *flags).code == 0
    done = run("batch", "--batch", *flags)
    assert done.code == 0, done.err
    plain, found = tables(tmp_path / "plain"), tables(tmp_path / "batch")
    assert results(found) == results(plain)
    assert not server.batches.repeated()
    # Everything was asked once, and what was asked at once are the probes of the endpoint.
    assert sum(row[5] == "batch" for row in found["usage"]) == server.batches.sent
    assert {row[1] for row in found["usage"] if row[5] != "batch" and not row[8]} == {"probe"}


def test_recall_by_batches_is_the_plain_recall(
    recall: Any, tmp_path: Path, server: LlmServer
) -> None:
    for name, flags in (("plain", ()), ("batch", ("--batch",))):
        cache = tmp_path / f"{name}.sqlite"
        done = recall(tmp_path / name, "--run", "r", "--cache", cache, *flags)
        assert done.code == 0, done.err
    query = "SELECT * EXCLUDE (request_id) FROM recall_verdicts ORDER BY ALL"
    assert rows(tmp_path / "batch", query) == rows(tmp_path / "plain", query) != []
    assert not server.batches.repeated()


# --- the time to wait, and what a batch costs ---


def test_the_same_command_submits_collects_and_goes_on(
    run: Any, tmp_path: Path, server: LlmServer
) -> None:
    server.batches.polls = 1
    flags = ("--batch", "--batch_wait", 0, "--batch_requests", 4)
    waits = 0
    while (done := run("batch", *flags)).code == 5:
        waits += 1
        assert done.out == ""
        assert "the same command collects the replies and goes on" in done.err
        if waits == 1:
            assert "round 1 of at most 5: 0 of 6 done" in done.err
            (status,) = json.loads(ufo("status", tmp_path / "batch", "--json").out)
            assert [one["requests"] for one in status["batches"]] == [4, 2]
            assert "of 4 requests done" in ufo("status", tmp_path / "batch").out
            cache = tmp_path / "batch.sqlite"
            held = json.loads(ufo("cache", "stats", "--cache", cache, "--json").out)
            assert (held["batch_requests"], held["batch_replies"]) == (6, 0)
            assert held["batch_bytes"] > 1000
    assert done.code == 0, done.err
    assert 4 <= waits <= 5  # each round is looked at once more
    assert not server.batches.repeated()
    cache = tmp_path / "batch.sqlite"
    held = json.loads(ufo("cache", "stats", "--cache", cache, "--json").out)
    assert (held["batch_requests"], held["batch_replies"]) == (0, 0)


def test_a_cap_counts_the_price_of_batches(run: Any, tmp_path: Path, server: LlmServer) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(json.dumps(PRICE))
    flags = ("--batch", "--prices", prices)
    estimated = json.loads(run("batch", *flags, "--dry_run", "--json").out)
    usual = json.loads(run("batch", "--prices", prices, "--dry_run", "--json").out)
    assert estimated["total"]["cost_usd"] == pytest.approx(usual["total"]["cost_usd"] / 2)
    assert "Priced as batches" in estimated["method"]
    stopped = run("batch", *flags, "--max_cost", 0.04)
    assert stopped.code == 4, stopped.err
    assert "half the usual one is assumed" in stopped.err
    assert "stopped at --max_cost 0.04" in stopped.err
    sent = server.batches.sent
    assert sent > 0
    done = run("batch", *flags, "--max_cost", 10)
    assert done.code == 0, done.err
    assert server.batches.sent > sent
    assert not server.batches.repeated()
    found = rows(tmp_path / "batch", "SELECT * FROM usage WHERE NOT (cached OR coalesced)")
    for row in found:
        cost = (10 * row["prompt_tokens"] + 40 * row["completion_tokens"]) / 1e6
        share = 0.5 if row["worker_id"] == "batch" else 1
        assert row["cost_usd"] == pytest.approx(share * cost)


def test_an_endpoint_that_is_not_named_is_asked_at_once(
    run: Any, tmp_path: Path, server: LlmServer
) -> None:
    with LlmServer() as other:
        at = ("--knowledge_base_url", other.base_url, "--knowledge_model", "offline-knowledge")
        assert run("plain", *at).code == 0
        plain = len(other.chats)
        done = run("batch", *at, "--batch", "--batch_endpoints", server.base_url)
        assert done.code == 0, done.err
        assert other.batches.sent == 0
        assert len(other.chats) == 2 * plain
        assert server.batches.sent > 0
    assert results(tables(tmp_path / "batch")) == results(tables(tmp_path / "plain"))


# --- models and plug-ins that are not as others ---


UNSTABLE = """
import time
import ufo

class Unstable(ufo.FactSource):
    def find(self, unit):
        return [ufo.Passage(f"{unit.claim} Read at {time.time_ns()}.")]
"""


@pytest.mark.parametrize("name", ["Plain", "Catching"])
def test_a_judge_of_ones_own_is_asked_by_batches(
    run: Any, tmp_path: Path, server: LlmServer, name: str
) -> None:
    flags = ("--judge", judge_of(name), "--sources", "reference,wikipedia")
    assert run("plain", *flags).code == 0
    done = run("batch", *flags, "--batch")
    assert done.code == 0, done.err
    assert results(tables(tmp_path / "batch")) == results(tables(tmp_path / "plain"))
    assert len(server.batches.batches) <= 2  # one for each source
    assert not server.batches.repeated()


def test_a_source_that_changes_each_time_ends_the_run(
    run: Any, tmp_path: Path, server: LlmServer
) -> None:
    (tmp_path / "own.py").write_text(UNSTABLE)
    done = run("batch", "--sources", f"{tmp_path / 'own.py'}:Unstable", "--batch")
    assert done.code == 1
    assert "gives other answers in each pass cannot be asked by batches" in done.err


# --- what cannot be ---


def test_a_spent_quota_ends_the_run_and_it_goes_on_later(run: Any, server: LlmServer) -> None:
    server.batches.line_faults = lambda body: (
        quota_spent() if "extract" in json.dumps(body) else None
    )
    stopped = run("batch", "--batch")
    assert stopped.code == 1
    assert "the quota of the key in OPENAI_API_KEY" in stopped.err
    server.batches.line_faults = None
    done = run("batch", "--batch")
    assert done.code == 0, done.err
    assert "failure" not in done.out


def test_batches_that_the_provider_forgot_are_asked_again_on_request(
    run: Any, server: LlmServer
) -> None:
    server.batches.polls = 1
    flags = ("--batch", "--batch_wait", 0)
    assert run("batch", *flags).code == 5
    alone = run("batch")
    assert alone.code == 2
    assert "batches of this run are under way; give --batch as before" in alone.err
    server.batches.batches.clear()
    lost = run("batch", *flags)
    assert lost.code == 1
    assert "--fresh forgets the batches of the run" in lost.err
    refused = run("batch", *flags, "--fresh")
    assert refused.code == 2
    assert "so that --batch_wait could not go on" in refused.err
    done = run("batch", "--batch", "--fresh")
    assert done.code == 0, done.err


def test_an_endpoint_without_batches_ends_the_run_in_its_words(run: Any, server: LlmServer) -> None:
    server.batches.refuses = ApiError(404, "Invalid URL (POST /v1/batches)")
    done = run("batch", "--batch")
    assert done.code == 1
    assert "Invalid URL (POST /v1/batches)" in done.err
    assert "where the endpoint has none, leave it out" in done.err


# --- batches that go wrong


SOURCES = "reference,wikipedia,llm"
INPUT, OUTPUT = 10.0, 40.0  # US dollars a million tokens, without a batch


class Once(faults.Mix):
    """Spoils a third of the requests, each the first time that it is asked; with `forms` only calls
    of a function, and no probe."""

    def __init__(self, fault: Any, forms: bool = False) -> None:
        super().__init__(1, [fault])
        self._fault = fault
        self._forms = forms
        self._asked: set[str] = set()

    def next(self, body: bytes) -> Any:
        return self(json.loads(body))

    def __call__(self, body: Any) -> Any:
        digest = sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        called = [tool["function"]["name"] for tool in body.get("tools", ())]
        spared = self._forms and called in ([], ["report"])
        if spared or int(digest[:8], 16) % 3 or digest in self._asked:
            return None
        self._asked.add(digest)
        return self._fault


def _fails(batches: Batches) -> None:
    batches.expires.extend([2])
    batches.cancels.extend([None, None, 1])
    batches.fails.extend([("server_error", "Something broke."), None, ("other", "Again.")])
    batches.disturbs.extend([overloaded()] * 3)


def _loses(batches: Batches) -> None:
    batches.loses, batches.loses_files, batches.late, batches.breaks = 2, 1, 1, 1


def _everything(batches: Batches) -> None:
    _loses(batches)
    batches.polls = 1
    batches.line_faults = Once(server_error())
    batches.token_limit = 4000


@pytest.fixture(scope="module")
def evaluate(
    tmp_path_factory: pytest.TempPathFactory, few: Path, index: Path
) -> Callable[..., Any]:
    """Evaluates at a server with some flags; returns the outcome and the output folder."""
    prices = tmp_path_factory.mktemp("prices") / "prices.yaml"
    prices.write_text(
        json.dumps({"offline-judge": {"input": INPUT, "output": OUTPUT, "batch": 0.5}})
    )

    def run(server: LlmServer, output: Path, *flags: object) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OPENAI_API_KEY", server.key)
            return ufo(
                *("evaluate", "--input", few, "--output", output, "--index", index),
                *("--sources", SOURCES, "--judge", "llm", "--model", "offline-judge"),
                *("--base_url", server.base_url, "--cache", output / "cache.sqlite"),
                *("--run", "r", "--workers", 1, "--prices", prices, "--json", *flags),
            )

    return run


@pytest.fixture(scope="module")
def plain(
    evaluate: Any, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """What the run without batches found, and what it asked by step."""
    output = tmp_path_factory.mktemp("plain")
    with LlmServer() as server:
        done = evaluate(server, output)
        assert done.code == 0, done.err
        return results(tables(output)), server.by_step()


def billed(entries: list[Logged]) -> float:
    answered = [entry for entry in entries if entry.status == 200]
    return sum(INPUT * e.prompt_tokens + OUTPUT * e.completion_tokens for e in answered) / 2e6


def check_usage(server: LlmServer, output: Path) -> None:
    """Each reply has one row, with half the price."""
    used = rows(output, "SELECT * FROM usage WHERE worker_id = 'batch' AND status = 'ok'")
    answered = [one.entry for one in server.batches.requests if one.entry.status == 200]
    assert len(used) == len({row["request_id"] for row in used}) == len(answered)
    assert sum(row["cost_usd"] for row in used) == pytest.approx(billed(answered))
    for name in ("prompt_tokens", "completion_tokens"):
        assert sum(row[name] for row in used) == sum(getattr(one, name) for one in answered)


# --- the tables of the plain run ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("spoil", "flags"),
    [
        (_fails, ()),
        (_loses, ()),
        (_everything, ("--batch_requests", 4, "--chunk_size", 2)),
        (None, ("--base_url", "azure")),
    ],
    ids=["fails", "loses", "everything", "azure"],
)
def test_what_goes_wrong_changes_no_row(
    evaluate: Any,
    plain: Any,
    tmp_path: Path,
    llm_server: LlmServer,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Batches], None] | None,
    flags: tuple[object, ...],
) -> None:
    expected, asked = plain
    if spoil:
        spoil(llm_server.batches)
    else:
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", llm_server.key)
        llm_server.switches = Switches(azure="offline-judge")
        llm_server.batches.loses = 1
        url = f"{llm_server.base_url.removesuffix('/v1')}/?api-version=2024-10-21"
        flags = ("--base_url", url)
    done = evaluate(llm_server, tmp_path, "--batch", *flags)
    assert done.code == 0, done.err
    assert results(tables(tmp_path)) == expected
    assert llm_server.batches.repeated() == []
    check_usage(llm_server, tmp_path)
    # The same requests as without batches; those that probe are sent as ever.
    assert {entry.step for entry in llm_server.chats} == {"probe"}
    assert llm_server.batches.by_step() == {k: v for k, v in asked.items() if k != "probe"}


# --- what is given up ---------------------------------------------------------------------------


def test_replies_that_cannot_be_read_are_mended_as_in_the_plain_run(
    evaluate: Any, tmp_path: Path, llm_server: LlmServer
) -> None:
    llm_server.mix = Once(faults.half_arguments(), forms=True)
    assert evaluate(llm_server, tmp_path / "plain").code == 0
    llm_server.mix = None
    llm_server.batches.line_faults = Once(faults.half_arguments(), forms=True)
    done = evaluate(llm_server, tmp_path / "batch", "--batch")
    assert done.code == 0, done.err
    found = results(tables(tmp_path / "batch"))
    assert found == results(tables(tmp_path / "plain"))
    assert found["failures"]
    check_usage(llm_server, tmp_path / "batch")


def test_a_request_that_fails_each_time_is_an_error_with_the_providers_words(
    evaluate: Any, tmp_path: Path, llm_server: LlmServer
) -> None:
    def fault(body: Any) -> ApiError | None:
        verifies = any(tool["function"]["name"] == "verify_facts" for tool in body.get("tools", ()))
        return (
            ApiError(500, "The moon is in the way.") if verifies and "Oslo" in str(body) else None
        )

    llm_server.batches.line_faults = fault
    done = evaluate(llm_server, tmp_path, "--batch")
    assert done.code == 0, done.err
    errors = rows(tmp_path, "SELECT * FROM evidence WHERE outcome = 'error'")
    assert errors
    assert {row["reason"] for row in errors} == {"transport"}
    assert all("The moon is in the way." in str(row) for row in errors)
    tries: dict[str, int] = {}
    for one in llm_server.batches.requests:
        if one.entry.status == 500:
            key = json.dumps(one.body)
            tries[key] = tries.get(key, 0) + 1
    assert set(tries.values()) == {2}


# --- kills: nothing is lost, and nothing is in two batches


# Each is a request that the provider has carried out, of which the command does not learn.
MOMENTS = (
    *("POST /v1/files", "POST /v1/batches", "GET /v1/batches", "GET /v1/batches/ID"),
    *("GET /v1/files/ID/content", "DELETE /v1/files/ID", "POST /v1/batches"),
    *("GET /v1/files/ID/content", "POST /v1/files", "POST /v1/batches"),
)


def _moment(request: HttpRequest) -> str:
    path = re.sub(r"/(file-|batch_)\w+", "/ID", request.path)
    return f"{request.method} {path}"


def _kill_at(moment: str, process: Any, request: HttpRequest) -> None:
    if _moment(request) == moment and process.is_alive():
        kill(process)


@pytest.fixture
def provider() -> Iterator[LlmServer]:
    """A server of its own for each test, which knows every request of its batches."""
    with LlmServer() as running:
        yield running


@pytest.fixture
def arguments(tmp_path: Path, few: Path, index: Path, provider: LlmServer) -> Callable[..., Any]:
    """Gives the arguments of a run into a folder of that name."""
    prices = tmp_path / "prices.yaml"
    prices.write_text(json.dumps({"offline-judge": {"input": 10.0, "output": 40.0, "batch": 0.25}}))

    def given(name: str, *flags: object) -> list[Any]:
        return [
            *("evaluate", "--input", few, "--output", tmp_path / name, "--run", "r"),
            *(
                "--judge",
                "llm",
                "--base_url",
                provider.base_url,
                "--model",
                "offline-judge",
            ),
            *("--sources", "reference,wikipedia,llm", "--index", index, "--prices", prices),
            *("--cache", tmp_path / f"{name}.sqlite", "--workers", 1, *flags),
        ]

    return given


def test_a_run_killed_ten_times_asks_nothing_twice(
    arguments: Any,
    tmp_path: Path,
    provider: LlmServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", provider.key)
    ok(*arguments("plain"))
    live = len(provider.chats)
    batched = arguments("batch", "--batch", "--batch_requests", 4)
    for moment in MOMENTS:
        process = started(batched)
        provider.carried_out = partial(_kill_at, moment, process)
        process.join(60)
        provider.carried_out = None
        assert process.exitcode == -signal.SIGKILL, moment
    ok(*batched)
    assert not provider.batches.repeated()
    assert len(provider.chats) - live == live - provider.batches.sent  # the probes alone were sent
    plain, found = tables(tmp_path / "plain"), tables(tmp_path / "batch")
    assert results(found) == results(plain)
    paid = [row for row in found["usage"] if not (row[7] or row[8])]
    of_batches = [row for row in paid if row[5] == "batch"]
    assert len(of_batches) == provider.batches.sent
    assert sum(row[13] for row in paid) == pytest.approx(
        sum((10 * row[10] + 40 * row[11]) * (0.25 if row[5] == "batch" else 1) for row in paid)
        / 1e6
    )


def test_a_signal_leaves_the_batches_to_the_same_command(
    arguments: Any,
    tmp_path: Path,
    provider: LlmServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", provider.key)

    def interrupt(request: HttpRequest) -> None:
        if _moment(request) == "GET /v1/batches/ID":
            provider.carried_out = None
            os.kill(os.getpid(), signal.SIGINT)

    provider.carried_out = interrupt
    stopped = ufo(*arguments("batch", "--batch"))
    assert stopped.code == 1
    assert "batches under way go on at their provider" in stopped.err
    status = json.loads(ufo("status", tmp_path / "batch", "--json").out)
    assert [one["requests"] for one in status[0]["batches"]] == [provider.batches.sent]
    ok(*arguments("batch", "--batch"))
    assert not provider.batches.repeated()
    assert json.loads(ufo("status", tmp_path / "batch", "--json").out)[0]["batches"] is None
