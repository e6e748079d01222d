"""The usage log of a run: its requests and costs as JSON Lines, which survive a killed process.

The table `usage` is written when a chunk is finished. Requests of an unfinished chunk are only in
this file, which belongs to the run's attempt. All processes of the run append to it. A line has
numbers to add up and the usage row of a request that has ended, or a message for the user. The
process that started the run reads new lines to show progress.

Workers on several machines log to a folder that they share, of any file system. Each process has a
file of its own there; where files cannot be appended to, each request is an object.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import fields
from typing import Any
from uuid import uuid4

from ufo.schemas import storage
from ufo.schemas.errors import RunError
from ufo.schemas.file_systems import is_remote
from ufo.schemas.records import Usage

REQUESTS = "requests"
IN_FLIGHT = "in_flight"
PROMPT_TOKENS = "prompt_tokens"
COMPLETION_TOKENS = "completion_tokens"
COST = "cost_usd"
RESERVED = "reserved_usd"
_SPENT = (REQUESTS, PROMPT_TOKENS, COMPLETION_TOKENS, COST)
_AT_ONCE = 8  # objects
_COLUMNS = [column.name for column in fields(Usage)]


def spent_by(row: Usage) -> dict[str, float]:
    """Return the numbers that one request adds to the totals."""
    return {REQUESTS: 1, **{name: getattr(row, name) or 0 for name in _SPENT if name != REQUESTS}}


def is_folder(path: str | None) -> bool:
    """Return whether a log is a folder, shared by workers on several machines."""
    return path is not None and path.endswith("/")


class UsageLog:
    """Appends to the log at `path`: a file, or a folder that ends in `/`; None discards all lines.

    Use one object for each thread; several may append to the same file.
    """

    def __init__(self, path: str | None = None) -> None:
        self.shown = path is not None and not is_folder(path)
        """Whether the process that started the run reads the messages."""
        self._path = path
        self._remote = is_folder(path) and is_remote(str(path))
        self._threads: ThreadPoolExecutor | None = None
        self._written: Future[None] | None = None
        self._file: int | None = None
        if path and is_folder(path):
            with suppress(OSError):  # reported by the first line
                storage.make_folder(path)
            self._path = path if self._remote else storage.join(path, f"{uuid4().hex}.jsonl")

    def add(self, changes: Mapping[str, float], row: Usage | None = None) -> None:
        """Append changes of the totals by name, and a usage row.

        Raises:
            RunError: the file cannot be written.
        """
        line: dict[str, Any] = {"add": {name: n for name, n in changes.items() if n}}
        if row is not None:
            line["row"] = {name: getattr(row, name) for name in _COLUMNS}
        if line["add"] or row is not None:
            self._append(line)

    def report(self, message: str) -> None:
        """Append a message for the user; an error of writing is ignored."""
        with suppress(RunError):
            self._append({"message": message})

    def report_once(self, message: str) -> None:
        """Append a message that the user sees once, however many processes report it."""
        with suppress(RunError):
            self._append({"message": message, "once": True})

    def begin(self, before: Mapping[str, float] | None = None) -> None:
        """Start a process of the run: reset all totals but requests, tokens and cost.

        The cost that earlier processes had reserved when they ended counts as spent. `before` are
        the totals before the first process.
        """
        assert self._path is not None
        totals = UsageReader(self._path).totals() or dict(before or {})
        totals[COST] = totals.get(COST, 0.0) + totals.get(RESERVED, 0.0)
        # The line feed ends a line that a killed process left unfinished.
        self._append({"begin": {name: totals.get(name, 0.0) for name in _SPENT}}, "\n")
        self.close()

    def close(self) -> None:
        """Close the file; a later call opens it again."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None

    def __del__(self) -> None:
        self.close()  # an engine may discard a step without calling its teardown

    def _append(self, line: Mapping[str, Any], ahead: str = "") -> None:
        if self._path is None or (self._remote and "row" not in line):
            return
        data = f"{ahead}{json.dumps(line)}\n".encode()
        try:
            if self._remote:
                self._put(self._path, data)
                return
            if self._file is None:
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
                self._file = os.open(self._path, flags, 0o644)
            os.write(self._file, data)
        except OSError as error:
            raise RunError(
                f"the run's usage log {self._path} cannot be written: {error}"
            ) from error

    def _put(self, folder: str, data: bytes) -> None:
        """Write an object without waiting for it; raise the error of an earlier one."""
        if self._written is not None and self._written.done():
            self._written.result()
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_AT_ONCE, "ufo-usage")
        path = storage.join(folder, f"{uuid4().hex}.jsonl")
        self._written = self._threads.submit(storage.write, path, data)


def logged_requests(path: str) -> Iterator[Usage]:
    """Yield the usage rows of a log, a file or a folder."""
    if not is_folder(path):
        yield from UsageReader(path).rows()
        return
    for file in storage.listed(path):
        yield from _rows_of(_lines(storage.read(file.path).splitlines()))


class UsageReader:
    """The totals, rows and messages of a usage log, which may grow meanwhile."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._position = 0
        self._totals: dict[str, float] = {}
        self._messages: list[str] = []
        self._once: set[str] = set()

    def totals(self) -> dict[str, float]:
        """Return the totals by name, including lines written since the last call."""
        for line in self._new_lines():
            if "begin" in line:
                self._totals = dict(line["begin"])
            for name, number in line.get("add", {}).items():
                self._totals[name] = self._totals.get(name, 0.0) + number
            if "message" in line and line["message"] not in self._once:
                self._messages.append(line["message"])
                self._once |= {line["message"]} if line.get("once") else set()
        return dict(self._totals)

    def messages(self) -> list[str]:
        """Return the messages that `totals` read and that were not returned before."""
        messages, self._messages = self._messages, []
        return messages

    def rows(self) -> Iterator[Usage]:
        """Yield the usage rows of lines that were not read yet, in order."""
        yield from _rows_of(self._new_lines())

    def _new_lines(self) -> Iterator[dict[str, Any]]:
        with suppress(FileNotFoundError), open(self._path, "rb") as file:
            file.seek(self._position)
            for text in file:
                if not text.endswith(b"\n"):
                    return  # it is being written
                self._position += len(text)
                yield from _lines([text])


def _lines(texts: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for text in texts:
        # A line may have been cut short by a full disk or a crash.
        with suppress(ValueError):
            line = json.loads(text)
            if isinstance(line, dict):
                yield line


def _rows_of(lines: Iterable[Mapping[str, Any]]) -> Iterator[Usage]:
    for line in lines:
        if "row" in line:
            with suppress(TypeError):
                yield Usage(**line["row"])
