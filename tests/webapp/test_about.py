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
from ufo.webapp import about, request_models, response_models
from ufo.webapp.limits import ServiceLimits
from ufo.webapp.request_models import JudgeOptions, SourceOptions
from ufo.webapp.service import Service, Setup

OF_LLM = ["formulation", "verdict_labels", "explain", "citation", "model", "extractor_model"]
OF_JUDGING = {"judge", "verifier", *OF_LLM}


@pytest.fixture(name="service")
def _desk(base: Setup) -> Callable[..., Service]:
    """The state of a service with these changes of its set-up."""
    return lambda **changes: Service(replace(base, **changes))


def test_a_service_that_is_up_says_its_version(service: Callable[..., Service]) -> None:
    assert about.health(service(version="1.2.3")) == {"status": "ok", "version": "1.2.3"}


@pytest.fixture(scope="module")
def vectors(index: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An index with vectors."""
    folder = tmp_path_factory.mktemp("vectors")
    model = str(write_embedder(folder / "model", "oslo lima"))
    return str(build(index.with_name("pages.jsonl"), folder / "dense", embedder=model).path)


def setting(service: Service, name: str) -> response_models.Setting:
    """A setting as the service describes it."""
    (option,) = (one for one in about.options(service).settings if one.name == name)
    return option


def test_the_options_say_what_the_service_has(service: Callable[..., Service]) -> None:
    options = about.options(service(version="1.2.3", limits=ServiceLimits(1, 2, 3, 4)))
    assert options.version == "1.2.3"
    assert options.upload_bytes == 2
    assert options.max_text == 100_000
    assert options.index_size == "an index of 2 articles, 2 passages"
    assert options.judges == about.judges(service())
    assert options.sources == about.sources(service())


def test_every_option_of_a_request_is_a_setting_and_a_field(
    service: Callable[..., Service],
) -> None:
    names = {one.name for one in OF_REQUESTS}
    assert {one.name for one in about.options(service()).settings} == names
    assert set(SourceOptions.model_fields) == names
    assert set(JudgeOptions.model_fields) == names & SourceOptions.model_fields.keys() & OF_JUDGING


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
    service: Callable[..., Service], vectors: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    started = service(index=vectors, flags={**AT, **NEEDS.get(name, {}), name: CHANGED[name]})
    value = CHANGED[name]
    option = setting(started, name)
    assert option.value == (value.split(",") if option.kind == "list" else value)
    usual = setting(service(flags={"judge": "offline"}), name)
    assert usual.value != option.value
    assert (
        request_models.flags_of(
            started, request_models.CheckRequest(text="t", references=[]), None
        )[name]
        == value
    )


def test_the_sources_of_a_service_are_in_its_order(service: Callable[..., Service]) -> None:
    started = service(sources=["wikipedia", "reference"])
    assert setting(started, "sources").value == ["wikipedia", "reference"]
    assert [one.source for one in about.sources(started)][:2] == ["wikipedia", "reference"]
    job = request_models.job_of(started, request_models.CheckRequest(text="t", references=[]), None)
    assert [spec.name for spec in job.sources] == ["wikipedia", "reference"]


def test_bounds_and_choices_are_those_of_the_command_line(service: Callable[..., Service]) -> None:
    passages = setting(service(), "passages")
    assert (passages.kind, passages.low, passages.high, passages.whole) == ("number", 1, 1000, True)
    assert not passages.always
    temperature = setting(service(), "temperature")
    assert (temperature.low, temperature.high, temperature.whole) == (0, 2, False)
    modes = setting(service(), "mode")
    assert [one.value for one in modes.choices] == ["seq", "mv", "single", "all"]
    assert modes.always
    assert setting(service(), "citation").needs == {"formulation": "function"}


def test_choices_that_cannot_be_used_say_why(service: Callable[..., Service]) -> None:
    for name, remedy in {"retriever": "ufo index build", "web_retriever": "ufo serve"}.items():
        first, *others = setting(service(), name).choices
        assert (first.value, first.reason) == ("bm25", None)
        assert others
        assert [one.value for one in others if remedy not in (one.reason or "")] == []
    verifiers = {one.value: one.reason for one in setting(service(), "verifier").choices}
    assert verifiers.keys() >= {"overlap", "bundled"}
    assert verifiers["overlap"] is None
    kinds = [one.value for one in setting(service(), "exclude_categories").choices]
    assert kinds == list(CATEGORIES)


def test_an_index_with_vectors_has_every_retriever(
    service: Callable[..., Service], vectors: str
) -> None:
    choices = setting(service(index=vectors), "retriever").choices
    assert {one.value: one.reason for one in choices} == dict.fromkeys(("bm25", "dense", "hybrid"))


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        pytest.param({}, ["offline"], id="without an endpoint"),
        pytest.param(AT, ["llm", "offline"], id="with one"),
    ],
)
def test_judges_that_ask_a_model_are_offered_with_one(
    service: Callable[..., Service],
    monkeypatch: pytest.MonkeyPatch,
    flags: dict[str, Any],
    names: list[str],
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert [one.judge for one in about.judges(service(flags=flags))] == names


def test_what_a_judge_can_do_and_which_fields_it_uses(service: Callable[..., Service]) -> None:
    by_name = {one.judge: one.model_dump() for one in about.judges(service(flags=AT))}
    helped = [row.pop("help") for row in by_name.values()]
    assert "" not in helped
    can = {"extracts": True, "abstains": True}
    assert by_name == {
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
    service: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SERPER_API_KEY", "BRAVE_API_KEY", "SEARXNG_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    by_name = {one.source: one for one in about.sources(service())}
    assert {name: one.status for name, one in by_name.items()} == {
        "reference": "used",
        "wikipedia": "used",
        "web": "unavailable",
        "llm": "unavailable",
    }
    assert by_name["reference"].reason is None
    assert "SERPER_API_KEY" in (by_name["web"].reason or "")
    assert {name: one.type for name, one in by_name.items()} == {name: name for name in by_name}
    assert [one.source for one in by_name.values() if not one.help] == []
    options = {name: one.options for name, one in by_name.items()}
    assert options["reference"] == ["passages"]
    assert options["wikipedia"] == ["retriever", "passages"]
    assert options["llm"] == ["samples", "temperature", "sampling", "model", "knowledge_model"]
    assert options["web"] == [
        "pages",
        "passages_per_page",
        "context_sentences",
        "web_retriever",
        "include_categories",
        "exclude_categories",
        "include_domains",
        "exclude_domains",
    ]


def test_the_examples_are_the_bundled_responses() -> None:
    examples = about.examples()
    assert len(examples) == 38
    assert len({one.id for one in examples}) == 38
    assert [one.id for one in examples if not one.response] == []
