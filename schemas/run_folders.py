"""Find the runs in a folder or below it, also for the message on a missing run.

A run is the folder `DIR/run=NAME`: finished if it has a manifest, else unfinished if it has an
attempt. Every command takes DIR and looks for NAME in DIR itself, never below. So a message on a
missing run names the folder to give instead.
"""

import logging
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from ufo.schemas import storage
from ufo.schemas.errors import RunError, UsageError
from ufo.schemas.file_systems import is_remote
from ufo.schemas.tables import MANIFEST, RUN_PREFIX, Run, run_in
from ufo.schemas.text import quantity

_LOG = logging.getLogger("ufo")
_ATTEMPT_PREFIX = ".attempt-"
_RUN_OF = re.compile(rf"[/\\]{RUN_PREFIX}([^/\\]+)[/\\]")
# A message looks into so many folders at most: DIR may be a home folder by mistake.
_MOST_FOLDERS = 5_000
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run in a folder: the folder that commands take, its name, and whether it is finished.

    A run that is finished may also have an attempt that is not.
    """

    directory: str
    name: str
    finished: bool

    @property
    def folder(self) -> str:
        """The run's own folder."""
        return storage.join(self.directory, f"{RUN_PREFIX}{self.name}")


class RunNotFound(UsageError):
    """A folder has no run of a name, or no finished run at all."""


# --- discovery -----------------------------------------------------------------------------------


def runs_below(directory: str, most_folders: int | None = None) -> list[RunFolder]:
    """Return the runs in and below a folder, finished or not, ordered by folder and name.

    Hidden folders, and folders in the folder of a run, are not looked into. Folders are looked into
    level by level, `most_folders` of them at most.
    """
    if is_remote(directory):
        return runs_of(directory, storage.files_below(directory))
    runs = _runs_here(str(Path(directory)), most_folders)
    return sorted(runs, key=lambda run: (run.directory, run.name))


def _runs_here(directory: str, most: int | None) -> Iterator[RunFolder]:
    waiting, seen = deque([directory]), set[str]()
    while waiting and (most is None or len(seen) < most):
        folder = waiting.popleft()
        real = os.path.realpath(folder)
        if real in seen:  # a link to a folder above it
            continue
        seen.add(real)
        for name in _folders_in(folder):
            path = os.path.join(folder, name)
            if not name.startswith(RUN_PREFIX):
                if not name.startswith("."):
                    waiting.append(path)
                continue
            finished = os.path.exists(os.path.join(path, MANIFEST))
            if finished or any(one.startswith(_ATTEMPT_PREFIX) for one in _folders_in(path)):
                yield RunFolder(folder, name.removeprefix(RUN_PREFIX), finished)


def _folders_in(folder: str) -> list[str]:
    """Return the names of the folders in a folder; none if it is gone, or may not be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        return []


def runs_of(directory: str, files: Iterable[str]) -> list[RunFolder]:
    """Return the runs in and below a remote folder, from the paths of all its files."""
    directory = directory.rstrip("/")
    finished: dict[tuple[str, str], bool] = {}
    for path in files:
        match = _RUN_OF.search(path, len(directory))
        if match is None or "/." in path[len(directory) : match.start()]:
            continue
        key, rest = (path[: match.start()], match[1]), path[match.end() :]
        if rest == MANIFEST:
            finished[key] = True
        elif rest.startswith(_ATTEMPT_PREFIX):
            finished.setdefault(key, False)
    return [RunFolder(*key, is_finished) for key, is_finished in sorted(finished.items())]


def finished_runs(directory: str | Path) -> list[Run]:
    """Return the finished runs of a folder, from the oldest to the newest.

    A run with a manifest that is damaged, or newer than this version can read, is left out, with a
    warning.

    Raises:
        UsageError: the folder does not exist.
    """
    runs, damaged = _runs_in(existing_folder(directory))
    for error in damaged:
        _LOG.warning(error.message)
    return runs


def choose_runs(directory: str | Path, run: str | None = None, all_runs: bool = False) -> list[Run]:
    """Return the finished run of that name, or all runs, or by default the newest; at least one.

    Raises:
        UsageError: the folder does not exist, or has no finished run (`RunNotFound`), or none of
            that name (the same).
        RunError: the run of that name, or every run, is damaged or newer than this version can
            read.
    """
    root = existing_folder(directory)
    if run is not None:
        chosen = run_in(root / f"{RUN_PREFIX}{run}")
        if chosen is not None:
            return [chosen]
        raise RunNotFound(why_not_found(str(directory), [run]))
    runs, damaged = _runs_in(root)
    for error in damaged:
        if not runs:
            raise error
        _LOG.warning(error.message)
    if not runs:
        raise RunNotFound(why_not_found(str(directory)))
    return runs if all_runs else runs[-1:]


def _runs_in(root: Path) -> tuple[list[Run], list[RunError]]:
    """Return the finished runs of a folder, the oldest first, and the errors of damaged ones."""
    runs, damaged = [], []
    for folder in sorted(root.glob(f"{RUN_PREFIX}*")):
        try:
            run = run_in(folder)
        except RunError as error:
            damaged.append(error)
            continue
        if run is not None:
            runs.append(run)
    return sorted(runs, key=lambda run: (run.finished_at, run.name)), damaged


def existing_folder(directory: str | Path) -> Path:
    """Return a folder of this machine.

    Raises:
        UsageError: it does not exist, is not a folder, or is not on this machine.
    """
    root = Path(directory)
    storage.check_name("the folder", str(directory))
    if is_remote(str(directory)):
        raise UsageError(
            f"{str(directory)!r} is not on this machine: copy the folder of the run here first, "
            "for example by 'gcloud storage cp -r'"
        )
    if not root.is_dir():
        what = "is not a folder" if root.exists() else "does not exist"
        raise UsageError(
            f"{str(root)!r} {what}; give the --output folder of an earlier 'ufo evaluate'."
        )
    return root


# --- what to say ---------------------------------------------------------------------------------


def why_not_found(directory: str, names: Sequence[str] = ()) -> str:
    """Return the message for a folder without one of these runs, or without any finished run.

    It names the folder to give instead, or the nearest name."""
    directory = directory.rstrip("/\\") or directory
    runs = runs_below(directory, _MOST_FOLDERS)
    here = {run.name: run for run in runs if _same(run.directory, directory)}
    below = [run for run in runs if run.finished and not _same(run.directory, directory)]
    if of_one := run_folder_message(directory):
        return of_one
    if not names:
        return _nothing_in(directory, list(here), below)
    missing = [name for name in names if name not in here or not here[name].finished]
    unfinished = [name for name in missing if name in here]
    if unfinished:
        return (
            f"run {unfinished[0]!r} in {directory!r} is not finished, and only finished runs can "
            f"be read; 'ufo status {directory}' shows how far it is, and the command that "
            "completes it."
        )
    places = {name: [run.directory for run in below if run.name == name] for name in missing}
    if all(places.values()):
        return _elsewhere(directory, names, places)
    lost = next(name for name in missing if not places[name])
    return _unknown(directory, lost, [name for name, run in here.items() if run.finished], below)


def run_folder_message(directory: str) -> str:
    """Return the message for a folder that is itself a run; "" for any other folder."""
    name = Path(directory).absolute().name
    if not name.startswith(RUN_PREFIX):
        return ""
    run = name.removeprefix(RUN_PREFIX)
    return f"{directory!r} is the folder of one run; give its parent, and --run {run}."


def _same(folder: str, other: str) -> bool:
    return folder == other or os.path.normpath(folder) == os.path.normpath(other)


def _nothing_in(directory: str, unfinished: Sequence[str], below: Sequence[RunFolder]) -> str:
    if below:
        return (
            f"no finished run in {directory!r} itself, but in folders below it; give one of them: "
            f"{_listed([_with_runs(one, below) for one in _folders(below)], '; ')}."
        )
    if unfinished:
        return (
            f"no finished run in {directory!r}, only unfinished ones: {_listed(unfinished)}. The "
            f"same 'ufo evaluate' command completes them; 'ufo status {directory}' shows it."
        )
    return f"no finished run in {directory!r}; 'ufo evaluate --output {directory}' writes one."


def _folders(runs: Sequence[RunFolder]) -> list[str]:
    return list(dict.fromkeys(run.directory for run in runs))


def _with_runs(folder: str, runs: Sequence[RunFolder]) -> str:
    names = [run.name for run in runs if run.directory == folder]
    return f"{folder} ({_listed(names)})"


def _elsewhere(directory: str, names: Sequence[str], places: dict[str, list[str]]) -> str:
    """Return the message for runs that folders below have, with the folder to give."""
    common = set.intersection(*map(set, places.values()))
    if common and len(places) == len(names):
        listed = " and ".join(map(repr, places))
        what, verb = ("run", "is") if len(places) == 1 else ("runs", "are")
        folders = [folder for folder in next(iter(places.values())) if folder in common]
        return (
            f"{what} {listed} {verb} not in {directory!r} itself but in {_either(folders)}: give "
            f"that folder instead of {directory!r}."
        )
    listed = ", ".join(
        f"run {name!r} is in {_either(places.get(name, [directory]))}" for name in names
    )
    return (
        f"{listed}; give runs of one folder, or move the folder 'run=NAME' of one to the other's."
    )


def _either(folders: Sequence[str]) -> str:
    return " and in ".join(map(repr, folders))


def _unknown(directory: str, name: str, here: Sequence[str], below: Sequence[RunFolder]) -> str:
    near = get_close_matches(name, here, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    if not near and (near := get_close_matches(name, [run.name for run in below], 1, 0.5)):
        place = next(run.directory for run in below if run.name == near[0])
        hint = f" Did you mean {near[0]!r} in {place!r}?"
    known = f"allowed: {_listed(here)}" if here else f"there is no finished run in {directory!r}"
    elsewhere = ""
    if below and not near:
        elsewhere = f" The folders below have {quantity(len(below), 'more run')}: "
        elsewhere += f"'ufo status {directory}' lists them."
    return f"unknown run {name!r}; {known}.{hint} Only finished runs can be read.{elsewhere}"


def _listed(names: Sequence[str], between: str = ", ") -> str:
    more = len(names) - _MOST_NAMED
    shown = between.join(names[:_MOST_NAMED])
    return f"{shown} and {more:,} more" if more > 0 else shown
