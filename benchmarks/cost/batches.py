"""Measure a run by a provider's batch API beside the same run whose requests are sent at once.

Responses of five facts (those of speed/pipeline.py, with the first half of their reference), three
sources, a model as judge and as source, one worker. The model is the tests' server, a process of
its own that no figure includes. `requests`, `batches` and `bytes` are counted there, where a batch
has ended at the second look; `rounds` are those that the command prints. Of the command there are
seconds, processor time and the most memory of all its processes, for two sizes: memory is flat
where the second is no more than a fifth above the first. `equal` is whether both runs wrote the
same verdicts, evidence and failures.

    python benchmarks/cost/batches.py [--quick] [--sizes 2500,10000]
"""

import argparse
import json
import multiprocessing
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.speed.pipeline import build_index, numbers, record  # noqa: E402
from benchmarks.speed.watch import Watch  # noqa: E402
from tests.llm_server import LlmServer  # noqa: E402
from tests.llm_server.batches import Batches  # noqa: E402
from tests.llm_server.http import HttpRequest  # noqa: E402
from ufo.schemas.results import open_results  # noqa: E402

CHUNK, REQUESTS = 500, 1000  # of a chunk of responses; of a batch
AIMS = {"memory_growth": 1.2, "processor_ratio": 2.5}
COMPARED = {"verdicts": "run", "evidence": "run, request_id", "failures": "run"}
"""Tables, and which of their columns may differ."""


class Counted(Batches):
    """Counts the bytes of the files that come and go."""

    uploaded = downloaded = 0

    def reply(self, request: HttpRequest) -> Any:
        reply = super().reply(request)
        if request.method == "POST" and request.path.endswith("/files"):
            self.uploaded += len(request.body)
        if isinstance(reply, bytes):
            self.downloaded += len(reply)
        return reply


def serve(pipe: Connection) -> None:
    """Run the server; send its address, and once something comes, what it counted."""
    with LlmServer(keys=None) as server:
        server.batches = batches = Counted(server)
        batches.polls = 1
        pipe.send(server.base_url)
        pipe.recv()
        chats = len(server.chats)
        pipe.send(
            {
                "requests": batches.sent + chats,
                "requests_at_once": chats,
                "batches": len(batches.batches),
                "requests_repeated": len(batches.repeated()),
                "bytes_uploaded": batches.uploaded,
                "bytes_downloaded": batches.downloaded,
            }
        )


def write_input(path: Path, size: int) -> None:
    """Write responses, of whose facts the references have the first."""
    chance = random.Random(7)
    with path.open("w", encoding="utf-8") as sink:
        for number in range(size):
            example = record(number, chance)
            reference = str(example["reference_answers"][0])  # type: ignore[index]
            example["reference_answers"] = [". ".join(reference.split(". ")[:2]) + "."]
            sink.write(json.dumps(example, ensure_ascii=False) + "\n")


def run(folder: Path, size: int, name: str, *flags: object) -> dict[str, Any]:
    """Run the command against a server of its own; return what both counted."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,))
    server.start()
    cache = folder / f"{name}-{size}.sqlite"
    command = (
        sys.executable,
        "-m",
        "ufo.pipelines.evaluate",
        "--json",
        "--input",
        folder / f"{size}.jsonl",
        "--output",
        folder / f"{name}-{size}",
        "--sources",
        "reference,wikipedia,llm",
        "--index",
        folder / "index",
        "--judge",
        "llm",
        "--model",
        "offline-judge",
        "--base_url",
        ours.recv(),
        "--cache",
        cache,
        "--workers",
        1,
        "--chunk_size",
        CHUNK,
        *flags,
    )
    started, largest = time.monotonic(), 0
    with (folder / "log").open("w+") as log:
        process = subprocess.Popen(
            [str(word) for word in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=log
        )
        with Watch(process.pid) as watch:
            while process.poll() is None:
                files = (f"{cache}.batches", f"{cache}.batches-wal")
                with suppress(OSError):
                    largest = max(largest, sum(os.stat(file).st_size for file in files))
                time.sleep(0.1)
        log.seek(0)
        lines = log.readlines()
    seconds = time.monotonic() - started
    if process.returncode:
        raise SystemExit("".join(lines[-5:]))
    ours.send("end")
    counted = ours.recv()
    server.join()
    rounds = [int(number) for number in re.findall(r"round (\d+)", "".join(lines))]
    figures = {
        **counted,
        "rounds": max(rounds, default=0),
        "store_bytes": largest,
        "seconds": round(seconds, 1),
        "processor_seconds": round(watch.processor_seconds, 1),
        "peak_mib": watch.peak_mib,
    }
    print(size, name, figures, file=sys.stderr)
    return figures


def equal(folder: Path, size: int) -> bool:
    """Return whether both runs of a size wrote the same rows."""
    tables = []
    for name in ("plain", "batch"):
        with open_results(folder / f"{name}-{size}") as results:
            query = "SELECT * EXCLUDE ({}) FROM {} ORDER BY ALL"
            tables.append([results.query(query.format(*one[::-1])) for one in COMPARED.items()])
    return len(tables[0][0]) > size and tables[0] == tables[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=numbers, default=[2_500, 10_000])
    parser.add_argument("--quick", action="store_true", help="25 responses")
    options = parser.parse_args()
    sizes = [25] if options.quick else options.sizes
    requests = 40 if options.quick else REQUESTS
    report: dict[str, Any] = {"cores": len(os.sched_getaffinity(0))}
    with tempfile.TemporaryDirectory(prefix="ufo-bench-") as name:
        folder = Path(name)
        build_index(folder)
        for size in sizes:
            write_input(folder / f"{size}.jsonl", size)
            plain = run(folder, size, "plain")
            batch = run(folder, size, "batch", "--batch", "--batch_requests", requests)
            ratio = batch["processor_seconds"] / plain["processor_seconds"]
            report[str(size)] = {
                "plain": plain,
                "batch": batch,
                "processor_ratio": round(ratio, 2),
                "equal": equal(folder, size),
            }
    least, most = (report[str(size)]["batch"]["peak_mib"] for size in (sizes[0], sizes[-1]))
    ratios = {"memory_growth": round(most / least, 3), "processor_ratio": round(ratio, 2)}
    report["aims"] = {aim: [ratios[aim], most, ratios[aim] <= most] for aim, most in AIMS.items()}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
