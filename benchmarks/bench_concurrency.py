"""Measure how busy an endpoint is kept, through the whole pipeline.

One chunk of responses whose claims are given, one reference each and one stage of verification, so
that a response is one call. `fixed` and `exponential`: N calls at 64 in flight and 200 ms, beside
the ideal N·latency / 64 (and beside the first 64 calls alone, which are start-up). `rates`: calls a
second at 128, 256 and 512 in flight, and that none of them hangs. `warm`: the same run again, whose
answers are all kept. `limited`: three chunks under --requests_per_minute: the most requests
in any minute, and the share of what the limit allows that was reached. A run starts with two
requests at an address on this machine and adds one with each reply, which is in the figures. The
server is a process of its own, on the same machine: what it takes is in the figures too, and what
else runs there, hence the load average and the processor time of the command.

    python benchmarks/bench_concurrency.py [--quick]
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

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.llm_server import Chat, LlmServer, Reply, faults  # noqa: E402

LATENCY = 0.2
IN_FLIGHT = 64
AIMS = {"fixed": 1.25, "exponential": 1.45}
RATE_AIM = 300
WARM_IN_FLIGHT = 8
WARM_AIM = 15
LIMITED_AIM = 0.9
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
            given = [{"claim": claim, "query": f"When was bridge {number} opened?"}]
            record = {
                "id": f"r{number}",
                "response": claim,
                "claims": given,
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
        whole = evaluate(source, folder / "results", calls, in_flight, server.base_url, "off")
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
    cache: Path | str,
    *more: object,
) -> float:
    """Run the command, unless `more` says so in one chunk; returns its seconds."""
    command = (
        *(sys.executable, "-m", "ufo.pipelines.cli", "evaluate", "--input", source, "--json"),
        *("--output", output, "--sources", "reference"),
        *("--chunk_size", calls, "--judge", "llm", "--model", "offline-judge"),
        *("--base_url", url, "--concurrency", in_flight, "--cache", cache, *more),
    )
    started = time.monotonic()
    done = subprocess.run(
        [str(word) for word in command], cwd=ROOT, capture_output=True, text=True,
        timeout=SECONDS_TO_HANG,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr)
    return time.monotonic() - started


def measure_warm(folder: Path, calls: int) -> dict[str, Any]:
    """Return the seconds of a run and of the same run again, out of the cache."""
    folder.mkdir()
    source = folder / f"{calls}.jsonl"
    write_input(source, calls)
    with LlmServer(answerers=[Agrees()], keys=None) as server:
        server.latency = faults.fixed(LATENCY)
        seconds, requests = [], []
        for name in ("cold", "warm"):
            before = len(server.requests)
            url, cache = server.base_url, folder / "answers.sqlite"
            seconds.append(evaluate(source, folder / name, calls, WARM_IN_FLIGHT, url, cache))
            requests.append(len(server.requests) - before)
    return {
        "calls": calls,
        "in_flight": WARM_IN_FLIGHT,
        "cold_seconds": round(seconds[0], 2),
        "warm_seconds": round(seconds[1], 2),
        "warm_requests": requests[1],
        "times_faster": round(seconds[0] / seconds[1], 1),
        "aim": WARM_AIM,
        "met": seconds[0] / seconds[1] >= WARM_AIM and not requests[1],
    }


def measure_limited(folder: Path, per_minute: int, calls: int) -> dict[str, Any]:
    """Return how well a run keeps and uses a limit, counted at the server."""
    folder.mkdir()
    source = folder / f"{calls}.jsonl"
    write_input(source, calls)
    with LlmServer(answerers=[Agrees()], keys=None) as server:
        server.latency = faults.fixed(LATENCY)
        limits = ("--requests_per_minute", per_minute, "--chunk_size", calls // 3)
        evaluate(source, folder / "results", calls, IN_FLIGHT, server.base_url, "off", *limits)
        times = sorted(entry.started for entry in server.chats if entry.step == "verify")
        assert len(times) == calls, f"{len(times)} calls of {calls}"
        # A limiter may make up for a late start in its first seconds, which are left out.
        steady = times[calls // 3 :]
        reached = (len(steady) - 1) / (steady[-1] - steady[0]) / (per_minute / 60)
        most = server.most_in(60.0)
        return {
            "requests_per_minute": per_minute,
            "calls": calls,
            "chunks": 3,
            "max_in_flight": server.max_in_flight,
            "max_in_any_minute": most,
            "allowed_a_second": round(per_minute / 60, 2),
            "reached_a_second": round(reached * per_minute / 60, 2),
            "reached_share": round(reached, 3),
            "aim": LIMITED_AIM,
            "met": reached >= LIMITED_AIM
            and most <= per_minute
            and server.max_in_flight <= IN_FLIGHT,
            "load_average": round(os.getloadavg()[0], 1),
        }


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer calls")
    quick = parser.parse_args().quick
    calls = 320 if quick else 2000
    report: dict[str, Any] = {"latency": LATENCY, "ideal_seconds": calls * LATENCY / IN_FLIGHT}
    with tempfile.TemporaryDirectory() as folder:
        for name, latency in (
            ("fixed", faults.fixed(LATENCY)),
            ("exponential", faults.exponential(LATENCY)),
        ):
            found = measure(Path(folder, name), calls, IN_FLIGHT, latency)
            found["of_ideal"] = round(found["seconds"] / report["ideal_seconds"], 3)
            found["aim"] = AIMS[name]
            found["met"] = found["of_ideal"] <= AIMS[name]
            report[name] = found
            print(name, found, file=sys.stderr)
        report["rates"] = {}
        for in_flight in (128,) if quick else (128, 256, 512):
            calls = 2 * in_flight if quick else 4000
            found = measure(Path(folder, str(in_flight)), calls, in_flight, faults.fixed(LATENCY))
            found["aim"] = RATE_AIM
            found["met"] = found["calls_per_second"] >= RATE_AIM
            report["rates"][str(in_flight)] = found
            print("rate", found, file=sys.stderr)
        report["warm"] = measure_warm(Path(folder, "warm"), 200 if quick else 2000)
        print("warm", report["warm"], file=sys.stderr)
        # Long enough, if not quick, for a minute's limit to bind.
        limited = (6000, 300) if quick else (3000, 4500)
        report["limited"] = measure_limited(Path(folder, "limited"), *limited)
        print("limited", report["limited"], file=sys.stderr)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
