"""List judges and verifiers (`ufo judges`)."""

import argparse
import json
from collections.abc import Mapping
from textwrap import fill
from typing import Any

from ufo.pipelines.options.settings import flags_of
from ufo.schemas.errors import EXIT_DONE
from ufo.transforms.judges import JUDGES
from ufo.transforms.judges.offline import judged_by
from ufo.transforms.plugins import Spec
from ufo.transforms.verifiers.by_name import VERIFIERS

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
    print("--verifier also takes a folder, or a cross-encoder of a model hub.")
    return EXIT_DONE


def _print_abilities(row: Mapping[str, Any]) -> None:
    can = [words for name, words in _CAN.items() if row.get(name)]
    if can:
        print(f"    {', '.join(can)}")
    if row.get("flags"):
        flags = " ".join(f"--{name}" for name in row["flags"])
        print(fill(f"flags: {flags}", 100, initial_indent=" " * 4, subsequent_indent=" " * 8))
    if row.get("judged_by"):
        print(fill(row["judged_by"], 100, initial_indent=" " * 4, subsequent_indent=" " * 8))
    for option, default in row["options"].items():
        print(f"    {option}" + ("" if default in (None, "") else f" (default {default!r})"))


def _installed() -> list[dict[str, Any]]:
    return [*map(_judge, JUDGES.types()), *map(_verifier, VERIFIERS.types())]


def _verifier(name: str) -> dict[str, Any]:
    return {"kind": "verifier", **VERIFIERS.about(name), "judged_by": judged_by(name)}


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
