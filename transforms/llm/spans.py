"""OpenTelemetry spans of what a run does, where that is installed and something collects them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

try:
    from opentelemetry import propagate, trace
except ImportError:  # an optional dependency: without it nothing is traced
    trace = None  # type: ignore[assignment]

NAME = "ufo"
STEP: ContextVar[str | None] = ContextVar("ufo_step", default=None)
"""The step that this thread or coroutine is in, for whoever logs."""

# Beam and our loop run steps in threads that know nothing of the span that they belong to.
_around: Any = None


@contextmanager
def span(name: str, **attributes: Any) -> Iterator[Any]:
    """Run the context in a span; yields it, or None without OpenTelemetry. Attributes of None are
    left out. An error that passes is recorded in the span."""
    if trace is None or isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        yield None  # nothing collects spans, and making one takes time
        return
    inside = trace.get_current_span().get_span_context().is_valid
    known = {key: value for key, value in attributes.items() if value is not None}
    context = None if inside else _around
    tracer = trace.get_tracer(NAME)
    with tracer.start_as_current_span(name, context=context, attributes=known) as current:
        yield current


@contextmanager
def around(name: str, **attributes: Any) -> Iterator[Any]:
    """The same; and spans of other threads of this process belong to this one until it ends."""
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
    """Run the context as a step of that name, in a span of its own."""
    token = STEP.set(name)
    try:
        with span(f"{NAME}.{name}", **attributes) as current:
            yield current
    finally:
        STEP.reset(token)


def carried() -> dict[str, str]:
    """Return what tells another process which span its own belong to; {} where nobody traces."""
    found: dict[str, str] = {}
    if trace is not None:
        propagate.inject(found)
    return found


def belong_to(carrier: Mapping[str, str]) -> None:
    """Let the spans of this process belong to the one that another process told."""
    global _around
    if carrier:
        _around = propagate.extract(carrier)


def flush() -> None:
    """Send what is collected: a worker process may be ended without notice."""
    if trace is not None:
        # The provider of the API alone, which collects nothing, has no such method.
        getattr(trace.get_tracer_provider(), "force_flush", bool)()
