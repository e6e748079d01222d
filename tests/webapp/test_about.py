"""What the service says that it offers: judges, verifiers, sources, limits and examples."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.embedder import write_embedder
from ufo.pipelines.build_index import build
from ufo.schemas.records import CATEGORIES
from ufo.webapp import about
from ufo.webapp.desk import Desk, Setup
from ufo.webapp.limits import ServiceLimits

OF_LLM = ["model", "extractor_model", "formulation", "verdict_labels", "explain", "citation"]


@pytest.fixture(name="desk")
def _desk(base: Setup) -> Callable[..., Desk]:
    """The state of a service with these changes of its set-up."""
    return lambda **changes: Desk(replace(base, **changes))


def test_a_service_that_is_up_says_its_version(desk: Callable[..., Desk]) -> None:
    assert about.health(desk(version="1.2.3")) == {"status": "ok", "version": "1.2.3"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"version": "1.2.3"}, {"version": "1.2.3"}),
        ({"judge": "llm"}, {"judge": "llm"}),
        ({"verifier": "bundled"}, {"verifier": "bundled"}),
        ({"model": "m"}, {"model": "m"}),
        ({"web_retrievers": ("bm25", "dense")}, {"web_retrievers": ["bm25", "dense"]}),
        ({"limits": ServiceLimits(1, 2, 3, 4)}, {"upload_bytes": 2}),
    ],
    ids=lambda row: next(iter(row)),
)
def test_the_options_are_those_of_the_set_up(
    desk: Callable[..., Desk], change: dict[str, Any], told: dict[str, Any]
) -> None:
    usual, found = (about.options(desk(**one)).model_dump() for one in ({}, change))
    names = told.keys()
    assert {name: found[name] for name in names} == told
    assert {name: usual[name] for name in names} != told


def test_the_options_of_every_service(desk: Callable[..., Desk]) -> None:
    found = about.options(desk())
    assert found.categories == list(CATEGORIES)
    assert found.max_text == 100_000
    assert found.index_size == "an index of 2 articles, 2 passages"
    assert found.judges == about.judges(desk())
    assert found.sources == about.sources(desk())
    assert found.retrievers == ["bm25"]
    verifiers = {one.verifier: one for one in found.verifiers}
    assert verifiers.keys() >= {"overlap", "bundled"}
    assert verifiers["overlap"].help.startswith("Compares words")
    assert verifiers["overlap"].reason is None


def test_an_index_with_vectors_has_every_retriever(
    desk: Callable[..., Desk], index: Path, tmp_path: Path
) -> None:
    model = str(write_embedder(tmp_path / "model", "oslo lima"))
    made = build(index.with_name("pages.jsonl"), tmp_path / "dense", embedder=model).path
    assert about.options(desk(index=str(made))).retrievers == ["bm25", "dense", "hybrid"]


@pytest.mark.parametrize(
    ("model", "names"),
    [
        pytest.param(None, ["offline"], id="without a model"),
        pytest.param("m", ["llm", "offline"], id="with one"),
    ],
)
def test_judges_that_ask_a_model_are_offered_with_one(
    desk: Callable[..., Desk], model: str | None, names: list[str]
) -> None:
    assert [one.judge for one in about.judges(desk(model=model))] == names


def test_what_a_judge_can_do_and_which_fields_it_uses(desk: Callable[..., Desk]) -> None:
    found = {one.judge: one.model_dump() for one in about.judges(desk(model="m"))}
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
    assert options["llm"] == ["model", "knowledge_model", "samples", "temperature", "sampling"]
    assert options["web"] == [
        *("web_retriever", "pages", "passages_per_page", "context_sentences"),
        *("include_categories", "exclude_categories", "include_domains", "exclude_domains"),
    ]


def test_the_examples_are_the_bundled_responses() -> None:
    found = about.examples()
    assert len(found) == 38
    assert len({one.id for one in found}) == 38
    assert [one.id for one in found if not one.response] == []
