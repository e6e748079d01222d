"""Hold the settings of the service, and the objects that its endpoints share."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Request

from ufo.pipelines.options.command_line import settings_of
from ufo.pipelines.options.groups import OF_TEXT
from ufo.pipelines.options.judge_flags import LLM, default_judge
from ufo.schemas.errors import RunError
from ufo.schemas.results import Results
from ufo.schemas.run_folders import runs_below
from ufo.schemas.tables import Run, label_files, run_in
from ufo.transforms.sources.fact_source import FactSource
from ufo.webapp import trash
from ufo.webapp.kept import ChecksUnderWay, Shelf
from ufo.webapp.limits import ServiceLimits, Slots
from ufo.webapp.problems import NotFound
from ufo.webapp.run_figures import KnownFigures
from ufo.webapp.uploads import Uploads

_MOST_OPEN = 8
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


class OpenRuns:
    """The runs of a folder: looked up by name, never by a path, and the newest few kept open.

    A run of a folder below has the names of the folders on the way before its own, as in
    `folder:run`. Safe to use from several threads. A run that is dropped is closed by the garbage
    collector, once the queries under way have ended.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.figures = KnownFigures()
        self.deleted: dict[str, Path] = {}  # the folder of each run that was deleted, by its name
        self._opened = lru_cache(_MOST_OPEN)(lambda name, *state: Results([self.named(name)]))

    def listed(self) -> list[Run]:
        """Return the finished runs of the folder and of those below it, the newest first. There is
        none where the folder is not there yet. Runs that cannot be read are left out."""
        return self.read()[0]

    def read(self) -> tuple[list[Run], dict[str, str]]:
        """Return the finished runs, the newest first, and by name why others cannot be read."""
        found, damaged = [], {}
        for name, folder in self.folders().items():
            try:
                run = run_in(folder)
            except RunError as error:
                damaged[name] = error.message
            else:
                found += [replace(run, name=name)] if run else []
        return sorted(found, key=lambda run: (run.finished_at, run.name), reverse=True), damaged

    def folders(self) -> dict[str, Path]:
        """Return the folder of each finished run by its name, also of those that are damaged."""
        found = {}
        for run in runs_below(str(self._folder)) if self._folder.is_dir() else []:
            if run.finished:
                within = Path(run.directory).relative_to(self._folder).parts
                found[":".join([*within, run.name])] = Path(run.folder)
        return found

    def named(self, name: str | None) -> Run:
        """Return the finished run of that name; without one the newest.

        Raises:
            NotFound: there is none.
            RunError: it is damaged.
        """
        folder = None if name is None else self.folders().get(name)
        run = folder and run_in(folder)
        if run:
            return replace(run, name=name or run.name)
        runs = self.listed()
        if name is None and runs:
            return runs[0]
        shown = ", ".join(run.name for run in runs[:10]) or "none yet"
        raise NotFound(f"no finished run of that name; finished runs: {shown}")

    def results(self, name: str | None) -> Results:
        """Return the tables and views of the finished run of that name; they stay open.

        Raises:
            NotFound: there is none.
            RunError: its files are damaged.
        """
        run = self.named(name)
        # Labels are read when a run is opened, and come later than it.
        said = [path.stat().st_mtime_ns for path in label_files(run.folder.parent)]
        return self._opened(run.name, run.finished_at, run.title, *said)

    def close(self) -> None:
        """Close all."""
        self._opened.cache_clear()


class Desk:
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
        self.drafts = Shelf(setup.results / ".drafts", "text")
        self.kept = Shelf(setup.results / ".results", "result")
        self.uploads = Uploads(setup.results, setup.evaluate, setup.limits.uploads)

    @property
    def reaches_models(self) -> bool:
        """Whether an endpoint of models is configured."""
        return default_judge(self.settings.base_url) == LLM

    async def tidy(self) -> None:
        """Delete what need not be kept any more, now and every hour."""
        while True:
            for shelf in (self.drafts, self.kept):
                await asyncio.to_thread(shelf.tidy)
            await asyncio.to_thread(trash.empty, self.setup.results / trash.FOLDER)
            await asyncio.sleep(_TIDY_SECONDS)

    async def close(self) -> None:
        """Stop the running uploads, and close the runs."""
        await self.uploads.close()
        self.runs.close()


def desk_of(request: Request) -> Desk:
    """Return the service's state."""
    desk: Desk = request.app.state.desk
    return desk


AtDesk = Annotated[Desk, Depends(desk_of)]
