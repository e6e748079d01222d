"""Build the one unbounded pipeline of a stream on an engine:

    watch ─ windows ─ open ─ splits ─ evaluate ─ parts ─┐
                        └ what a window is of ──────────┴ finish ─ DIR/run=NAME.w000001

`watch` is a splittable DoFn over the numbers of the windows (see `streams/windows.py`). It closes
windows and emits the name of each once, with its number as event time: a window of the stream is a
window of Beam, and the watermark passes it as soon as it was emitted. No data is late: a file that
arrives later is in the next window. Beam's MatchContinuously would emit a file while it is still
being written, and a new job would emit all files again. When an engine restarts from a checkpoint,
windows that are closed and not finished are emitted again.
"""

import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import apache_beam as beam
from apache_beam.io.restriction_trackers import OffsetRange, OffsetRestrictionTracker
from apache_beam.io.watermark_estimators import ManualWatermarkEstimator
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.core import RestrictionProvider
from apache_beam.transforms.window import FixedWindows, TimestampedValue
from apache_beam.utils.timestamp import Duration, Timestamp

from ufo.pipelines.graph import evaluate
from ufo.pipelines.runs.attempt import Attempt
from ufo.pipelines.runs.chunks import InputReport, check_columns, default_chunk_size, in_chunks
from ufo.pipelines.runs.finish import FinishSpec
from ufo.pipelines.runs.inputs import display_names, measure, plain_file, total_lines
from ufo.pipelines.streams.gathering import Gathering
from ufo.pipelines.streams.windows import Windows, number_of
from ufo.schemas import storage
from ufo.schemas.errors import RunError, UsageError
from ufo.schemas.records import Failure, Part
from ufo.transforms.beam.write import Rows, folder_of
from ufo.transforms.columns import is_used
from ufo.transforms.read import parse
from ufo.transforms.splits import Split

_LOG = logging.getLogger(__name__)
_END = 1 << 40
_OPENED = "opened"
_UNREAD = "unread"


@dataclass(frozen=True, slots=True)
class Stream:
    """The settings of a stream for its steps: plain values that are sent to workers.

    `first` is the number of the first window that is not finished. `identifier` is the id of the
    command, and of its attempt at each window. `ending` finishes a window, once its folder, its
    fingerprint and its name are filled in; its `parts` (probes) go into window `first`. `engine` is
    the name of the runner, `parts` the folder for the parts of all windows.
    """

    output: str
    name: str
    identifier: str
    engine: str
    patterns: tuple[str, ...]
    window_seconds: float | None
    idle_seconds: float | None
    chunk_size: int | None
    asks_models: bool
    first: int
    ending: FinishSpec
    parts: str

    @property
    def windows(self) -> Windows:
        """The stream's windows on disk."""
        return Windows(self.output, self.name)

    def attempt(self, window: str, fingerprint: Any) -> Attempt:
        """Return the attempt at a window."""
        return Attempt(self.windows.staged(window), self.identifier, fingerprint)


class _Numbers(OffsetRestrictionTracker):  # type: ignore[misc]
    """Numbers of windows, claimed one after the other: the engine cannot split them."""

    def try_split(self, fraction_of_remainder: float) -> Any:
        return super().try_split(0) if fraction_of_remainder == 0 else None

    def is_bounded(self) -> bool:
        return False


class _FromFirst(RestrictionProvider):  # type: ignore[misc]
    def initial_restriction(self, stream: Stream) -> OffsetRange:
        return OffsetRange(stream.first, _END)

    def create_tracker(self, restriction: OffsetRange) -> _Numbers:
        return _Numbers(restriction)

    def restriction_size(self, stream: Stream, restriction: OffsetRange) -> int:
        return 1

    def truncate(self, stream: Stream, restriction: OffsetRange) -> None:
        return None


_TRACKER = beam.DoFn.RestrictionParam(_FromFirst())
_WATERMARK = beam.DoFn.WatermarkEstimatorParam(ManualWatermarkEstimator.default_provider())

# Kept for the process: each look is a bundle, and the next may be run by another copy of the DoFn.
_gathering: dict[str, Gathering] = {}


class _Watch(beam.DoFn):  # type: ignore[misc]
    """Map the stream to the names of its windows, each when it is closed."""

    @beam.DoFn.unbounded_per_element()  # type: ignore[untyped-decorator]
    def process(
        self,
        stream: Stream,
        tracker: Any = _TRACKER,
        watermark: Any = _WATERMARK,
    ) -> Iterator[TimestampedValue]:
        gathering = self._gathering(stream)
        windows = gathering.windows
        number = tracker.current_restriction().start
        while True:
            window = windows.named(number)
            if windows.files(window) is None:
                ended = windows.ended(stream.identifier)
                if not ended and gathering.look() is not None:
                    continue
                if ended or gathering.over:
                    if not ended:
                        windows.end(stream.identifier)
                    tracker.try_claim(_END)
                else:
                    tracker.defer_remainder(Duration.of(gathering.step))
                return
            if not tracker.try_claim(number):
                return
            if not windows.finished(window):
                yield TimestampedValue(window, Timestamp(number))
            number += 1
            watermark.set_watermark(Timestamp(number))

    def _gathering(self, stream: Stream) -> Gathering:
        if stream.identifier not in _gathering:
            seconds = stream.window_seconds, stream.idle_seconds
            _gathering[stream.identifier] = Gathering(
                stream.windows, stream.patterns, _LOG.warning, *seconds
            )
        return _gathering[stream.identifier]


class _Open(beam.DoFn):  # type: ignore[misc]
    """Map a window's name to splits of its files, failures of files that cannot be read, and the
    fingerprint for its manifest."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def process(self, window: str) -> Iterator[Split | TaggedOutput]:
        stream = self._stream
        if stream.windows.finished(window):
            return  # an engine that restarted from a checkpoint emits it again
        taken = stream.windows.files(window) or []
        folder = stream.attempt(window, {}).input_folder(local=False)
        inputs, files, plain = [], [], []
        columns = stream.ending.job.columns
        for one, name in zip(taken, display_names([one.path for one in taken]), strict=True):
            try:
                file = measure(one.path, name)
                plain.append(plain_file(file, folder, partial(is_used, columns), local=False))
            except UsageError as error:
                inputs.append({"name": name, "size": one.size, "sha256": None})
                failure = Failure("read", name, "unreadable_file", error.message)
                yield TaggedOutput(_UNREAD, {"failures": [failure]})
            else:
                files.append(file)
                inputs.append({"name": name, "size": file.size, "sha256": file.sha256})
        chunk_size = stream.chunk_size or default_chunk_size(files, stream.asks_models)
        fingerprint = {**stream.ending.fingerprint, "inputs": inputs, "chunk_size": chunk_size}
        attempt = stream.attempt(window, fingerprint)
        attempt.write_fingerprint()
        attempt.write_process(total_lines(files), stream.engine)
        yield TaggedOutput(_OPENED, json.dumps({"window": window, "fingerprint": fingerprint}))
        report, job = InputReport(), stream.ending.job
        report.add_left_out(plain)
        try:
            check_columns(plain, job.columns, job.max_line_bytes)
        except UsageError as error:  # Other windows may have them.
            _LOG.warning("%s: %s", window, error)
        read = partial(parse, columns=job.columns, unknown=report.add_unknown)
        for chunk in in_chunks(plain, chunk_size, job.max_line_bytes, parse=read):
            yield from chunk.splits
        if remark := report.warning():
            _LOG.warning("%s: %s", window, remark)


class _Finish(beam.DoFn):  # type: ignore[misc]
    """Finish the run of a window from all its parts and its fingerprint; emit its name."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def process(
        self, item: tuple[int, Iterable[str]], beam_window: Any = beam.DoFn.WindowParam
    ) -> Iterator[str]:
        found = [json.loads(text) for text in item[1]]
        opened = [one for one in found if "window" in one]
        parts = [Part(**one) for one in found if "window" not in one]
        if not opened:
            raise RunError(f"{len(parts)} parts have come after their window was finished")
        window, fingerprint = str(opened[0]["window"]), opened[0]["fingerprint"]
        stream, windows = self._stream, self._stream.windows
        if not windows.finished(window):
            if parts:
                self._finish(window, fingerprint, parts)
            else:
                windows.mark_empty(window)
                storage.delete(stream.attempt(window, fingerprint).folder)
        else:
            windows.tidy(window)
        storage.delete(storage.join(stream.parts, folder_of(beam_window)))
        yield window

    def _finish(self, window: str, fingerprint: Any, parts: list[Part]) -> None:
        stream, windows = self._stream, self._stream.windows
        staged, folder = windows.staged(window), windows.final(window)
        if staged != folder:
            # A folder of this attempt alone, since it is moved as a whole.
            folder = storage.join(staged, f".finished-{stream.identifier}")
        first = number_of(window) == stream.first
        ending = replace(
            stream.ending,
            run_folder=folder,
            fingerprint=fingerprint,
            facts={**stream.ending.facts, "run": window},
            parts=stream.ending.parts if first else (),
        )
        ending.finish(parts)
        windows.publish(folder, window)


def watched(stream: Stream, pipeline: "beam.Pipeline") -> "beam.PCollection[str]":
    """Return the names of the stream's windows, each emitted when it is closed."""
    return (
        pipeline
        | "stream" >> beam.Create([stream])
        | "watch" >> beam.ParDo(_Watch()).with_output_types(str)
    )


def finished(closed: "beam.PCollection[str]", stream: Stream) -> "beam.PCollection[str]":
    """Evaluate closed windows, given by name with their number as event time, each as a run of its
    own; return the names of those that are finished."""
    windows = closed | "windows" >> beam.WindowInto(FixedWindows(1)) | "apart" >> beam.Reshuffle()
    outputs = {_OPENED: str, _UNREAD: Rows}
    opening = beam.ParDo(_Open(stream)).with_output_types(Split, **outputs)
    opened = windows | "open" >> opening.with_outputs(*outputs, main="splits")
    splits = opened.splits | "spread" >> beam.Reshuffle()
    parts = evaluate(splits, stream.ending.job, stream.parts, opened[_UNREAD])
    written = parts | "to json" >> beam.Map(_to_json).with_output_types(str)
    return (
        (written, opened[_OPENED])
        | "both" >> beam.Flatten()
        | "together" >> beam.WithKeys(0).with_output_types(tuple[int, str])
        | "whole window" >> beam.GroupByKey()
        | "finish" >> beam.ParDo(_Finish(stream)).with_output_types(str)
    )


def _to_json(part: Part) -> str:
    return json.dumps(asdict(part))
