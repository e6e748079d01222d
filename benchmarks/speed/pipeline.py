"""Measure `ufo evaluate`: responses a second, growth, memory; in process and on a local Flink.

Generated responses of 5 facts with one reference of about 540 characters, judged offline. Each run
is a process of its own. Of a size there are, each with median, minimum and maximum:
`whole_command`, what a shell sees; `after_startup`, without the median time of a run of one
response; `processor`, the processor time of all processes, without such a run, over that of a bare
loop over the core functions. `ms_a_response` is what one more response costs from each size to the
next: growth is linear where these are equal, and `largest_from_mean` is how far they are from it.

    python benchmarks/speed/pipeline.py [--quick] [--sizes 1000,10000,100000] [--repeat 3]
        [--verifier overlap] [--sources reference,wikipedia] [--flink]

With `wikipedia` there is an index of one page a person. `--flink` starts and stops a local Flink.
The last line is JSON.
"""

import argparse
import asyncio
import compileall
import json
import os
import random
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.speed.watch import Watch  # noqa: E402


def words(text: str) -> list[str]:
    return text.split()


FIRST = words("Ada Boris Clara David Elena Felix Greta Hugo Irene Jonas Karin Leon Mira Nils Olga")
LAST = words("Abbott Berger Castell Dorsey Ekman Farrow Grünwald Holt Ivers Jansen Keller")
PLACES = words("Vienna Lisbon Oslo Prague Lyon Turin Ghent Porto Bergen Graz Leeds Cork Basel")
FIELDS = words("chemistry physics botany astronomy geology medicine mathematics history music")
WORKS = words("treatise atlas symphony novel survey catalogue theorem telescope vaccine bridge")


def record(number: int, chance: random.Random) -> dict[str, object]:
    """One response of five facts, one a sentence, some of them wrong, and its reference."""
    name = f"{chance.choice(FIRST)} {chance.choice(LAST)}"
    place, other = chance.sample(PLACES, 2)
    field, work = chance.choice(FIELDS), chance.choice(WORKS)
    born = chance.randrange(1700, 1950)
    died = born + chance.randrange(30, 90)
    prizes, pages = chance.randrange(2, 9), chance.randrange(100, 900)
    reference = (
        f"{name} was born in {place} in {born} and grew up there as the child of a teacher. After "
        f"school {name.split()[0]} studied {field} at the university of {other}, where the first "
        f"{work} appeared in {born + 25}. The {work} of {pages} pages was received well by critics "
        f"and brought {prizes} prizes within ten years. Later years were spent in {place} with "
        f"teaching, long journeys through the mountains and letters to colleagues abroad, of which "
        f"several hundred are kept in the city archive. {name} died in {other} in {died} after a "
        "short illness and was buried there."
    )
    wrong = chance.random() < 0.3
    response = (
        f"{name} was born in {other if wrong else place}. "
        f"{name} studied {field} at the university of {other}. "
        f"The first {work} of {name} appeared in {born + 25 + wrong}. "
        f"{name} won {prizes} prizes. "
        f"{name} died in {died + 3 * wrong}."
    )
    return {
        "id": f"r{number}",
        "model": f"model-{number % 2}",
        "question": f"Who was {name}?",
        "response": response,
        "reference_answers": [reference],
    }


def write_input(path: Path, size: int) -> None:
    chance = random.Random(7)
    with path.open("w", encoding="utf-8") as sink:
        for number in range(size):
            sink.write(json.dumps(record(number, chance), ensure_ascii=False) + "\n")


def write_pages(path: Path) -> None:
    """Write one page a person that the responses are of, right in some facts, silent on others."""
    chance = random.Random(11)
    with path.open("w", encoding="utf-8") as sink:
        for name in (f"{first} {last}" for first in FIRST for last in LAST):
            text = (
                f"{name} was born in {chance.choice(PLACES)} in {chance.randrange(1700, 1950)}. "
                f"{name} studied {chance.choice(FIELDS)} at the university of "
                f"{chance.choice(PLACES)}. {name} won {chance.randrange(2, 9)} prizes."
            )
            sink.write(json.dumps({"title": name, "text": text}) + "\n")


def build_index(folder: Path) -> None:
    """Make the index `folder`/index of one page a person."""
    write_pages(folder / "pages.jsonl")
    words = ("index", "build", "--input", folder / "pages.jsonl", "--output", folder / "index")
    command = [sys.executable, "-m", "ufo.pipelines.cli", *map(str, words)]
    subprocess.run(command, capture_output=True, check=True, cwd=ROOT)


@dataclass(frozen=True, slots=True)
class Setting:
    """Where runs go, what they ask, the flags of a runner and the processes of its cluster."""

    folder: Path
    sources: str = "reference"
    verifier: str = "overlap"
    flags: Sequence[str] = ()
    cluster: Sequence[int] = ()

    def input(self, size: int) -> Path:
        """Return the file of that many responses."""
        path = self.folder / f"responses-{size}.jsonl"
        if not path.exists():
            write_input(path, size)
        return path

    def run(self, size: int) -> dict[str, float]:
        """Evaluate that many responses; return what it took."""
        source, output = self.input(size), Path(tempfile.mkdtemp(dir=self.folder))
        command = [
            sys.executable,
            "-m",
            "ufo.pipelines.evaluate",
            "--json",
            "--judge",
            "offline",
            "--input",
            source,
            "--output",
            output,
            "--sources",
            self.sources,
            "--verifier",
            self.verifier,
            "--index",
            self.folder / "index",
            *self.flags,
        ]
        started, before = time.monotonic(), processor_of_children()
        process = subprocess.Popen(
            list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        with Watch(process.pid, *self.cluster) as watch:
            printed, _ = process.communicate()
        seconds = time.monotonic() - started
        if process.returncode:
            raise SystemExit(f"the run of {size} responses ended with {process.returncode}")
        assert json.loads(printed)["responses"] == size
        of_engine = watch.processor_seconds if self.cluster else 0.0
        figures = {
            "seconds": seconds,
            "processor": of_engine or processor_of_children() - before,
            "peak_mib": watch.peak_mib,
            "bytes_out": sum(file.stat().st_size for file in output.rglob("*.parquet")),
        }
        print(size, figures, file=sys.stderr)
        return figures


def start_flink(stack: ExitStack) -> tuple[list[str], list[int]]:
    """Start a local Flink, to be stopped by the stack; return our flags and its processes."""

    def flink(word: str) -> str:
        environment = {**os.environ, "UFO_VENV": sys.prefix}
        command = [str(ROOT / "scripts/flink"), word]
        return subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, text=True, check=True
        ).stdout

    stack.callback(flink, "stop")
    flags = shlex.split(flink("start"))
    return flags, [int(line.split()[1]) for line in flink("status").splitlines()]


def processor_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def bare_loop(path: Path, verifier: str) -> float:
    """Processor seconds of the core functions over a file, without Beam, processes and tables."""
    from ufo.pipelines.options.jobs import job_of_text
    from ufo.schemas.records import InputRecord
    from ufo.transforms.check import check, settle
    from ufo.transforms.check_text import open_plugins
    from ufo.transforms.extract import extract
    from ufo.transforms.read import parse

    async def loop() -> float:
        job = job_of_text({"judge": "offline", "verifier": verifier}, ["reference"])
        async with open_plugins(job) as ((source,), judge):
            started = time.process_time()
            with path.open("rb") as lines:
                for line in lines:
                    record = parse("", line)
                    assert isinstance(record, InputRecord)
                    asked = (await extract(record, judge, "claim")).open_units
                    settle(asked, await check(asked, source, judge), "not_factual")
            return time.process_time() - started

    return asyncio.run(loop())


def spread(values: list[float]) -> dict[str, float]:
    return {
        "median": round(statistics.median(values), 3),
        "min": round(min(values), 3),
        "max": round(max(values), 3),
    }


def of_size(size: int, runs: list[dict[str, float]], least: dict[str, float]) -> dict[str, object]:
    """Return the figures of a size beside those of a run of one response."""
    seconds = [run["seconds"] for run in runs]
    after = [max(each - least["seconds"], 1e-9) for each in seconds]
    return {
        "whole_command": {"seconds": spread(seconds), **rates(size, seconds)},
        "after_startup": {"seconds": spread(after), **rates(size, after)},
        "processor": {
            "bare_loop_seconds": spread([run["bare"] for run in runs]),
            "ratio": spread(
                [(run["processor"] - least["processor"]) / run["bare"] for run in runs]
            ),
        },
        **{key: spread([run[key] for run in runs]) for key in ("peak_mib", "bytes_out")},
    }


def rates(size: int, seconds: list[float]) -> dict[str, object]:
    return {"responses_per_second": spread([size / each for each in seconds])}


def growth(seconds: dict[int, float]) -> dict[str, object]:
    """Return what one more response costs, of the median seconds by size."""
    costs = [1000 * (seconds[b] - seconds[a]) / (b - a) for a, b in pairwise(seconds)]
    mean = statistics.fmean(costs)
    far = max(abs(cost - mean) for cost in costs) / mean
    return {"ms_a_response": [round(c, 3) for c in costs], "largest_from_mean": round(far, 3)}


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=numbers, default=[1_000, 10_000, 100_000])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--sources", default="reference", help="reference or reference,wikipedia")
    parser.add_argument("--verifier", default="overlap", help="of the offline judge")
    parser.add_argument("--flink", action="store_true", help="on a local Flink")
    parser.add_argument("--quick", action="store_true", help="50 and 200, once")
    options = parser.parse_args()
    if options.quick:
        options.sizes, options.repeat = [50, 200], 1
    report: dict[str, Any] = {"cores": len(os.sched_getaffinity(0)), **vars(options)}
    runs: dict[int, list[dict[str, float]]] = {size: [] for size in (1, *options.sizes)}
    # As in an installed package, even if Python is set to write no bytecode.
    for package in ("schemas", "indexes", "transforms", "pipelines"):
        compileall.compile_dir(ROOT / package, quiet=1)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        flags, cluster = start_flink(stack) if options.flink else ([], [])
        setting = Setting(Path(name), options.sources, options.verifier, flags, cluster)
        build_index(setting.folder)
        for _ in range(options.repeat):
            for size, runs_of_size in runs.items():
                bare = bare_loop(setting.input(size), options.verifier)
                runs_of_size.append({**setting.run(size), "bare": bare})
    middle = {
        size: {key: statistics.median(run[key] for run in runs_of_size) for key in runs_of_size[0]}
        for size, runs_of_size in runs.items()
    }
    report["startup_seconds"] = spread([run["seconds"] for run in runs[1]])
    for size in options.sizes:
        report[str(size)] = of_size(size, runs[size], middle[1])
    if len(options.sizes) > 1:
        report["growth"] = growth({size: middle[size]["seconds"] for size in options.sizes})
    print(json.dumps(report))


if __name__ == "__main__":
    main()
