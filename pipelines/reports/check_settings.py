"""The settings of the check of a response, for the displays of its result."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ufo.transforms.judges.offline import NAME
from ufo.transforms.sources.fact_source import SourceSpec
from ufo.transforms.verifiers.by_name import model_column

if TYPE_CHECKING:
    # See `check_text`: what `ufo` imports does not import `job`.
    from ufo.transforms.job import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    """The settings of a check: the judge and its models, and the sources in their order.

    `models` are used where no row of evidence has its model.
    """

    judge: str
    sources: Sequence[SourceSpec]
    mode: str
    tie: str
    models: Sequence[str] = ()
    run: str | None = None


def check_settings_of(job: "Job") -> CheckSettings:
    """Return the settings of a job's checks."""
    models = [job.judge.llm.model] if job.judge.llm else []
    if job.judge.name == NAME:
        models = [model_column(job.judge.options.get("verifier"))]
    sources = [replace(spec, options={**job.flags, **spec.options}) for spec in job.sources]
    return CheckSettings(
        judge=job.judge.name, sources=sources, mode=job.mode, tie=job.tie, models=models
    )
