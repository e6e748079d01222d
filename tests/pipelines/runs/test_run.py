"""What is fixed of a run before anything is written: its name, its folder and its facts."""

from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.conftest import write_lines
from ufo.pipelines.options.choose_sources import ChosenSources, choose_sources
from ufo.pipelines.options.command_line import recall_settings_of, settings_of
from ufo.pipelines.runs.run import Plan, plan_of, run_evaluate
from ufo.schemas.errors import UsageError

URL = {"base_url": "http://models.example/v1"}


@pytest.fixture
def options(tmp_path: Path) -> dict[str, Any]:
    path = write_lines(tmp_path / "in.jsonl", [{"response": "Oslo is big."}])
    return {"input": [str(path)], "output": "out", "judge": "offline", "sources": "reference"}


def plan(options: dict[str, Any], **more: Any) -> Plan:
    settings = settings_of({**options, **more})
    return plan_of(settings, settings.input, choose_sources(settings), "copies")


def recall(options: dict[str, Any], **more: Any) -> Plan:
    settings = recall_settings_of({"input": options["input"], "output": "out", **more})
    return plan_of(settings, settings.input, ChosenSources(), "copies")


FACTS = {"mode": "seq", "sources": ["reference"], "tie": "not_factual", "judge": "offline"}


@pytest.mark.parametrize(
    ("more", "facts"),
    [
        pytest.param({}, {}, id="what is usual"),
        pytest.param({"mode": "mv"}, {"mode": "mv"}, id="the mode"),
        pytest.param({"tie": "factual"}, {"tie": "factual"}, id="the rule for ties"),
        pytest.param({"title": "A title"}, {"title": "A title"}, id="the title"),
        pytest.param({**URL, "judge": "llm"}, {"judge": "llm"}, id="the judge"),
        pytest.param({**URL, "sources": "reference,llm"}, {"sources": ["reference", "llm"]},
                     id="the sources"),
    ],
)  # fmt: skip
def test_the_facts_of_a_run(options: dict[str, Any], more: Any, facts: Any) -> None:
    planned = plan(options, run="nightly", **more)
    assert planned.facts == {"run": "nightly", **FACTS, **facts}
    assert planned.folder == "out/run=nightly"
    assert planned.command == "evaluate"


def test_the_facts_of_a_recall(options: dict[str, Any]) -> None:
    planned = recall(options, **URL, formulations="tf", run="r")
    names = {"run": "r", "mode": "recall", "sources": [], "judge": "llm", "formulations": ["tf"]}
    assert {name: planned.facts[name] for name in names} == names
    assert planned.command == "recall"


def test_a_run_without_a_name_is_called_by_what_it_is_of(options: dict[str, Any]) -> None:
    first = plan(options)
    assert plan(options).name == first.name
    assert plan(options, mode="mv").name != first.name
    assert plan(options, sources="reference", tie="factual").name != first.name


@pytest.mark.parametrize(
    ("more", "models", "unpriced"),
    [
        pytest.param({}, (), (), id="none"),
        pytest.param({**URL, "judge": "llm", "model": "m"}, ("m",), ("m",), id="without a price"),
        pytest.param({**URL, "judge": "llm", "model": "gpt-4o-mini"}, ("gpt-4o-mini",), (),
                     id="with one"),
    ],
)  # fmt: skip
def test_the_models_of_a_run(
    options: dict[str, Any], more: Any, models: Any, unpriced: Any
) -> None:
    planned = plan(options, **more)
    assert planned.models == models
    assert planned.unpriced == unpriced


@pytest.mark.parametrize("name", ["dry_run", "streaming"])
def test_what_is_of_the_command_alone_is_refused_in_python(
    options: dict[str, Any], name: str
) -> None:
    more = {"run": "s"} if name == "streaming" else {}
    with pytest.raises(UsageError, match=f"--{name} is of the command `ufo evaluate --{name}`"):
        run_evaluate(settings_of({**options, **more, name: True}))
