"""What Beam's counters say of each step: kept with each finished chunk, summed in the manifest.

A counter is kept only with the chunk whose parts are kept, so that a try that was stopped counts
nothing twice.
"""

import json
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from pipelines import logs
from schemas import storage
from transforms.job import COUNTED

FILE = "counters.json"

Counters = dict[str, dict[str, int]]
"""Step → name → number, as `transforms.beam.counting` declares them."""


def keep_counters(result: Any, folder: str) -> None:
    """Write what a finished pipeline counted into the folder of its chunk."""
    found: Counters = {}
    for counter in result.metrics().query()["counters"]:
        metric = counter.key.metric
        if metric.namespace.startswith(COUNTED):
            step = found.setdefault(metric.namespace.removeprefix(COUNTED), {})
            step[metric.name] = step.get(metric.name, 0) + int(counter.result)
    storage.write(storage.join(folder, FILE), json.dumps(found).encode())


def keep_engines_counters(result: Any, folder: str) -> None:
    """Do so for an engine's job. That its service does not answer is told, and no reason to lose
    what the job has written."""
    try:
        keep_counters(result, folder)
    except Exception as error:
        logs.tell(f"The engine does not tell its counters: {type(error).__name__}: {error}")


def summed(folders: Iterable[str]) -> Counters:
    """Return the sum over finished chunks; a chunk of before there were counters adds none."""
    paths = (storage.join(folder, FILE) for folder in folders)
    return summed_files(path for path in paths if storage.exists(path))


def summed_files(paths: Iterable[str]) -> Counters:
    """Return the sum of the counters in some files; one that went away meanwhile adds none."""
    found: dict[str, Counter[str]] = {}
    for path in paths:
        with suppress(FileNotFoundError):
            for step, counts in json.loads(storage.read(path)).items():
                found.setdefault(step, Counter()).update(counts)
    return {step: dict(counts) for step, counts in sorted(found.items())}
