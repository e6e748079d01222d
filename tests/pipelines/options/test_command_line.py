"""What a configuration file may have beside options, and which options go together."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.conftest import settings_of
from ufo.pipelines.options.command_line import recall_settings_of
from ufo.pipelines.options.command_line import settings_of as settings_of_python
from ufo.pipelines.options.groups import OF_TEXT
from ufo.pipelines.options.settings import OPENED_BY_WORKERS, Settings
from ufo.schemas.errors import UfoError, UsageError

PLACES = ("--input", "in.jsonl", "--output", "out")
URL = "http://models.example/v1"


@pytest.fixture
def filed(tmp_path: Path) -> Callable[..., Settings]:
    """Returns the settings of a configuration file's text and flags."""

    def read(text: str, *flags: str) -> Settings:
        (tmp_path / "ufo.yaml").write_text(text)
        return settings_of(*PLACES, "--config", str(tmp_path / "ufo.yaml"), *flags)

    return read


@pytest.mark.parametrize("text", ["", "# nothing\n", "mode: null\n"])
def test_a_file_may_say_nothing(filed: Callable[..., Settings], text: str) -> None:
    assert filed(text).mode == settings_of(*PLACES).mode


def test_a_file_may_be_utf_16_and_compressed(tmp_path: Path) -> None:
    (tmp_path / "ufo.yaml").write_bytes(gzip.compress("mode: mv".encode("utf-16")))
    assert settings_of(*PLACES, "--config", str(tmp_path / "ufo.yaml")).mode == "mv"


def test_a_key_may_be_written_as_its_flag(filed: Callable[..., Settings]) -> None:
    assert filed("--mode: mv").mode == "mv"


@pytest.mark.parametrize(
    ("text", "beam"),
    [
        pytest.param("job_name: nightly", ["--job_name=nightly"], id="a value"),
        pytest.param("save_main_session: true", ["--save_main_session"], id="a switch that is on"),
        pytest.param("save_main_session: false", [], id="a switch that is off"),
        pytest.param("job_name: null", [], id="no value"),
    ],
)
def test_flags_of_beam_stand_in_a_file_too(
    filed: Callable[..., Settings], text: str, beam: list[str]
) -> None:
    assert list(filed(text).beam) == beam
    assert list(filed(text, "--project=p").beam) == [*beam, "--project=p"]


@pytest.mark.parametrize(
    ("text", "judge"),
    [
        pytest.param("judges: [{name: a, type: offline}, {name: b, type: offline}]", "a",
                     id="the first of several"),
        pytest.param("judge: {type: offline}", "offline", id="one that is called as its type"),
    ],
)  # fmt: skip
def test_the_judge_of_a_file(filed: Callable[..., Settings], text: str, judge: str) -> None:
    judge_spec = filed(text).judge
    assert judge_spec.name == judge
    assert judge_spec.type == "offline"


def test_secrets_are_read_before_anything_asks_for_them(filed: Callable[..., Settings]) -> None:
    with pytest.raises(UfoError):  # there is no project of that name, nor its library
        filed("", "--secrets", "UFO_TEST_KEY=projects/p/secrets/s/versions/1")


def test_an_option_that_a_judge_does_not_have_is_refused(filed: Callable[..., Settings]) -> None:
    with pytest.raises(UsageError, match=r"unknown option of the judge 'm' \(offline\) 'speed'"):
        filed("judge: {name: m, type: offline, speed: 3}")


def test_options_of_a_judge_in_a_file_are_those_of_the_run(filed: Callable[..., Settings]) -> None:
    settings = filed(f"judge: {{name: m, type: llm, formulation: prompt}}\nbase_url: {URL}")
    assert settings.formulation == "prompt"
    assert dict(settings.judge.options) == {}


def test_sources_of_a_file_have_their_names_types_and_options(
    filed: Callable[..., Settings],
) -> None:
    settings = filed("sources: [reference, {name: mine, type: wikipedia, index: x, passages: 3}]")
    assert settings.sources == ("reference", "mine")
    assert settings.source_definitions == {
        "mine": {"type": "wikipedia", "options": {"index": "x", "passages": 3}}
    }


WITH_MODEL = (*PLACES, "--base_url", URL, "--model", "m")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(
            ("--since", "r", "--if_finished", "retry_errors"),
            "--since takes results over from another run, --if_finished retry_errors from this",
            id="two runs to take over from",
        ),
        pytest.param(
            ("--fail_if_worse", "0.1"), "--fail_if_worse says how much worse than --baseline",
            id="worse than nothing",
        ),
        pytest.param(
            ("--judge", "offline", "--formulation", "prompt"),
            r"--formulation is for --judge llm, and this run's judge is offline; use that \(with "
            r"OPENAI_API_KEY or --base_url\), or leave --formulation out",
            id="an option of a judge that asks a model",
        ),
        pytest.param(
            ("--verifier", "overlap"),
            "--verifier is for --judge offline, and this run's judge is llm; use that, or leave",
            id="an option of a judge that asks none",
        ),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        settings_of(*WITH_MODEL, *words)


# --- recall

RECALL = {"input": ["in.jsonl"], "output": "out"}
FIVE = ("prompt", "tf", "tf+citation", "tfn", "tfn+citation")


@pytest.mark.parametrize(
    ("options", "formulations"),
    [
        pytest.param({"base_url": URL}, FIVE, id="all five by a model"),
        pytest.param({"base_url": URL, "formulations": " tfn ,tf,"}, ("tfn", "tf"), id="named"),
        pytest.param({"base_url": URL, "formulations": "prompt,tf", "format": "xml"},
                     ("prompt", "tf+xml"), id="in tags"),
        pytest.param({}, ("offline",), id="without a model"),
        pytest.param({"base_url": URL, "facts_only": True}, (), id="none of facts alone"),
    ],
)  # fmt: skip
def test_the_formulations_of_a_recall(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], formulations: tuple[str, ...]
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert recall_settings_of(RECALL | options).formulations == formulations


@pytest.mark.parametrize(
    ("options", "facts"),
    [({}, 10_000), ({"facts_per_call": 4}, 4)],
    ids=["all in one call", "as many as are asked for"],
)
def test_the_facts_of_a_call_of_recall(options: dict[str, Any], facts: int) -> None:
    llm_settings = recall_settings_of(RECALL | {"base_url": URL} | options).llm()
    assert llm_settings is not None
    assert llm_settings.facts_per_call == facts


def test_a_recall_has_two_rounds_of_batches() -> None:
    assert recall_settings_of(RECALL | {"base_url": URL}).rounds([]) == 2


@pytest.mark.parametrize(
    ("name", "value", "changes"),
    [
        ("formulations", "tf", True),
        ("facts_only", True, True),
        ("repairs", 0, True),
        ("facts_per_call", 4, True),
        ("model", "m", True),
        ("as_published", True, True),
        ("workers", 3, False),
        ("chunk_size", 3, False),
        ("concurrency", 3, False),
    ],
)
def test_what_enters_the_fingerprint_of_a_recall(name: str, value: Any, changes: bool) -> None:
    options = RECALL | {"base_url": URL}
    usual, changed = recall_settings_of(options), recall_settings_of(options | {name: value})
    assert (changed.affecting() != usual.affecting()) == changes


def test_files_that_workers_open_are_those_of_judges_and_sources() -> None:
    assert set(OPENED_BY_WORKERS) == {"index", "web_snapshot", "prompts"}


@pytest.mark.parametrize(
    ("options", "value"),
    [
        pytest.param({"body_json": {"top_k": 1}}, '{"top_k": 1}', id="an object of JSON"),
        pytest.param({"include_domains": {"a.org"}}, "a.org", id="a set of words"),
        pytest.param({"header": {"X-Org": "ORG"}}, ["X-Org=ORG"], id="pairs"),
        pytest.param({"title": 2024}, "2024", id="a number as text"),
    ],
)
def test_a_value_of_python(options: dict[str, Any], value: object) -> None:
    (name,) = options
    assert getattr(settings_of_python({"input": "in", "output": "out", **options}), name) == value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"title": ["a", "b"]}, "--title is one value, not several", id="a list"),
        pytest.param({"passages": [5]}, "--passages is one value, not several", id="of numbers"),
        pytest.param({"title": {"a": "b"}}, "--title is not a mapping", id="a mapping"),
        pytest.param({"citation": "yes"}, "--citation is true or false", id="a word for a switch"),
        pytest.param({"passage": 5}, r"help\(ufo.evaluate\)", id="an option that is none"),
    ],
)
def test_a_wrong_value_of_python_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        settings_of_python({"input": "in", "output": "out", **options})


@pytest.mark.parametrize("sources", [5, {"name": "x", "type": "reference"}])
def test_sources_are_a_list(sources: Any) -> None:
    with pytest.raises(UsageError, match="`sources` is a list of names"):
        settings_of_python({"input": "in", "output": "out"}, sources)


@pytest.mark.parametrize("name", ["output", "workers", "fail_under", "parallelism"])
def test_a_check_has_no_options_of_runs(name: str) -> None:
    with pytest.raises(UsageError, match=f"unknown flag --{name}"):
        settings_of_python({name: 1}, groups=OF_TEXT)
