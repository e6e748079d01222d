"""Options given as Python keywords, checked by the parser that checks the command line."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pipelines.arguments import Parser
from pipelines.command_line import settings
from pipelines.config import named_sources
from pipelines.flags import add_evaluate_options
from pipelines.options import Settings
from pipelines.recall_options import RecallSettings, add_recall_options, recall_settings
from pipelines.sources import choose
from schemas.errors import UsageError
from transforms.job import Job
from transforms.sources.base import FactSource


def settings_of(
    values: Mapping[str, Any], sources: Sequence[str | Mapping[str, Any] | FactSource] | None
) -> Settings:
    """Return the settings of `values`, flags by their names, and of a list of sources.

    Raises:
        UsageError: an option or a source is wrong.
    """
    parser = Parser(prog="ufo.evaluate")
    add_evaluate_options(parser)
    chosen = settings(parser, _argv(values))
    if sources is None:
        return chosen
    if isinstance(sources, str):
        sources = [sources]
    described = [item if not isinstance(item, FactSource) else "" for item in sources]
    if not described:
        raise UsageError("sources is an empty list; leave it out to use those that can serve")
    order, definitions = named_sources(described)
    items = [
        source if isinstance(source, FactSource) else name
        for source, name in zip(sources, order, strict=True)
    ]
    return replace(chosen, sources=tuple(items), source_definitions=definitions)


def job_of(
    values: Mapping[str, Any], sources: Sequence[str | Mapping[str, Any] | FactSource] | None
) -> Job:
    """Return the job of one text, as `settings_of` has its settings; it needs no pipeline.

    Raises:
        UsageError: an option or a source is wrong, or a source named can serve nobody.
    """
    chosen = settings_of({"input": "-", "output": "-", **values}, sources)
    return Job(
        sources=choose(chosen).specs,
        flags=chosen.source_flags(),
        judge=chosen.judge_spec(),
        units=chosen.units,
        mode=chosen.mode,
        tie=chosen.tie,
    )


def recall_settings_of(values: Mapping[str, Any]) -> RecallSettings:
    """Return the settings of `values`, flags of `ufo recall` by their names.

    Raises:
        UsageError: an option is wrong.
    """
    parser = Parser(prog="ufo.recall")
    add_recall_options(parser)
    return recall_settings(parser, _argv(values))


def _argv(values: Mapping[str, Any]) -> list[str]:
    argv: list[str] = []
    for name, value in values.items():
        if value is None or value is False:
            continue
        if isinstance(value, (list, tuple)):
            value = ",".join(map(str, value))
        argv += [f"--{name}"] if value is True else [f"--{name}={value}"]
    return argv
