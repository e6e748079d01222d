"""What Dataflow's workers cannot reach is refused; what is usual there is filled in."""

from typing import Any

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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--input", "in.jsonl"), "gcloud storage cp --recursive in.jsonl gs://BUCKET/"),
        (("--output", "out"), "--output 'out' is on this machine"),
        (("--cache", "answers.sqlite"), "bucket prefix that ends in /"),
        (("--index", "/indexes/wiki"), "--recursive /indexes/wiki gs://BUCKET/"),
        (("--web_snapshot", "gs://b/web"), "processes of one machine"),
        (("--project=",), "--project is missing"),
        (("--temp_location=",), "--temp_location is missing"),
        (("--sdk_container_image=",), "scripts/dataflow/Dockerfile makes it"),
        (("--template_location=gs://b/job",), "leave --template_location out"),
        (("--no_wait_until_finish",), "leave --no_wait_until_finish out"),
    ],
)
def test_what_cannot_work_there_is_wrong_usage(
    ufo: Any, words: tuple[str, ...], message: str
) -> None:
    left_out = words[0] if words[0].endswith("=") else None
    given = [flag for flag in THERE if not (left_out and flag.startswith(left_out))]
    done = ufo("evaluate", *PLACES, *given, *(() if left_out else words))
    assert (done.code, message in done.err) == (2, True), done.err


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


@pytest.mark.parametrize("flag", ["--dry_run", "--dry_run=1", "--streaming"])
def test_what_beam_would_take_of_ufo_recall_is_refused(ufo: Any, flag: str) -> None:
    done = ufo("recall", "--input", "in.jsonl", "--output", "out", flag)
    assert done.code == 2
    assert "is of the command `ufo evaluate" in done.err
