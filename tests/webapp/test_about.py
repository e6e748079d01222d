"""What the service says that it offers: judges, verifiers, sources, limits and examples."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.embedder import write_embedder
from ufo.pipelines.build_index import build
from ufo.pipelines.options.groups import OF_REQUESTS
from ufo.schemas.records import CATEGORIES
from ufo.webapp import about, answers, models
from ufo.webapp.desk import Desk, Setup
from ufo.webapp.limits import ServiceLimits
from ufo.webapp.models import Asking, Judging

OF_LLM = ["formulation", "verdict_labels", "explain", "citation", "model", "extractor_model"]
OF_JUDGING = {"judge", "verifier", *OF_LLM}


@pytest.fixture(name="desk")
def _desk(base: Setup) -> Callable[..., Desk]:
    """The state of a service with these changes of its set-up."""
    return lambda **changes: Desk(replace(base, **changes))


def test_a_service_that_is_up_says_its_version(desk: Callable[..., Desk]) -> None:
    assert about.health(desk(version="1.2.3")) == {"status": "ok", "version": "1.2.3"}


@pytest.fixture(scope="module")
def vectors(index: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An index with vectors."""
    folder = tmp_path_factory.mktemp("vectors")
    model = str(write_embedder(folder / "model", "oslo lima"))
    return str(build(index.with_name("pages.jsonl"), folder / "dense", embedder=model).path)


def setting(desk: Desk, name: str) -> answers.Setting:
    """A setting as the service describes it."""
    (found,) = (one for one in about.options(desk).settings if one.name == name)
    return found


def test_the_options_say_what_the_service_has(desk: Callable[..., Desk]) -> None:
    found = about.options(desk(version="1.2.3", limits=ServiceLimits(1, 2, 3, 4)))
    assert found.version == "1.2.3"
    assert found.upload_bytes == 2
    assert found.max_text == 100_000
    assert found.index_size == "an index of 2 articles, 2 passages"
    assert found.judges == about.judges(desk())
    assert found.sources == about.sources(desk())


def test_every_option_of_a_request_is_a_setting_and_a_field(desk: Callable[..., Desk]) -> None:
    names = {one.name for one in OF_REQUESTS}
    assert {one.name for one in about.options(desk()).settings} == names
    assert set(Asking.model_fields) == names
    assert set(Judging.model_fields) == names & Asking.model_fields.keys() & OF_JUDGING


AT = {"base_url": "http://127.0.0.1:9/v1", "judge": "llm"}
CHANGED: dict[str, Any] = {
    "mode": "mv",
    "tie": "factual",
    "units": "sentence",
    "retriever": "hybrid",
    "passages": 77,
    "samples": 7,
    "temperature": 0.5,
    "sampling": "bundled",
    "pages": 70,
    "passages_per_page": 60,
    "context_sentences": 2,
    "web_retriever": "dense",
    "include_categories": "news,wiki",
    "exclude_categories": "blog",
    "include_domains": "a.org,b.org",
    "exclude_domains": "c.org",
    "judge": "llm",
    "verifier": "bundled",
    "formulation": "rationale",
    "verdict_labels": "tf",
    "explain": "none",
    "citation": True,
    "model": "m-judge",
    "extractor_model": "m-extractor",
    "knowledge_model": "m-knowledge",
}
NEEDS: dict[str, dict[str, Any]] = {
    "verifier": {"judge": "offline"},
    "verdict_labels": {"mode": "mv"},
    "web_retriever": {"embedder": "openai:small"},
}


def test_each_option_is_changed_here() -> None:
    assert {one.name for one in OF_REQUESTS} == {*CHANGED, "sources"}


@pytest.mark.parametrize("name", CHANGED)
def test_a_service_started_with_an_option_tells_it_and_judges_by_it(
    desk: Callable[..., Desk], vectors: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    started = desk(index=vectors, flags={**AT, **NEEDS.get(name, {}), name: CHANGED[name]})
    value = CHANGED[name]
    told = setting(started, name)
    assert told.value == (value.split(",") if told.kind == "list" else value)
    usual = setting(desk(flags={"judge": "offline"}), name)
    assert usual.value != told.value
    assert (
        models.flags_of(started, models.CheckRequest(text="t", references=[]), None)[name] == value
    )


def test_the_sources_of_a_service_are_in_its_order(desk: Callable[..., Desk]) -> None:
    started = desk(sources=["wikipedia", "reference"])
    assert setting(started, "sources").value == ["wikipedia", "reference"]
    assert [one.source for one in about.sources(started)][:2] == ["wikipedia", "reference"]
    job = models.job_of(started, models.CheckRequest(text="t", references=[]), None)
    assert [spec.name for spec in job.sources] == ["wikipedia", "reference"]


def test_bounds_and_choices_are_those_of_the_command_line(desk: Callable[..., Desk]) -> None:
    passages = setting(desk(), "passages")
    assert (passages.kind, passages.low, passages.high, passages.whole) == ("number", 1, 1000, True)
    assert not passages.always
    temperature = setting(desk(), "temperature")
    assert (temperature.low, temperature.high, temperature.whole) == (0, 2, False)
    modes = setting(desk(), "mode")
    assert [one.value for one in modes.choices] == ["seq", "mv", "single", "all"]
    assert modes.always
    assert setting(desk(), "citation").needs == {"formulation": "function"}


def test_choices_that_cannot_be_used_say_why(desk: Callable[..., Desk]) -> None:
    for name, remedy in {"retriever": "ufo index build", "web_retriever": "ufo serve"}.items():
        first, *others = setting(desk(), name).choices
        assert (first.value, first.reason) == ("bm25", None)
        assert others
        assert [one.value for one in others if remedy not in (one.reason or "")] == []
    verifiers = {one.value: one.reason for one in setting(desk(), "verifier").choices}
    assert verifiers.keys() >= {"overlap", "bundled"}
    assert verifiers["overlap"] is None
    kinds = [one.value for one in setting(desk(), "exclude_categories").choices]
    assert kinds == list(CATEGORIES)


def test_an_index_with_vectors_has_every_retriever(desk: Callable[..., Desk], vectors: str) -> None:
    choices = setting(desk(index=vectors), "retriever").choices
    assert {one.value: one.reason for one in choices} == dict.fromkeys(("bm25", "dense", "hybrid"))


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        pytest.param({}, ["offline"], id="without an endpoint"),
        pytest.param(AT, ["llm", "offline"], id="with one"),
    ],
)
def test_judges_that_ask_a_model_are_offered_with_one(
    desk: Callable[..., Desk],
    monkeypatch: pytest.MonkeyPatch,
    flags: dict[str, Any],
    names: list[str],
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert [one.judge for one in about.judges(desk(flags=flags))] == names


def test_what_a_judge_can_do_and_which_fields_it_uses(desk: Callable[..., Desk]) -> None:
    found = {one.judge: one.model_dump() for one in about.judges(desk(flags=AT))}
    helped = [row.pop("help") for row in found.values()]
    assert "" not in helped
    can = {"extracts": True, "abstains": True}
    assert found == {
        "offline": {
            "judge": "offline",
            **can,
            "needs_endpoint": False,
            "remote": False,
            "options": ["verifier"],
        },
        "llm": {
            "judge": "llm",
            **can,
            "needs_endpoint": True,
            "remote": True,
            "options": OF_LLM,
        },
    }


def test_sources_say_whether_they_serve_and_which_fields_they_use(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SERPER_API_KEY", "BRAVE_API_KEY", "SEARXNG_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    found = {one.source: one for one in about.sources(desk())}
    assert {name: one.status for name, one in found.items()} == {
        "reference": "used",
        "wikipedia": "used",
        "web": "unavailable",
        "llm": "unavailable",
    }
    assert found["reference"].reason is None
    assert "SERPER_API_KEY" in (found["web"].reason or "")
    assert {name: one.type for name, one in found.items()} == {name: name for name in found}
    assert [one.source for one in found.values() if not one.help] == []
    options = {name: one.options for name, one in found.items()}
    assert options["reference"] == ["passages"]
    assert options["wikipedia"] == ["retriever", "passages"]
    assert options["llm"] == ["samples", "temperature", "sampling", "model", "knowledge_model"]
    assert options["web"] == [
        *("pages", "passages_per_page", "context_sentences", "web_retriever"),
        *("include_categories", "exclude_categories", "include_domains", "exclude_domains"),
    ]


def test_the_examples_are_the_bundled_responses() -> None:
    found = about.examples()
    assert len(found) == 38
    assert len({one.id for one in found}) == 38
    assert [one.id for one in found if not one.response] == []
