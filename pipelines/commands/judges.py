"""List judges and verifiers (`ufo judges`), or refit a verifier (`ufo judges fit`)."""

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from textwrap import fill
from typing import TYPE_CHECKING, Any

from ufo.pipelines.options.arguments import Parser
from ufo.pipelines.options.settings import flags_of
from ufo.schemas.errors import EXIT_DONE
from ufo.transforms.judges import JUDGES
from ufo.transforms.registry import Spec
from ufo.transforms.verifiers.registry import VERIFIERS

if TYPE_CHECKING:
    from ufo.pipelines.labels.fit_verifier import Outcome

_CAN = {
    "extracts": "extracts",
    "verifies": "verifies",
    "abstains": "abstains",
    "needs_endpoint": "needs an endpoint",
}


def register(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "judges",
        description="List the judges (--judge) and the verifiers of the offline judge (--verifier) "
        "that are installed: where each is from, and what a judge can do and takes.",
    )
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    parser.set_defaults(handler=_list)
    actions = parser.add_subparsers(title="actions", metavar="[ACTION]", parser_class=Parser)

    fit = actions.add_parser(
        "fit",
        help="refit a verifier on human labels",
        description="Refit the last layer and the calibration of a verifier on labels of people: "
        "those of the input (claims with a label) and those of sheets (ufo label import). "
        "What that gains is measured on responses that were left out; where it gains nothing "
        "beyond chance, nothing is written.",
    )
    fit.add_argument("results", metavar="RESULTS", help="results folder: --output of ufo evaluate")
    fit.add_argument(
        "--output",
        metavar="FOLDER",
        required=True,
        help="folder for the fitted verifier, for --verifier",
    )
    fit.add_argument("--run", metavar="NAME", help="name of a finished run (default: the newest)")
    fit.add_argument("--verifier", metavar="NAME", help="verifier to start from (default: overlap)")
    fit.add_argument("--json", action="store_true", help="print all as JSON")
    fit.set_defaults(handler=_fit)


def _list(arguments: argparse.Namespace) -> int:
    rows = _installed()
    if arguments.json:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
        return EXIT_DONE
    for kind in ("judge", "verifier"):
        print(f"{kind}s (--{kind})")
        for row in rows:
            if row["kind"] == kind:
                print(f"  {row['type']}  ({row['package']})\n    {row['help']}")
                _print_abilities(row)
    print("--verifier also takes the folder of ufo judges fit, or a cross-encoder of a model hub.")
    return EXIT_DONE


def _print_abilities(row: Mapping[str, Any]) -> None:
    can = [words for name, words in _CAN.items() if row.get(name)]
    if can:
        print(f"    {', '.join(can)}")
    if row.get("flags"):
        flags = " ".join(f"--{name}" for name in row["flags"])
        print(fill(f"flags: {flags}", 100, initial_indent=" " * 4, subsequent_indent=" " * 8))
    for option, default in row["options"].items():
        print(f"    {option}" + ("" if default in (None, "") else f" (default {default!r})"))


def _installed() -> list[dict[str, Any]]:
    verifiers = [{"kind": "verifier", **VERIFIERS.about(name)} for name in VERIFIERS.types()]
    return [*map(_judge, JUDGES.types()), *verifiers]


def _judge(name: str) -> dict[str, Any]:
    about, spec = JUDGES.about(name), Spec(name, name)
    kind, flags = JUDGES.kind(spec), sorted(flags_of(spec))
    return {
        "kind": "judge",
        **about,
        **{can: getattr(kind, can) for can in _CAN},
        "flags": flags,
        "options": {key: value for key, value in about["options"].items() if key not in flags},
    }


def _fit(arguments: argparse.Namespace) -> int:
    from ufo.pipelines.labels.fit_verifier import MEASURES, fit_verifier, in_words, left_out

    def say(message: str) -> None:
        print(f"ufo: {message}", file=sys.stderr)

    done = fit_verifier(arguments.results, arguments.output, arguments.run, arguments.verifier, say)
    if arguments.json:
        print(json.dumps(_as_json(done), ensure_ascii=False))
        return EXIT_DONE
    trained, found = done.trained, done.found
    print(f"run {done.run}: {found.n_labelled:,} labels, {found.of_sheets:,} of them of sheets")
    print(left_out(found))
    print(
        f"{done.verifier} refitted to {trained['n_claims']:,} claims ({trained['n_true']:,} true) "
        f"of {trained['n_responses']:,} responses; on responses left out (95 % interval):"
    )
    for measure in MEASURES:
        print(f"  {in_words(measure, getattr(done.refit, measure))}")
    if done.written is None:
        print(f"nothing gained, nothing written: {done.why}")
    else:
        print(
            f"written to {done.written}; use it: ufo evaluate … --judge offline --verifier "
            f"{done.written}"
        )
    return EXIT_DONE


def _as_json(done: "Outcome") -> dict[str, Any]:
    counts = asdict(done.found)
    del counts["claims"]
    return {
        "verifier": done.verifier,
        **counts,
        **done.trained,
        "gained": not done.why,
        "why": done.why or None,
        "written": done.written,
    }
