"""Measure the page: how soon a text of seven sentences is checked, and a large response shown.

`offline`: milliseconds from the request to the first verdict and to the end of the stream, by the
offline judge with the sources reference and wikipedia (the index of the examples), and the same of
the first request after the start. `llm`: seconds for the whole text with a model that takes 200 ms
for each answer, by the sources reference, wikipedia and llm, and how many requests that took; the
cache is off. `browser`: milliseconds until a response of 300 claims with 5 pieces of evidence each
is painted whole in Chromium, and from a tick to the repaint with the scores that the service gives
for it. The service and the model's server are processes on the same machine, hence the load
average. Medians, with the lowest and the highest.

    python benchmarks/speed/page.py [--quick] [--verifier NAME]
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.llm_server import LlmServer, faults  # noqa: E402

LATENCY = 0.2
AIMS = {
    "first_verdict_ms": 200,
    "all_ms": 1_000,
    "llm_seconds": 1.6,
    "render_ms": 300,
    "tick_ms": 50,
}
TEXT = (
    "Marie Curie was a Polish and French scientist. She was born in Warsaw on 7 November 1867. "
    "Together with Pierre Curie she discovered polonium and radium in 1898. She won the Nobel "
    "Prize in Physics in 1903. She won the Nobel Prize in Chemistry in 1915. Marie Curie died on "
    "4 July 1934 in the French Alps. She liked to work late at night with a cup of black tea."
)
REFERENCES = ["Marie Curie won the Nobel Prize in Physics in 1903 and in Chemistry in 1911."]
CLAIMS, EVIDENCE = 300, 5
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ENVIRONMENT = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "SERPER_API_KEY", "SERPER_BASE_URL")

RENDER = """async ([address, count]) => {
  const painted = () =>
    new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const started = performance.now();
  location.hash = address;
  while (document.querySelectorAll(".evidence").length < count) await painted();
  await painted();
  return performance.now() - started;
}"""
TICK = """async (times) => {
  const painted = () =>
    new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const found = [];
  for (let at = 0; at < times; at += 1) {
    const boxes = document.querySelectorAll(".evidence input[type=checkbox]");
    const value = document.querySelector(".scores").textContent;
    const started = performance.now();
    boxes[(at * 7) % boxes.length].click();
    while (document.querySelector(".scores").textContent === value) await painted();
    found.push(performance.now() - started);
  }
  return found;
}"""


@contextmanager
def service(folder: str, *options: str, **environment: str) -> Iterator[httpx.Client]:
    """Start `ufo serve` in a process of its own, and give a client of it."""
    command = [sys.executable, "-m", "ufo.pipelines.cli", "serve", "--port", "0"]
    known = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    process = subprocess.Popen(
        [*command, "--results", folder, *options],
        cwd=ROOT,
        env=known | {"UFO_CACHE": "off"} | environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if "serving at" in line:
                address = line.split("serving at ")[1].split()[0]
                break
        else:
            raise SystemExit("the service did not start")
        with httpx.Client(base_url=address, trust_env=False, timeout=120) as client:
            yield client
    finally:
        process.terminate()
        process.wait()


def check(client: httpx.Client, sources: list[str], **more: str) -> dict[str, float]:
    """Return the seconds until the first verdict and the last event of one check."""
    body = {"text": TEXT, "references": REFERENCES, "sources": sources, **more}
    figures: dict[str, float] = {}
    started = time.perf_counter()
    with client.stream("POST", "/check", json=body) as response:
        name = ""
        for line in response.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                data = json.loads(line.removeprefix("data: "))
                if name == "error":
                    raise SystemExit(f"the check failed: {data}")
                if name == "extracted":
                    figures["sentences"] = len(data["sentences"])
                    figures["claims"] = len(data["fact_units"])
                if name == "checked" and data["verdicts"] and "first" not in figures:
                    figures["first"] = time.perf_counter() - started
    figures["all"] = time.perf_counter() - started
    return figures


def spread(values: list[float], factor: float = 1.0) -> dict[str, float]:
    """Return the median, the lowest and the highest."""
    shown = [round(value * factor, 3) for value in values]
    return {"median": round(statistics.median(shown), 3), "low": min(shown), "high": max(shown)}


def offline(folder: str, verifier: str, times: int) -> dict[str, Any]:
    """Return what checks take by the offline judge."""
    sources = ["reference", "wikipedia"]
    with service(folder, "--verifier", verifier) as client:
        cold = check(client, sources)
        warm = [check(client, sources) for _ in range(times)]
    return {
        "sentences": cold["sentences"],
        "claims": cold["claims"],
        "first_request": {key: round(cold[key] * 1000, 1) for key in ("first", "all")},
        "first_verdict_ms": spread([one["first"] for one in warm], 1000),
        "all_ms": spread([one["all"] for one in warm], 1000),
    }


def llm(folder: str, times: int) -> dict[str, Any]:
    """Return what checks take by a model of that latency, and how many requests they send."""
    sources = ["reference", "wikipedia", "llm"]
    models = {"model": "offline-judge", "knowledge_model": "offline-knowledge"}
    with LlmServer() as server:
        server.latency = faults.fixed(LATENCY)
        places = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": server.key}
        with service(folder, **places) as client:
            cold = check(client, sources, **models)
            before = len(server.chats)
            warm = [check(client, sources, **models) for _ in range(times)]
            sent = (len(server.chats) - before) / times
    return {
        "claims": cold["claims"],
        "first_request_seconds": round(cold["all"], 3),
        "llm_seconds": spread([one["all"] for one in warm]),
        "requests": sent,
    }


def browser(folder: str, times: int) -> dict[str, Any]:
    """Return the milliseconds, in the page, to the frame after what has changed is painted."""
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        raise SystemExit("no Chromium on PATH; on Debian and Ubuntu: apt-get install chromium")
    claims = [f"Tower {at} was built in {1500 + at}." for at in range(CLAIMS)]
    # The first two references are right, the others wrong or silent.
    texts = [
        " ".join(f"Tower {at} was built in {1500 + at + wrong}." for at in range(CLAIMS))
        for wrong in (0, 0, 3, 5, 7)
    ]
    record = {"id": "large", "response": " ".join(claims), "reference_answers": texts}
    path = Path(folder) / "large.jsonl"
    path.write_text(json.dumps(record))
    words = ["--input", str(path), "--output", folder, "--run", "bench", "--sources", "reference"]
    command = [sys.executable, "-m", "ufo.pipelines.cli", "evaluate", "--judge", "offline"]
    subprocess.run([*command, *words], check=True, capture_output=True, cwd=ROOT)
    renders, ticks = [], []
    with service(folder) as client, sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(max(3, times // 6)):
            page = started.new_page(
                base_url=str(client.base_url), viewport={"width": 1280, "height": 900}
            )
            page.goto("/")
            page.locator("#text").wait_for()
            target = "#/runs/bench/responses/large?all=1"
            renders.append(page.evaluate(RENDER, [target, CLAIMS * EVIDENCE]))
            ticks += page.evaluate(TICK, times)
            page.close()
        started.close()
    return {"render_ms": spread(renders), "tick_ms": spread(ticks)}


def aims(figures: Mapping[str, Mapping[str, Any]]) -> dict[str, bool]:
    """Return which aims are met."""
    measured = {**figures["offline"], **figures["llm"], **figures["browser"]}
    return {name: measured[name]["median"] <= aim for name, aim in AIMS.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--verifier", default="overlap", help="the offline judge's verifier")
    arguments = parser.parse_args()
    times = 5 if arguments.quick else 30
    with tempfile.TemporaryDirectory(prefix="ufo-page-") as folder:
        figures: dict[str, Any] = {
            "offline": offline(folder, arguments.verifier, times),
            "llm": llm(folder, times),
            "browser": browser(folder, times),
        }
    figures["load_average"] = os.getloadavg()[0]
    figures["aims"] = AIMS
    figures["met"] = aims(figures)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
