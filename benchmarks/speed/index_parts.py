"""The parts of `index.py` that have a process of their own, which pays for its own memory.

Each runs under a limit of 4 GiB for what it allocates (RLIMIT_DATA). Pages of files that are mapped
do not count there, since the kernel can drop them at any time; the peak of resident memory, which
is reported, has them.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.speed.corpora import lines
from benchmarks.speed.watch import Watch
from ufo.indexes.bm25 import Bm25
from ufo.indexes.index import open_index
from ufo.indexes.names import NameTable
from ufo.indexes.store import PassageStore

MEMORY_BYTES = 4 << 30  # what building, opening and asking may take


def limit_memory() -> None:
    """Refuse this process and its children more than 4 GiB of memory each."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))


def own_process(script: str, *words: str) -> dict[str, Any]:
    """Run a part in a process of its own; what it answers, and what it and its children took."""
    command = [sys.executable, script, "--part", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with Watch(process.pid) as watch:
        output, _ = process.communicate()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    answer: dict[str, Any] = json.loads(output.splitlines()[-1])
    return answer | {f"{words[0]}_peak_mib": watch.peak_mib}


def build_part(documents: str, path: str) -> dict[str, Any]:
    from ufo.pipelines.build_index import build
    from ufo.pipelines.options.settings import cores

    before = _processor_seconds()
    result = build(documents, path, workers=cores())
    processor = _processor_seconds() - before
    passages = result.counts["passages"]
    return {
        "passages": passages,
        "build_seconds": round(result.seconds, 1),
        "build_passages_per_second": round(passages / result.seconds),
        "build_passages_per_processor_second": round(passages / processor),
    }


def _processor_seconds() -> float:
    """Return the seconds of this process and of its children that have ended."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def ask_part(path: str, questions: str) -> dict[str, Any]:
    # Libraries are loaded by the first index that is opened; this is how long the next one takes.
    started = time.perf_counter()
    Bm25(Path(path)), PassageStore(Path(path)), NameTable(Path(path))
    open_ms = (time.perf_counter() - started) * 1000
    index = open_index(path)
    texts = [question["question"] for question in lines(Path(questions))]
    index.search(texts[:20], 10)
    answer: dict[str, Any] = {"open_ms": round(open_ms, 1)}
    answer |= timed(lambda text: index.search([text], 10), texts)
    answer["reranked"] = timed(lambda text: index.search([text], 5, [index.names_in(text)]), texts)
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
