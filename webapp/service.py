"""Hold the state that all endpoints of the service share."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Request

from ufo.pipelines.options.command_line import settings_of
from ufo.pipelines.options.groups import OF_TEXT
from ufo.pipelines.options.judge_flags import LLM, default_judge
from ufo.transforms.sources.fact_source import FactSource
from ufo.webapp import trash
from ufo.webapp.checks_under_way import ChecksUnderWay
from ufo.webapp.kept import KeptFiles
from ufo.webapp.limits import ServiceLimits, Slots
from ufo.webapp.open_runs import OpenRuns
from ufo.webapp.uploads import Uploads

_TIDY_SECONDS = 3_600.0


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The set-up of the service.

    - `results`: the folder of runs and uploads.
    - `flags`: options of `ufo evaluate` by name, and `sources` in their order (None: all that can
      serve), for requests that do not set them.
    - `index`: the folder of the index that the source `wikipedia` searches.
    - `evaluate`: a command that takes the flags of `ufo evaluate`; each upload is evaluated by a
      separate process.
    """

    results: Path
    evaluate: Sequence[str]
    version: str
    index: str
    token: str | None
    flags: Mapping[str, Any] = field(default_factory=dict)
    sources: Sequence[str | FactSource] | None = None
    limits: ServiceLimits = field(default_factory=ServiceLimits)


class Service:
    """The service's state: its set-up, the open runs, the uploads and the slots for checks.

    `settings` are those of a request that sets nothing. `drafts` are texts to check, and `kept` the
    results of checks.
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        flags = {**setup.flags, "index": setup.index}
        self.settings = settings_of(flags, setup.sources, OF_TEXT)
        self.runs = OpenRuns(setup.results)
        self.checks = Slots(setup.limits.checks, "checks")
        self.under_way = ChecksUnderWay()
        self.drafts = KeptFiles(setup.results / ".drafts", "text")
        self.kept = KeptFiles(setup.results / ".results", "result")
        self.uploads = Uploads(setup.results, setup.evaluate, setup.limits.uploads)

    @property
    def reaches_models(self) -> bool:
        """Whether an endpoint of models is configured."""
        return default_judge(self.settings.base_url) == LLM

    async def tidy(self) -> None:
        """Delete old drafts, results and trash, now and every hour."""
        while True:
            for files in (self.drafts, self.kept):
                await asyncio.to_thread(files.tidy)
            await asyncio.to_thread(trash.empty, self.setup.results / trash.FOLDER)
            await asyncio.sleep(_TIDY_SECONDS)

    async def close(self) -> None:
        """Stop the running uploads, and close the runs."""
        await self.uploads.close()
        self.runs.close()


def service_of(request: Request) -> Service:
    """Return the service's state."""
    service: Service = request.app.state.service
    return service


ServiceDep = Annotated[Service, Depends(service_of)]
