"""Watch a process and all below it: their memory together, and their processor time."""

import threading
from typing import Self

import psutil


class Watch:
    """Looks ten times a second while it is entered; what ends between two looks is not seen."""

    def __init__(self, *roots: int) -> None:
        self._roots = [psutil.Process(root) for root in roots]
        self._seconds: dict[psutil.Process, float] = {}
        self._before: dict[psutil.Process, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._looks)
        self.peak_mib = 0
        """The most resident memory of all at one time; what they share is counted once each."""

    def __enter__(self) -> Self:
        self.look()
        # What a process took before, such as that of a cluster, is left out.
        self._before = {one: self._seconds[one] for one in self._roots if one in self._seconds}
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._stop.set()
        self._thread.join()

    def _looks(self) -> None:
        while not self._stop.wait(0.1):
            self.look()

    def look(self) -> None:
        """Look once."""
        resident = 0
        for root in self._roots:
            try:
                processes = [root, *root.children(recursive=True)]
            except psutil.Error:
                continue
            for process in processes:
                try:
                    times = process.cpu_times()
                    resident += process.memory_info().rss
                except psutil.Error:  # it has ended
                    continue
                self._seconds[process] = times.user + times.system
        self.peak_mib = max(self.peak_mib, resident // 2**20)

    @property
    def processor_seconds(self) -> float:
        """The processor time of all that was seen, that of ended processes too."""
        return sum(self._seconds.values()) - sum(self._before.values())
