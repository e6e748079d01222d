"""Evaluate files as they arrive (`--streaming`), in windows: each window is a separate run.

    DIR/run=NAME.w000001/window.json   the window is closed: these are its files
                        /manifest.json it is evaluated, like any run, and never changes

A window opens with its first file and closes `--window_seconds` later; later files are in the next
window. A stopped stream is resumed from these folders: it finishes the closed windows, and takes no
file twice. Windows are numbered. Writing `window.json` fails where another command has written it,
so no file is in two windows.
"""

import glob
import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from ufo.pipelines.options.jobs import choose
from ufo.pipelines.options.settings import Settings
from ufo.pipelines.runs.attempt import checked_name, run_lock
from ufo.pipelines.runs.finish import earlier_manifest
from ufo.pipelines.runs.inputs import is_piped
from ufo.pipelines.runs.run import Finished, run_evaluate
from ufo.schemas import storage
from ufo.schemas.errors import (
    InputChanged,
    NothingToEvaluate,
    NothingUsable,
    RunError,
    UsageError,
)
from ufo.schemas.state_files import read_state, state_bytes
from ufo.schemas.tables import MANIFEST

_LOOKS_A_WINDOW = 4
_LONGEST_LOOK = 1.0  # second
_NAME_CHARACTERS = 90
_OF_ONE_RUN = ("since", "baseline", "fail_under", "min_scored", "fresh", "dry_run", "batch")
_WINDOW = "window.json"
_EMPTY = "empty"
_DELETE = "delete the folder of this window, and the next window takes the files that are there"
_REMEDY = f"{_DELETE}; or begin a stream of another --run, which takes every file"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ArrivedFile:
    """A file of a window: its path, and its size in bytes when the window was closed."""

    path: str
    size: int


def stream(
    settings: Settings,
    on_window: Callable[[Finished], object],
    say: Say,
    quiet: bool = False,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Evaluate files as they arrive; return the number of windows when the stream ends.

    It ends after `idle_seconds` without a new file; without that option it runs until it is
    stopped. Each window is one bounded job, in process or on an engine.

    Raises:
        UsageError: an option is only for runs without --streaming, or a source cannot be used.
        RunError: a window could not be evaluated; the same command retries it.
    """
    windows = StreamWindows(settings.output, _checked(settings))
    choose(settings)
    seconds = settings.window_seconds
    lock_folder = storage.join(settings.output, ".streaming", windows.name)
    done = 0
    with run_lock(settings.output, lock_folder, windows.name):
        closed = windows.unfinished()
        windows.tidy()
        arrivals = Arrivals(settings.input, windows.sizes(settings.input), say)
        news, opened = clock(), None
        while True:
            for window in closed:
                finished = _evaluated(settings, windows, window, say, quiet)
                if finished is not None:
                    on_window(finished)
                    done += 1
                news, opened = clock(), None
            closed = []
            waiting, now = arrivals.look(), clock()
            if not waiting:
                opened = None  # the waiting files may have been deleted
                idle = settings.idle_seconds is not None and now - news >= settings.idle_seconds
                if idle and not arrivals.unsettled:
                    return done
            elif opened is None:
                opened = news = now
            if opened is None or now - opened < seconds:
                sleep(min(_LONGEST_LOOK, seconds / _LOOKS_A_WINDOW))
                continue
            closed = [windows.close(waiting)]
            arrivals.taken = windows.sizes(settings.input)


def _checked(settings: Settings) -> str:
    """Return the stream's name; raise a UsageError without one, or for an option of other runs."""
    for name in _OF_ONE_RUN:
        value = getattr(settings, name)
        if value is not None and value is not False:
            raise UsageError(
                f"--{name} is for a run with an end, and --streaming has none; leave one of them "
                "out"
            )
    if settings.if_finished != "replace":
        raise UsageError("--if_finished is for a run with an end; --streaming resumes by itself")
    if any(map(is_piped, settings.input)):
        raise UsageError("--streaming waits for files, and --input names a pipe; leave one out")
    if settings.run is None:
        raise UsageError("--streaming needs --run NAME: a stopped stream is resumed by that name")
    if len(settings.run) > _NAME_CHARACTERS:
        raise UsageError(f"--run {settings.run!r}: a stream's name has up to 90 characters")
    return checked_name(settings.run)


def _evaluated(
    settings: Settings, windows: "StreamWindows", window: str, say: Say, quiet: bool
) -> Finished | None:
    """Evaluate a closed window; return None if its files have no usable record."""
    bounded = replace(
        settings,
        input=tuple(file.path for file in windows.closed()[window]),
        run=window,
        streaming=False,
        idle_seconds=None,
    )
    try:
        return _finished(bounded, window, say, quiet)
    except NothingUsable as error:
        # A file like this beside another one costs its own lines, and the stream goes on.
        windows.mark_empty(window)
        again = "" if isinstance(error, NothingToEvaluate) else f". To read it again, {_DELETE}"
        say(f"window {window}: {error.message.rstrip('.')}{again}")
        return None


def _finished(bounded: Settings, window: str, say: Say, quiet: bool) -> Finished:
    """Evaluate a window, whose files may have changed or be gone since it was closed."""
    try:
        return run_evaluate(bounded, quiet)
    except InputChanged:  # since the stream was stopped
        say(f"window {window}: a file has changed since; the window is evaluated anew.")
        return run_evaluate(replace(bounded, fresh=True), quiet)
    except UsageError:
        gone = [path for path in bounded.input if not storage.exists(path)]
        if not gone:
            raise
        raise UsageError(
            f"window {window} has taken {gone[0]!r}, which is gone: put it back, or {_DELETE}"
        ) from None


class Arrivals:
    """The files that match the patterns and are in no window yet.

    `taken` has the sizes of files that are in a window. A file counts as arrived once two looks in
    a row find it unchanged and not empty: a file that is still being written is not read.
    `unsettled` says whether the last look found such a file.
    """

    def __init__(self, patterns: Sequence[str], taken: dict[str, int], say: Say) -> None:
        self.taken = taken
        self.unsettled = False
        self._patterns = patterns
        self._say = say
        self._seen: dict[str, tuple[int, ...]] = {}
        self._waiting: dict[str, ArrivedFile] = {}
        self._reported: set[str] = set()

    def look(self) -> list[ArrivedFile]:
        """Return the files that wait for a window, in order of arrival."""
        self.unsettled = False
        for path in (path for pattern in self._patterns for path in storage.matches(pattern)):
            state = _state(path)
            if state is None:
                continue
            settled = bool(state[0]) and self._seen.get(path) == state
            self._seen[path] = state
            if path not in self.taken and settled:
                self._waiting[path] = ArrivedFile(storage.absolute(path), state[0])
                continue
            self._waiting.pop(path, None)
            if path not in self.taken:
                self.unsettled |= bool(state[0])
            elif self.taken[path] != state[0] and path not in self._reported:
                self._reported.add(path)
                self._say(
                    f"{path} has changed since a window took it; what was added is not evaluated. "
                    "Write new responses to files of their own."
                )
        return list(self._waiting.values())


def _state(path: str) -> tuple[int, ...] | None:
    try:
        if storage.is_remote(path):
            return (storage.size(path),)
        found = os.stat(path)
    except (OSError, IndexError):
        return None  # it was deleted meanwhile
    return found.st_size, found.st_mtime_ns


class StreamWindows:
    """The windows of the stream `name` in the folder or prefix `output`, on disk."""

    def __init__(self, output: str, name: str) -> None:
        self.name = name
        self._output = output
        self._files: dict[str, list[ArrivedFile]] = {}  # a closed window never changes

    def closed(self) -> dict[str, list[ArrivedFile]]:
        """Return the files of each closed window by its name, oldest window first."""
        below = self._output if storage.is_remote(self._output) else glob.escape(self._output)
        for path in storage.matches(storage.join(below, f"run={self.name}.w*", _WINDOW)):
            match = re.search(rf"run=({re.escape(self.name)}\.w\d{{6,}})[/\\][^/\\]+$", path)
            if match and match[1] not in self._files:
                self._files[match[1]] = read_state(path, _REMEDY, _files_of) or []
        return {window: self._files[window] for window in sorted(self._files, key=_number)}

    def sizes(self, patterns: Sequence[str]) -> dict[str, int]:
        """Return the sizes of the files in windows, by their paths as the patterns find them."""
        found = {file.path: file.size for files in self.closed().values() for file in files}
        paths = (path for pattern in patterns for path in storage.matches(pattern))
        return found | {
            path: found[storage.absolute(path)] for path in paths if storage.absolute(path) in found
        }

    def unfinished(self) -> list[str]:
        """Return the windows that are closed and not finished, oldest first."""
        ends = (MANIFEST, _EMPTY)
        return [
            window
            for window in self.closed()
            if not any(storage.exists(self._file(window, name)) for name in ends)
        ]

    def tidy(self) -> None:
        """Delete what the last window has left, if the stream was stopped after its manifest was
        written: no other command will. Whoever reads a damaged manifest says so."""
        window = next(reversed(self.closed()), None)
        if window is not None:
            folder = storage.join(self._output, f"run={window}")
            with run_lock(self._output, folder, window), suppress(RunError):
                earlier_manifest(folder)

    def close(self, files: Sequence[ArrivedFile]) -> str:
        """Close the next window with these files; return its name.

        Raises:
            RunError: another command has put one of them into a window, or closes the same window
                at this moment.
        """
        closed = self.closed()
        others = {file.path for taken in closed.values() for file in taken}
        window = f"{self.name}.w{max(map(_number, closed), default=0) + 1:06d}"
        content = {
            "stream": self.name,
            "closed_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "files": [asdict(file) for file in files],
        }
        storage.make_folder(storage.join(self._output, f"run={window}"))
        if any(file.path in others for file in files) or not storage.write_new(
            self._file(window, _WINDOW), state_bytes(content)
        ):
            raise RunError(
                f"another command takes files of the stream {self.name!r}; stop one of the two"
            )
        return window

    def mark_empty(self, window: str) -> None:
        """Record that no file of a window has a usable record."""
        storage.write(self._file(window, _EMPTY), b"")

    def _file(self, window: str, name: str) -> str:
        return storage.join(self._output, f"run={window}", name)


def _files_of(window: dict[str, Any]) -> list[ArrivedFile]:
    return [ArrivedFile(**file) for file in window["files"]]


def _number(window: str) -> int:
    """Return the number at the end of a window's name, from 1."""
    return int(window.rpartition(".w")[2])
