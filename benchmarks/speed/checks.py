"""Measure `ufo.check` offline: the first call, many at once, and memory over thousands.

    python benchmarks/speed/checks.py [--quick]

At once: in one process by `asyncio.gather`, which uses one core because the judge is Python code,
and in a pool of one process a core, which is forked from a process that has checked before. The
last line is JSON.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from time import perf_counter
from typing import Any

import psutil

import ufo

_FIRST = """
from time import perf_counter
start = perf_counter()
import ufo
imported = perf_counter()
text = "Oslo is the capital of Norway."
ufo.check_sync(text, references=[text], judge="offline").score
print(imported - start, perf_counter() - imported)
"""
_SENTENCES = (
    "Town {0} is the capital of region {1}. It has {1} bridges and {2} museums. "
    "It was founded in {3}. The mayor of Town {0} lives near the river."
)


def text_of(number: int) -> str:
    """Return a text with five claims, of which no two are alike."""
    return _SENTENCES.format(number, number % 97, number % 41, 1000 + number % 900)


def reference_of(number: int) -> str:
    """Return a reference that states the same in other words."""
    return text_of(number).replace("bridges and", "bridges, and nearly")


def check(number: int) -> float | None:
    """Check a text by its reference."""
    references = [reference_of(number)]
    return ufo.check_sync(text_of(number), references=references, judge="offline").score


async def _gathered(numbers: range) -> None:
    await asyncio.gather(
        *(
            ufo.check(text_of(number), references=[reference_of(number)], judge="offline")
            for number in numbers
        )
    )


def first(times: int) -> dict[str, float]:
    """Return the median seconds of the import and of the first call, in processes of their own."""
    runs = []
    for _ in range(times):
        done = subprocess.run(
            [sys.executable, "-c", _FIRST], capture_output=True, text=True, check=True
        )
        runs.append([float(word) for word in done.stdout.split()])
    imported, called = (statistics.median(column) for column in zip(*runs, strict=True))
    return {"import_s": round(imported, 3), "first_call_s": round(called, 3)}


def at_once(number: int) -> dict[str, float]:
    """Return the seconds of that many checks at once: in one process, and in a pool."""
    processes = len(os.sched_getaffinity(0))
    check(-1)
    start = perf_counter()
    asyncio.run(_gathered(range(number)))
    gathered = perf_counter() - start
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(processes, mp_context=fork) as pool:
        list(pool.map(check, range(-processes, 0)))  # starts them
        start = perf_counter()
        list(pool.map(check, range(number, 2 * number), chunksize=5))
        pooled = perf_counter() - start
    return {
        "checks": number,
        "processes": processes,
        "gathered_s": round(gathered, 2),
        "pooled_s": round(pooled, 2),
    }


def memory(number: int) -> dict[str, Any]:
    """Return the resident megabytes after each fifth of that many checks of different texts."""
    process, megabytes = psutil.Process(), []
    start = perf_counter()
    for done in range(1, number + 1):
        check(10_000 + done)
        if done % (number // 5) == 0:
            megabytes.append(round(process.memory_info().rss / 1e6))
    seconds = perf_counter() - start
    return {"checks": number, "mb": megabytes, "checks_a_second": round(number / seconds, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few checks, to see that it runs")
    quick = parser.parse_args().quick
    figures = {
        **first(1 if quick else 5),
        "at_once": at_once(10 if quick else 100),
        "memory": memory(20 if quick else 2_000),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
