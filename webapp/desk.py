"""The settings of the service, and the objects that its endpoints share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Request

from ufo.schemas.records import SourceStatus
from ufo.schemas.results import Results
from ufo.schemas.tables import Label
from ufo.transforms.job import Job
from ufo.webapp.limits import ServiceLimits, Slots
from ufo.webapp.run_routes import OpenRuns
from ufo.webapp.uploads import Uploads

JobOf = Callable[[Mapping[str, Any], Sequence[str] | None], Job]
"""From flags by their names, and names of sources (None: those that can serve). Raises UsageError.
"""

FlagsOf = Callable[[Mapping[str, Any], Sequence[str] | None], Mapping[str, Any]]
"""From the flags and sources of a request to its flags and those of the service."""


Link = Callable[[str, str], str]
"""From a run and the id of a response to the page's address of it."""


@dataclass(frozen=True)
class Pages:
    """What makes HTML of runs.

    `overview` and `comparison` (of two runs, or of two models of one) are to be shown within a
    page; `report` is a page of its own.
    """

    overview: Callable[[Results, Link], str]
    comparison: Callable[[Results, Sequence[str], Link], str]
    report: Callable[[Results], str]


@dataclass(frozen=True)
class Setup:
    """The set-up of the service.

    `results` is the folder of runs and uploads. `evaluate` is a command that takes the flags of
    `ufo evaluate`: uploads are evaluated by a process of their own. `pages` make HTML of
    runs; `columns_of` tells the columns of a file by its first bytes; `keep_label` keeps what a
    person says of a unit beside the runs of a folder.
    `judge` is the default one, and `verifier` judges offline; `model` is the one that the judge
    asks, None where no endpoint is configured.
    `web_retrievers` are those that can serve here.
    `flags_of` adds to the flags of a request those that the service was started with.
    """

    results: Path
    job_of: JobOf
    statuses: Callable[[], Sequence[SourceStatus]]
    evaluate: Sequence[str]
    version: str
    judge: str = "offline"
    verifier: str = ""
    flags_of: FlagsOf = lambda asked, sources: asked
    model: str | None = None
    index: str | None = None
    token: str | None = None
    pages: Pages | None = None
    columns_of: Callable[[bytes], Sequence[str]] = lambda head: ()
    keep_label: Callable[[Path, Label], None] | None = None
    web_retrievers: Sequence[str] = ("bm25",)
    limits: ServiceLimits = field(default_factory=ServiceLimits)


class Desk:
    """The service's state: its set-up, the open runs, and the slots for checks."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.runs = OpenRuns(setup.results)
        self.checks = Slots(setup.limits.checks, "checks")
        self._uploads: Uploads | None = None

    @property
    def uploads(self) -> Uploads:
        """The uploads; used only on the service's event loop."""
        if self._uploads is None:
            setup = self.setup
            self._uploads = Uploads(setup.results, setup.evaluate, setup.limits.uploads)
        return self._uploads

    async def close(self) -> None:
        """Stop the running uploads, and close the runs."""
        if self._uploads is not None:
            await self._uploads.close()
        self.runs.close()


def desk_of(request: Request) -> Desk:
    """Return the service's state."""
    desk: Desk = request.app.state.desk
    return desk


AtDesk = Annotated[Desk, Depends(desk_of)]
