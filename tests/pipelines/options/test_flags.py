"""Options: their page, the configuration file, and what is usual on Dataflow."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripts import flags as page
from tests.pipelines.conftest import ok, settings_of, tables, ufo
from ufo.pipelines.options.beam_flags import workers_of
from ufo.pipelines.options.settings import Settings

ROOT = Path(__file__).parents[3]


def test_the_page_of_options_is_current(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["flags.py", "--check"])
    assert page.main() == 0
    assert "| `--passages N` | whole number, from 1 to 1000 |" in page.FILE.read_text()
    monkeypatch.setattr(page, "FILE", tmp_path / "flags.md")
    assert page.main() == 1


# --- The configuration file of `ufo evaluate`.


@pytest.fixture
def config(tmp_path: Path, responses: Path) -> Callable[[str], tuple[object, ...]]:
    """Writes a configuration file; returns the words of a command that reads it."""

    def write(text: str) -> tuple[object, ...]:
        path = tmp_path / "ufo.yaml"
        path.write_text(f"input: {responses}\noutput: {tmp_path}/out\nworkers: 1\n{text}")
        return ("evaluate", "--config", path)

    return write


def test_two_instances_of_one_type_serve_under_their_names(
    config: Any, index: Path, tmp_path: Path
) -> None:
    words = config(
        f"sources:\n- {{name: one, type: wikipedia, index: {index}, passages: 1}}\n"
        f"- {{name: two, type: wikipedia, index: {index}, passages: 2}}\n- reference\n"
        "mode: all\n"
    )
    assert ok(*words, "--json").json["sources"] == ["one", "two", "reference"]
    rows_by_table = tables(tmp_path / "out")
    assert {row[2] for row in rows_by_table["evidence"]} == {"one", "two", "reference"}
    assert [json.loads(row[5])["passages"] for row in rows_by_table["sources"]] == [1, 2, 5]


def test_a_flag_beats_the_file(config: Any) -> None:
    _, *words = config("mode: mv\nsources: [wikipedia, reference]\n")
    settings = settings_of(*map(str, words), "--mode", "seq", "--sources", "reference")
    assert settings.mode == "seq"
    assert settings.sources == ("reference",)
    settings = settings_of(*map(str, words))
    assert settings.mode == "mv"
    assert settings.sources == ("wikipedia", "reference")


def test_a_flag_names_a_source_of_the_file(config: Any) -> None:
    words = config("sources:\n- {name: one, type: reference}\n- {name: two, type: reference}\n")
    assert ok(*words, "--sources", "two", "--json").json["sources"] == ["two"]


def test_options_of_any_yaml_kind_are_recorded_and_no_secret_is(
    config: Any, tmp_path: Path
) -> None:
    plug_in = tmp_path / "mine.py"
    plug_in.write_text(
        "from ufo import FactSource\n"
        "class Mine(FactSource):\n"
        "    def __init__(self, api_key, day): self.day = day\n"
        "    def find(self, unit): return self.day in unit.claim\n"
    )
    mine = f"{{name: s, type: '{plug_in}:Mine', api_key: hunter2, day: 2020-01-01}}"
    words = config(f"run: dated\nsources: [{mine}]\n")
    # A date is no JSON, and a source that cannot use it is an error of each unit, not a crash.
    done = ufo(*words)
    assert done.code == 1
    assert "no judgement was usable" in done.out
    files = [p for p in (tmp_path / "out").rglob("*") if p.is_file()]
    assert files
    assert [path for path in files if b"hunter2" in path.read_bytes()] == []
    assert "hunter2" not in done.err + done.out
    done = ufo(*words, "--if_finished", "skip")
    assert done.code == 1
    assert "other inputs or options" not in done.err
    assert "options.tie" in ufo(*words, "--if_finished", "skip", "--tie", "factual").err


# --- Dataflow


JOB = ("--project=my-project", "--region=europe-west1", "--temp_location=gs://b/temp")
THERE = ("--runner=DataflowRunner", *JOB, "--sdk_container_image=registry/ufo:1")
PLACES = ("--input", "gs://b/in.jsonl", "--output", "gs://b/out/")


def on_dataflow(*words: str) -> Settings:
    return settings_of(*PLACES, "--runner=DataflowRunner", *JOB, *words)


@pytest.mark.parametrize(
    "flag", ["sdk_container_image", "setup_file", "extra_package", "extra_packages"]
)
def test_workers_of_dataflow_get_ufo_by(flag: str) -> None:
    assert f"--{flag}=x" in on_dataflow(f"--{flag}=x").beam


@pytest.mark.parametrize(
    ("flag_set", "usual"),
    [
        ("--machine_type=m-2", "--machine_type=e2"),
        ("--worker_machine_type=m-2", "--machine_type=e2"),
        ("--num_workers=3", "--max_num_workers="),
        ("--max_num_workers=3", "--max_num_workers=10"),
        ("--no_save_main_session", "--no_save_main_session"),
    ],
)
def test_what_is_given_on_dataflow_goes_before_what_is_usual(flag_set: str, usual: str) -> None:
    flags = on_dataflow("--sdk_container_image=i", flag_set).beam
    assert [flag for flag in flags if flag.startswith(usual) and flag != flag_set] == []
    assert flags.count(flag_set) == 1


@pytest.mark.parametrize(
    ("flags", "workers"),
    [
        pytest.param([], 7, id="not given"),
        pytest.param(["--parallelism=3"], 3, id="the parallelism of Flink"),
        pytest.param(["--parallelism", "3"], 3, id="in two words"),
        pytest.param(["--parallelism=3", "--sdk_worker_parallelism=2"], 6, id="processes of each"),
        pytest.param(["--parallelism=3", "--sdk_worker_parallelism=0"], 3, id="as many as fit"),
        pytest.param(["--parallelism=0", "--num_workers=4"], 4, id="none of the first"),
        pytest.param(["--parallelism=-1"], 7, id="what is no number of workers"),
        pytest.param(["--max_num_workers=5", "--num_workers=4"], 5, id="the most and the first"),
        pytest.param([*THERE, "--num_workers=2", "--machine_type=n1-x-8"], 16, id="its cores"),
        pytest.param([*THERE, "--num_workers=2", "--worker_machine_type=n1-x-4"], 8,
                     id="cores under the other name"),
        pytest.param([*THERE, "--num_workers=2", "--machine_type=custom"], 2, id="unknown cores"),
    ],
)  # fmt: skip
def test_the_workers_of_a_runner(flags: list[str], workers: int) -> None:
    assert workers_of(flags, 7) == workers


@pytest.mark.parametrize(
    "flag",
    [
        "checkpointing_interval",
        "max_bundle_size",
        "max_bundle_time_mills",
        "savepoint_path",
        "state_backend",
        "state_backend_storage_path",
    ],
)
def test_a_flag_that_flink_alone_knows_is_taken(flag: str) -> None:
    settings = settings_of(*PLACES, "--runner=FlinkRunner", f"--{flag}=9")
    assert settings.beam == ("--runner=FlinkRunner", f"--{flag}=9")


def test_what_is_usual_on_dataflow(monkeypatch: pytest.MonkeyPatch) -> None:
    def parsed(*words: str) -> Settings:
        return settings_of(*PLACES, *THERE, *words)

    monkeypatch.delenv("UFO_CACHE", raising=False)
    settings = parsed()
    assert settings.cache_uri() == "gs://b/out/cache/"
    assert set(settings.beam) - set(THERE) == {
        "--no_save_main_session",
        "--experiments=disable_logging_submission_environment",
        "--machine_type=e2-standard-2",
        "--max_num_workers=10",
    }
    assert workers_of(settings.beam, 1) == 20, "a process for each core"
    named = parsed("--machine_type=n1-highmem-8", "--num_workers=3", "--cache", "gs://b/mine/")
    assert workers_of(named.beam, 1) == 24
    assert named.cache_uri() == "gs://b/mine/"
    alone = parsed("--experiments=no_use_multiple_sdk_containers")
    assert workers_of(alone.beam, 1) == 10
    monkeypatch.setenv("UFO_CACHE", "gs://b/answers/")
    assert parsed().cache_uri() == "gs://b/answers/"
