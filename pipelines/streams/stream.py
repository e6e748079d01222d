"""Evaluate files as they arrive, in windows: each window becomes a run, published as a whole.

A window opens with its first file and closes `--window_seconds` later; files that arrive after that
are in the next one (see `windows.py`). In this process each window is evaluated as a bounded
pipeline; on an engine all windows are one unbounded pipeline (see `graph.py`). Both keep their
state in `window.json`: a stream that was stopped, and is started again in either way, finishes the
windows that were closed and takes no file twice.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from ufo.pipelines.options.beam_flags import BOUNDED, check_detached, runner_of
from ufo.pipelines.options.settings import Settings
from ufo.pipelines.runs.attempt import checked_name, run_lock
from ufo.pipelines.runs.evaluate import run_evaluate
from ufo.pipelines.runs.run import Finished
from ufo.pipelines.runs.sources import choose
from ufo.pipelines.streams.gathering import Gathering, Say
from ufo.pipelines.streams.windows import Windows
from ufo.schemas.errors import NothingToEvaluate, UsageError

_NAME_CHARACTERS = 90
_OF_ONE_RUN = ("since", "baseline", "fail_under", "max_error_share", "fresh", "dry_run")

OnWindow = Callable[[Finished], None]


def check_stream(settings: Settings) -> str:
    """Return the stream's name.

    Raises:
        UsageError: an option that only a run with an end has, or no name.
    """
    for name in _OF_ONE_RUN:
        value = getattr(settings, name)
        if value is not None and value is not False:
            raise UsageError(
                f"--{name} is for a run with an end, and --streaming has none; leave one of them "
                "out"
            )
    if settings.if_finished != "replace":
        raise UsageError("--if_finished is for a run with an end; --streaming resumes by itself")
    if settings.run is None:
        raise UsageError("--streaming needs --run NAME: a stopped stream is resumed by that name")
    if len(settings.run) > _NAME_CHARACTERS:
        raise UsageError(f"--run {settings.run!r}: a stream's name has up to 90 characters")
    return checked_name(settings.run)


def stream(
    settings: Settings,
    on_window: OnWindow,
    say: Say,
    quiet: bool = False,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Evaluate files as they arrive; return the number of windows when the stream ends.

    It ends after `idle_seconds` without a new file; without that option it runs until it is
    stopped.

    Raises:
        UsageError: see `check_stream`; also a source that cannot serve.
        RunError: a window could not be evaluated; the same command retries it.
    """
    name = check_stream(settings)
    check_detached(settings.beam, {}, BOUNDED)
    choose(settings)
    windows = Windows(settings.output, name)
    with run_lock(settings.output, windows.lock, name):
        if runner_of(settings.beam) not in BOUNDED:
            from ufo.pipelines.streams.portable import stream_portable

            return stream_portable(settings, windows, on_window, say, sleep)
        windows.take_over()
        done = sum(
            _finish(settings, windows, one, on_window, say, quiet) for one in windows.unfinished()
        )
        seconds = settings.window_seconds, settings.idle_seconds
        gathering = Gathering(windows, settings.input, say, *seconds, clock)
        while not gathering.over:
            window = gathering.look()
            if window is not None:
                done += _finish(settings, windows, window, on_window, say, quiet)
            else:
                sleep(gathering.step)
    return done


def _finish(
    settings: Settings, windows: Windows, window: str, on_window: OnWindow, say: Say, quiet: bool
) -> int:
    """Evaluate a closed window and publish it; return how many runs that made, 0 or 1."""
    files = windows.files(window)
    assert files is not None, window
    bounded = replace(
        settings,
        input=tuple(file.path for file in files),
        output=windows.place,
        run=window,
        if_finished="skip",  # stopped between its manifest and its move
        streaming=False,
        window_seconds=None,
        idle_seconds=None,
    )
    try:
        finished = run_evaluate(bounded, quiet)
    except NothingToEvaluate as error:
        windows.mark_empty(window)
        say(f"window {window}: {error.message}")
        return 0
    windows.publish(windows.staged(window), window)
    on_window(replace(finished, folder=windows.final(window)))
    return 1
