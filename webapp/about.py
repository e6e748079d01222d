"""Describe what the service offers: its sources, judges, verifiers and examples."""

import logging
from collections.abc import Container, Iterator
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import APIRouter

from ufo.indexes.index import RETRIEVERS, open_index
from ufo.schemas.errors import PluginError
from ufo.schemas.records import CATEGORIES
from ufo.transforms.judges.judge import JUDGES
from ufo.transforms.judges.llm.llm_settings import LLM_OPTIONS
from ufo.transforms.plugins import Registry
from ufo.transforms.sources.fact_source import SOURCES
from ufo.transforms.verifiers.by_name import VERIFIERS, make_verifier
from ufo.webapp import answers, models
from ufo.webapp.checking import size_of
from ufo.webapp.desk import AtDesk

router = APIRouter(tags=["about"])
_ABILITIES = ("extracts", "abstains", "needs_endpoint", "remote")


@router.get("/health")
def health(desk: AtDesk) -> dict[str, str]:
    """Return that the service is up."""
    return {"status": "ok", "version": desk.setup.version}


@router.get("/options")
def options(desk: AtDesk) -> answers.Options:
    """Return the options of the service and their defaults."""
    setup = desk.setup
    vectors = open_index(setup.index).manifest.get("embedder")
    return answers.Options(
        version=setup.version,
        judges=judges(desk),
        judge=setup.judge,
        verifiers=[
            answers.VerifierInfo(
                verifier=name, help=about["help"], reason=make_verifier(name).unavailable()
            )
            for name, about in _installed(VERIFIERS)
        ],
        verifier=setup.verifier,
        model=setup.model,
        sources=sources(desk),
        index_size=size_of(setup.index),
        retrievers=list(RETRIEVERS) if vectors else ["bm25"],
        web_retrievers=list(setup.web_retrievers),
        categories=list(CATEGORIES),
        max_text=models.MAX_TEXT,
        upload_bytes=setup.limits.upload_bytes,
    )


@router.get("/judges")
def judges(desk: AtDesk) -> list[answers.JudgeInfo]:
    """Return the usable judges; judges that need an endpoint only if a model is set."""
    found = []
    for name, about in _installed(JUDGES):
        kind, takes = JUDGES.load(name), set(about["options"])
        if kind.asks_llm_judge:
            takes |= LLM_OPTIONS.keys()
        if kind.needs_endpoint:
            takes |= {"model", "extractor_model"} if kind.extracts else {"model"}
        if kind.verifies and (desk.setup.model or not kind.needs_endpoint):
            can = {one: getattr(kind, one) for one in _ABILITIES}
            found.append(
                answers.JudgeInfo(judge=name, help=about["help"], options=_fields(takes), **can)
            )
    return found


@router.get("/sources")
def sources(desk: AtDesk) -> list[answers.SourceInfo]:
    """Return the installed fact sources, and why any of them cannot be used."""
    found = []
    for one in desk.setup.statuses():
        about = SOURCES.about(one.type)
        told = {"help": about["help"], "options": _fields(about["options"])}
        found.append(answers.SourceInfo.model_validate(asdict(one) | told))
    return found


@router.get("/examples")
@cache
def examples() -> list[answers.Example]:
    """Return the bundled responses."""
    lines = (files("ufo.examples") / "responses.jsonl").read_text(encoding="utf-8").splitlines()
    return [answers.Example.model_validate_json(line) for line in lines]


def _fields(names: Container[str]) -> list[str]:
    return [one for one in models.Asking.model_fields if one in names]


def _installed(registry: Registry[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and description of each plug-in that loads."""
    for name in registry.types():
        try:
            yield name, registry.about(name)
        except PluginError as error:
            logging.getLogger("ufo.web").warning("%s", error.message)
