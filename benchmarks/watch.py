"""What the processes of a run take: the memory and the processor time of each, by what it is."""

import os
import resource
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Watch:
    """The most resident pages of each process below some roots, and of all at one time; what each
    is, and its clock ticks, those before the first look left out where `earlier` has them."""

    roots: list[int]
    peaks: dict[int, int] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    ticks: dict[int, int] = field(default_factory=dict)
    earlier: dict[int, int] = field(default_factory=dict)
    together: int = 0

    def look(self) -> None:
        """Look once; what a process does after the last look is not seen."""
        parents: dict[int, list[int]] = {}
        used: dict[int, int] = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    stat = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                parents.setdefault(int(stat[1]), []).append(int(entry))
                used[int(entry)] = int(stat[11]) + int(stat[12])
        waiting, together = list(self.roots), 0
        while waiting:
            process = waiting.pop()
            waiting += parents.get(process, [])
            try:
                pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
                words = Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            self.ticks[process] = max(self.ticks.get(process, 0), used.get(process, 0))
            if words:  # else it has ended, and waits to be noticed
                self.peaks[process] = max(self.peaks.get(process, 0), pages)
                together += pages
                kind = kind_of(words.split("\0"))
                # A fork has the words of whom it is a fork of.
                forked = kind == "ufo" and process not in self.roots
                self.names[process] = "worker" if forked else kind
        self.together = max(self.together, together)

    def processor_seconds(self) -> float:
        """Return the processor time of all of them."""
        ticks = sum(ticks - self.earlier.get(process, 0) for process, ticks in self.ticks.items())
        return ticks / os.sysconf("SC_CLK_TCK")

    def mib_together(self) -> int:
        """Return the peak of all processes at one time, in MiB."""
        return self.together * resource.getpagesize() // 2**20

    def mib(self) -> dict[str, list[int]]:
        """Return what a process is → the peaks of those of its kind, in MiB, largest first."""
        found: dict[str, list[int]] = {}
        for process, pages in self.peaks.items():
            size = pages * resource.getpagesize() // 2**20
            found.setdefault(self.names[process], []).append(size)
        return {name: sorted(sizes, reverse=True) for name, sizes in sorted(found.items())}


def kind_of(words: Sequence[str]) -> str:
    text = " ".join(words)
    for mark, kind in (
        ("StandaloneSessionClusterEntrypoint", "flink job manager"),
        ("TaskManagerRunner", "flink task manager"),
        ("job-server.jar", "beam job server"),
        ("flink_pool.py", "worker pool"),
        ("SdkHarness", "beam worker"),
        ("ufo.pipelines.evaluate", "ufo"),
        ("resource_tracker", "tracker"),
        ("forkserver", "worker"),
        ("loky", "worker"),
    ):
        if mark in text:
            return kind
    return Path(words[0]).name or "other"
