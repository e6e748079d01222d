"""List the runs of a folder, finished, running or stopped (`ufo status`).

An attempt's `process.json` names the process that works on it; its finished chunks show the
progress. Nothing is written or locked.
"""

import argparse
import os
import re
import socket
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from textwrap import fill
from typing import Any

from filelock import FileLock

from ufo.pipelines.commands.output import AS_JSON, add_directory, declare, print_json
from ufo.pipelines.options.option import Option
from ufo.pipelines.runs.attempt import fingerprint_in, process_in
from ufo.pipelines.runs.engine import CHUNK, started_job
from ufo.pipelines.runs.progress import duration
from ufo.schemas import storage
from ufo.schemas.errors import EXIT_DONE, RunError, UsageError, damaged_part
from ufo.schemas.file_systems import is_remote
from ufo.schemas.run_folders import (
    RunFolder,
    existing_folder,
    run_folder_message,
    runs_below,
    runs_of,
)
from ufo.schemas.tables import Manifest, damage_of, manifest_of, time_of
from ufo.schemas.text import quantity, shell_command
from ufo.transforms.llm.batch_store import BatchStore

Status = dict[str, Any]
"""The state of a run: its folder, progress, times (UTC), and the command to continue it (`next`).

`directory` is the folder to give to other commands as DIR: the run is `run=NAME` in it.

`chunks` of `of_chunks` are finished, with `lines` of `of_lines` of the input; a total of None is
unknown, as for compressed input. `rows` counts the rows of a finished run. `changed_at` is when the
last chunk, or the run, was finished. On an engine (`runner`) a run is one `job` instead of chunks,
and the engine shows its progress. `batches` are the open batches at a model's provider
(`ufo.transforms.llm.batch_store.Batch`). `checked` is the result of `--check`.
"""

FINISHED, RUNNING, STOPPED, ELSEWHERE = "finished", "running", "stopped", "elsewhere"
"""The states of a run. With `elsewhere` another machine evaluates it, and may still do so."""
DAMAGED = "damaged"
"""The state of a run with files that cannot be read, or have changed."""
_UNKNOWN = "cannot be verified: the manifest of the run has no checksums"

_NOUNS = {"responses": "response", "units": "claim", "failures": "failure"}
_NOUNS_OF_RECALL = _NOUNS | {"responses": "record", "units": "fact", "answers": "answer"}

_RUN_OF = re.compile(r".*?[/\\]run=[^/\\]+(?=[/\\])")
_ATTEMPT = re.compile(r"(.*\.attempt-([0-9a-f]+))[/\\]attempt\.json")
_DONE = re.compile(r".*[/\\]\d+[/\\]done\.json")
_WIDTH = 72  # of lines, except commands and paths, which are to be copied whole
_FIELDS = (
    "run",
    "state",
    "directory",
    "folder",
    "started_at",
    "changed_at",
    "host",
    "pid",
    "chunks",
    "of_chunks",
    "lines",
    "of_lines",
    "rows",
    "next",
    "runner",
    "job",
    "checked",
    "batches",
)


def register(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "status",
        description="List the runs of a folder and of those below it, finished, running or "
        "stopped, with chunks, counts, start time, and the command that resumes a run. Runs below "
        "stand under the folder to give to other commands: these look in their DIR alone. Writes "
        "nothing.",
    )
    add_directory(parser)
    check = "read the part files of finished runs, and compare them with their checksums"
    declare(parser, AS_JSON, Option("check", bool, check))
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Print the runs; return the exit code."""
    runs = statuses(arguments.directory, arguments.check)
    if arguments.json:
        print_json(runs)
    elif not runs:
        print(f"no run in {arguments.directory}; 'ufo evaluate --output' writes one")
    else:
        print("\n".join(_by_folder(runs, arguments.directory)))
    damaged = [status["next"] for status in runs if status["state"] == DAMAGED]
    if damaged:
        raise RunError("\n".join(damaged))
    return EXIT_DONE


def statuses(output: str, check: bool = False) -> list[Status]:
    """Return the runs of a folder and those below it, sorted by folder and last change.

    With `check` the part files of finished runs are compared with their checksums.

    Raises:
        UsageError: there is no such folder, or it is the folder of one run.
    """
    if not is_remote(output):
        existing_folder(output)
    if of_one := run_folder_message(output):
        raise UsageError(of_one)
    runs = []
    for run, paths in _runs_with_files(output):
        about: Status = {"run": run.name, "directory": run.directory, "folder": run.folder}
        about |= {"rows": {}, "checked": ""}
        runs += [dict.fromkeys(_FIELDS) | about | status for status in _of_run(run, paths, check)]
    return sorted(runs, key=_sort_key)


def _runs_with_files(output: str) -> Iterator[tuple[RunFolder, list[str]]]:
    """Yield the runs of a folder and of those below it, each with the paths of its files."""
    if not is_remote(output):
        for run in runs_below(output):
            yield run, storage.files_below(run.folder)
        return
    files = storage.files_below(output)
    by_folder = defaultdict[str, list[str]](list)
    for path in files:
        if match := _RUN_OF.match(path):
            by_folder[match[0]].append(path)
    for run in runs_of(output, files):
        yield run, by_folder[run.folder]


def _sort_key(status: Status) -> tuple[str, str, str]:
    changed = status["changed_at"] or status["started_at"] or ""
    return status["directory"], changed, status["run"]


def _by_folder(runs: Sequence[Status], directory: str) -> Iterator[str]:
    """Yield the lines to print, with the runs of other folders under their folder."""
    for at, (folder, of_folder) in enumerate(groupby(runs, key=itemgetter("directory"))):
        if at:
            yield ""
        if os.path.normpath(folder) != os.path.normpath(directory):
            yield f"in {folder}:"
        for status in of_folder:
            yield from lines_of(status)


def _of_run(run: RunFolder, paths: Sequence[str], check: bool) -> list[Status]:
    """Return the finished run in a folder, and its unfinished attempts.

    The manifest is read last: a run that is finished meanwhile has one once its attempt is deleted.
    """
    folder = run.folder
    attempts = {}
    for path in paths:
        if match := _ATTEMPT.fullmatch(path):
            status = _of_attempt(folder, match[1], path, paths)
            if status is not None:
                attempts[match[2]] = status
    try:
        finished = manifest_of(folder)
    except RunError as error:
        return [{"state": DAMAGED, "next": str(error)}]
    if not finished:
        return list(attempts.values())
    attempts.pop(finished["attempt"], None)
    return [_of_finished(run, finished, check, set(paths)), *attempts.values()]


def _of_finished(run: RunFolder, manifest: Manifest, check: bool, paths: Collection[str]) -> Status:
    folder = run.folder
    status: Status = {
        "state": FINISHED,
        "changed_at": time_of(manifest).isoformat(),
        "rows": manifest["counts"],
        "next": shell_command(("ufo", "report", run.directory, "--run", run.name)),
    }
    tables = manifest["tables"].values()
    damage = damage_of(folder, manifest["tables"]) if check else []
    listed = (storage.join(folder, file) for table in tables for file in table["files"])
    gone = (path for path in listed if path not in paths)
    # Files may have been moved here since the folder was listed.
    if not check and (missing := next((path for path in gone if not storage.exists(path)), None)):
        damage = [damaged_part(missing, "it is gone").message]
    if damage:
        status |= {"state": DAMAGED, "next": "\n".join(damage)}
    elif check:
        known = all(len(table.get("sha256", ())) == len(table["files"]) for table in tables)
        status["checked"] = "every part file is what was written" if known else _UNKNOWN
    return status


def _of_attempt(run_folder: str, folder: str, note: str, paths: Sequence[str]) -> Status | None:
    """Return the status of an attempt; None if it was deleted meanwhile."""
    try:
        fingerprint = fingerprint_in(note)
        process = process_in(folder)
        on_engine = started_job(storage.join(folder, "chunks", CHUNK))
    except RunError as error:
        return {"state": DAMAGED, "folder": folder, "next": error.message}
    if fingerprint is None:
        return None
    chunk_size = fingerprint["chunk_size"]
    state, advice = _state(process, run_folder)
    lines = process.get("lines")
    about = {"state": state, "folder": folder, "of_lines": lines, "next": advice}
    about |= {name: process.get(name) for name in ("started_at", "host", "pid")}
    if on_engine is not None:
        return about | {"runner": on_engine.runner, "job": on_engine.name}
    done = [path for path in paths if path.startswith(folder) and _DONE.fullmatch(path)]
    if done and not is_remote(folder):
        newest = datetime.fromtimestamp(max(map(os.path.getmtime, done)), UTC)
        about["changed_at"] = newest.isoformat(timespec="seconds")
    n_lines = len(done) * chunk_size
    if state != ELSEWHERE and (path := process.get("batches")) and os.path.exists(path):
        with closing(BatchStore(path, storage.absolute(run_folder))) as store:
            about["batches"] = [
                {**asdict(batch), "endpoint": batch.endpoint.shown_url}
                for batch in store.under_way()
            ]
    return about | {
        "chunks": len(done),
        "of_chunks": -(-lines // chunk_size) if lines is not None else None,
        "lines": min(n_lines, lines if lines is not None else n_lines),
    }


def _state(process: Mapping[str, Any], run_folder: str) -> tuple[str, str]:
    """Return the state of an attempt, from the file of its process, and advice on the next step."""
    if process and process["host"] != socket.gethostname():
        return ELSEWHERE, f"it was started on {process['host']}; look there whether it runs"
    if process and _alive(process["pid"]) and _locked(run_folder):
        return RUNNING, f"kill {process['pid']} stops it; what is finished is kept"
    if words := process.get("command"):
        return STOPPED, shell_command(("ufo", *words))
    return STOPPED, "the same command or call, with the same input, completes it"


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True  # another user's
    except OSError:
        return False
    return True


def _locked(run_folder: str) -> bool:
    """Return whether a process holds the run's lock; the process id may have been reused."""
    lock = os.path.join(run_folder, ".lock")
    if is_remote(run_folder) or not os.path.exists(lock):
        return is_remote(run_folder)
    try:
        with FileLock(lock, timeout=0):
            return False
    except OSError:  # held, or in a folder that this user may not write to
        return True


def lines_of(status: Status) -> list[str]:
    """Return the lines to print for a run."""
    done = []
    if status["chunks"] is not None:
        done.append(f"{_of(status['chunks'], status['of_chunks'], 'chunk')}")
    if status["of_lines"] is not None or status["chunks"] is not None:
        done.append(f"{_of(status['lines'], status['of_lines'], 'record')}")
    nouns = _NOUNS_OF_RECALL if "answers" in status["rows"] else _NOUNS
    done += (quantity(count, nouns[name]) for name, count in status["rows"].items())
    texts = {
        "host": f"{status['host']}, process {status['pid']}" if status["host"] else "",
        "done": fill(", ".join(done), _WIDTH, subsequent_indent=" " * 8),
        "job": f"{status['job']} on {status['runner']}" if status["job"] else "",
        "since": status["started_at"],
        "last": status["changed_at"],
        "check": status["checked"],
        "next": status["next"],
    }
    shown = [f"  {name:<6}{text}" for name, text in texts.items() if text]
    shown += [f"  batch {_batch(one)}" for one in status["batches"] or ()]
    return [f"{status['run']}  {status['state']}", *shown]


def _batch(batch: Mapping[str, Any]) -> str:
    done = f"{max(batch['done'], 0):,} of {quantity(batch['requests'], 'request')} done"
    age = duration(time.time() - batch["submitted"])
    name = batch["id"] or "not known to be accepted"
    return f"{name}: round {batch['round']}, {done}, {age} old"


def _of(count: int | None, total: int | None, noun: str) -> str:
    done = count or 0
    return quantity(done, noun) if total is None else f"{done:,} of {quantity(total, noun)}"
