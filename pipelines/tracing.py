"""Send OpenTelemetry spans, where the environment asks for it by OpenTelemetry's own variables.

`OTEL_TRACES_EXPORTER` (`otlp`, `console`, …) or `OTEL_EXPORTER_OTLP_ENDPOINT` turn it on, as the
OpenTelemetry environment specification has it; a program that has set a tracer provider of its own
is left alone.
"""

import os
from importlib.metadata import entry_points

from ufo.schemas.errors import UsageError
from ufo.schemas.extras import need
from ufo.transforms.llm.spans import NAME

EXPORTER = "OTEL_TRACES_EXPORTER"
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_OF_EXPORTERS = "opentelemetry_traces_exporter"


def trace_where_asked() -> None:
    """Set a tracer provider that sends spans, where the environment names where to; else nothing.

    Raises:
        UsageError: it does, and OpenTelemetry, or the exporter that it names, is not installed.
    """
    name = os.environ.get(EXPORTER) or ("otlp" if any(map(os.environ.get, _ENDPOINTS)) else "none")
    if name == "none" or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return
    need("otel", f"the environment asks for spans ({EXPORTER}={name}), which")
    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    if isinstance(trace.get_tracer_provider(), TracerProvider):
        return
    found = list(entry_points(group=_OF_EXPORTERS, name=name))
    if not found:
        known = sorted(point.name for point in entry_points(group=_OF_EXPORTERS))
        raise UsageError(
            f"{EXPORTER}={name}: no such exporter is installed (there are: {', '.join(known)}); "
            "for otlp: pip install opentelemetry-exporter-otlp"
        )
    # What is in OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES goes before this name.
    service = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": NAME}
    provider = TracerProvider(resource=Resource.create(service))
    provider.add_span_processor(BatchSpanProcessor(found[0].load()()))
    trace.set_tracer_provider(provider)
