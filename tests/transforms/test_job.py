"""A job that runs on other machines, and the lines of a split."""

import io
import os
from dataclasses import replace
from unittest.mock import Mock

import pytest

from ufo.transforms.job import Job
from ufo.transforms.judges.by_name import JudgeSpec
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import endpoints
from ufo.transforms.llm.forms import Capabilities
from ufo.transforms.llm.request import KNOWLEDGE, VERIFIER
from ufo.transforms.sources.fact_source import SourceContext, SourceSpec
from ufo.transforms.splits import Split, lines


def test_a_job_for_elsewhere_names_where_models_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://models/v1")
    client = ClientSettings(endpoints(knowledge_base_url="http://knowledge/v1"))
    client = replace(client, capabilities={client.endpoints[VERIFIER]: Capabilities()})
    judge = JudgeSpec("llm", "llm", client=client)
    job = Job((), context=SourceContext(models=client), judge=judge).elsewhere()
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert job.client is not None
    assert job.client == job.context.models
    assert job.client.endpoints[VERIFIER].url == job.flags["base_url"] == "http://models/v1"
    assert job.client.endpoints[KNOWLEDGE].url == "http://knowledge/v1"
    assert list(job.client.capabilities) == [job.client.endpoints[VERIFIER]]


def test_a_job_for_elsewhere_has_no_relative_path() -> None:
    here, there = {"index": "wiki", "passages": 3}, {"index": "gs://bucket/index"}
    sources = SourceSpec("mine", "mine", here), SourceSpec("wikipedia", "wikipedia", there)
    judge = JudgeSpec("llm", "llm", here, llm=LlmSettings("m", prompts_dir="prompts"))
    job = Job(sources, here, judge=judge, paths=("index",)).elsewhere()
    whole = {"index": f"{os.getcwd()}/wiki", "passages": 3}
    assert [*(one.options for one in job.sources), job.flags] == [whole, there, whole]
    assert job.judge.options == whole
    assert job.judge.llm is not None
    assert job.judge.llm.prompts_dir == f"{os.getcwd()}/prompts"
    assert job.elsewhere() == job


def test_the_steps_know_the_log_of_the_run_unless_it_asks_in_batches() -> None:
    plain = ClientSettings({})
    assert Job((), usage_log="log").source_context.calls.usage_log == "log"
    assert Job((), usage_log="log").counts_log == "log"
    assert Job((), usage_log="log", context=SourceContext(models=plain)).counts_log == "log"
    batches = SourceContext(models=replace(plain, batch=Mock()))
    assert Job((), usage_log="log", context=batches).counts_log is None


def test_the_models_are_the_judge_s_or_else_the_sources() -> None:
    first, other = ClientSettings({}), ClientSettings({}, workers=7)
    assert Job(()).client is None
    assert Job((), context=SourceContext(models=first)).client is first
    both = Job((), context=SourceContext(models=first), judge=JudgeSpec(client=other))
    assert both.client is other
    assert both.among(3).client == replace(other, workers=3)
    assert both.among(3).context == both.context.among(3)
    assert Job(()).among(3).judge == Job(()).judge


TEXT = b"one\n\n  \r\ntwo\r\nthree\nx"


@pytest.mark.parametrize(
    ("start", "end", "first", "expected"),
    [
        pytest.param(
            0,
            21,
            1,
            [
                ("f:1", b"one", 0, 4),
                ("f:4", b"two", 9, 14),
                ("f:5", b"three", 14, 20),
                ("f:6", b"x", 20, 21),
            ],
            id="whole",
        ),
        pytest.param(4, 14, None, [("f@9", b"two", 9, 14)], id="a part, by bytes"),
        pytest.param(14, 99, 5, [("f:5", b"three", 14, 20), ("f:6", b"x", 20, 21)], id="beyond"),
    ],
)
def test_the_lines_of_a_split(
    start: int, end: int, first: int | None, expected: list[tuple[str, bytes, int, int]]
) -> None:
    lines_read = lines(io.BytesIO(TEXT), Split("f", "p", start, end, first), 100)
    assert [(one.key, one.data, one.start, one.end) for one in lines_read] == expected


@pytest.mark.parametrize(
    ("limit", "data"), [(5, b"three"), (4, b"three"), (3, b"thre"), (2, b"thr")]
)
def test_a_line_is_cut_where_it_shows_that_it_is_too_long(limit: int, data: bytes) -> None:
    first, second = lines(io.BytesIO(b"three\nfour"), Split("f", "p", 0, 10, 1), limit)
    assert first.data[: limit + 1] == data[: limit + 1]
    assert len(first.data) <= limit + 2
    assert second.key == "f:2"
