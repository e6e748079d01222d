"""Describe what the service offers: its sources, judges and examples."""

import inspect
import json
import logging
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from fastapi import APIRouter, Path

from ufo.indexes.index import RETRIEVERS, open_index
from ufo.schemas.errors import PluginError
from ufo.schemas.records import CATEGORIES
from ufo.transforms.judges import JUDGES
from ufo.transforms.judges.llm.llm_settings import LLM_OPTIONS
from ufo.transforms.plugins import options_of
from ufo.transforms.sources.fact_source import SOURCES
from ufo.transforms.verifiers.by_name import VERIFIERS, make_verifier
from ufo.webapp import answers, models
from ufo.webapp.basis import size_of
from ufo.webapp.desk import AtDesk

router = APIRouter(tags=["about"])


@router.get("/health")
def health(desk: AtDesk) -> answers.Health:
    """Return that the service is up."""
    return answers.Health(status="ok", version=desk.setup.version)


@router.get("/options")
def options(desk: AtDesk) -> answers.Options:
    """Return the options of the service and their defaults."""
    setup = desk.setup
    return answers.Options(
        version=setup.version,
        judges=judges(desk),
        judge=setup.judge,
        verifiers=verifiers(),
        verifier=setup.verifier,
        model=setup.model,
        sources=sources(desk),
        has_index=setup.index is not None,
        index_size=size_of(setup.index) if setup.index else None,
        retrievers=_retrievers(setup.index),
        web_retrievers=list(setup.web_retrievers),
        categories=list(CATEGORIES),
        max_text=models.MAX_TEXT,
        upload_bytes=setup.limits.upload_bytes,
    )


@router.get("/judges")
def judges(desk: AtDesk) -> list[answers.JudgeInfo]:
    """Return the usable judges; those that need an endpoint only if a model is set."""
    found = []
    for name in JUDGES.types():
        try:
            kind, takes = JUDGES.load(name), set(JUDGES.about(name)["options"])
        except PluginError as error:
            logging.getLogger("ufo.web").warning("%s", error.message)
            continue
        if kind.asks_llm_judge:
            takes |= LLM_OPTIONS.keys()
        if kind.needs_endpoint:
            takes |= {"model", "extractor_model"} if kind.extracts else {"model"}
        if kind.verifies and (desk.setup.model or not kind.needs_endpoint):
            found.append(
                answers.JudgeInfo(
                    judge=name,
                    help=_help(kind),
                    extracts=kind.extracts,
                    abstains=kind.abstains,
                    needs_endpoint=kind.needs_endpoint,
                    remote=kind.remote,
                    options=[one for one in models.Judging.model_fields if one in takes],
                )
            )
    return found


def verifiers() -> list[answers.VerifierInfo]:
    """Return the installed verifiers, and why any of them cannot be used."""
    found = []
    for name in VERIFIERS.types():
        try:
            made = make_verifier(name)
            reason = made.unavailable()
        except PluginError as error:
            logging.getLogger("ufo.web").warning("%s", error.message)
            continue
        found.append(answers.VerifierInfo(verifier=name, help=_help(type(made)), reason=reason))
    return found


@router.get("/sources")
def sources(desk: AtDesk) -> list[answers.SourceInfo]:
    """Return the installed fact sources, and why any of them cannot be used."""
    return [
        answers.SourceInfo(
            source=one.source,
            type=one.type,
            help=_help(SOURCES.load(one.type)),
            status=one.status,
            reason=one.reason,
            options=[
                name
                for name in models.Asking.model_fields
                if name in options_of(SOURCES.load(one.type))
            ],
        )
        for one in desk.setup.statuses()
    ]


@router.get("/categories/{host}")
def category(
    host: Annotated[str, Path(min_length=1, max_length=253)], desk: AtDesk
) -> answers.HostCategory:
    """Return the category of a host by the service's rules, or None."""
    return answers.HostCategory(host=host, category=desk.setup.category_of(host))


@router.get("/examples")
def examples() -> list[answers.Example]:
    """Return the bundled responses."""
    return [answers.Example(**row) for row in _examples()]


def _help(kind: type) -> str:
    return (inspect.getdoc(kind) or "").partition("\n")[0]


@cache
def _examples() -> list[dict[str, Any]]:
    lines = (files("ufo.examples") / "responses.jsonl").read_text(encoding="utf-8").splitlines()
    names = answers.Example.model_fields
    rows = [{k: v for k, v in json.loads(line).items() if k in names} for line in lines]
    for row in rows:
        if isinstance(row.get("reference_answers"), str):
            row["reference_answers"] = [row["reference_answers"]]
    return rows


def _retrievers(index: str | None) -> list[str]:
    if index is None:
        return []
    return list(RETRIEVERS) if open_index(index).manifest.get("embedder") else ["bm25"]
