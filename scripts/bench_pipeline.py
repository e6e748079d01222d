"""Measure `ufo evaluate` whole: responses a second and peak memory of all processes.

Generated responses of 5 facts with one reference of about 540 characters, judged offline, on this
machine's cores. Each size is run in a process of its own; the last line is JSON.

    python scripts/bench_pipeline.py [--quick] [--sizes 1000,10000,100000] [--repeat 3]
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path


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


def run_once(size: int, folder: Path, workers: int | None) -> dict[str, float]:
    path = folder / f"responses-{size}.jsonl"
    if not path.exists():
        write_input(path, size)
    output = Path(tempfile.mkdtemp(dir=folder))
    command = [sys.executable, "-m", "pipelines.evaluate", "--input", str(path)]
    command += ["--output", str(output), "--sources", "reference", "--json"]
    command += [f"--workers={workers}"] if workers else []
    started = time.monotonic()
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
        "responses_per_second": size / seconds,
        "units": summary["units"],
        "peak_mib": peak / 2**20,
        "bytes_out": bytes_out,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--quick", action="store_true", help="1,000 and 10,000, once")
    options = parser.parse_args()
    # A run of one response is start-up and nothing else: interpreter, imports, graph, report.
    sizes = [1000, 10000] if options.quick else [int(size) for size in options.sizes.split(",")]
    repeat = 1 if options.quick else options.repeat
    report: dict[str, object] = {"cores": len(os.sched_getaffinity(0)), "repeat": repeat}
    with tempfile.TemporaryDirectory() as name:
        runs: dict[int, list[dict[str, float]]] = {size: [] for size in sizes}
        startup = [run_once(1, Path(name), options.workers)["seconds"] for _ in range(repeat)]
        report["startup_seconds"] = round(statistics.median(startup), 2)
        for _ in range(repeat):
            for size in sizes:
                runs[size].append(run_once(size, Path(name), options.workers))
                print(size, runs[size][-1], file=sys.stderr)
    for size, found in runs.items():
        for run in found:
            rest = max(run["seconds"] - statistics.median(startup), 1e-9)
            run["responses_per_second_after_startup"] = size / rest
        report[str(size)] = {
            key: {
                "median": round(statistics.median(run[key] for run in found), 2),
                "min": round(min(run[key] for run in found), 2),
                "max": round(max(run[key] for run in found), 2),
            }
            for key in found[0]
        }
    first, last = sizes[0], sizes[-1]
    if first != last:
        seconds = {s: statistics.median(run["seconds"] for run in runs[s]) for s in (first, last)}
        # What one more response costs, start-up left out: linear where it equals the mean cost.
        slope = (seconds[last] - seconds[first]) / (last - first)
        report["marginal_ms_per_response"] = round(1000 * slope, 3)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
