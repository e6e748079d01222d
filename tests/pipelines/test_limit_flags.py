"""What the user says of limits reaches the client, and the processes together keep it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer, faults
from ufo.pipelines.options.command_line import settings
from ufo.pipelines.options.groups import GROUPS
from ufo.pipelines.options.option import Parser
from ufo.pipelines.options.settings import Settings
from ufo.transforms.llm.limiter import RateLimits
from ufo.transforms.llm.request import EXTRACTOR, KNOWLEDGE

Ufo = Callable[..., Any]


def _client(*flags: object) -> Any:
    parser = Parser(prog="ufo evaluate")
    parser.add_options(GROUPS)
    given = ["--input", "in", "--output", "out", "--judge", "llm", *map(str, flags)]
    return settings(Settings, parser, given).client()


def test_limits_reach_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    client = _client(
        *("--concurrency", 32, "--requests_per_minute", 500, "--tokens_per_minute", 90_000),
        *("--timeout", 20, "--retry_seconds", 100, "--context", 4096),
    )
    assert client.context == 4096
    places = {role: client.endpoints[role] for role in (EXTRACTOR, KNOWLEDGE)}
    assert places[EXTRACTOR].timeout == places[KNOWLEDGE].timeout == 20
    assert client.retry.seconds == 100
    assert client.limits == RateLimits(32, 500, 90_000)


def test_two_processes_together_keep_the_concurrency(
    ufo: Ufo, tmp_path: Path, llm_server: LlmServer
) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(
        "\n".join(
            json.dumps({"response": f"Oslo has {n} bridges.", "reference_answers": "Oslo."})
            for n in range(24)
        )
    )
    llm_server.latency = faults.fixed(0.05)
    done = ufo(
        *("evaluate", "--input", source, "--output", tmp_path / "out", "--sources", "reference"),
        *("--model", "offline-judge", "--base_url", llm_server.base_url, "--cache", "off"),
        *("--workers", 2, "--chunk_size", 8, "--concurrency", 5),
    )
    assert done.code == 0, done.err
    assert 1 < llm_server.max_in_flight <= 5
