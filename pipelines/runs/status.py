"""Determine which runs of an output folder are finished, running or stopped.

An attempt's `process.json` names the process that works on it; its finished chunks show the
progress. Nothing is written or locked.
"""

import json
import os
import re
import shlex
import socket
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ufo.pipelines.reports.means import means, score_in_words
from ufo.pipelines.runs.attempt import PROCESS, Attempt
from ufo.pipelines.runs.engine import CHUNK, started_job
from ufo.pipelines.runs.finish import manifest_of
from ufo.schemas import storage
from ufo.schemas.errors import RunError, UfoError, UsageError
from ufo.schemas.results import Results
from ufo.schemas.runs import Run, choose_runs, damage_of
from ufo.transforms.llm.usage_log import (
    COMPLETION_TOKENS,
    COST,
    PROMPT_TOKENS,
    REQUESTS,
    UsageReader,
)

FINISHED, RUNNING, STOPPED, ELSEWHERE = "finished", "running", "stopped", "elsewhere"
"""States of a run. `elsewhere`: an engine or another machine evaluates it, and whether it still
runs cannot be seen from here."""
DAMAGED = "damaged"
"""A finished run whose manifest or part files cannot be read, or are not what was written."""
_UNKNOWN = "cannot be verified: the run is of before there were checksums"

_RUN_OF = re.compile(r"[/\\]run=([^/\\]+)[/\\]")
_COUNTED = ("responses", "fact_units", "failures", "recall_records", "recall_facts")
_SPENT = (REQUESTS, PROMPT_TOKENS, COMPLETION_TOKENS, COST)


@dataclass(slots=True)
class Status:
    """The state of a run: its folder, progress, times (UTC), and the command to continue it.

    `chunks` are those finished, of `of_chunks` (None: not known, as of compressed input); `lines`
    and `of_lines` of the input likewise. `rows` are those of finished chunks by table, `spent` what
    models were asked. `changed_at` is when the last chunk, or the run, was finished.

    On an engine (`runner`) a run is one `job`, not chunks, whose progress the engine shows. `score`
    is a finished run's score in words, with warnings; empty if the folder is remote. `checked` says
    what `--check` found.
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
    spent: Mapping[str, float] = field(default_factory=dict)
    next: str = ""
    runner: str | None = None
    job: str | None = None
    factuality_score: float | None = None
    coverage: float | None = None
    score: str = ""
    checked: str = ""


def statuses(output: str, check: bool = False) -> list[Status]:
    """Return the runs of a folder, ordered by their last change.

    With `check` the part files of finished runs are compared with their checksums.

    Raises:
        UsageError: there is no such folder.
    """
    if not storage.is_remote(output) and not storage.is_folder(output):
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
            # Windows of a stream that are under way lie deeper than finished runs.
            runs.setdefault((match[1], path[: match.end(1)]), []).append(path)
    found = [
        status
        for (run, folder), paths in runs.items()
        for status in _of_run(output, run, folder, paths)
    ]
    finished = [one for one in found if one.state == FINISHED]
    if check:
        for one in finished:
            _check(one)
    if not storage.is_remote(output):
        _add_scores([one for one in finished if one.state == FINISHED])
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


def _add_scores(finished: Sequence[Status]) -> None:
    """Set the scores of finished runs; of one that cannot be read say what is wrong with it."""
    runs: dict[str, Run] = {}  # a run that is in two folders has the same results in both
    for one in finished:
        if one.run not in runs:
            with suppress(UfoError):
                (run,) = choose_runs(str(Path(one.folder).parent), one.run)
                if run.mode != "recall":
                    runs[one.run] = run
    try:
        with Results([*runs.values()]) as results:
            scored = means(results)
    except RunError as error:
        # One of them is damaged: it is the one that cannot be read alone either.
        for one in finished:
            if len(finished) > 1:
                _add_scores([one])
            else:
                one.state, one.next = DAMAGED, error.message
        return
    for one in finished:
        if row := scored.get(one.run):
            one.factuality_score, one.coverage = row["factuality_score"], row["coverage"]
            one.score = score_in_words(row)


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
    if on_engine is not None and not on_engine.waited:
        state = ELSEWHERE
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
    spent = UsageReader(attempt.usage_log()).totals()
    return Status(
        **about,
        changed_at=_changed(done),
        chunks=len(done),
        of_chunks=-(-lines // chunk_size) if lines is not None else None,
        lines=min(n_lines, lines if lines is not None else n_lines),
        of_lines=lines,
        rows={table: rows[table] for table in _COUNTED if table in rows},
        spent={name: spent[name] for name in _SPENT if spent.get(name)},
    )


def _state(process: Mapping[str, Any], run_folder: str) -> str:
    if not process:
        return STOPPED
    if process.get("engine") or process["host"] != socket.gethostname():
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
    if process.get("engine"):
        return f"{process['engine']} has it; look there whether it runs"
    if state == ELSEWHERE:
        return f"it was started on {process['host']}; look there whether it runs"
    if words:
        return "ufo " + shlex.join(words)
    return "the same command, or call of ufo.evaluate, as before completes it"
