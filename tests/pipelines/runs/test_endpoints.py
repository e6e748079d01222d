"""Which endpoints a run probes, for what, and when it does without."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.llm_server import LlmServer
from tests.pipelines.conftest import settings_of
from tests.pipelines.other_judges import judge as judge_of
from ufo.pipelines.runs.endpoints import probe_endpoints, roles_asked
from ufo.schemas.errors import RunError
from ufo.transforms.llm.usage_log import logged_requests
from ufo.transforms.sources.fact_source import SourceSpec

URL = "http://models.example/v1"
VERIFIER, EXTRACTOR = ("verifier", "call"), ("extractor", "call")
KNOWLEDGE = ("knowledge", "sample")


@pytest.mark.parametrize(
    ("flags", "source", "roles"),
    [
        pytest.param((), "reference", [VERIFIER, EXTRACTOR], id="the judge llm"),
        pytest.param((), "llm", [VERIFIER, EXTRACTOR, KNOWLEDGE], id="and a model's knowledge"),
        pytest.param(
            ("--formulation", "function"), "reference", [VERIFIER, EXTRACTOR], id="by functions"
        ),
        pytest.param(
            ("--formulation", "prompt"), "reference", [("verifier", "sample"), EXTRACTOR],
            id="by words",
        ),
        pytest.param(("--judge", "offline"), "llm", [KNOWLEDGE], id="a model's knowledge alone"),
        pytest.param(("--judge", "offline"), "reference", [], id="no model"),
        pytest.param(
            ("--judge", judge_of("Plain")), "reference", [VERIFIER], id="one that extracts nothing"
        ),
    ],
)  # fmt: skip
def test_the_roles_that_a_run_asks(
    flags: tuple[str, ...], source: str, roles: list[tuple[str, str]]
) -> None:
    settings = settings_of("--input", "in", "--output", "out", "--base_url", URL, *flags)
    assert roles_asked(settings, [SourceSpec(source, source)]) == roles


@pytest.fixture(name="probe")
def _probe(tmp_path: Path, llm_server: LlmServer) -> Callable[..., Any]:
    """Probes the endpoints of a run with a cache; returns what that found and how often it asked.

    A run that judges by the model of the server, and takes its claims from another model of it.
    """

    def probe(*flags: object, source: str = "reference") -> Any:
        llm_server.requests.clear()
        words = ("--base_url", llm_server.base_url, "--model", "offline-judge", "--cache")
        places = ("--input", "in", "--output", "out", "--workers", "1")
        cache = tmp_path / "cache.sqlite"
        settings = settings_of(*places, *map(str, (*words, cache, *flags)))
        log = str(tmp_path / f"{uuid4().hex}.jsonl")
        client = probe_endpoints(settings, [SourceSpec(source, source)], log)
        return client, list(logged_requests(log)), len(llm_server.chats)

    return probe


def test_a_run_that_asks_no_model_probes_nothing(probe: Callable[..., Any]) -> None:
    client, usage, n = probe("--judge", "offline")
    assert client is None
    assert usage == []
    assert n == 0


def test_what_was_found_is_kept_for_the_next_run(probe: Callable[..., Any]) -> None:
    client, usage, n = probe()
    assert n > 0
    assert len(usage) == n
    assert {row.step for row in usage} == {"probe"}
    again, usage, n = probe()
    assert n == 0
    assert usage == []
    assert again.capabilities == client.capabilities
    assert client.reached
    assert not again.reached


@pytest.mark.parametrize(
    ("days", "asks"), [(6.999, False), (7, True), (-0.001, True)],
    ids=["a little under a week", "a week", "of a clock that was wrong"],
)  # fmt: skip
def test_an_endpoint_is_probed_again_after_a_week(
    probe: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, days: float, asks: bool
) -> None:
    begun = time.time()
    monkeypatch.setattr(time, "time", lambda: begun)
    probe()
    monkeypatch.setattr(time, "time", lambda: begun + days * 86_400)
    assert bool(probe()[2]) == asks


@pytest.mark.parametrize(
    ("flags", "source"),
    [
        pytest.param(("--model", "offline-judge-small"), "reference", id="another model"),
        pytest.param(("--body_json", '{"seed": 1}'), "reference", id="another body"),
        pytest.param(("--formulation", "prompt"), "reference", id="requests of another shape"),
        pytest.param((), "llm", id="requests of one shape more"),
    ],
)
def test_what_was_found_is_not_of(
    probe: Callable[..., Any], flags: tuple[str, ...], source: str
) -> None:
    probe()
    assert probe(*flags, source=source)[2] > 0


def test_what_was_found_is_not_of_another_server(probe: Callable[..., Any]) -> None:
    probe()
    with LlmServer() as other:
        probe("--base_url", other.base_url)
        assert len(other.chats) > 0


def test_an_endpoint_that_cannot_be_asked_ends_the_run(probe: Callable[..., Any]) -> None:
    with pytest.raises(RunError, match="nothing answers"):
        probe("--base_url", "http://127.0.0.1:1/v1")


def test_a_process_beside_others_looks_whether_the_endpoint_answers(
    probe: Callable[..., Any], llm_server: LlmServer
) -> None:
    probe()
    client, _, n = probe("--workers", 2)
    assert n == 0
    assert client.reached == {llm_server.base_url}
