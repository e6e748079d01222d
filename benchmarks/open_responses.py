"""Open every response of a file in the page, with every claim, and report what goes wrong as JSON.

The file is evaluated by the offline judge (`ufo evaluate`), and each response of the run is opened
whole in a real Chromium. Counted are errors on the console and of scripts, sentences and claims
that are shown, and sentences whose state is another than in the view `sentence_scores`.

    python benchmarks/open_responses.py FILE [--longest N] [--quick] [--sources NAMES] [--map A=B]

FILE is what `ufo evaluate --input` takes; of a `.jsonl` file, --longest takes the N longest
responses. The exit status is 1 where something went wrong.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.page_in_browser import ARGUMENTS, NAMES  # noqa: E402
from ufo.pipelines.commands.serve import example_index, setup  # noqa: E402
from ufo.schemas.results import open_results  # noqa: E402
from ufo.webapp.server import served  # noqa: E402

_STATES = """
SELECT response_id, list(state ORDER BY sentence_index) AS states
FROM sentence_scores GROUP BY response_id ORDER BY response_id
"""
_UNITS = "SELECT response_id, count(*) AS n FROM fact_units GROUP BY response_id"
_SHOWN = """() => ({
  states: [...document.querySelectorAll(".sentence > .words + .chip")]
    .map((chip) => chip.lastChild.textContent.trim()),
  claims: document.querySelectorAll(".claim").length,
  evidence: document.querySelectorAll(".evidence").length,
})"""


def main() -> int:
    """Evaluate, open, and print what was found."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file", type=Path)
    options.add_argument("--longest", type=int)
    options.add_argument("--sources", default="wikipedia")
    options.add_argument("--map")
    options.add_argument("--quick", action="store_true", help="the four longest responses")
    given = options.parse_args()
    if given.quick:
        given.longest = 4
    with tempfile.TemporaryDirectory() as folder:
        source = _longest(given, Path(folder)) if given.longest else given.file
        words = ["--input", str(source), "--output", f"{folder}/runs", "--judge", "offline"]
        words += ["--sources", given.sources, "--index", example_index()]
        words += [f"--map={given.map}"] if given.map else []
        command = [sys.executable, "-m", "ufo.pipelines.cli", "evaluate", *words]
        subprocess.run(command, check=True, cwd=ROOT, stdout=sys.stderr)
        found = _opened(Path(folder) / "runs")
    print(json.dumps(found, ensure_ascii=False))
    return 1 if found["errors"] or found["differ"] else 0


def _longest(given: argparse.Namespace, folder: Path) -> Path:
    lines = given.file.read_text(encoding="utf-8").splitlines()
    names = dict(one.split("=") for one in given.map.split(",")) if given.map else {}
    name = names.get("response", "response")
    lines.sort(key=lambda line: -len(str(json.loads(line)[name])))
    chosen = folder / "longest.jsonl"
    chosen.write_text("\n".join(lines[: given.longest]) + "\n", encoding="utf-8")
    return chosen


def _opened(runs: Path) -> dict[str, Any]:
    """Return what was shown of the newest run, and what went wrong."""
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, NAMES)), None)
    if chromium is None:
        raise SystemExit("no Chromium on PATH; on Debian and Ubuntu: apt-get install chromium")
    with open_results(runs) as results:
        run = results.runs[-1].name
        states = {row["response_id"]: row["states"] for row in results.query(_STATES).to_pylist()}
        units = {row["response_id"]: row["n"] for row in results.query(_UNITS).to_pylist()}
    ready = setup(str(runs))
    errors: list[str] = []
    shown = {"responses": 0, "sentences": 0, "claims": 0, "evidence": 0}
    differ: list[str] = []
    limits = replace(ready.limits, reads_per_minute=10**6)
    with served(replace(ready, limits=limits)) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        page = browser.new_page(base_url=address, viewport={"width": 1280, "height": 900})
        page.on("console", lambda said: errors.extend([said.text] * (said.type == "error")))
        page.on("pageerror", lambda error: errors.append(str(error)))
        for response, expected in states.items():
            page.goto("about:blank")
            page.goto(f"/#/runs/{quote(run, safe='')}/responses/{quote(response, safe='')}?all=1")
            page.locator(".sentence").first.wait_for()
            found = page.evaluate(_SHOWN)
            shown["responses"] += 1
            shown["sentences"] += len(found["states"])
            shown["claims"] += found["claims"]
            shown["evidence"] += found["evidence"]
            if not _same(found, expected, units.get(response, 0)):
                differ.append(response)
        browser.close()
    return {**shown, "errors": errors, "differ": differ}


def _same(found: Mapping[str, Any], states: list[str], n_units: int) -> bool:
    return bool(found["states"] == states and found["claims"] == n_units)


if __name__ == "__main__":
    sys.exit(main())
