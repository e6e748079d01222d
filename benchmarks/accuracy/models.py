"""Measure what a model makes of each formulation, on responses with labelled claims.

    python benchmarks/accuracy/models.py --base_url URL --model NAME [--input FILE] [--quick]
        [--sources wikipedia --index DIR] [--formulations function,xml,…] [--option NAME=VALUE]

For each formulation: of how many (claim, passage) pairs there is no usable judgement (`unusable`),
how many are decided, and how many of the labelled claims that were decided people label alike
(`as_labelled`, of `labelled`), beside calls and seconds. Without --input these are the bundled
examples that bring their claims, with two passages of the example encyclopaedia for each. --option
sets any flag of `ufo evaluate`. The key is OPENAI_API_KEY. The last line is JSON.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import ufo  # noqa: E402
from ufo.pipelines.build_index import build  # noqa: E402

EXAMPLES = ROOT / "examples"
FORMULATIONS: Mapping[str, Mapping[str, Any]] = {
    "function": {},
    "xml": {"format": "xml"},
    "stepwise": {"formulation": "stepwise"},
    "rationale": {"formulation": "rationale"},
    "prompt": {"formulation": "prompt"},
}
PAIRS = """SELECT count(*) AS pairs, count(*) FILTER (outcome = 'error') AS unusable,
    count(*) FILTER (outcome IN ('supported', 'refuted')) AS decided FROM evidence"""
LABELLED = """SELECT count(*) AS labelled, count(*) FILTER (label = human_label) AS as_labelled
    FROM verdicts JOIN fact_units USING (run, response_id, unit_id)
    WHERE label IS NOT NULL AND human_label IS NOT NULL"""
CALLS = "SELECT count(*) AS calls FROM usage WHERE model IS NOT NULL AND step <> 'probe'"


def evaluated(records: Sequence[Mapping[str, Any]] | str, name: str, **options: Any) -> Any:
    """Return the result of a run by this formulation, without a cache."""
    chosen = {**FORMULATIONS[name], **options}
    return ufo.evaluate(records, judge="llm", cache="off", workers=1, quiet=True, **chosen)


def figures(result: Any) -> dict[str, Any]:
    """Return what the tables of a run count."""
    counts: dict[str, Any] = {}
    for query in (PAIRS, LABELLED, CALLS):
        counts |= result.sql(query).to_pylist()[0]
    return counts


def chosen(text: str) -> list[str]:
    """Return the formulations of a list divided by commas."""
    names = text.split(",")
    if unknown := set(names) - set(FORMULATIONS):
        raise argparse.ArgumentTypeError(f"{min(unknown)!r} is none of {', '.join(FORMULATIONS)}")
    return names


def arguments_of(doc: str) -> argparse.ArgumentParser:
    """Return a parser with what names a model."""
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    parser.add_argument("--base_url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--formulations", type=chosen, default=list(FORMULATIONS))
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE")
    return parser


def options_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the flags of `ufo evaluate` that the command line sets."""
    pairs = (pair.partition("=")[::2] for pair in arguments.option)
    return {"base_url": arguments.base_url, "model": arguments.model, **dict(pairs)}


def main() -> None:
    """Measure and print."""
    parser = arguments_of(__doc__)
    parser.add_argument("--input", help="labelled responses, as `ufo evaluate` takes them")
    parser.add_argument("--sources", default="wikipedia")
    parser.add_argument("--index", help="of the source wikipedia")
    parser.add_argument("--quick", action="store_true", help="function and xml only")
    arguments = parser.parse_args()
    names = arguments.formulations[: 2 if arguments.quick else None]
    options = {"sources": arguments.sources, "passages": 2, **options_of(arguments)}
    replies: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        options["index"] = arguments.index or folder
        records: Any = arguments.input
        if not arguments.input:
            build([EXAMPLES / "encyclopaedia.xml"], Path(folder))
            lines = (EXAMPLES / "responses.jsonl").read_text(encoding="utf-8").splitlines()
            records = [row for row in map(json.loads, lines) if row.get("claims")]
        for name in names:
            begun = perf_counter()
            replies[name] = figures(evaluated(records, name, **options))
            replies[name]["seconds"] = round(perf_counter() - begun, 1)
            print(f"{name}: {replies[name]}", file=sys.stderr)
    print(json.dumps({"model": arguments.model, "replies": replies}))


if __name__ == "__main__":
    main()
