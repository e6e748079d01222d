"""List the runs of a folder, finished, running or stopped (`ufo status`).

An attempt's `process.json` names the process that works on it; its finished chunks show the
progress. Nothing is written or locked.
"""

import argparse
import json
import os
import re
import shlex
import socket
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ufo.pipelines.commands.output import AS_JSON, add_directory, declare, print_json
from ufo.pipelines.options.option import Option
from ufo.pipelines.runs.attempt import PROCESS, Attempt
from ufo.pipelines.runs.engine import CHUNK, started_job
from ufo.pipelines.runs.finish import manifest_of
from ufo.schemas import storage
from ufo.schemas.errors import EXIT_DONE, RunError, UsageError
from ufo.schemas.tables import damage_of

FINISHED, RUNNING, STOPPED, ELSEWHERE = "finished", "running", "stopped", "elsewhere"
"""States of a run. `elsewhere`: another machine evaluates it, and whether it still runs cannot be
seen from here."""
DAMAGED = "damaged"
"""A finished run whose manifest or part files cannot be read, or are not what was written."""
_UNKNOWN = "cannot be verified: the run is of before there were checksums"

_RUN_OF = re.compile(r"[/\\]run=([^/\\]+)[/\\]")
_COUNTED = ("responses", "fact_units", "failures", "recall_records", "recall_facts")


@dataclass(slots=True)
class Status:
    """The state of a run: its folder, progress, times (UTC), and the command to continue it.

    `chunks` are those finished, of `of_chunks` (None: not known, as of compressed input); `lines`
    and `of_lines` of the input likewise. `rows` are those of finished chunks by table. `changed_at`
    is when the last chunk, or the run, was finished.

    On an engine (`runner`) a run is one `job`, not chunks, whose progress the engine shows.
    `checked` says what `--check` found.
    """

    run: str
    state: str
    folder: str
    started_at: str | None = None
    changed_at: str | None = None
    host: str | None = None
    pid: int | None = None
    chunks: int | None = None
    of_chunks: int | None = None
    lines: int | None = None
    of_lines: int | None = None
    rows: Mapping[str, int] = field(default_factory=dict)
    next: str = ""
    runner: str | None = None
    job: str | None = None
    checked: str = ""


def register(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "status",
        description="List the runs of a folder, finished, running or stopped, with "
        "chunks, counts, models, start time, and the command that resumes a run. Writes nothing.",
    )
    add_directory(parser)
    check = "read the part files of finished runs, and compare them with their checksums"
    declare(parser, AS_JSON, Option("check", bool, check))
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Print the runs; returns the exit code."""
    found = statuses(arguments.directory, arguments.check)
    if arguments.json:
        print_json([asdict(status) for status in found])
    elif not found:
        print(f"no run in {arguments.directory}; 'ufo evaluate --output' writes one")
    else:
        print("\n".join(line for status in found for line in lines_of(status)))
    damaged = [status.next for status in found if status.state == DAMAGED]
    if damaged:
        raise RunError("\n".join(damaged))
    return EXIT_DONE


def statuses(output: str, check: bool = False) -> list[Status]:
    """Return the runs of a folder, ordered by their last change.

    With `check` the part files of finished runs are compared with their checksums.

    Raises:
        UsageError: there is no such folder.
    """
    if not storage.is_remote(output) and not os.path.isdir(output):
        raise UsageError(
            f"{output!r} is not a folder; give the --output folder of an earlier 'ufo evaluate'"
        )
    if not storage.is_remote(output):
        output = str(Path(output))  # as the paths below it are written
    runs: dict[tuple[str, str], list[str]] = {}
    for path in storage.files_below(output):
        above = len(output.rstrip("/\\"))
        match = _RUN_OF.search(path, above)
        if match:
            runs.setdefault((match[1], path[: match.end(1)]), []).append(path)
    found = [
        status
        for (run, folder), paths in runs.items()
        for status in _of_run(output, run, folder, paths)
    ]
    if check:
        for one in found:
            if one.state == FINISHED:
                _check(one)
    return sorted(found, key=lambda one: (one.changed_at or one.started_at or "", one.run))


def _check(one: Status) -> None:
    """Compare the part files of a finished run with the checksums in its manifest."""
    manifest = manifest_of(one.folder)
    if manifest is None:
        return
    tables = manifest["tables"]
    if damage := damage_of(one.folder, tables):
        one.state, one.next = DAMAGED, "\n".join(damage)
        return
    known = all(len(table.get("sha256", ())) == len(table["files"]) for table in tables.values())
    one.checked = "every part file is what was written" if known else _UNKNOWN


def _of_run(output: str, run: str, folder: str, paths: Sequence[str]) -> list[Status]:
    found = []
    manifest = storage.join(folder, "manifest.json")
    try:
        finished = manifest_of(folder) if manifest in paths else None
    except RunError as error:
        return [Status(run, DAMAGED, folder, next=str(error))]
    if finished:
        command = f"ufo report {folder[: -len(f'/run={run}')]} --run {run}"
        rows = {name: int(count) for name, count in finished["counts"].items()}
        at = str(finished["finished_at"])
        found.append(Status(run, FINISHED, folder, changed_at=at, rows=rows, next=command))
    for path in paths:
        match = re.search(r"\.attempt-([0-9a-f]+)[/\\]attempt\.json$", path)
        if match and not (finished and finished["attempt"] == match[1]):
            fingerprint = json.loads(storage.read(path))
            found.append(_of_attempt(Attempt(folder, match[1], fingerprint), run, paths))
    return found


def _of_attempt(attempt: Attempt, run: str, paths: Sequence[str]) -> Status:
    process: dict[str, Any] = {}
    with suppress(OSError, ValueError):  # an attempt of before there was such a file
        process = json.loads(storage.read(storage.join(attempt.folder, PROCESS)))
    done = [
        path
        for path in paths
        if path.startswith(attempt.folder) and re.search(r"[/\\]\d+[/\\]done\.json$", path)
    ]
    rows: Counter[str] = Counter()
    for path in done:
        for part in json.loads(storage.read(path))["parts"]:
            rows[part["table"]] += part["rows"]
    lines, chunk_size = process.get("lines"), attempt.fingerprint["chunk_size"]
    state = _state(process, attempt.run_folder)
    on_engine = started_job(storage.join(attempt.folder, "chunks", CHUNK))
    about: dict[str, Any] = {
        "run": run,
        "state": state,
        "folder": attempt.folder,
        **{name: process.get(name) for name in ("started_at", "host", "pid")},
        "next": _advice(state, process, attempt),
    }
    if on_engine is not None:
        return Status(**about, of_lines=lines, runner=on_engine.runner, job=on_engine.name)
    n_lines = len(done) * chunk_size
    return Status(
        **about,
        changed_at=_changed(done),
        chunks=len(done),
        of_chunks=-(-lines // chunk_size) if lines is not None else None,
        lines=min(n_lines, lines if lines is not None else n_lines),
        of_lines=lines,
        rows={table: rows[table] for table in _COUNTED if table in rows},
    )


def _state(process: Mapping[str, Any], run_folder: str) -> str:
    if not process:
        return STOPPED
    if process["host"] != socket.gethostname():
        return ELSEWHERE
    return RUNNING if _alive(process["pid"]) and _locked(run_folder) else STOPPED


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
    if storage.is_remote(run_folder):
        return True
    try:
        import fcntl

        with open(os.path.join(run_folder, ".lock"), "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    except (ImportError, OSError):
        return True  # cannot be determined on this system
    return False


def _changed(done: Sequence[str]) -> str | None:
    local = [path for path in done if not storage.is_remote(path)]
    if not local:
        return None
    newest = max(Path(path).stat().st_mtime for path in local)
    return datetime.fromtimestamp(newest, UTC).isoformat(timespec="seconds")


def _advice(state: str, process: Mapping[str, Any], attempt: Attempt) -> str:
    words = process.get("command")
    if state == RUNNING:
        return f"kill {process['pid']} stops it; what is finished is kept"
    if state == ELSEWHERE:
        return f"it was started on {process['host']}; look there whether it runs"
    if words:
        return "ufo " + shlex.join(words)
    return "the same command, or call of ufo.evaluate, as before completes it"


def lines_of(status: Status) -> list[str]:
    """Return what is printed of a run."""
    rows = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in status.rows.items())
    done = [rows]
    if status.chunks is not None:
        done.insert(0, f"{_of(status.chunks, status.of_chunks)} chunks")
    if status.of_lines is not None or status.chunks is not None:
        done.insert(1, f"{_of(status.lines, status.of_lines)} records")
    times = {"since": status.started_at, "last": status.changed_at}
    said = {
        "host": f"{status.host}, process {status.pid}" if status.host else "",
        "done": ", ".join(filter(None, done)),
        "job": f"{status.job} on {status.runner}" if status.job else "",
        **{name: f"{time} ({_ago(time)})" for name, time in times.items() if time},
        "check": status.checked,
        "next": status.next,
    }
    shown = (f"  {name:<6}{text}" for name, text in said.items() if text)
    return [f"{status.run}  {status.state}", *shown]


def _of(count: int | None, total: int | None) -> str:
    return f"{count or 0:,}" + ("" if total is None else f" of {total:,}")


def _ago(time: str) -> str:
    moment = datetime.fromisoformat(time)
    # A folder of somebody else may have times without a zone.
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    seconds = (datetime.now(UTC) - moment).total_seconds()
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{max(0, seconds):.0f} s ago"
