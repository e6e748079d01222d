"""OpenTelemetry spans of a run, collected in memory, and how the environment turns them on."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

MODEL = "offline-judge"
_kept = InMemorySpanExporter()


@pytest.fixture(scope="module")
def provider() -> None:
    # There is one in a process, and it cannot be replaced.
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(_kept))
    trace.set_tracer_provider(provider)


@pytest.fixture
def spans(provider: None) -> Iterator[InMemorySpanExporter]:
    _kept.clear()
    yield _kept
    _kept.clear()


def test_run_chunk_step_and_request(
    spans: InMemorySpanExporter, ufo: Any, responses: Path, llm_server: Any, tmp_path: Path
) -> None:
    words = ("--input", responses, "--output", tmp_path, "--run", "r", "--sources", "reference")
    llm = ("--judge", "llm", "--base_url", llm_server.base_url, "--model", MODEL, "--workers", 1)
    done = ufo("evaluate", *words, *llm)
    assert done.code == 0, done.err
    found = spans.get_finished_spans()
    by_id = {span.context.span_id: span for span in found}
    named: dict[str, list[Any]] = {}
    for span in found:
        named.setdefault(span.name, []).append(span)

    def parents(name: str) -> set[str | None]:
        above = [by_id.get(span.parent.span_id) if span.parent else None for span in named[name]]
        return {span.name if span else None for span in above}

    assert len({span.context.trace_id for span in found}) == 1
    assert parents("ufo.run") == {None}
    assert parents("ufo.chunk") == {"ufo.run"}
    assert parents("ufo.extract") == parents("ufo.source:reference") == {"ufo.chunk"}
    assert {"ufo.extract", "ufo.source:reference"} <= parents("ufo.llm_request")
    assert len(named["ufo.extract"]) == 20
    (run,) = named["ufo.run"]
    assert run.attributes["ufo.run"] == "r"
    asked = named["ufo.llm_request"]
    assert {span.attributes["gen_ai.request.model"] for span in asked} == {MODEL}
    assert all(span.attributes["gen_ai.usage.input_tokens"] > 0 for span in asked)
    assert len(asked) == len(llm_server.chats)


def test_an_exporter_that_is_not_there(ufo_process: Any, responses: Path, tmp_path: Path) -> None:
    words = ("evaluate", "--input", responses, "--output", tmp_path, "--sources", "reference")
    environment = {**os.environ, "OTEL_TRACES_EXPORTER": "smoke_signals"}
    done = ufo_process(*words, env=environment)
    assert done.code == 2
    assert "smoke_signals" in done.err
    assert "pip install" in done.err
    off = ufo_process(*words, "--json", env={**environment, "OTEL_SDK_DISABLED": "true"})
    assert off.code == 0
    assert json.loads(off.out)["responses"] == 20
