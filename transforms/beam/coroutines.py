"""Call a coroutine of a step in a DoFn: at once if it is local, else many at a time."""

from collections.abc import Coroutine, Iterable, Iterator
from typing import Any, Generic, TypeVar

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.window import WindowedValue

from ufo.transforms.beam.counting import StepCounters
from ufo.transforms.job import IN_FLIGHT
from ufo.transforms.loop import Window, run_now

T = TypeVar("T")
R = TypeVar("R")


class CoroutineDoFn(beam.DoFn, Generic[T, R]):  # type: ignore[misc]
    """Calls `call` for each element and yields `outputs` of each result.

    A member sets `remote` in `setup`, and its `counters`. Where `remote` is True, up to `in_flight`
    calls are under way on the process's loop and any completed one is yielded, in the window and at
    the timestamp of the element it came from; the bundle ends when all are.
    `call` returns errors as data: an exception here would end the run.
    """

    remote = False

    def __init__(self, in_flight: int = IN_FLIGHT) -> None:
        self.counters = StepCounters("")
        self._in_flight = in_flight
        self._window: Window[tuple[Any, Any], R] | None = None

    def call(self, item: T) -> Coroutine[Any, Any, R]:
        """Return the coroutine for one element."""
        raise NotImplementedError

    def outputs(self, result: R) -> Iterable[Any]:
        """Return the elements to emit for one result, tagged or not."""
        raise NotImplementedError

    def start_bundle(self) -> None:
        """Begin with nothing under way."""
        self._window = Window(self._in_flight) if self.remote else None

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
