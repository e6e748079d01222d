"""Keep finished runs open; a run is looked up by name, never by a path."""

import threading
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path

from ufo.schemas.results import Results
from ufo.schemas.runs import RUN_PREFIX, Run, finished_runs
from ufo.schemas.tables import label_files
from ufo.webapp.problems import NotFound

_MOST_OPEN = 8


class OpenRuns:
    """The runs of a folder. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._open: OrderedDict[tuple[str, str, tuple[int, ...]], Results] = OrderedDict()

    def listed(self) -> list[Run]:
        """Return the finished runs of the folder and of those in it, the newest first.

        There is none where the folder is not there yet. A run of a folder in it has that folder's
        name before its own, as in `folder:run`.
        """
        if not self._folder.is_dir():
            return []
        found = finished_runs(self._folder)
        for one in sorted(self._folder.iterdir()):
            if one.is_dir() and not one.name.startswith((RUN_PREFIX, ".")):
                inner = finished_runs(one)
                found += [replace(run, name=f"{one.name}:{run.name}") for run in inner]
        return sorted(found, key=lambda run: (run.finished_at, run.name), reverse=True)

    def named(self, name: str) -> Run:
        """Return the finished run of that name.

        Raises:
            NotFound: there is none.
        """
        runs = self.listed()
        for run in runs:
            if run.name == name:
                return run
        shown = ", ".join(run.name for run in runs[:10]) or "none yet"
        raise NotFound(f"no finished run of that name; finished runs: {shown}")

    def results(self, name: str) -> Results:
        """Return the tables and views of the finished run of that name; they stay open.

        Raises:
            NotFound: there is none.
            RunError: its files are damaged.
        """
        run = self.named(name)
        # Labels are read when a run is opened, and come later than it.
        said = [path.stat().st_mtime_ns for path in label_files(run.folder.parent)]
        key = run.name, run.finished_at.isoformat(), tuple(said)
        with self._lock:
            found = self._open.pop(key, None) or Results([run])
            self._open[key] = found
            while len(self._open) > _MOST_OPEN:
                # Queries under way hold cursors of it, and end before it is collected.
                self._open.popitem(last=False)
        return found

    def pair(self, one: str, other: str) -> Results:
        """Return the tables and views of two runs, to be closed by the garbage collector.

        Raises:
            NotFound: there is no run of such a name.
        """
        return Results([self.named(one), self.named(other)])

    def close(self) -> None:
        """Close all."""
        with self._lock:
            while self._open:
                self._open.popitem()[1].close()
