"""Options given as Python keywords, checked by the parser that checks the command line."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pipelines.config import named_sources
from pipelines.flags import Parser, add_evaluate_options
from pipelines.options import Settings, settings
from schemas.errors import UsageError
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
    argv: list[str] = []
    for name, value in values.items():
        if value is None or value is False:
            continue
        argv += [f"--{name}"] if value is True else [f"--{name}={value}"]
    chosen = settings(parser, argv)
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
