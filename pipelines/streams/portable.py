"""Run a stream on an engine (Flink, Dataflow), and report each window when it is finished."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.runner import PipelineState

from ufo.pipelines.options.beam_flags import FLINK, runner_of, value_of, waits, workers_of
from ufo.pipelines.options.settings import Settings
from ufo.pipelines.runners import engine
from ufo.pipelines.runners.local import of_step
from ufo.pipelines.runners.portable import SHARDS_A_WORKER
from ufo.pipelines.runs.attempt import Attempt
from ufo.pipelines.runs.evaluate import engine_job, finish_spec
from ufo.pipelines.runs.finish import earlier_manifest
from ufo.pipelines.runs.run import Finished, fingerprint_of
from ufo.pipelines.runs.sources import choose
from ufo.pipelines.services import endpoints
from ufo.pipelines.streams.gathering import Say
from ufo.pipelines.streams.graph import Stream, finished, watched
from ufo.pipelines.streams.windows import Windows, number_of
from ufo.schemas import storage
from ufo.schemas.errors import Interrupted, RunError

_LOOK_SECONDS = 0.5
# Without checkpoints Flink ends the source of a stream at once. Elements that Flink buffers during
# a checkpoint would wait for the next element, which may be hours away: so bundles are short, and
# are finished before a checkpoint.
_OF_FLINK = {"checkpointing_interval": "10000", "max_bundle_time_mills": "200"}
_FLAGS_OF_FLINK = ("--finish_bundle_before_checkpointing",)


def stream_portable(
    settings: Settings,
    windows: Windows,
    on_window: Callable[[Finished], None],
    say: Say,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Evaluate a stream as one pipeline on the runner that the flags name, and report each window.

    Return the number of windows when the stream has ended after `idle_seconds`, or 0 at once with
    `--no_wait_until_finish`. Ctrl-C cancels the pipeline. Where the command is killed, the pipeline
    runs until the next command takes over.

    Raises:
        Interrupted: by Ctrl-C; the pipeline is cancelled, and the same command resumes it.
        RunError: the runner reports that the pipeline failed; the same command resumes it.
    """
    stream = stream_of(settings, windows)
    windows = stream.windows
    reported = {window for window, _ in windows.all() if windows.finished(window)}
    flags = engine_flags(settings)
    names = [source.name for source in stream.ending.job.sources]
    place = storage.join(windows.lock, stream.identifier)
    there = engine.job_of(flags, windows.lock, place, names, settings.mode, 0)
    try:
        pipeline = beam.Pipeline(options=PipelineOptions([*flags, *there.flags()]))
        finished(watched(stream, pipeline), stream)
        say(f"Submitted the job {there.name} to {there.runner}.")
        result = pipeline.run()
        there.until_there(result, sleep)
    except Exception as error:
        raise of_step(error, stream.attempt(windows.name, {}), "the stream") from error
    if not waits(settings.beam):
        say(f"stream {windows.name} is the engine's now; end it there")
        return 0
    number = 0
    try:
        while True:
            over = windows.ended(stream.identifier) and not windows.unfinished()
            failed = not over and PipelineState.is_terminal(result.state)
            for news in _news(windows, reported):
                on_window(news)
                number += 1
            if over:
                there.cancel(result, sleep)  # Flink does not end the job by itself
                storage.delete(Attempt(windows.lock, stream.identifier, {}).folder)
                return number
            if failed:
                result.wait_until_finish()
                raise RunError(f"{runner_of(settings.beam)} has ended the stream")
            sleep(_LOOK_SECONDS)
    except KeyboardInterrupt:
        ended = there.cancel(result)
        raise Interrupted(
            f"interrupted{ended and '; '}{ended}; finished windows are kept, and the same command "
            "resumes the stream"
        ) from None
    except RuntimeError as error:
        raise RunError(
            f"the stream failed: {_cause(str(error))}\nFinished windows are kept; the same command "
            "resumes the stream."
        ) from error


def _cause(text: str) -> str:
    """Return the message of the step that failed, without the engine's stack traces."""
    said = re.findall(r"^\S*(?:Error|Exception): (.*) \[while running '.*'\]$", text, re.MULTILINE)
    return str(said[-1]) if said else text


def engine_flags(settings: Settings) -> list[str]:
    """Return Beam's flags for the stream: those given, and those that a stream needs."""
    flags = [*settings.beam, "--streaming"]
    if runner_of(settings.beam) == FLINK:
        flags += _FLAGS_OF_FLINK
        for name, value in _OF_FLINK.items():
            if value_of(settings.beam, name) is None:
                flags.append(f"--{name}={value}")
    return flags


def stream_of(settings: Settings, windows: Windows) -> Stream:
    """Return what the steps of the pipeline know, and make this command the one that takes files:
    the pipeline of an earlier command takes no more."""
    windows = Windows(storage.absolute(settings.output), windows.name)
    chosen = choose(settings)
    models = settings.models_asked(chosen.specs)
    client, probes = endpoints.probed(settings, chosen.specs)
    fingerprint = fingerprint_of(settings, [], bool(models), chosen.fingerprint)
    attempt = Attempt(windows.lock, windows.take_over(), fingerprint)
    storage.make_folder(attempt.folder)
    job, probed = engine_job(settings, chosen, attempt, client, probes)
    workers = workers_of(settings.beam, settings.processes())
    job = job.elsewhere().among(workers)
    job = replace(job, parts=workers, shards=max(job.shards, SHARDS_A_WORKER * workers))
    ending = finish_spec(settings, chosen, attempt, windows.name, job, probed)
    return Stream(
        windows.output,
        windows.name,
        attempt.identifier,
        runner_of(settings.beam),
        tuple(map(storage.absolute, settings.input)),
        settings.window_seconds,
        settings.idle_seconds,
        settings.chunk_size,
        bool(models),
        min(map(number_of, windows.unfinished()), default=windows.next()),
        ending,
        storage.join(attempt.folder, "parts"),
    )


def _news(windows: Windows, reported: set[str]) -> Iterator[Finished]:
    """Yield the finished windows that are not in `reported`, and add them to it."""
    for window, _ in windows.all():
        if window in reported or not windows.finished(window):
            continue
        reported.add(window)
        manifest = earlier_manifest(windows.final(window))
        if manifest is not None:
            ended = datetime.fromisoformat(manifest["finished_at"])
            seconds = (ended - windows.closed_at(window)).total_seconds()
            yield Finished(window, windows.final(window), manifest, seconds)
