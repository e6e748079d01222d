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
from ufo.schemas.cache_folder import cached_folder
from ufo.schemas.errors import RunError, UfoError, reason_of
from ufo.schemas.file_systems import RemoteError, command_error, is_remote
from ufo.schemas.results import Results
from ufo.schemas.run_folders import RunNotFound, why_not_found
from ufo.schemas.run_folders import choose_runs as choose_local_runs
from ufo.schemas.tables import BESIDE_RUNS, MANIFEST, RUN_PREFIX, Run
from ufo.schemas.views import tables_of, views_with_needs

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
    tables = None if only is None else tables_of(views_with_needs(only))
    runs = choose_runs(directory, run, all_runs, tables)
    if tables is not None:
        runs = [_only_tables(one, tables) for one in runs]
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
    remote = str(directory)
    if not is_remote(remote):
        return choose_local_runs(directory, run, all_runs)
    remote = remote.rstrip("/")
    local = cached_folder("runs", sha256(remote.encode()).hexdigest()[:16])
    with _name_remote(local, remote), FileLock(local / ".lock"):
        only = f"{RUN_PREFIX}{run}/{MANIFEST}"
        if run is not None and storage.exists(storage.join(remote, only)):
            _download(local, remote, [only])
        else:
            _sync(local, remote, f"{RUN_PREFIX}*/{MANIFEST}")
        try:
            runs = choose_local_runs(local, run, all_runs)
        except RunNotFound as error:
            # The copy has only the finished runs of the folder itself.
            raise RunNotFound(why_not_found(remote, [] if run is None else [run])) from error
        for table in BESIDE_RUNS:
            _sync(local, remote, f"{table}/*.parquet")
        if tables is not None:
            runs = [_only_tables(one, tables) for one in runs]
        _download_parts(local, remote, runs)
    return runs


def _only_tables(run: Run, tables: Collection[str]) -> Run:
    return replace(run, files={name: run.files[name] for name in run.files if name in tables})


@contextmanager
def _name_remote(local: Path, remote: str) -> Iterator[None]:
    """Replace the path of the local copy in error messages by the remote folder."""
    try:
        yield
    except UfoError as error:
        raise type(error)(error.message.replace(str(local), remote)) from error
    except RemoteError as error:
        raise command_error(f"{remote!r} cannot be read: {reason_of(error)}", error) from error
    except OSError as error:
        raise RunError(f"{remote!r} cannot be read: {error}") from error


def _sync(local: Path, remote: str, pattern: str) -> None:
    """Download the files that match, and delete copies of files that are gone from the remote."""
    paths = storage.matches(storage.join(glob.escape(remote), pattern))
    names = [path[len(remote) + 1 :] for path in paths]
    for path in local.glob(pattern):
        if path.relative_to(local).as_posix() not in names:
            path.unlink()
    _download(local, remote, names)


def _download_parts(local: Path, remote: str, runs: Sequence[Run]) -> None:
    missing = []
    for run in runs:
        listed = {path for paths in run.files.values() for path in paths}
        missing += [path.relative_to(local).as_posix() for path in listed if not path.exists()]
    _download(local, remote, sorted(missing))


def _download(local: Path, remote: str, names: Sequence[str]) -> None:
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        jobs = [
            threads.submit(storage.fetch, storage.join(remote, name), local / name)
            for name in names
        ]
        try:
            for job in jobs:
                job.result()
        finally:
            for job in jobs:
                job.cancel()
