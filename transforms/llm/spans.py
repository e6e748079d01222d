"""OpenTelemetry spans of what a run does, where that is installed and something collects them.

Whoever traces has imported `opentelemetry.trace` by then: `pipelines.tracing` where the environment
asks for it, the program that we are called from, or its instrumentation. Otherwise a span costs a
look into a dictionary.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any

NAME = "ufo"
STEP: ContextVar[str | None] = ContextVar("ufo_step", default=None)
"""The step that this thread or coroutine is in, for whoever logs."""

# Beam and our loop run steps in threads that know nothing of the span that they belong to.
_around: Any = None


@contextmanager
def span(name: str, **attributes: Any) -> Iterator[Any]:
    """Run the context in a span; yields it, or None where nobody traces. Attributes of None are
    left out. An error that passes is recorded in the span."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        yield None
        return
    inside = trace.get_current_span().get_span_context().is_valid
    tracer = trace.get_tracer(NAME)
    known = {key: value for key, value in attributes.items() if value is not None}
    context = None if inside else _around
    with tracer.start_as_current_span(name, context=context, attributes=known) as current:
        yield current


@contextmanager
def around(name: str, **attributes: Any) -> Iterator[Any]:
    """The same; and spans of other threads of this process belong to this one until it ends."""
    global _around
    with span(name, **attributes) as current:
        before = _around
        if current is not None:
            _around = sys.modules["opentelemetry.trace"].set_span_in_context(current)
        try:
            yield current
        finally:
            _around = before


class step:
    """Run the context as a step of that name, in a span of its own."""

    __slots__ = ("_attributes", "_name", "_span", "_token")

    def __init__(self, name: str, **attributes: Any) -> None:
        self._name = name
        self._attributes = attributes
        self._span: AbstractContextManager[Any] | None = None

    def __enter__(self) -> Any:
        self._token = STEP.set(self._name)
        if "opentelemetry.trace" not in sys.modules:
            return None
        self._span = span(f"{NAME}.{self._name}", **self._attributes)
        return self._span.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        try:
            return self._span.__exit__(kind, error, trace) if self._span else None
        finally:
            STEP.reset(self._token)


def carried() -> dict[str, str]:
    """Return what tells another process which span its own belong to; {} where nobody traces."""
    found: dict[str, str] = {}
    if "opentelemetry.trace" in sys.modules:
        from opentelemetry import propagate

        propagate.inject(found)
    return found


def belong_to(carrier: Mapping[str, str]) -> None:
    """Let the spans of this process belong to the one that another process told."""
    global _around
    if carrier:
        from opentelemetry import propagate

        _around = propagate.extract(carrier)


def flush() -> None:
    """Send what is collected: a worker process may be ended without notice."""
    trace = sys.modules.get("opentelemetry.trace")
    flush_all = getattr(trace.get_tracer_provider(), "force_flush", None) if trace else None
    if flush_all is not None:
        flush_all()
