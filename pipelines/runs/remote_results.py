"""Open finished runs by path or URI; remote ones are downloaded into a cache first.

Part files never change, so each is downloaded once; manifests and labels are compared each time.
Only the tables that are needed are downloaded.
"""

import glob
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from filelock import FileLock

from ufo.schemas import storage
from ufo.schemas.cache_folder import kept_folder
from ufo.schemas.errors import RunError, UfoError, reason_of
from ufo.schemas.file_systems import RemoteError, command_error, is_remote
from ufo.schemas.results import Results
from ufo.schemas.run_folders import RunNotFound, why_not_found
from ufo.schemas.run_folders import choose_runs as choose_here
from ufo.schemas.tables import BESIDE_RUNS, MANIFEST, RUN_PREFIX, Run
from ufo.schemas.views import tables_of, with_needs

_AT_ONCE = 8


def open_results(
    directory: str | Path,
    run: str | None = None,
    all_runs: bool = False,
    *,
    only: Iterable[str] | None = None,
    reports: str | Path | None = None,
    threshold: float | None = None,
) -> Results:
    """Return the results of a run like `ufo.schemas.results.open_results`, also of a remote folder.

    Raises:
        UsageError, RunError: as in that function; also if the folder cannot be reached.
    """
    tables = None if only is None else tables_of(with_needs(only))
    runs = choose_runs(directory, run, all_runs, tables)
    if tables is not None:
        runs = [_with(one, tables) for one in runs]
    return Results(runs, reports, threshold)


def choose_runs(
    directory: str | Path,
    run: str | None = None,
    all_runs: bool = False,
    tables: Collection[str] | None = (),
) -> list[Run]:
    """Return runs like `ufo.schemas.run_folders.choose_runs`, also of a remote folder.

    `tables` names the tables whose part files are needed, None for all.
    """
    there = str(directory)
    if not is_remote(there):
        return choose_here(directory, run, all_runs)
    there = there.rstrip("/")
    here = kept_folder("runs", sha256(there.encode()).hexdigest()[:16])
    with _named(here, there), FileLock(here / ".lock"):
        only = f"{RUN_PREFIX}{run}/{MANIFEST}"
        if run is not None and storage.exists(storage.join(there, only)):
            _download(here, there, [only])
        else:
            _sync(here, there, f"{RUN_PREFIX}*/{MANIFEST}")
        try:
            runs = choose_here(here, run, all_runs)
        except RunNotFound as error:
            # The copy has only the finished runs of the folder itself.
            raise RunNotFound(why_not_found(there, [] if run is None else [run])) from error
        for table in BESIDE_RUNS:
            _sync(here, there, f"{table}/*.parquet")
        if tables is not None:
            runs = [_with(one, tables) for one in runs]
        _download_parts(here, there, runs)
    return runs


def _with(run: Run, tables: Collection[str]) -> Run:
    return replace(run, files={name: run.files[name] for name in run.files if name in tables})


@contextmanager
def _named(here: Path, there: str) -> Iterator[None]:
    """Replace the path of the local copy in error messages by the remote folder."""
    try:
        yield
    except UfoError as error:
        raise type(error)(error.message.replace(str(here), there)) from error
    except RemoteError as error:
        raise command_error(f"{there!r} cannot be read: {reason_of(error)}", error) from error
    except OSError as error:
        raise RunError(f"{there!r} cannot be read: {error}") from error


def _sync(here: Path, there: str, pattern: str) -> None:
    """Download the files that match, and delete copies of files that have gone there."""
    paths = storage.matches(storage.join(glob.escape(there), pattern))
    names = [path[len(there) + 1 :] for path in paths]
    for path in here.glob(pattern):
        if path.relative_to(here).as_posix() not in names:
            path.unlink()
    _download(here, there, names)


def _download_parts(here: Path, there: str, runs: Sequence[Run]) -> None:
    missing = []
    for run in runs:
        listed = {path for paths in run.files.values() for path in paths}
        missing += [path.relative_to(here).as_posix() for path in listed if not path.exists()]
    _download(here, there, sorted(missing))


def _download(here: Path, there: str, names: Sequence[str]) -> None:
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        jobs = [
            threads.submit(storage.fetch, storage.join(there, name), here / name) for name in names
        ]
        try:
            for job in jobs:
                job.result()
        finally:
            for job in jobs:
                job.cancel()
