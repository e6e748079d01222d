"""The parts of `bench_index.py` that have a process of their own, which pays for its own memory.

Each runs under a limit of 4 GiB for what it allocates (RLIMIT_DATA). Pages of files that are mapped
do not count there, since the kernel can drop them at any time; they are reported beside it.
"""

import json
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.index_corpora import lines
from ufo.indexes import bm25
from ufo.indexes.bm25 import Bm25
from ufo.indexes.index import open_index
from ufo.indexes.names import NameTable
from ufo.indexes.store import PassageStore

MEMORY_BYTES = 4 << 30  # what building, opening and asking may take
ENWIKI_PASSAGES = 21_000_000  # of 100 words in the English Wikipedia, about

_WATCH_SECONDS = 0.1


def limit_memory() -> None:
    """Refuse this process and its children more than 4 GiB of memory each."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))


def own_process(script: str, *words: str) -> dict[str, Any]:
    """Run a part in a process of its own; what it answers, and what it and its children took."""
    command = [sys.executable, script, "--part", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        peak = _Peak(process.pid)
        output, _ = process.communicate()
        peak.stop()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    answer: dict[str, Any] = json.loads(output.splitlines()[-1])
    return answer | {f"{words[0]}_memory_mb": peak.megabytes}


class _Peak:
    """The most memory of their own that a process and its children had together."""

    def __init__(self, root: int) -> None:
        self.megabytes = 0
        self._root = root
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def stop(self) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(_WATCH_SECONDS):
            found, waiting = 0, [self._root]
            while waiting:
                process = waiting.pop()
                folder = Path(f"/proc/{process}")
                try:
                    found += own_mb(process=str(process))
                    for task in (folder / "task").iterdir():
                        waiting += map(int, (task / "children").read_text().split())
                except (OSError, KeyError):
                    continue  # it has ended
            self.megabytes = max(self.megabytes, found)


def own_mb(field: str = "RssAnon", process: str = "self") -> int:
    """Resident memory, by default what is the process's own: pages of files can be dropped."""
    status = Path(f"/proc/{process}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return int(fields[field].split()[0]) // 1024


def build_part(documents: str, path: str) -> dict[str, Any]:
    from ufo.pipelines.build_index import build
    from ufo.pipelines.options.settings import cores

    before = _processor_seconds()
    result = build(documents, path, workers=cores())
    processor = _processor_seconds() - before
    again = Path(documents).parent / "words-alone"
    again.mkdir()
    for name in ("passages.arrow", "pages.arrow", "aliases.arrow"):
        (again / name).symlink_to(Path(path) / name)
    started, before = time.perf_counter(), _processor_seconds()
    bm25.build(again)
    words, words_processor = time.perf_counter() - started, _processor_seconds() - before
    shutil.rmtree(again)
    passages = result.counts["passages"]
    return {
        "passages": passages,
        "build_seconds": round(result.seconds, 1),
        "build_passages_per_second": round(passages / result.seconds),
        "build_passages_per_processor_second": round(passages / processor),
        "words_indexed_passages_per_second": round(passages / words),
        "words_indexed_passages_per_processor_second": round(passages / words_processor),
    }


def _processor_seconds() -> float:
    """Return the seconds of this process and of its children that have ended."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def ask_part(path: str, questions: str) -> dict[str, Any]:
    # Libraries are loaded by the first index that is opened; this is how long the next one takes.
    before = own_mb()
    started = time.perf_counter()
    Bm25(Path(path)), PassageStore(Path(path)), NameTable(Path(path))
    open_ms = (time.perf_counter() - started) * 1000
    index = open_index(path)
    texts = [question["question"] for question in lines(Path(questions))]
    index.search(texts[:20], 10)
    answer: dict[str, Any] = {"open_ms": round(open_ms, 1)}
    answer |= timed(lambda text: index.search([text], 10), texts)
    answer["reranked"] = timed(lambda text: index.search([text], 5, [index.names_in(text)]), texts)
    answer["serving_memory_mb"] = {
        "resident": own_mb("VmRSS"),
        "own": own_mb(),
        "own_of_the_index": own_mb() - before,
    }
    return answer


def timed(ask: Callable[[str], Any], texts: list[str]) -> dict[str, float]:
    seconds = []
    processor = time.thread_time()
    for text in texts:
        started = time.perf_counter()
        ask(text)
        seconds.append(time.perf_counter() - started)
    processor = time.thread_time() - processor
    ordered = sorted(seconds)
    return {
        "queries_per_processor_second": round(len(ordered) / processor),
        "queries_per_second": round(len(ordered) / sum(ordered)),
        "p50_ms": round(ordered[len(ordered) // 2] * 1000, 2),
        "p95_ms": round(ordered[int(len(ordered) * 0.95)] * 1000, 2),
    }


def projected(found: dict[str, Any], disk: int, smaller: dict[str, Any] | None) -> dict[str, Any]:
    """Return what 21 million passages would take, and how that is reckoned.

    Disk, seconds and a query's time in proportion to the passages, as each posting of its words is
    scored; the upper end, since some of it does not grow. Memory along the line through this size
    and the `smaller` one, where there is one: most of it does not grow, and the writers' part of it
    (1 GB) stops growing, so that the line is an upper bound too.
    """
    size, limit = found["passages"], MEMORY_BYTES / (1 << 20)
    times = ENWIKI_PASSAGES / size
    answer = {
        "arithmetic": f"{ENWIKI_PASSAGES:,} / {size:,} = {times:.1f} times",
        "disk_gb": round(disk * times / 1e9, 1),
        "build_hours": round(found["build_seconds"] * times / 3600, 2),
        "p50_ms_at_most": round(found["p50_ms"] * times, 1),
        "memory_limit_mb": round(limit),
        "largest_tried_in_memory_limit": size,
    }
    if smaller is None:
        return answer
    for part in ("build_memory_mb", "ask_memory_mb"):
        low, high = smaller[part], found[part]
        grows = max(0.0, (high - low) / (size - smaller["passages"]))
        wanted = high + grows * (ENWIKI_PASSAGES - size)
        answer[part] = round(wanted)
        answer[f"{part}_arithmetic"] = (
            f"{high} MB + ({high} - {low}) MB / {size - smaller['passages']:,} passages"
            f" x {ENWIKI_PASSAGES - size:,} more"
        )
        answer[f"{part}_in_limit"] = wanted <= limit
        if grows:
            answer[f"{part}_limit_reached_at"] = round(size + (limit - high) / grows)
    return answer
