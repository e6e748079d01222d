"""Make the job of a run, which every worker gets, from the settings."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ufo.pipelines.options.choose_sources import choose_sources
from ufo.pipelines.options.command_line import settings_of
from ufo.pipelines.options.groups import OF_TEXT
from ufo.pipelines.options.settings import OPENED_BY_WORKERS, RecallSettings, Settings
from ufo.transforms.job import IN_FLIGHT, Job
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.sources.fact_source import FactSource, SourceSpec

if TYPE_CHECKING:
    from ufo.transforms.recall.recallers import RecallJob


def job_of(
    settings: Settings,
    sources: Sequence[SourceSpec],
    client: ClientSettings | None = None,
    run: str | None = None,
    usage_log: str | None = None,
) -> Job:
    """Return the job of a run; `client` has the settings of the clients, `run` is its id."""
    return Job(
        sources=tuple(sources),
        flags=settings.source_flags(),
        context=settings.source_context(client, run),
        judge=settings.judge_spec(client),
        units=settings.units,
        mode=settings.mode,
        tie=settings.tie,
        max_line_bytes=settings.max_line_bytes,
        columns=settings.map or {},
        usage_log=usage_log,
        in_flight=max(IN_FLIGHT, 4 * settings.concurrency),
        secrets=settings.secrets or {},
        paths=OPENED_BY_WORKERS,
    )


def recall_job_of(
    settings: RecallSettings, client: ClientSettings | None, usage_log: str | None
) -> "RecallJob":
    """Return the job of a recall run."""
    from ufo.transforms.recall.recallers import RecallJob  # slow to import

    return RecallJob(
        sources=(),
        judge=settings.judge_spec(client),
        mode="recall",
        max_line_bytes=settings.max_line_bytes,
        usage_log=usage_log,
        in_flight=max(IN_FLIGHT, 4 * settings.concurrency),
        formulations=settings.formulations,
    )


def job_of_text(
    values: Mapping[str, Any], sources: Sequence[str | Mapping[str, Any] | FactSource] | None
) -> Job:
    """Return the job of checking one text; it needs no pipeline.

    Raises:
        UsageError: an option or a source is wrong, or a source named is not configured.
    """
    settings = settings_of(values, sources, OF_TEXT)
    return job_of(settings, choose_sources(settings).specs)
