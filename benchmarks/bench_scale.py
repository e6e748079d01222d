"""Measure how `ufo evaluate` grows: time, memory of each process, bytes out; in process, on Flink.

Generated responses of five facts (those of bench_pipeline.py), judged offline: 10,000, 50,000 and
200,000 against their references and an index of one page a person, 100,000 to 1,000,000 against
references alone; 10,000 to 50,000 also on a local Flink that scripts/flink starts and stops.
`slopes` is what one more response costs between two sizes, and `largest_from_mean` how far the
slopes of one setting lie from their mean: linear growth has them equal. Every run is a process of
its own.

`extrapolated` is arithmetic, not a run: 10 million responses, 16 workers, an endpoint that takes
10,000 requests a minute, with the calls a response that bench_calls.py counts and the processor
time a response of the largest run here. The longer of the two is the time that it takes.

    python benchmarks/bench_scale.py [--quick] [--only PART] [--sizes 10000,50000,200000]
        [--reference_sizes 100000,300000,1000000] [--flink_sizes 10000,30000,50000] [--repeat 1]

PART is in_process, reference_alone or on_flink; the arithmetic is of the first that is measured.
`--quick` is 200 and 800 in process, and no Flink. The last line is JSON, of what there is where a
part fails or the script is stopped: `errors` then tells why, and the exit code is 1.
"""

import argparse
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.bench_pipeline import FIELDS, FIRST, LAST, PLACES, write_input  # noqa: E402
from benchmarks.watch import Watch  # noqa: E402

BOTH = "reference,wikipedia"
RESPONSES, WORKERS, REQUESTS_A_MINUTE = 10_000_000, 16, 10_000
FUNCTION = "function_json"
PARTS = ("in_process", "reference_alone", "on_flink")


def write_pages(path: Path) -> None:
    """One page a person that the responses are of, right in some facts and silent on others."""
    chance = random.Random(11)
    with path.open("w", encoding="utf-8") as sink:
        for first in FIRST:
            for last in LAST:
                name = f"{first} {last}"
                text = (
                    f"{name} was born in {chance.choice(PLACES)} in {chance.randrange(1700, 1950)}."
                    f" {name} studied {chance.choice(FIELDS)} at the university of "
                    f"{chance.choice(PLACES)}. {name} won {chance.randrange(2, 9)} prizes."
                )
                sink.write(json.dumps({"title": name, "text": text}) + "\n")


@dataclass(frozen=True, slots=True)
class Setting:
    """Where runs go, the sources that are asked, and the flags and processes of the runner."""

    folder: Path
    sources: str
    flags: Sequence[str] = ()
    cluster: Sequence[int] = ()

    def run(self, size: int) -> dict[str, Any]:
        """Evaluate that many responses; returns what it took."""
        source = self.folder / f"responses-{size}.jsonl"
        if not source.exists():
            write_input(source, size)
        output = Path(tempfile.mkdtemp(dir=self.folder))
        command = [sys.executable, "-m", "ufo.pipelines.evaluate", "--judge", "offline", "--json"]
        command += ["--input", str(source), "--output", str(output), "--sources", self.sources]
        command += ["--index", str(self.folder / "index")] if "wikipedia" in self.sources else []
        before = Watch(list(self.cluster))
        before.look()
        started = time.monotonic()
        log = self.folder / "log"
        with log.open("w") as sink:
            process = subprocess.Popen(
                [*command, *self.flags], stdout=subprocess.PIPE, stderr=sink, text=True, cwd=ROOT
            )
        watch, stop = Watch([process.pid, *self.cluster], earlier=before.ticks), threading.Event()

        def look() -> None:
            while not stop.wait(0.1):
                watch.look()

        watcher = threading.Thread(target=look)
        watcher.start()
        try:
            printed, _ = process.communicate()
        finally:
            seconds = time.monotonic() - started
            process.terminate()  # what has ended is left alone
            process.wait()
            stop.set()
            watcher.join()
        if process.returncode:
            tail = log.read_text().splitlines()[-5:]
            raise RuntimeError(
                f"the run of {size} responses ended with {process.returncode}: {' | '.join(tail)}"
            )
        summary = json.loads(printed)
        if summary["responses"] != size:
            raise RuntimeError(f"of {size} responses there are {summary['responses']}")
        found = {
            "responses": size,
            "seconds": round(seconds, 2),
            "processor_seconds": round(watch.processor_seconds(), 2),
            "units": summary["units"],
            "coverage": round(summary["coverage"], 4),
            "peak_mib": watch.mib(),
            "peak_mib_together": watch.mib_together(),
            "bytes_out": sum(path.stat().st_size for path in output.rglob("*.parquet")),
        }
        print(json.dumps(found), file=sys.stderr)
        shutil.rmtree(output)
        return found


def grown(runs: Sequence[Mapping[str, Any]], measure: str) -> dict[str, Any] | None:
    """Return the cost of one more response between the sizes, in milliseconds."""
    by_size: dict[int, list[float]] = {}
    for run in runs:
        by_size.setdefault(run["responses"], []).append(run[measure])
    middle = {size: statistics.median(values) for size, values in sorted(by_size.items())}
    sizes = list(middle)
    if len(sizes) < 2:
        return None
    slopes = [
        1000 * (middle[more] - middle[less]) / (more - less) for less, more in pairwise(sizes)
    ]
    mean = statistics.fmean(slopes)
    found: dict[str, Any] = {"ms_a_response": [round(slope, 3) for slope in slopes]}
    if len(slopes) > 1:
        far = max(abs(slope - mean) for slope in slopes) / mean
        found |= {"largest_from_mean": round(far, 3), "linear_within_10_percent": far <= 0.1}
    return found


def extrapolated(runs: Sequence[Mapping[str, Any]], quick: bool) -> dict[str, Any]:
    """Return the arithmetic of 10 million responses at an endpoint."""
    command = [sys.executable, str(ROOT / "benchmarks/bench_calls.py"), *["--quick"] * quick]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    counted = json.loads(done.stdout.splitlines()[-1])
    facts = min(int(key) for key in counted if key.isdigit())
    largest = max(runs, key=lambda run: run["responses"])
    each = largest["processor_seconds"] / largest["responses"]
    processor_hours = RESPONSES * each / WORKERS / 3600
    cases = {}
    for name, case in counted[str(facts)].items():
        for sampling, costs in case[FUNCTION].items():
            calls = costs["calls"]
            endpoint_hours = RESPONSES * calls / REQUESTS_A_MINUTE / 60
            cases[f"{name}, {sampling}" if sampling != "none" else name] = {
                "calls_a_response": calls,
                "requests": RESPONSES * calls,
                "endpoint_hours": round(endpoint_hours, 1),
                "hours": round(max(endpoint_hours, processor_hours), 1),
                "bound_by": "endpoint" if endpoint_hours > processor_hours else "workers",
            }
    return {
        "responses": RESPONSES,
        "facts_a_response": facts,
        "workers": WORKERS,
        "requests_a_minute": REQUESTS_A_MINUTE,
        "processor_ms_a_response": round(1000 * each, 3),
        "processor_hours_on_each_worker": round(processor_hours, 1),
        "gb_out": round(RESPONSES * largest["bytes_out"] / largest["responses"] / 1e9, 1),
        "cases": cases,
    }


def measured(setting: Setting, sizes: Sequence[int], repeat: int) -> Iterator[dict[str, Any]]:
    for _ in range(repeat):
        for size in sizes:
            yield setting.run(size)


def on_flink(folder: Path, sizes: Sequence[int], repeat: int) -> Iterator[dict[str, Any]]:
    environment = {**os.environ, "UFO_VENV": sys.prefix}
    script = str(ROOT / "scripts/flink")

    def flink(word: str) -> str:
        return subprocess.run(
            [script, word], env=environment, stdout=subprocess.PIPE, text=True, check=True
        ).stdout

    flags = flink("start").split()
    try:
        processes = [int(line.split()[1]) for line in flink("status").splitlines()]
        yield from measured(Setting(folder, BOTH, flags, processes), sizes, repeat)
    finally:
        flink("stop")


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",") if word]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=numbers, default=[10_000, 50_000, 200_000])
    parser.add_argument("--reference_sizes", type=numbers, default=[100_000, 300_000, 1_000_000])
    parser.add_argument("--flink_sizes", type=numbers, default=[10_000, 30_000, 50_000])
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--only", choices=PARTS, help="this part alone")
    parser.add_argument("--quick", action="store_true", help="200 and 800 in process, no Flink")
    options = parser.parse_args()
    if options.quick:
        options.sizes, options.reference_sizes, options.flink_sizes = [200, 800], [], []
    report: dict[str, Any] = {"cores": len(os.sched_getaffinity(0)), "repeat": options.repeat}
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    errors: dict[str, str] = {}
    try:
        with tempfile.TemporaryDirectory(prefix="ufo-bench-") as name:
            measure(Path(name), options, report, errors)
    except KeyboardInterrupt:
        errors["stopped"] = "by a signal"
    print(json.dumps({**report, "errors": errors} if errors else report))
    sys.exit(1 if errors else 0)


def measure(
    folder: Path, options: argparse.Namespace, report: dict[str, Any], errors: dict[str, str]
) -> None:
    """Measure what `options` name into `report`; why a part failed is in `errors`."""
    build_index(folder)
    repeat = options.repeat
    parts: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
        "in_process": lambda: measured(Setting(folder, BOTH), options.sizes, repeat),
        "reference_alone": lambda: measured(
            Setting(folder, "reference"), options.reference_sizes, repeat
        ),
        "on_flink": lambda: on_flink(folder, options.flink_sizes, repeat),
    }
    sizes = dict(
        zip(PARTS, (options.sizes, options.reference_sizes, options.flink_sizes), strict=True)
    )
    for part in [options.only] if options.only else PARTS:
        runs: list[dict[str, Any]] = []
        if not sizes[part]:
            continue
        try:
            for run in parts[part]():
                runs.append(run)
                slopes = {name: grown(runs, name) for name in ("seconds", "processor_seconds")}
                report[part] = {"runs": runs, "slopes": slopes}
        except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
            errors[part] = str(error)
        if runs and "extrapolated" not in report:
            report["extrapolated"] = extrapolated(runs, options.quick)


def build_index(folder: Path) -> None:
    """Make the index `folder`/index of one page a person."""
    write_pages(folder / "pages.jsonl")
    build = ["index", "build", "--input", str(folder / "pages.jsonl")]
    subprocess.run(
        [sys.executable, "-m", "ufo.pipelines.cli", *build, "--output", str(folder / "index")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
        cwd=ROOT,
    )


if __name__ == "__main__":
    main()
