"""Describe what the service offers: its sources, judges, verifiers and examples."""

import logging
from collections.abc import Container, Iterator, Sequence
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import APIRouter

from ufo.indexes.index import open_index
from ufo.pipelines.options.choose_sources import USED, offered_sources
from ufo.pipelines.options.groups import GROUPS, OF_REQUESTS
from ufo.pipelines.options.judge_flags import flags_of
from ufo.pipelines.options.option import Affects, Option
from ufo.pipelines.reports.checked import size_of
from ufo.schemas.errors import PluginError
from ufo.schemas.records import CATEGORIES
from ufo.transforms.judges.by_name import JUDGES
from ufo.transforms.judges.llm.llm_settings import FUNCTION, formulation_of
from ufo.transforms.llm.request import EXTRACTOR, KNOWLEDGE, VERIFIER
from ufo.transforms.plugins import Registry
from ufo.transforms.sources.fact_source import SOURCES
from ufo.transforms.verifiers.by_name import DEFAULT_VERIFIER, VERIFIERS, make_verifier
from ufo.webapp import request_models, response_models
from ufo.webapp.service import Service, ServiceDep

router = APIRouter(tags=["about"])
_ABILITIES = ("extracts", "abstains", "needs_endpoint", "remote")


@router.get("/health")
def health(service: ServiceDep) -> dict[str, str]:
    """Return the status and the version of the service."""
    return {"status": "ok", "version": service.setup.version}


@router.get("/options")
def options(service: ServiceDep) -> response_models.Options:
    """Return the judges and sources of the service, and its defaults for a request's settings."""
    return response_models.Options(
        version=service.setup.version,
        settings=list(_settings(service)),
        judges=judges(service),
        sources=sources(service),
        index_size=size_of(service.setup.index),
        max_text=request_models.MAX_TEXT,
        upload_bytes=service.setup.limits.upload_bytes,
    )


def _settings(service: Service) -> Iterator[response_models.Setting]:
    """Yield the settings of a request, with the choices and values that hold in this service."""
    values, choices, reasons = _values(service), _choices(service), _vector_problems(service)
    for title, declared in GROUPS.items():
        for option in declared:
            if option not in OF_REQUESTS:
                continue
            option_choices = choices.get(option.name) or [
                response_models.Choice(
                    value=value,
                    label=meaning or value.replace("_", " "),
                    reason=None if value == option.default else reasons.get(option.name),
                )
                for value, meaning in option.meanings.items()
            ]
            yield response_models.Setting(
                name=option.name,
                label=option.label,
                help=option.help,
                group=title,
                kind=_kind(option, option_choices),
                value=values[option.name],
                choices=option_choices,
                low=option.low,
                high=option.high,
                whole=option.kind is int,
                always=option.name == "judge" or not option.of_plugins,
                needs={"formulation": FUNCTION} if Affects.FUNCTION in option.affects else {},
            )


def _kind(option: Option, choices: Sequence[response_models.Choice]) -> Any:
    if option.is_list:
        return "list"
    if choices:
        return "choice"
    return {bool: "switch", int: "number", float: "number"}.get(option.kind, "text")


def _values(service: Service) -> dict[str, Any]:
    """Return the service's default for each setting of a request."""
    settings = service.settings
    values: dict[str, Any] = {}
    for option in OF_REQUESTS:
        setting = getattr(settings, option.name)
        value = option.default if setting is None else setting
        if option.is_list and isinstance(value, str | None):
            value = [name for name in (value or "").split(",") if name]
        values[option.name] = value
    endpoints = settings.client.endpoints
    roles = {"model": VERIFIER, "extractor_model": EXTRACTOR, "knowledge_model": KNOWLEDGE}
    values |= {
        name: endpoints[role].model if service.reaches_models else None
        for name, role in roles.items()
    }
    used = [offer.source for offer in offered_sources(service.settings) if offer.status == USED]
    named = service.setup.sources and [
        SOURCES.spec(source).name for source in service.setup.sources
    ]
    return values | {
        "sources": named or used,
        "judge": settings.judge.name,
        "verifier": make_verifier(settings.verifier or DEFAULT_VERIFIER).name,
        "formulation": settings.formulation or formulation_of(endpoints[VERIFIER].model),
    }


def _choices(service: Service) -> dict[str, list[response_models.Choice]]:
    """Return the choices that depend on the installed plug-ins and on the service's set-up."""
    return {
        "judge": [
            response_models.Choice(
                value=judge.judge,
                label=f"{judge.judge} ({'a' if judge.needs_endpoint else 'no'} language model)",
            )
            for judge in judges(service)
        ],
        "verifier": [
            response_models.Choice(
                value=name, label=name, reason=VERIFIERS.unavailable(make_verifier(name), name)
            )
            for name, _ in _installed(VERIFIERS)
        ],
        "exclude_categories": [
            response_models.Choice(value=name, label=name.replace("_", " ")) for name in CATEGORIES
        ],
    }


def _vector_problems(service: Service) -> dict[str, str]:
    """Return the reason why vectors cannot be searched, by the name of each option it limits."""
    reasons = {}
    if not open_index(service.setup.index).manifest.get("embedder"):
        reasons["retriever"] = "the index has no vectors: `ufo index build --embedder` makes them"
    if not service.settings.embedder:
        reasons["web_retriever"] = "`ufo serve --embedder` adds meaning"
    return reasons


@router.get("/judges")
def judges(service: ServiceDep) -> list[response_models.JudgeInfo]:
    """Return the judges that the service can use; some need a configured endpoint."""
    usable = []
    for name, about in _installed(JUDGES):
        judge = JUDGES.load(name)
        if judge.verifies and (service.reaches_models or not judge.needs_endpoint):
            abilities = {ability: getattr(judge, ability) for ability in _ABILITIES}
            options = _fields(flags_of(JUDGES.spec(name)))
            usable.append(
                response_models.JudgeInfo(
                    judge=name, help=about["help"], options=options, **abilities
                )
            )
    return usable


@router.get("/sources")
def sources(service: ServiceDep) -> list[response_models.SourceInfo]:
    """Return the installed fact sources, and why any of them cannot be used."""
    listed = []
    for source in offered_sources(service.settings):
        about = SOURCES.about(source.type)
        details = {"help": about["help"], "options": _fields(about["options"])}
        listed.append(response_models.SourceInfo.model_validate(asdict(source) | details))
    return listed


@router.get("/examples")
@cache
def examples() -> list[response_models.Example]:
    """Return the bundled responses."""
    lines = (files("ufo.examples") / "responses.jsonl").read_text(encoding="utf-8").splitlines()
    return [response_models.Example.model_validate_json(line) for line in lines]


def _fields(names: Container[str]) -> list[str]:
    return [option.name for option in OF_REQUESTS if option.name in names]


def _installed(registry: Registry[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and description of each plug-in that loads."""
    for name in registry.types():
        try:
            yield name, registry.about(name)
        except PluginError as error:
            logging.getLogger("ufo.web").warning("%s", error.message)
