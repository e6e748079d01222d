"""From a name to a fact source: entry points in the group `ufo.fact_sources`, or a file's class."""

from collections.abc import Mapping
from typing import Any, Final

from transforms.registry import Registry, Spec
from transforms.sources.base import FactSource
from transforms.sources.context import SourceContext

SOURCES: Final = Registry("ufo.fact_sources", FactSource, "fact source")
SourceSpec = Spec


def make_source(
    spec: SourceSpec,
    flags: Mapping[str, Any] | None = None,
    context: SourceContext | None = None,
) -> FactSource:
    """Return the source that `spec` describes; an option not set in it takes the flag's value.
    `context` is that of the run.

    Raises:
        UsageError: an option that the source's constructor does not take, or a wrong value.
    """
    source = SOURCES.make(spec, flags, context or SourceContext())
    source.name = spec.name
    return source
