"""Runs with `--batch` against a provider whose batches go wrong: their tables are the plain run's.

Nothing is asked in two batches, and each reply has one row in the usage table, with its price.
"""

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer, Logged, Switches, faults
from tests.llm_server.batches import Batches
from tests.llm_server.errors import ApiError, overloaded, server_error
from tests.pipelines.conftest import tables, ufo
from tests.pipelines.llm_runs import results, rows

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
