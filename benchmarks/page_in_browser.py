"""The page's half of bench_page.py: how soon a large response is shown, and a tick repainted.

A response of 300 claims with 5 pieces of evidence each is answered to the page's own request, and
opened whole, in a real Chromium. Times are taken in the page: to the frame after the change, when
what has changed is painted; of a tick, with the scores that the service gives for it.
"""

import json
import shutil
import statistics
from typing import Any

import httpx

CLAIMS, EVIDENCE = 300, 5
AIMS = {"render_ms": 300, "tick_ms": 50}
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
OUTCOMES = ("supported", "refuted", "noans", "supported", "supported")

_RENDER = """async ([address, count]) => {
  const painted = () =>
    new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const started = performance.now();
  location.hash = address;
  while (document.querySelectorAll(".evidence").length < count) await painted();
  await painted();
  return performance.now() - started;
}"""
_TICK = """async (times) => {
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


def large() -> dict[str, Any]:
    """Return a whole response as the service gives it."""
    sentences = [f"Sentence number {at} says something of note." for at in range(CLAIMS)]
    text = " ".join(sentences)
    starts = [sum(len(one) + 1 for one in sentences[:at]) for at in range(CLAIMS)]
    evidence, passages = [], []
    for at in range(CLAIMS):
        for rank in range(EVIDENCE):
            passage = f"wiki:{at}-{rank}"
            passages.append(
                {
                    "passage_id": passage,
                    "source": "wiki",
                    "title": f"Page {at % 40}",
                    "url": f"https://example.org/{at % 40}",
                    "hostname": "example.org",
                    "source_category": "wiki" if rank % 2 else "news",
                    "text": f"{sentences[at]} " * 12,
                }
            )
            evidence.append(
                {
                    "unit_id": f"u{at}",
                    "source": "wiki",
                    "passage_id": passage,
                    "outcome": OUTCOMES[(at + rank) % len(OUTCOMES)],
                    "rationale": "because the passage says so",
                    "citation": sentences[at],
                    "citation_found": True,
                    "judge": "offline",
                    "probability": 0.8,
                }
            )
    return {
        "run": "bench",
        "mode": "mv",
        "tie": "not_factual",
        "judge": "offline",
        "sources": ["wiki"],
        "response": {"response_id": "large", "text": text, "model": None, "question": None},
        "sentences": [
            {
                "sentence_index": at,
                "start": starts[at],
                "end": starts[at] + len(one),
                "text": one,
                "n_units": 1,
            }
            for at, one in enumerate(sentences)
        ],
        "layout": [
            {
                "kind": "paragraph",
                "level": 0,
                "marker": "",
                "head": False,
                "cells": [[{"start": 0, "end": len(text), "style": ""}]],
            }
        ],
        "fact_units": [
            {"unit_id": f"u{at}", "sentence_index": at, "claim": one, "query": "Is it so?"}
            for at, one in enumerate(sentences)
        ],
        "evidence": evidence,
        "passages": passages,
        "verdicts": [],
        "failures": [],
        "usage": [],
        "basis": None,
        "labels": [],
    }


def _scores(address: str, whole: dict[str, Any]) -> Any:
    """Return what the service makes of the response's evidence."""
    names = ("unit_id", "source", "passage_id", "outcome")
    body = {
        "fact_units": [
            {name: one[name] for name in ("unit_id", "sentence_index")}
            for one in whole["fact_units"]
        ],
        "evidence": [{name: one[name] for name in names} for one in whole["evidence"]],
        "sources": whole["sources"],
        "n_sentences": len(whole["sentences"]),
        "mode": whole["mode"],
    }
    return httpx.post(f"{address.rstrip('/')}/score", json=body).raise_for_status().json()


def measure(address: str, times: int) -> dict[str, Any]:
    """Return what rendering and ticking take, in milliseconds, with the lowest and the highest."""
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise SystemExit("no Chromium on PATH; on Debian and Ubuntu: apt-get install chromium")
    whole = large()
    body = json.dumps({**whole, "scores": _scores(address, whole)})
    renders, ticks = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        for _ in range(max(3, times // 6)):
            page = browser.new_page(base_url=address, viewport={"width": 1280, "height": 900})
            page.route(
                "**/runs/bench/responses/large",
                lambda route: route.fulfill(body=body, content_type="application/json"),
            )
            page.goto("/")
            page.locator("#text").wait_for()
            target = "#/runs/bench/responses/large?all=1"
            renders.append(page.evaluate(_RENDER, [target, CLAIMS * EVIDENCE]))
            ticks += page.evaluate(_TICK, times)
            page.close()
        browser.close()
    return {"render_ms": _spread(renders), "tick_ms": _spread(ticks)}


def _spread(values: list[float]) -> dict[str, float]:
    return {
        "median": round(statistics.median(values), 1),
        "low": round(min(values), 1),
        "high": round(max(values), 1),
    }
