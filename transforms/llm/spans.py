"""OpenTelemetry spans of a run's steps; no-ops where OpenTelemetry is not installed or set up."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

try:
    from opentelemetry import propagate, trace
except ImportError:  # an optional dependency
    trace = None  # type: ignore[assignment]

NAME = "ufo"
STEP: ContextVar[str | None] = ContextVar("ufo_step", default=None)
"""The step that this thread or coroutine runs, for log records."""

# The parent span for threads without a span of their own: those of Beam and `ufo.transforms.loop`.
_around: Any = None


def _exports() -> bool:
    """Return whether OpenTelemetry is installed and an exporter is set up."""
    if trace is None:
        return False
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


@contextmanager
def span(name: str, **attributes: Any) -> Iterator[Any]:
    """Run the block in a span; yield the span, or None without OpenTelemetry.

    Attributes that are None are left out. An exception of the block is recorded in the span.
    """
    if not _exports():
        yield None
        return
    inside = trace.get_current_span().get_span_context().is_valid
    known = {key: value for key, value in attributes.items() if value is not None}
    context = None if inside else _around
    tracer = trace.get_tracer(NAME)
    with tracer.start_as_current_span(name, context=context, attributes=known) as current:
        yield current


@contextmanager
def around(name: str, **attributes: Any) -> Iterator[Any]:
    """Run the block in a span that is the parent of spans in all other threads until it ends."""
    global _around
    with span(name, **attributes) as current:
        before = _around
        if current is not None:
            _around = trace.set_span_in_context(current)
        try:
            yield current
        finally:
            _around = before


@contextmanager
def step(name: str, **attributes: Any) -> Iterator[Any]:
    """Run the block as the step `name`, in a span."""
    token = STEP.set(name)
    try:
        if not _exports():
            yield None
            return
        with span(f"{NAME}.{name}", **attributes) as current:
            yield current
    finally:
        STEP.reset(token)


def carried() -> dict[str, str]:
    """Return the trace context headers of the current span, for another process."""
    carrier: dict[str, str] = {}
    if trace is not None:
        propagate.inject(carrier)
    return carrier


def belong_to(carrier: Mapping[str, str]) -> None:
    """Make the span whose trace context `carrier` holds the parent of this process's spans."""
    global _around
    if carrier:
        _around = propagate.extract(carrier)


def flush() -> None:
    """Export the spans collected so far: a worker process may be ended without notice."""
    if trace is not None:
        # The API's own provider, which collects nothing, has no such method.
        getattr(trace.get_tracer_provider(), "force_flush", bool)()
