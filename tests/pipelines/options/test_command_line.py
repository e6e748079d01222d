"""What Dataflow's workers cannot reach is refused; what is usual there is filled in."""

import pytest

from ufo.pipelines.options.beam_flags import workers_of
from ufo.pipelines.options.command_line import settings
from ufo.pipelines.options.groups import GROUPS
from ufo.pipelines.options.option import Parser
from ufo.pipelines.options.settings import Settings

JOB = ("--project=my-project", "--region=europe-west1", "--temp_location=gs://b/temp")
THERE = ("--runner=DataflowRunner", *JOB, "--sdk_container_image=registry/ufo:1")
PLACES = ("--input", "gs://b/in.jsonl", "--output", "gs://b/out/")


def parsed(*words: str) -> Settings:
    parser = Parser(prog="ufo evaluate")
    parser.add_options(GROUPS)
    return settings(Settings, parser, [*PLACES, *THERE, *words])


@pytest.fixture(autouse=True)
def _anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UFO_CACHE", raising=False)


def test_what_is_usual_there(monkeypatch: pytest.MonkeyPatch) -> None:
    found = parsed()
    assert found.cache_uri() == "gs://b/out/cache/"
    assert set(found.beam) - set(THERE) == {
        *("--no_save_main_session", "--experiments=disable_logging_submission_environment"),
        *("--machine_type=e2-standard-2", "--max_num_workers=10"),
    }
    assert workers_of(found.beam, 1) == 20, "a process for each core"
    named = parsed("--machine_type=n1-highmem-8", "--num_workers=3", "--cache", "gs://b/mine/")
    assert workers_of(named.beam, 1) == 24
    assert named.cache_uri() == "gs://b/mine/"
    alone = parsed("--experiments=no_use_multiple_sdk_containers")
    assert workers_of(alone.beam, 1) == 10
    monkeypatch.setenv("UFO_CACHE", "gs://b/answers/")
    assert parsed().cache_uri() == "gs://b/answers/"
