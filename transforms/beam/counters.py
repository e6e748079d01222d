"""What the steps of a run share on Beam: their counters, and calls of coroutines."""

import time
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import apache_beam as beam
from apache_beam.metrics import Metrics
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.window import WindowedValue

from ufo.schemas.records import OpenUnits, Usage
from ufo.transforms.check import Checked
from ufo.transforms.job import COUNTED, IN_FLIGHT
from ufo.transforms.llm.usage_log import UsageLog
from ufo.transforms.loop import CallWindow, run_now
from ufo.transforms.votes import decides

T = TypeVar("T")
R = TypeVar("R")

_SECONDS_BETWEEN_LINES = 0.1


class StepCounters:
    """The counters of one step of a run; for a DoFn, which makes them in `setup`.

    They are Beam metrics, and lines of the run's usage log while a chunk is under way, up to ten a
    second; a path of None discards the lines. At the end of a bundle both say the same.
    """

    def __init__(self, step: str, usage_log: str | None = None) -> None:
        self._step = step
        self._namespace = COUNTED + step
        self._log = UsageLog(usage_log)
        self._added: dict[str, int] = {}
        self._unwritten: dict[str, int] = {}
        self._wrote = 0.0

    def add(self, **counts: int) -> None:
        """Add to the counters of these names. One that was only ever added 0 is shown as 0."""
        added, unwritten = self._added, self._unwritten
        for name, count in counts.items():
            added[name] = added.get(name, 0) + count
            unwritten[name] = unwritten.get(name, 0) + count
        if time.monotonic() - self._wrote >= _SECONDS_BETWEEN_LINES:
            self._write()

    def flush(self) -> None:
        """Add to Beam's metrics what was counted since the last call; for the end of a bundle."""
        for name, count in self._added.items():
            Metrics.counter(self._namespace, name).inc(count)
        self._added.clear()
        self._write()

    def _write(self) -> None:
        self._log.add({f"{self._step}.{name}": count for name, count in self._unwritten.items()})
        self._unwritten.clear()
        self._wrote = time.monotonic()

    def close(self) -> None:
        """Close the usage log."""
        self._log.close()


def of_source(asked: OpenUnits, checked: Checked) -> dict[str, int]:
    """Return the counts of one response that a source was asked about.

    `units_in` = `answered` + `noans` + `errors`: the units with a valid vote, those with none, and
    those of these that had nothing but errors.
    """
    answered = sum(map(decides, checked.tallies))
    errors = sum(
        votes.n_error > 0 and not votes.n_noans and not decides(votes) for votes in checked.tallies
    )
    return {
        "responses": 1,
        "units_in": len(asked.units),
        "answered": answered,
        "noans": len(asked.units) - answered - errors,
        "errors": errors,
        "passages": len(checked.passages),
        "evidence": len(checked.evidence),
        "failures": len(checked.failures),
        **requests_in(checked.usage),
    }


def requests_in(usage: Sequence[Usage]) -> dict[str, int]:
    """Return how many requests were sent, and how many were answered without one."""
    cached = sum(row.cached or row.coalesced for row in usage)
    return {"requests": len(usage) - cached, "cached": cached}


class CoroutineDoFn(beam.DoFn, Generic[T, R]):  # type: ignore[misc]
    """Calls `call` for each element and yields `outputs` of each result.

    A member calls `begin` in `setup`. Where `remote` is True, up to `in_flight` calls are under way
    on the process's loop and any completed one is yielded, in the window and at the timestamp of
    the element it came from; the bundle ends when all are.
    `call` returns errors as data: an exception here would end the run.
    """

    remote = False

    def __init__(self, in_flight: int = IN_FLIGHT) -> None:
        self.counters = StepCounters("")
        self._in_flight = in_flight
        self._window: CallWindow[tuple[Any, Any], R] | None = None
        self._opened: Sequence[Any] = ()

    def begin(self, step: str, usage_log: str | None, *needed: Any) -> None:
        """Make the counters of the step, and open the judge or source that its calls need."""
        self.counters = StepCounters(step, usage_log)
        for one in needed:
            one.open()
        self._opened = needed
        self.remote = any(one.remote for one in needed)

    def teardown(self) -> None:
        """Close what `begin` opened."""
        self.counters.close()
        for one in reversed(self._opened):
            one.close()

    def call(self, item: T) -> Coroutine[Any, Any, R]:
        """Return the coroutine for one element."""
        raise NotImplementedError

    def outputs(self, result: R) -> Iterable[Any]:
        """Return the elements to emit for one result, tagged or not."""
        raise NotImplementedError

    def start_bundle(self) -> None:
        """Begin with nothing under way."""
        self._window = CallWindow(self._in_flight) if self.remote else None

    def process(
        self,
        element: T,
        timestamp: Any = beam.DoFn.TimestampParam,
        window: Any = beam.DoFn.WindowParam,
    ) -> Iterator[Any]:
        """Yield the outputs of this element, or of whichever elements are completed."""
        if self._window is None:
            yield from self.outputs(run_now(self.call(element)))
            return
        for origin, result in self._window.submit((timestamp, window), self.call(element)):
            yield from self._placed(origin, result)

    def finish_bundle(self) -> Iterator[Any]:
        """Yield the outputs of all that is still under way."""
        if self._window is not None:
            for origin, result in self._window.drain():
                yield from self._placed(origin, result)
        self.counters.flush()

    def _placed(self, origin: tuple[Any, Any], result: R) -> Iterator[Any]:
        timestamp, window = origin
        for output in self.outputs(result):
            if isinstance(output, TaggedOutput):
                placed = WindowedValue(output.value, timestamp, (window,))
                yield TaggedOutput(output.tag, placed)
            else:
                yield WindowedValue(output, timestamp, (window,))
