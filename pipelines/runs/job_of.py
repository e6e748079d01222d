"""What a run is made of: the job that its workers get, and the fingerprint of its results."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pipelines.options.command_line import settings_of
from pipelines.options.settings import Settings
from pipelines.runs.inputs import InputFile
from pipelines.runs.plan import MOST_LINES, even_chunks
from pipelines.runs.sources import Chosen, choose
from pipelines.version import VERSION
from schemas.tables import SCHEMA_VERSION
from transforms.job import IN_FLIGHT, Job
from transforms.sources.base import FactSource
from transforms.sources.registry import located

if TYPE_CHECKING:
    from transforms.llm.client import ClientSettings


def job_of(
    settings: Settings,
    chosen: Chosen,
    client: "ClientSettings | None",
    run: str,
    usage_log: str | None = None,
) -> Job:
    """Return what the steps of a run are told; `client` is how models are reached, `run` its id."""
    return Job(
        sources=tuple(map(located, chosen.specs)),
        flags=settings.source_flags(),
        context=settings.source_context(client, run),
        judge=settings.judge_spec(client),
        units=settings.units,
        mode=settings.mode,
        tie=settings.tie,
        max_line_bytes=settings.max_line_bytes,
        usage_log=usage_log,
        in_flight=max(IN_FLIGHT, 4 * settings.concurrency),
        secrets=settings.secrets or {},
    )


def job_of_text(
    values: Mapping[str, Any], sources: Sequence[str | Mapping[str, Any] | FactSource] | None
) -> Job:
    """Return the job of one text, of which `settings_of` checks the options; it needs no pipeline.

    Raises:
        UsageError: an option or a source is wrong, or a source named can serve nobody.
    """
    chosen = settings_of({"input": "-", "output": "-", **values}, sources)
    return Job(
        sources=choose(chosen).specs,
        flags=chosen.source_flags(),
        context=chosen.source_context(),
        judge=chosen.judge_spec(),
        units=chosen.units,
        mode=chosen.mode,
        tie=chosen.tie,
    )


def usual_chunk_size(files: Sequence[InputFile], asks_models: bool) -> int:
    """Return how many lines a chunk of these files has where nobody says."""
    # Who waits for a model is best off with many responses at once, however few there are.
    if asks_models or not all(file.counted for file in files):
        return MOST_LINES
    return even_chunks(sum(file.lines for file in files))


def fingerprint_of(
    settings: Settings, chosen: Chosen, files: Sequence[InputFile], chunk_size: int
) -> dict[str, Any]:
    """Return what the results are a function of, as plain JSON; equal ones have equal results."""
    found = {
        "inputs": [{"name": f.name, "size": f.size, "sha256": f.sha256} for f in files],
        "options": settings.affecting(),
        "sources": [dict(item) for item in chosen.fingerprint],
        "chunk_size": chunk_size,
        "schema_version": SCHEMA_VERSION,
        "ufo_version": VERSION,
    }
    plain: dict[str, Any] = json.loads(json.dumps(found, default=str))
    return plain
