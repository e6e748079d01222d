"""Keep an attempt at a run on disk, so that a stopped run can be resumed.

DIR/run=NAME/.attempt-ID/attempt.json       the fingerprint of the attempt
                        /process.json       the last process that worked on it
                        /chunks/00012/…     the parts of a chunk, each with a note; at the end
                                            done.json, with the counts of the steps
"""

import json
import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import Any, TypeVar
from uuid import uuid4

import pyarrow as pa
from filelock import FileLock, Timeout

from ufo.pipelines import logs
from ufo.pipelines.runs.inputs import InputFile
from ufo.pipelines.version import VERSION
from ufo.schemas import storage
from ufo.schemas.errors import InputChanged, RunError, UsageError, reason_of
from ufo.schemas.file_systems import command_error, is_remote
from ufo.schemas.records import Part
from ufo.schemas.state_files import entry, read_state, write_state
from ufo.schemas.tables import (
    SCHEMA_VERSION,
    check_part,
    read_rows,
    registered_parts,
    to_arrow,
    write_part,
)
from ufo.schemas.temporary import shared_folder
from ufo.schemas.text import hide_secrets
from ufo.transforms.job import WAITING
from ufo.transforms.llm.usage_log import logged_requests

_RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_ATTEMPT = "attempt.json"
_REQUEST_KEY = ("request_id", "worker_id", "seconds")
DONE = "done.json"
PROCESS = "process.json"
_OF_PROCESS = {
    "host": str,
    "pid": int,
    "started_at": str,
    "lines": int,
    "batches": str,
    "command": list,
}
_START_OVER = "its run cannot go on. Pass --fresh to start it over"
_FORGET = "delete it; the command with the same options, --batch included, continues the run"
AGAIN = "the same command evaluates what it belongs to again"

T = TypeVar("T")

Fingerprint = Mapping[str, Any]
"""Plain JSON values, so that it compares equal after a round trip through JSON."""


def checked_name(name: str) -> str:
    """Return the name of a run, which is part of its folder's name, after a check.

    Raises:
        UsageError: it has other characters than letters, digits, `.`, `_` and `-`.
    """
    if not _RUN_NAME.fullmatch(name):
        raise UsageError(
            f"--run {name!r}: a run's name is 1 to 100 letters, digits, '.', '_' and '-', "
            "and begins with a letter or digit"
        )
    return name


def fingerprint_of(
    options: Mapping[str, Any],
    files: Sequence[InputFile],
    chunk_size: int,
    sources: Sequence[Mapping[str, Any]] | None,
) -> Fingerprint:
    """Return the fingerprint of a run: everything that affects its results, as plain JSON."""
    fingerprint: dict[str, Any] = {
        "inputs": [{"name": f.name, "size": f.size, "sha256": f.sha256} for f in files],
        "options": options,
        "chunk_size": chunk_size,
        "schema_version": SCHEMA_VERSION,
        "ufo_version": VERSION,
    }
    if sources is not None:
        fingerprint["sources"] = [dict(one) for one in sources]
    plain: Fingerprint = json.loads(json.dumps(fingerprint, default=str))
    return plain


def name_of(fingerprint: Fingerprint) -> str:
    """Return the default name of a run: a hash of the input names and the options that matter."""
    left_out = ("inputs", "chunk_size")
    stable = {key: value for key, value in fingerprint.items() if key not in left_out}
    stable["inputs"] = [item["name"] for item in fingerprint["inputs"]]
    text = json.dumps(stable, sort_keys=True, default=str)
    return sha256(text.encode()).hexdigest()[:12]


def differences(old: Fingerprint, new: Fingerprint, at: str = "") -> list[str]:
    """Return the differences between two fingerprints, one line each."""
    lines = []
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            lines += differences(before, after, f"{at}{key}.")
        else:
            lines.append(f"{at}{key}: {_short(before)} → {_short(after)}")
    return lines


def _reuse_entry(run: str | None) -> dict[str, str]:
    return {} if run is None else {"reused_from": run}


def _short(value: object) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 160 else text[:157] + "…"


@contextmanager
def run_lock(output: str, folder: str, name: str) -> Iterator[None]:
    """Hold the run's lock, so that only one command writes its folder."""
    if is_remote(output):
        try:
            storage.files_below(folder)
        except OSError as error:
            raise command_error(
                f"--output {output!r} cannot be written: {reason_of(error)}", error
            ) from error
        yield
        return
    try:
        os.makedirs(output, exist_ok=True)
        os.makedirs(folder, mode=0o700, exist_ok=True)  # for its owner only
        lock = FileLock(os.path.join(folder, ".lock"))
        lock.acquire(timeout=0)
    except Timeout:
        raise UsageError(
            f"run {name!r} in {output!r} is being written by another process; wait for it, or "
            "give this one a name of its own with --run"
        ) from None
    except OSError as error:
        raise UsageError(f"--output {output!r} cannot be written: {reason_of(error)}") from error
    try:
        yield
    finally:
        # Deleted while it is held: filelock notices a deleted file and tries again.
        with suppress(OSError):
            os.unlink(lock.lock_file)
        lock.release()


@dataclass(frozen=True, slots=True)
class Written:
    """The part files of a chunk or a whole run, with its counters: step → name → number."""

    parts: list[Part]
    counters: Mapping[str, Mapping[str, int]]

    @property
    def waiting(self) -> int:
        """The number of responses that wait for a reply from a batch."""
        return sum(counts.get(WAITING, 0) for counts in self.counters.values())


def fingerprint_in(path: str) -> Fingerprint | None:
    """Return the fingerprint in an attempt's `attempt.json`; None if there is no such file.

    Raises:
        RunError: the file is damaged.
    """
    return read_state(path, _START_OVER, _fingerprint)


def _fingerprint(content: dict[str, Any]) -> Fingerprint:
    if entry(content, "chunk_size", int) < 1:
        raise ValueError("'chunk_size' is 0")
    return content


def process_in(folder: str) -> dict[str, Any]:
    """Return the content of an attempt's `process.json`, {} without one.

    Raises:
        RunError: the file is damaged.
    """
    return read_state(storage.join(folder, PROCESS), _FORGET, _process) or {}


def _process(content: dict[str, Any]) -> dict[str, Any]:
    for name, kind in _OF_PROCESS.items():
        if name in ("host", "pid") or content.get(name) is not None:
            entry(content, name, kind)
    return content


class Attempt:
    """One attempt at a run; chunks finished by an earlier process are kept."""

    def __init__(self, run_folder: str, identifier: str, fingerprint: Fingerprint) -> None:
        self.run_folder = run_folder
        self.identifier = identifier
        self.fingerprint = fingerprint
        self.folder = storage.join(run_folder, f".attempt-{identifier}")

    @classmethod
    def open(
        cls,
        run_folder: str,
        fingerprint: Fingerprint,
        fresh: bool = False,
        reused_from: str | None = None,
        on_restart: Callable[[str], object] | None = None,
    ) -> "Attempt":
        """Resume the unfinished attempt of this run, or start one.

        `reused_from` is the run from which results are reused; it must match as well. If
        `on_restart` is given, it gets the reason that an attempt cannot be resumed, which is then
        deleted.

        Raises:
            UsageError: an unfinished attempt has another fingerprint and `fresh` is not set
                (InputChanged if only its files are others), or the folder cannot be written.
            RunError: the file with the fingerprint of an unfinished attempt is damaged.
        """
        for path in storage.files_below(run_folder):
            match = re.search(r"\.attempt-([0-9a-f]+)[/\\]" + re.escape(_ATTEMPT) + "$", path)
            if not match:
                continue
            attempt = cls(run_folder, match[1], fingerprint)
            if fresh:
                storage.delete(attempt.folder)
                storage.delete(attempt.local_folder())
                continue
            started = {**fingerprint, **_reuse_entry(reused_from)}
            try:
                old = fingerprint_in(path)
                changed = differences(old or {}, started)
            except RunError as error:
                if on_restart is None:
                    raise
                old, changed = None, [f"{path!r} is damaged: {error.__cause__ or error}"]
            if old == started:
                storage.make_folder(attempt.local_folder())
                return attempt
            if on_restart is not None:
                on_restart("; ".join(changed))
                storage.delete(attempt.folder)
                storage.delete(attempt.local_folder())
                continue
            names = {line.partition(":")[0] for line in changed}
            # The default size of chunks follows from the input.
            grown = "inputs" in names and names <= {"inputs", "chunk_size"}
            listed = "\n  ".join(changed)
            raise (InputChanged if grown else UsageError)(
                f"the unfinished attempt in {attempt.folder} differs from this command:\n"
                f"  {listed}\nRun it as it was started to complete it, pass --fresh to start "
                "over, or --run NAME to keep both."
            )
        attempt = cls(run_folder, uuid4().hex[:8], fingerprint)
        attempt.write_fingerprint(reused_from)
        storage.make_folder(attempt.local_folder())
        return attempt

    def write_fingerprint(self, reused_from: str | None = None) -> None:
        """Write the attempt's fingerprint, by which it is recognised when it is resumed.

        Raises:
            UsageError: the folder cannot be written.
        """
        try:
            storage.make_folder(self.folder)
            state = {**self.fingerprint, **_reuse_entry(reused_from)}
            write_state(storage.join(self.folder, _ATTEMPT), state)
        except OSError as error:
            message = f"--output {self.run_folder!r} cannot be written: {reason_of(error)}"
            raise UsageError(message) from error

    def chunk_folder(self, chunk: int | str) -> str:
        """Return the folder of a chunk's parts, created if missing."""
        name = chunk if isinstance(chunk, str) else f"{chunk:05d}"
        folder = storage.join(self.folder, "chunks", name)
        storage.make_folder(folder)
        return folder

    def local_folder(self) -> str:
        """Return a folder on this machine for files that only its processes share."""
        if not is_remote(self.folder):
            return self.folder
        return os.path.join(shared_folder(), f"ufo-{self.identifier}")

    def usage_log(self) -> str:
        """Return the path of the usage log of the processes on this machine."""
        return storage.join(self.local_folder(), "usage.jsonl")

    def shared_usage_log(self) -> str:
        """Return the folder of the usage log of the workers on all machines."""
        return storage.absolute(storage.join(self.folder, "requests")) + "/"

    def done(self, chunk: int | str) -> "Written | None":
        """Return the parts and counters of a chunk, None unless it is finished and undamaged.

        Parts on other file systems are not read back: those systems check their files themselves.
        """
        folder = self.chunk_folder(chunk)
        return read_note(storage.join(folder, DONE), partial(_written, folder, str(chunk)))

    def mark_done(self, chunk: int | str, written: "Written", below: str = "") -> None:
        """Record that a chunk is finished, after flushing its parts to disk.

        The parts are in the chunk's folder, or in the folder `below` inside it.
        """
        storage.flush(part.path for part in written.parts)
        content = {
            "chunk": str(chunk),
            "below": below,
            "checksum_of_parts": _checksum(written.parts),
            "counters": written.counters,
        }
        write_state(storage.join(self.chunk_folder(chunk), DONE), content)

    def abandon(self) -> None:
        """Delete the attempt unless one of its chunks is finished."""
        if not any(path.endswith(DONE) for path in storage.files_below(self.folder)):
            storage.delete(self.folder)
            storage.delete(self.local_folder())

    def write_part(self, table: str, rows: pa.Table) -> Part:
        """Write a table as one part, for tables such as `sources` that no worker writes."""
        storage.make_folder(self.folder)
        path = storage.join(self.folder, f"{table}.parquet")
        return write_part(table, path, rows)

    def batches(self) -> str | None:
        """Return the path of the batch store of an earlier process of this attempt, if any.

        Raises:
            RunError: the note of that process is damaged.
        """
        path = process_in(self.folder).get("batches")
        return path if path and os.path.exists(path) else None

    def write_process(
        self, lines: int, batches: str | None = None, command: Sequence[str] = ()
    ) -> None:
        """Record in `process.json` that this process works on the attempt, for `ufo status`.

        `lines` is the number of input lines, `batches` the file of batches, and `command` the words
        of the `ufo` command, none in Python.
        """
        path = storage.join(self.folder, PROCESS)
        process = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "lines": lines,
            "batches": batches,
            "command": [_without_secrets(word) for word in command],
        }
        write_state(path, process)


def read_note(path: str, make: Callable[[dict[str, Any]], T]) -> T | None:
    """Return the content of a completion note, converted by `make`; None without a usable note.

    A damaged note is reported.
    """
    try:
        return read_state(path, AGAIN, make)
    except RunError as error:
        logs.tell(error.message)
        return None


def _written(folder: str, chunk: str, content: dict[str, Any]) -> Written:
    if content["chunk"] != chunk:
        raise ValueError("it is of another chunk")
    below = entry(content, "below", str)
    parts = registered_parts(storage.join(folder, below) if below else folder)
    if _checksum(parts) != content["checksum_of_parts"]:
        raise ValueError("the parts in its folder are not those of this note")
    for part in parts:
        if part.sha256 and not is_remote(part.path):
            check_part(part.path, part.sha256, AGAIN)
    return Written(parts, entry(content, "counters", dict))


def _checksum(parts: Sequence[Part]) -> str:
    files = repr([(part.table, part.rows, part.sha256) for part in parts])
    return sha256(files.encode()).hexdigest()


def _without_secrets(word: str) -> str:
    # The query of a web address may have a key of any name; in a bucket `?` stands for a character.
    if "http://" in word or "https://" in word:
        return re.sub(r"(?<=://)[^/@\s]*@|(?<=\?)\S*", "…", word)
    return hide_secrets(word)


def unrecorded_usage(parts: Sequence[Part], attempt: Attempt, usage_log: str) -> list[Part]:
    """Return a part with the requests that are in the usage log but not in `parts`, [] if none.

    These are the probes of endpoints, and the requests of stopped processes, whose answers the
    resumed run takes from the cache for free. Needs about 50 bytes of memory a request.
    """
    known: set[int] = set()
    for part in parts:
        if part.table == "usage":
            columns = read_rows(part.path, _REQUEST_KEY).to_pydict()
            known.update(map(hash, zip(*columns.values(), strict=True)))
    rows = []
    for row in logged_requests(usage_log):
        key = hash(tuple(getattr(row, name) for name in _REQUEST_KEY))
        if key not in known:
            known.add(key)
            rows.append(row)
    return [attempt.write_part("usage", to_arrow("usage", rows))] if rows else []
