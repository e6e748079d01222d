"""Two baselines that show what fact sources add: the model by itself, and with one document.

`selfcheck`: a language model says of each claim whether it is true, with nothing looked up.
`one_document`: the same prompt with the best passage of one source. Both are runs of `ufo evaluate`
in --output, so every report reads them, and `ufo compare DIR selfcheck RUN` holds a run with all
sources against them. The model is at any OpenAI-compatible endpoint. Where claims have human labels
the judge's errors are printed too. The last line is JSON.

    python benchmarks/baseline_selfcheck.py --output DIR --model NAME [--base_url URL] [--quick]
        [--input FILE ... | --data FOLDER] [--source reference | wikipedia --index DIR]

Without --input it takes the Factcheck-GPT responses of --data, whose references are web pages;
--quick takes ten responses. Flags that it does not know go to `ufo evaluate` (--concurrency,
--max_cost, --repeat, …).
"""

import argparse
import contextlib
import io
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ufo.pipelines.cli import main as ufo  # noqa: E402
from ufo.pipelines.importers import import_records  # noqa: E402
from ufo.pipelines.runs.comparison import compare  # noqa: E402
from ufo.pipelines.runs.inputs import find_inputs  # noqa: E402
from ufo.schemas.errors import UfoError  # noqa: E402
from ufo.schemas.records import FactUnit, Passage  # noqa: E402
from ufo.schemas.results import open_results  # noqa: E402
from ufo.transforms.sources.fact_source import FactSource  # noqa: E402

PROMPTS = ROOT / "benchmarks" / "baseline_prompts"
RUNS = ("selfcheck", "one_document")
QUICK = 10
_ERRORS = "SELECT error, n, value, low, high FROM judge_errors WHERE source = 'all' ORDER BY ALL"


class Nothing(FactSource):
    """Finds for each claim that nothing was looked up, so that the model judges by itself."""

    def find(self, unit: FactUnit) -> list[Passage]:
        """Return the same words for every unit."""
        return [Passage("Nothing was looked up for this claim.")]


def main(argv: Sequence[str] | None = None) -> int:
    """Make both runs and print what they found; returns the exit code of the one that failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--output", required=True, metavar="DIR")
    parser.add_argument("--input", nargs="+", metavar="FILE")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--source", default="reference")
    parser.add_argument("--quick", action="store_true")
    args, more = parser.parse_known_args(argv)
    sources = {RUNS[0]: f"{Path(__file__).resolve()}:Nothing", RUNS[1]: args.source}
    with _inputs(args) as inputs:
        for run, source in sources.items():
            print(f"{run}: {source.rsplit(':')[-1]}", file=sys.stderr)
            printed = io.StringIO()
            flags = ("--run", run, "--sources", source, *more, "--json")
            one = ("--passages", "1") if run == RUNS[1] else ()
            with contextlib.redirect_stdout(printed):
                code = ufo(
                    [
                        *("evaluate", "--input", *inputs, "--output", args.output),
                        *("--judge", "llm", "--formulation", "prompt", "--prompts", str(PROMPTS)),
                        *flags,
                        *one,
                    ]
                )
            if code:
                return code
    print(json.dumps(_found(args.output), ensure_ascii=False))
    return 0


@contextlib.contextmanager
def _inputs(args: argparse.Namespace) -> Iterator[list[str]]:
    """Give the input files: the user's, or the labelled responses, of either the first few."""
    if args.input and not args.quick:
        yield args.input
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "responses.jsonl"
        path.write_text("".join(f"{line}\n" for line in _lines(args)), encoding="utf-8")
        yield [str(path)]


def _lines(args: argparse.Namespace) -> Iterator[str]:
    limit = QUICK if args.quick else None
    if args.input:
        lines = [
            line
            for path in find_inputs(args.input)
            for line in Path(path).read_text(encoding="utf-8").splitlines()
        ]
        yield from lines[:limit]
        return
    file = args.data / "factcheck_gpt" / "benchmark.jsonl"
    records = list(import_records("factcheck_gpt", file, [], Counter()))
    yield from (json.dumps(record) for record in records[:limit])


def _found(output: str) -> dict[str, Any]:
    """Return each run's score, coverage and errors, and how the second differs from the first."""
    found: dict[str, Any] = {}
    for run in RUNS:
        with open_results(output, run) as results:
            (score,) = results.query("FROM scores_by_run").to_pylist()
            errors = results.query(_ERRORS).to_pylist()
        found[run] = {name: score[name] for name in ("factuality_score", "coverage", "n_units")}
        found[run]["errors"] = {row.pop("error"): row for row in errors}
        print(f"{run}: factuality score {score['factuality_score']}, coverage {score['coverage']}")
        for error, row in found[run]["errors"].items():
            known = row["low"] is not None  # one question alone has no interval
            interval = f" ({row['low']:.3f} to {row['high']:.3f})" if known else ""
            print(f"  {error} {row['value']:.3f}{interval}")
    comparison = compare(output, *RUNS)
    print(f"{comparison['headline']}. {comparison['basis']}")
    return {**found, "difference": comparison}


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UfoError as error:
        print(error.message, file=sys.stderr)
        sys.exit(error.exit_code)
