"""Check one text in this process, without Beam, for `ufo.check` and `ufo check`."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from ufo.pipelines.options.jobs import job_of_text
from ufo.pipelines.reports.check_settings import check_settings_of
from ufo.pipelines.reports.evaluation import Check
from ufo.pipelines.runs.program_input import line_of
from ufo.schemas.errors import RunError, UsageError
from ufo.schemas.records import Failure
from ufo.transforms.check_text import check_text, open_plugins
from ufo.transforms.job import Job
from ufo.transforms.llm.request import Client, LlmError
from ufo.transforms.loop import process_loop
from ufo.transforms.read import parse
from ufo.transforms.sources.fact_source import FactSource


async def check(
    text: str,
    question: str | None,
    references: Sequence[str],
    sources: Sequence[str | Mapping[str, Any] | FactSource] | None,
    options: Mapping[str, Any],
    client: Client | None = None,
) -> Check:
    """Check a text, as `ufo.check` explains.

    Raises:
        UsageError: an option or a source is wrong, or the text is empty.
        RunError: a model cannot be asked.
    """
    checked = _check(text, question, references, job_of_text(options, sources), client)
    # On the process's own loop, where connections to models and searches are kept.
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(checked, process_loop()))


async def _check(
    text: str, question: str | None, references: Sequence[str], job: Job, client: Client | None
) -> Check:
    fields = {"response": text, "question": question, "reference_answers": references}
    record = parse("text", line_of(fields).encode())
    if isinstance(record, Failure):
        raise UsageError(record.message)
    try:
        async with open_plugins(job, client) as (sources, judge):
            rows = await check_text(record, sources, judge, job)
            return Check(rows, check_settings_of(job))
    except LlmError as error:
        raise RunError(error.message) from error
