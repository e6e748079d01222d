"""Keep the runs of a folder open for the requests of a service."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from ufo.schemas.errors import RunError
from ufo.schemas.results import Results
from ufo.schemas.run_folders import runs_below
from ufo.schemas.tables import Run, label_files, run_in
from ufo.webapp.problems import NotFound
from ufo.webapp.run_figures import KnownFigures

_MOST_OPEN = 8


class OpenRuns:
    """The runs of a folder, by name and never by path; the few used last stay open.

    A run of a folder below has the names of the folders on the way before its own, as in
    `folder:run`. Safe to use from several threads. A run that is dropped is closed by the garbage
    collector, once the queries under way have ended.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.figures = KnownFigures()
        self.deleted: dict[str, Path] = {}  # the folder of each run that was deleted, by its name
        self._opened = lru_cache(_MOST_OPEN)(lambda name, *state: Results([self.by_name(name)]))

    def listed(self) -> list[Run]:
        """Return the finished runs in and below the folder, the newest first.

        A folder that does not exist yet has none. Damaged runs are left out."""
        return self.read()[0]

    def read(self) -> tuple[list[Run], dict[str, str]]:
        """Return the finished runs, the newest first, and by name the damage of other runs."""
        runs, damaged = [], {}
        for name, folder in self.folders().items():
            try:
                run = run_in(folder)
            except RunError as error:
                damaged[name] = error.message
            else:
                runs += [replace(run, name=name)] if run else []
        return sorted(runs, key=lambda run: (run.finished_at, run.name), reverse=True), damaged

    def folders(self) -> dict[str, Path]:
        """Return the folder of each finished run by its name, also of those that are damaged."""
        folders = {}
        for run in runs_below(str(self._folder)) if self._folder.is_dir() else []:
            if run.finished:
                within = Path(run.directory).relative_to(self._folder).parts
                folders[":".join([*within, run.name])] = Path(run.folder)
        return folders

    def by_name(self, name: str | None) -> Run:
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
        run = self.by_name(name)
        # Labels are read when a run is opened, so newer labels need it opened anew.
        label_times = [path.stat().st_mtime_ns for path in label_files(run.folder.parent)]
        return self._opened(run.name, run.finished_at, run.title, *label_times)

    def close(self) -> None:
        """Close all runs."""
        self._opened.cache_clear()
