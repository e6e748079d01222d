"""Create fact sources by name: entry points in the group `ufo.fact_sources`, or a file's class."""

from collections.abc import Mapping
from typing import Any, Final

from ufo.transforms.plugins import Registry, Spec
from ufo.transforms.sources.context import SourceContext
from ufo.transforms.sources.fact_source import FactSource

SOURCES: Final = Registry("ufo.fact_sources", FactSource, "fact source")
SourceSpec = Spec


def make_source(
    spec: SourceSpec,
    flags: Mapping[str, Any] | None = None,
    context: SourceContext | None = None,
) -> FactSource:
    """Return the source that `spec` describes, with `flags` as defaults of its options.

    Raises:
        UsageError: the source's constructor does not take an option, or its value is invalid.
    """
    source = SOURCES.make(spec, flags, context or SourceContext())
    source.name = spec.name
    return source
