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
from ufo.transforms.sources.fact_source import SOURCES
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
            kind, about = JUDGES.load(name), JUDGES.about(name)
        except PluginError as error:
            logging.getLogger("ufo.web").warning("%s", error.message)
            continue
        if kind.verifies and (desk.setup.model or not kind.needs_endpoint):
            found.append(
                answers.JudgeInfo(
                    judge=name,
                    help=about["help"],
                    extracts=kind.extracts,
                    abstains=kind.abstains,
                    needs_endpoint=kind.needs_endpoint,
                    remote=kind.remote,
                    note=desk.setup.judge_note if "verifier" in about["options"] else "",
                )
            )
    return found


@router.get("/sources")
def sources(desk: AtDesk) -> list[answers.SourceInfo]:
    """Return the installed fact sources, and why any of them cannot be used."""
    return [
        answers.SourceInfo(
            source=one.source,
            type=one.type,
            help=(inspect.getdoc(SOURCES.load(one.type)) or "").partition("\n")[0],
            status=one.status,
            reason=one.reason,
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
