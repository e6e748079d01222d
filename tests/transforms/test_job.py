"""A job that runs on other machines, and keys by the names of their secrets."""

import os
from dataclasses import replace
from unittest.mock import Mock

import pytest

from ufo.schemas.errors import RunError, UsageError
from ufo.transforms import job
from ufo.transforms.job import Job, into_environment, named_secrets
from ufo.transforms.judges.judge import JudgeSpec
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.llm.capabilities import Capabilities
from ufo.transforms.llm.client_settings import BatchSettings, ClientSettings
from ufo.transforms.llm.endpoint import endpoints
from ufo.transforms.llm.request import KNOWLEDGE, VERIFIER
from ufo.transforms.sources.fact_source import SourceContext, SourceSpec


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


@pytest.mark.parametrize(
    ("batch", "log"),
    [
        pytest.param(None, "usage.log", id="at once"),
        pytest.param(BatchSettings("cache.batches", "r"), None, id="by batches"),
    ],
)
def test_the_counts_of_the_steps_are_logged_where_each_response_is_read_once(
    batch: BatchSettings | None, log: str | None
) -> None:
    client = ClientSettings(endpoints(), batch=batch)
    assert Job((), judge=JudgeSpec(client=client), usage_log="usage.log").counts_log == log
    assert Job((), usage_log="usage.log").counts_log == "usage.log"


KEY = "sk-SECRET"
SECRET = {"UFO_TEST_KEY": "projects/p/secrets/s/versions/1"}


@pytest.fixture(autouse=True)
def _nothing_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "_read", {})
    monkeypatch.setenv("UFO_TEST_KEY", "")


def test_a_secret_is_named_by_its_variable() -> None:
    assert named_secrets("A_KEY=projects/p/secrets/a, B=projects/p-1/secrets/b_2/versions/3") == {
        "A_KEY": "projects/p/secrets/a/versions/latest",
        "B": "projects/p-1/secrets/b_2/versions/3",
    }
    # A key in its place is refused, and not repeated.
    for text in (KEY, f"OPENAI_API_KEY={KEY}", f"{KEY}=projects/p/secrets/s"):
        with pytest.raises(UsageError, match="projects/PROJECT/secrets/NAME") as raised:
            named_secrets(text)
        assert KEY not in raised.value.message


def test_a_process_reads_each_once() -> None:
    read = Mock(return_value=f"{KEY}\n".encode())
    for _ in range(2):
        into_environment(SECRET, read)
    into_environment({})
    read.assert_called_once_with(*SECRET.values())
    assert os.environ["UFO_TEST_KEY"] == KEY


def test_what_cannot_be_read_is_reported_with_the_remedy() -> None:
    with pytest.raises(RunError, match=r"'projects/p/.*403.*secretAccessor"):
        into_environment(SECRET, Mock(side_effect=PermissionError("403")))
    assert os.environ["UFO_TEST_KEY"] == ""
