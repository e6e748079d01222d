"""Evaluate files as they arrive (`--streaming`), in windows that are separate runs.

    DIR/run=NAME.w000001/window.json     the window is closed: its files, with the bytes it takes
                        /bad_files.json  those of them that it leaves out, if any
                        /manifest.json   it is evaluated, like any run, and never changes

A window opens with its first file and closes `--window_seconds` later; later files, and what is
added to its files, are in the next window. A stopped stream is resumed from these folders: it
finishes the closed windows, and takes no byte twice. Windows are numbered. Writing `window.json`
fails where another command has written it, so no file is in two windows.
"""

import glob
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from ufo.pipelines.arrivals import Arrivals
from ufo.pipelines.options.choose_sources import choose_sources
from ufo.pipelines.options.settings import Settings
from ufo.pipelines.runs.attempt import checked_name, run_lock
from ufo.pipelines.runs.finish import earlier_manifest
from ufo.pipelines.runs.inputs import folder_refused, is_piped
from ufo.pipelines.runs.run import Finished, run_evaluate
from ufo.pipelines.runs.window_files import LOST, READ, UNUSABLE, ArrivedFile, WindowFile
from ufo.pipelines.runs.window_inputs import BadFile, Window
from ufo.schemas import storage
from ufo.schemas.errors import RunError, UsageError
from ufo.schemas.state_files import read_state, state_bytes, write_state
from ufo.schemas.tables import MANIFEST
from ufo.schemas.text import quantity

_LOOKS_A_WINDOW = 4
_LONGEST_LOOK = 1.0  # second
_NAME_CHARACTERS = 90
_OF_ONE_RUN = ("since", "baseline", "fail_under", "min_scored", "fresh", "dry_run", "batch")
_SHOWN = 5
_WINDOW = "window.json"
_BAD_FILES = "bad_files.json"
_EMPTY = "empty"  # a marker in folders of older schema versions: no record could be used
_DELETE = "delete the folder of this window, and the next window takes the files that are there"
_REMEDY = f"{_DELETE}; or begin a stream of another --run, which takes every file"

Say = Callable[[str], None]


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
    windows = StreamWindows(settings.output, _stream_name(settings))
    choose_sources(settings)
    lock_folder = storage.join(settings.output, ".streaming", windows.name)
    seconds = settings.window_seconds
    done = 0
    with run_lock(settings.output, lock_folder, windows.name), _report_bad_files(windows, say):
        closed = windows.unfinished()
        windows.tidy()
        arrivals = Arrivals(settings.input, windows.taken(), say)
        for pattern in arrivals.unmatched_patterns():
            say(f"No file matches --input {pattern!r} yet; the stream waits for files.")
        news, opened = clock(), None
        while True:
            for window in closed:
                reading = windows.reading(window, arrivals, say)
                on_window(_evaluate_window(settings, window, reading, quiet))
                arrivals.know(windows.taken())
                done += 1
                news, opened = clock(), None
            closed = []
            waiting, now = arrivals.look(), clock()
            if not waiting:
                opened = None
                idle = settings.idle_seconds is not None and now - news >= settings.idle_seconds
                if idle and not arrivals.unsettled:
                    return done
            elif opened is None:
                opened = news = now
            files = (
                arrivals.take_waiting() if opened is not None and now - opened >= seconds else []
            )
            if not files:
                sleep(min(_LONGEST_LOOK, seconds / _LOOKS_A_WINDOW))
                continue
            closed = [windows.close(files)]
            arrivals.know(windows.taken())


@contextmanager
def _report_bad_files(windows: "StreamWindows", say: Say) -> Iterator[None]:
    """Report the number of files that earlier windows left out, and at the end that of all."""
    before = windows.bad
    if before:
        say(f"Earlier windows went without {windows.bad_in_words()}")
    try:
        yield
    finally:
        if windows.bad > before:
            say(f"The windows of this stream went without {windows.bad_in_words()}")


def _stream_name(settings: Settings) -> str:
    """Return the stream's name; raise a UsageError without one, or for an unsuitable option."""
    for name in _OF_ONE_RUN:
        value = getattr(settings, name)
        if value is not None and value is not False:
            raise UsageError(
                f"--{name} is for a run with an end, and --streaming has none; leave one of them "
                "out"
            )
    if settings.if_finished != "replace":
        raise UsageError("--if_finished is for a run with an end; --streaming resumes by itself")
    if all(map(os.path.isdir, settings.input)):  # one beside files is a bad file
        raise folder_refused(settings.input[0])
    if any(map(is_piped, settings.input)):
        raise UsageError("--streaming waits for files, and --input names a pipe; leave one out")
    if settings.run is None:
        raise UsageError("--streaming needs --run NAME: a stopped stream is resumed by that name")
    if len(settings.run) > _NAME_CHARACTERS:
        raise UsageError(f"--run {settings.run!r}: a stream's name has up to 90 characters")
    return checked_name(settings.run)


def _evaluate_window(settings: Settings, window: str, reading: Window, quiet: bool) -> Finished:
    """Evaluate a closed window."""
    bounded = replace(
        settings,
        input=tuple(file.path for file in reading.files),
        run=window,
        streaming=False,
        idle_seconds=None,
    )
    return run_evaluate(bounded, quiet, reading)


class StreamWindows:
    """The windows of the stream `name` in the folder or prefix `output`, on disk."""

    def __init__(self, output: str, name: str) -> None:
        self.name = name
        self._output = output
        self._files: dict[str, list[ArrivedFile]] = {}  # a closed window never changes
        self._outcomes: dict[str, dict[ArrivedFile, str]] = {}
        for window, path in self._windows_with(_BAD_FILES):
            outcomes = read_state(path, _REMEDY, _bad_files_of)
            self._outcomes[window] = outcomes or {}

    @property
    def bad(self) -> int:
        """The number of files that windows have left out."""
        return sum(map(len, self._outcomes.values()))

    def bad_in_words(self) -> str:
        """Return the number of files that windows have left out, and where the reasons are."""
        files = quantity(self.bad, "file")
        return f"{files} that could not be used; each has its reason in the table `failures`."

    def closed(self) -> dict[str, list[ArrivedFile]]:
        """Return the files of each closed window by its name, oldest window first.

        Raises:
            RunError: a window's file is damaged.
        """
        for window, path in self._windows_with(_WINDOW):
            if window not in self._files:
                self._files[window] = read_state(path, _REMEDY, _files_of) or []
        return {window: self._files[window] for window in sorted(self._files, key=_number)}

    def taken(self) -> list[WindowFile]:
        """Return all files of closed windows, the oldest window first."""
        files_taken = []
        for window, files in self.closed().items():
            # Where files have no checksums, a window without a usable record was left out.
            earlier = any(file.is_without_checksums for file in files)
            otherwise = UNUSABLE if earlier and self._has(window, _EMPTY) else READ
            outcomes = self._outcomes.get(window, {})
            files_taken += [
                WindowFile(window, file, outcomes.get(file, otherwise)) for file in files
            ]
        return files_taken

    def reading(self, window: str, arrivals: Arrivals, say: Say) -> Window:
        """Return the input of a closed window, whose messages and bad files are reported."""
        files = self.closed()[window]

        def note(bad: Sequence[BadFile]) -> None:
            self._note(window, bad)
            if bad:
                of = f"{len(bad):,} of {quantity(len(files), 'file')} cannot be used"
                shown = [f"{one.failure.key} ({one.failure.message})" for one in bad[:_SHOWN]]
                more = f" and {len(bad) - _SHOWN:,} more" if len(bad) > _SHOWN else ""
                say(f"window {window}: {of}: {'; '.join(shown)}{more}")

        return Window(
            tuple(files), arrivals.found_at, note, lambda text: say(f"window {window}: {text}")
        )

    def unfinished(self) -> list[str]:
        """Return the windows that are closed and not finished, oldest first."""
        return [
            window
            for window in self.closed()
            if not (self._has(window, MANIFEST) or self._has(window, _EMPTY))
        ]

    def tidy(self) -> None:
        """Finish the clean-up of the last window, if the stream was stopped during it.

        No other command does so. A damaged manifest is reported where it is read.
        """
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
        others = {one.file for one in self.taken() if one.outcome != LOST}
        window = f"{self.name}.w{max(map(_number, closed), default=0) + 1:06d}"
        content = {
            "stream": self.name,
            "closed_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "files": [asdict(file) for file in files],
        }
        storage.make_folder(storage.join(self._output, f"run={window}"))
        if any(file in others for file in files) or not storage.write_new(
            self._file(window, _WINDOW), state_bytes(content)
        ):
            raise RunError(
                f"another command takes files of the stream {self.name!r}; stop one of the two"
            )
        return window

    def _note(self, window: str, bad: Sequence[BadFile]) -> None:
        """Record the files that a window leaves out; an earlier try may have left out others."""
        if bad:
            files = [{**asdict(one.file), "outcome": one.outcome} for one in bad]
            write_state(self._file(window, _BAD_FILES), {"files": files})
            self._outcomes[window] = {one.file: one.outcome for one in bad}
        elif self._outcomes.pop(window, None) is not None:
            storage.delete(self._file(window, _BAD_FILES))

    def _windows_with(self, name: str) -> Iterator[tuple[str, str]]:
        """Yield the windows that have a file of this name, and its path."""
        below = glob.escape(self._output)
        for path in storage.matches(storage.join(below, f"run={self.name}.w*", name)):
            if match := re.search(rf"run=({re.escape(self.name)}\.w\d{{6,}})[/\\][^/\\]+$", path):
                yield match[1], path

    def _has(self, window: str, name: str) -> bool:
        return storage.exists(self._file(window, name))

    def _file(self, window: str, name: str) -> str:
        return storage.join(self._output, f"run={window}", name)


def _files_of(window: dict[str, Any]) -> list[ArrivedFile]:
    return [ArrivedFile(**file) for file in window["files"]]


def _bad_files_of(content: dict[str, Any]) -> dict[ArrivedFile, str]:
    outcomes = {}
    for entry in content["files"]:
        outcome = entry.pop("outcome")
        outcomes[ArrivedFile(**entry)] = outcome
    return outcomes


def _number(window: str) -> int:
    """Return the number at the end of a window's name, from 1."""
    return int(window.rpartition(".w")[2])
