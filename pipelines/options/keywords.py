"""Options given as Python keywords, checked by the parser that checks the command line."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pipelines.options.arguments import Parser
from pipelines.options.command_line import settings
from pipelines.options.config import Filed, named
from pipelines.options.flags import add_evaluate_options
from pipelines.options.recall import RecallSettings, add_recall_options, recall_settings
from pipelines.options.settings import Settings
from schemas.errors import UsageError
from transforms.judges.base import Judge
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
    chosen = settings(parser, *_given(values))
    if sources is None:
        return chosen
    if isinstance(sources, str):
        sources = [sources]
    described = [item if not isinstance(item, FactSource) else "" for item in sources]
    if not described:
        raise UsageError("sources is an empty list; leave it out to use those that can serve")
    order, definitions = named(described, "source")
    items = [
        source if isinstance(source, FactSource) else name
        for source, name in zip(sources, order, strict=True)
    ]
    return replace(chosen, sources=tuple(items), source_definitions=definitions)


def recall_settings_of(values: Mapping[str, Any]) -> RecallSettings:
    """Return the settings of `values`, flags of `ufo recall` by their names.

    Raises:
        UsageError: an option is wrong.
    """
    parser = Parser(prog="ufo.recall")
    add_recall_options(parser)
    return recall_settings(parser, *_given(values))


def _given(values: Mapping[str, Any]) -> tuple[list[str], Filed]:
    """Return the values as flags, and what no flag can be: a judge described, or an object."""
    judge = values.get("judge")
    if judge is None or isinstance(judge, str):
        return _argv(values), Filed()
    argv = _argv({name: value for name, value in values.items() if name != "judge"})
    if isinstance(judge, Judge):
        return argv, Filed({"judge": judge})
    (name,), judges = named([judge], "judge")
    return argv, Filed({"judge": name}, judges=judges)


def _argv(values: Mapping[str, Any]) -> list[str]:
    argv: list[str] = []
    for name, value in values.items():
        if value is None or value is False:
            continue
        if isinstance(value, (list, tuple)):
            value = ",".join(map(str, value))
        argv += [f"--{name}"] if value is True else [f"--{name}={value}"]
    return argv
