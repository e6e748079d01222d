"""Write the counts of a worker process to a file, for progress while an engine runs.

Engines report Beam's counters late, and some not before the end: Flink has those of a bundle when
the bundle is finished, and a batch stage is one bundle a worker. So each process also writes its
counts into a file of its own in a folder of the run, on whatever file system that is: once a
second, and when a bundle ends. It is what was attempted: of work that is done again, both are
counted.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from uuid import uuid4

from ufo.schemas import storage

_SECONDS_BETWEEN_WRITES = 1.0

_LOGGER = logging.getLogger(__name__)


def _later(seconds: float, call: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()


class Live:
    """The counts of this process in a file below `folder`; for any thread.

    `later` calls something after so many seconds; it and `clock` are for tests.
    """

    def __init__(
        self,
        folder: str,
        clock: Callable[[], float] = time.monotonic,
        later: Callable[[float, Callable[[], None]], None] = _later,
    ) -> None:
        self._folder = folder
        self._name = f"{uuid4().hex}.json"
        self._clock = clock
        self._later = later
        self._counts: dict[str, dict[str, int]] = {}
        self._next = 0.0
        self._waiting = self._broken = False
        self._lock = threading.Lock()

    def add(self, step: str, counts: Mapping[str, int]) -> None:
        """Add to the counts of a step."""
        with self._lock:
            found = self._counts.setdefault(step, {})
            for name, count in counts.items():
                found[name] = found.get(name, 0) + count
            if self._waiting:
                return
            seconds = self._next - self._clock()
            self._waiting = seconds > 0
        if seconds > 0:
            # What a bundle's end has written is not written again: the run may be over.
            self._later(seconds, self.flush)
        else:
            self._write()

    def flush(self) -> None:
        """Write what is not written yet: the process may be ended after a bundle."""
        with self._lock:
            waiting = self._waiting
        if waiting:
            self._write()

    def _write(self) -> None:
        with self._lock:
            if self._broken:
                return
            self._next = self._clock() + _SECONDS_BETWEEN_WRITES
            self._waiting = False
            data = json.dumps(self._counts).encode()
        # A job that outlives its run must not create the folder of the finished run again.
        if not storage.is_remote(self._folder) and not storage.is_folder(self._folder):
            return
        try:
            with storage.writing(storage.join(self._folder, self._name)) as sink:
                sink.write(data)
        except OSError:  # none is worth the run
            self._broken = True
            _LOGGER.warning("This worker reports no more progress", exc_info=True)


_of_process: dict[str, Live] = {}
_lock = threading.Lock()


def live(folder: str) -> Live:
    """Return the counts of this process that lie in a folder."""
    with _lock:
        return _of_process.setdefault(folder, Live(folder))
