"""Measure how busy an endpoint is kept, through the whole pipeline.

One chunk of responses whose claims are given, one reference each and one stage of verification, so
that a response is one call. `fixed` and `exponential`: N calls at 64 in flight and 200 ms, beside
the ideal N·latency / 64 (and beside the first 64 calls alone, which are start-up). `rates`: calls a
second at 128, 256 and 512 in flight, and that none of them hangs. A run starts with two
requests at an address on this machine and adds one with each reply, which is in the figures. The
server is a process of its own, on the same machine: what it takes is in the figures too, and what
else runs there, hence the load average and the processor time of the command.

    python benchmarks/speed/concurrency.py [--quick]
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.llm_server import Chat, LlmServer, Reply, faults  # noqa: E402

LATENCY = 0.2
IN_FLIGHT = 64
AIMS = {"fixed": 1.25, "exponential": 1.45}
RATE_AIM = 300
SECONDS_TO_HANG = 300


class Agrees:
    """Answers every verification with T, without judging: the judge's time is not ours."""

    def matches(self, chat: Chat) -> bool:
        return chat.function == "verify_facts"

    def answer(self, chat: Chat) -> Reply:
        check = {"answer": "yes", "rationale": "It says so.", "verdict": "T"}
        known = chat.schema["$defs"]["fact"]["properties"]
        fact = {name: check[name] for name in known}
        return Reply(arguments=dict.fromkeys(chat.schema["properties"], fact), step="verify")


def write_input(path: Path, calls: int) -> None:
    with path.open("w") as lines:
        for number in range(calls):
            claim = f"Bridge {number} was opened in {1000 + number}."
            claims = [{"claim": claim, "query": f"When was bridge {number} opened?"}]
            record = {
                "id": f"r{number}",
                "response": claim,
                "claims": claims,
                "reference_answers": f"The town opened bridge {number} in {1000 + number}.",
            }
            lines.write(json.dumps(record) + "\n")


def measure(
    folder: Path, calls: int, in_flight: int, latency: Callable[[], float]
) -> dict[str, Any]:
    """Return the seconds of the command and of its calls, counted at the server."""
    folder.mkdir()
    source = folder / f"{calls}.jsonl"
    write_input(source, calls)
    with LlmServer(answerers=[Agrees()], keys=None) as server:
        server.latency = latency
        used = _cpu_seconds()
        whole = evaluate(source, folder / "results", calls, in_flight, server.base_url)
        asked = [entry for entry in server.chats if entry.step == "verify"]
        assert len(asked) == calls, f"{len(asked)} calls of {calls}"
        assert server.max_in_flight <= in_flight
        seconds = max(entry.ended or 0.0 for entry in asked) - asked[0].started
        busy = sum((entry.ended or 0.0) - entry.started for entry in asked) / in_flight
        return {
            "calls": calls,
            "in_flight": in_flight,
            "seconds": round(seconds, 2),
            "calls_per_second": round(calls / seconds, 1),
            "latency_at_server": round(busy * in_flight / calls, 4),
            "max_in_flight": server.max_in_flight,
            "connections": server.connections,
            "whole_command_seconds": round(whole, 2),
            "whole_command_cpu_seconds": round(_cpu_seconds() - used, 2),
            "load_average": round(os.getloadavg()[0], 1),
        }


def evaluate(
    source: Path,
    output: Path,
    calls: int,
    in_flight: int,
    url: str,
) -> float:
    """Run the command in one chunk; return its seconds."""
    command = (
        sys.executable,
        "-m",
        "ufo.pipelines.cli",
        "evaluate",
        "--input",
        source,
        "--json",
        "--output",
        output,
        "--sources",
        "reference",
        "--chunk_size",
        calls,
        "--judge",
        "llm",
        "--model",
        "offline-judge",
        "--base_url",
        url,
        "--concurrency",
        in_flight,
        "--cache",
        "off",
    )
    started = time.monotonic()
    done = subprocess.run(
        [str(word) for word in command], cwd=ROOT, capture_output=True, text=True,
        timeout=SECONDS_TO_HANG,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr)
    return time.monotonic() - started


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer calls")
    quick = parser.parse_args().quick
    calls = 160 if quick else 2000
    report: dict[str, Any] = {"latency": LATENCY, "ideal_seconds": calls * LATENCY / IN_FLIGHT}
    with tempfile.TemporaryDirectory() as folder:
        for name, latency in (
            ("fixed", faults.fixed(LATENCY)),
            ("exponential", faults.exponential(LATENCY)),
        ):
            figures = measure(Path(folder, name), calls, IN_FLIGHT, latency)
            figures["of_ideal"] = round(figures["seconds"] / report["ideal_seconds"], 3)
            figures["aim"] = AIMS[name]
            figures["met"] = figures["of_ideal"] <= AIMS[name]
            report[name] = figures
            print(name, figures, file=sys.stderr)
        report["rates"] = {}
        for in_flight in (128,) if quick else (128, 256, 512):
            calls = 2 * in_flight if quick else 4000
            figures = measure(Path(folder, str(in_flight)), calls, in_flight, faults.fixed(LATENCY))
            figures["aim"] = RATE_AIM
            figures["met"] = figures["calls_per_second"] >= RATE_AIM
            report["rates"][str(in_flight)] = figures
            print("rate", figures, file=sys.stderr)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
