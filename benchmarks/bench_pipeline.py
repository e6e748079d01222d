"""Measure `ufo evaluate`: responses a second and peak memory of all processes.

Generated responses of 5 facts with one reference of about 540 characters, judged offline, on this
machine's cores. Each size is run in a process of its own; the last line is JSON, in which each
figure has its median, minimum and maximum over the repetitions. A size has the rate of the
`whole_command`, from the shell's view, and beside it the rate `after_startup`: without the median
time of a run of one response, which is interpreter, imports, graph and report. `floor_seconds` are
the parts of that which no code of ours can shorten. `processor` has the ratio of the processor time
of all processes, without such a run of one, to that of a bare loop over the core functions.

    python benchmarks/bench_pipeline.py [--quick] [--sizes 1000,10000,100000] [--repeat 3]
        [--verifier overlap]
"""

import argparse
import asyncio
import compileall
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


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


def memory_of_tree(root: int) -> int:
    """Resident bytes of a process and all below it; memory they share is counted once each."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry))
    total, waiting = 0, [root]
    while waiting:
        process = waiting.pop()
        waiting += children.get(process, [])
        try:
            total += int(Path(f"/proc/{process}/statm").read_text().split()[1])
        except OSError:
            continue
    return total * os.sysconf("SC_PAGE_SIZE")


def run_once(size: int, folder: Path, workers: int | None, verifier: str) -> dict[str, float]:
    path = folder / f"responses-{size}.jsonl"
    if not path.exists():
        write_input(path, size)
    output = Path(tempfile.mkdtemp(dir=folder))
    command = [sys.executable, "-m", "ufo.pipelines.evaluate", "--input", str(path)]
    command += ["--output", str(output), "--sources", "reference", "--json"]
    command += ["--judge", "offline", "--verifier", verifier]
    command += [f"--workers={workers}"] if workers else []
    started, before = time.monotonic(), processor_of_children()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    peak, stop = 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not stop.wait(0.1):
            peak = max(peak, memory_of_tree(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    printed, _ = process.communicate()
    seconds = time.monotonic() - started
    stop.set()
    watcher.join()
    if process.returncode:
        raise SystemExit(f"the run of {size} responses failed with exit code {process.returncode}")
    summary = json.loads(printed)
    assert summary["responses"] == size
    bytes_out = sum(p.stat().st_size for p in output.rglob("*.parquet"))
    return {
        "seconds": seconds,
        "processor": processor_of_children() - before,
        "units": summary["units"],
        "peak_mib": peak / 2**20,
        "bytes_out": bytes_out,
    }


def processor_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def bare_loop(path: Path, verifier: str) -> float:
    """Processor seconds of the core functions over a file, without Beam, processes and tables."""
    from ufo.pipelines.runs.jobs import job_of_text
    from ufo.schemas.records import InputRecord
    from ufo.transforms.check import check, settle
    from ufo.transforms.check_text import opened
    from ufo.transforms.extract import extract
    from ufo.transforms.read import parse

    async def loop() -> float:
        job = job_of_text({"judge": "offline", "verifier": verifier}, ["reference"])
        async with opened(job) as ((source,), judge):
            started = time.process_time()
            with path.open("rb") as lines:
                for line in lines:
                    record = parse("", line)
                    assert isinstance(record, InputRecord)
                    asked = (await extract(record, judge, "claim")).open_units
                    settle(asked, await check(asked, source, judge), "not_factual")
            return time.process_time() - started

    return asyncio.run(loop())


def seconds_of(code: str) -> float:
    started = time.monotonic()
    subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - started


def spread(values: list[float]) -> dict[str, float]:
    return {
        "median": round(statistics.median(values), 3),
        "min": round(min(values), 3),
        "max": round(max(values), 3),
    }


def of_size(
    size: int, runs: list[dict[str, float]], startup: float, processor: float
) -> dict[str, object]:
    seconds = [run["seconds"] for run in runs]
    bare = [run["bare"] for run in runs]
    ratios = [(run["processor"] - processor) / run["bare"] for run in runs]
    return {
        "whole_command": {
            "seconds": spread(seconds),
            "responses_per_second": spread([size / each for each in seconds]),
        },
        "after_startup": {
            "seconds": spread([each - startup for each in seconds]),
            "responses_per_second": spread([size / max(each - startup, 1e-9) for each in seconds]),
        },
        "processor": {"bare_loop_seconds": spread(bare), "ratio": spread(ratios)},
        **{key: spread([run[key] for run in runs]) for key in ("peak_mib", "bytes_out")},
        "units": runs[0]["units"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--verifier", default="overlap", help="of the offline judge")
    parser.add_argument("--quick", action="store_true", help="200 and 1,000, once")
    options = parser.parse_args()
    sizes = [200, 1000] if options.quick else [int(size) for size in options.sizes.split(",")]
    repeat = 1 if options.quick else options.repeat
    report: dict[str, object] = {"cores": len(os.sched_getaffinity(0)), "repeat": repeat}
    report["verifier"] = options.verifier
    runs: dict[int, list[dict[str, float]]] = {size: [] for size in (1, *sizes)}
    floor: dict[str, list[float]] = {"python": [], "import_beam": []}
    # As in an installed package, even if Python is set to write no bytecode.
    for package in ("schemas", "indexes", "transforms", "pipelines"):
        compileall.compile_dir(ROOT / package, quiet=1)
    with tempfile.TemporaryDirectory() as name:
        for _ in range(repeat):
            floor["python"].append(seconds_of("pass"))
            floor["import_beam"].append(seconds_of("import apache_beam, os; os._exit(0)"))
            for size, found in runs.items():
                found.append(run_once(size, Path(name), options.workers, options.verifier))
                path = Path(name) / f"responses-{size}.jsonl"
                found[-1]["bare"] = bare_loop(path, options.verifier)
                print(size, found[-1], file=sys.stderr)
    alone = runs.pop(1)
    startup = [run["seconds"] for run in alone]
    processor = statistics.median(run["processor"] for run in alone)
    report["startup_seconds"] = spread(startup)
    report["floor_seconds"] = {part: spread(values) for part, values in floor.items()}
    for size, found in runs.items():
        report[str(size)] = of_size(size, found, statistics.median(startup), processor)
    first, last = sizes[0], sizes[-1]
    if first != last:
        seconds = {s: statistics.median(run["seconds"] for run in runs[s]) for s in (first, last)}
        # What one more response costs, start-up left out: linear where it equals the mean cost.
        slope = (seconds[last] - seconds[first]) / (last - first)
        report["marginal_ms_per_response"] = round(1000 * slope, 3)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
