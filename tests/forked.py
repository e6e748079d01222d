"""A program that uses `ufo`, and then uses it in other processes: `python -m tests.forked HOW …`.

It prints "as before" if they found what this process had found, and if this process still does. The
environment names an endpoint, and the index and the cache are in the current folder.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import ufo

OSLO = "Oslo is the capital of Norway."
RECORDS = [
    {"id": name, "response": OSLO, "reference_answers": OSLO} for name in ("a", "b", "c", "d")
]
SECONDS = 60


def _checked(text: str = OSLO, **options: Any) -> float | None:
    return ufo.check_sync(text, references=[text], **options).score


def offline() -> Any:
    return _checked(judge="offline")


def bundled() -> Any:
    return _checked(judge="offline", verifier="bundled")


def cached(number: int = 0) -> Any:
    text = f"Oslo has {number} museums."
    return _checked(text, judge="llm", model="offline-judge", cache="cache.sqlite")


def shared() -> Any:
    return _checked(judge="llm", model="offline-judge", cache="cache/")


def indexed() -> Any:
    result = ufo.check_sync(OSLO, sources=["wikipedia"], index="index", judge="offline")
    return result.score, [row.outcome for row in result.evidence]


def evaluated() -> Any:
    # A worker of a pool may start no other process, which two workers would be.
    workers = 2 if multiprocessing.current_process().daemon else 1
    run = ufo.evaluate(
        RECORDS,
        sources=["reference"],
        judge="offline",
        chunk_size=2,
        workers=workers,
        quiet=True,
    )
    return run.score


def recalled() -> Any:
    record = {"question": "Where?", "ground_truth": OSLO, "answers": {"rag": OSLO}}
    return ufo.recall([record], judge="offline", quiet=True).scores["recall"].to_pylist()


USES: dict[str, Callable[[], Any]] = {
    use.__name__: use for use in (offline, bundled, cached, shared, indexed, evaluated, recalled)
}


def use(name: str) -> tuple[str, Any]:
    return name, USES[name]()


def in_child(work: Callable[[], None]) -> None:
    """Do the work in a forked child that ends as a program does, and check that it does."""
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        work()
        sys.exit()
    assert os.waitpid(child, 0)[1] == 0


def in_forks(before: dict[str, Any]) -> None:
    for name, expected in before.items():

        def again(name: str = name, expected: Any = expected) -> None:
            assert use(name) == (name, expected)

        in_child(again)


def in_pool(before: dict[str, Any], method: str) -> None:
    with multiprocessing.get_context(method).Pool(2) as pool:
        outcomes = pool.map_async(use, before, chunksize=1).get(SECONDS)
    assert dict(outcomes) == before


def in_executor(before: dict[str, Any]) -> None:
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert dict(pool.map(use, before, timeout=SECONDS)) == before


def with_results(before: dict[str, Any]) -> None:
    """A run without an output folder belongs to the process that evaluated it."""
    run = ufo.evaluate(RECORDS, sources=["reference"], judge="offline", quiet=True)

    def query() -> None:
        assert run.scores.num_rows == len(RECORDS)
        run.close()

    in_child(lambda: None)
    in_child(query)
    assert run.scores.num_rows == len(RECORDS)
    assert os.path.isdir(run.path)


def while_busy(before: dict[str, Any]) -> None:
    """Other threads of this process check texts at the moment of the fork."""
    over = threading.Event()

    def check(number: int) -> None:
        while not over.is_set():
            number += 1
            cached(number)

    threads = [threading.Thread(target=check, args=(number * 10_000,)) for number in range(3)]
    for thread in threads:
        thread.start()
    try:
        for number in range(5):
            in_child(lambda number=number: cached(-number))  # type: ignore[misc]
    finally:
        over.set()
    for thread in threads:
        thread.join()


def main(how: str, names: list[str]) -> None:
    before = dict(map(use, names))
    assert None not in before.values()
    if how in ("fork", "forkserver", "spawn"):
        in_pool(before, how)
    else:
        others = (in_forks, in_executor, with_results, while_busy)
        {other.__name__: other for other in others}[how](before)
    assert dict(map(use, names)) == before
    print("as before")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:] or list(USES))
