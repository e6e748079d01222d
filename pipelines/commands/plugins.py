"""List what is installed: fact sources (`ufo sources`), judges and verifiers (`ufo judges`)."""

import argparse
import json
from collections.abc import Callable
from textwrap import fill
from typing import Any

from ufo.pipelines.options.settings import flags_of
from ufo.schemas.errors import EXIT_DONE
from ufo.transforms.judges.judge import JUDGES
from ufo.transforms.judges.offline import judged_by
from ufo.transforms.plugins import Spec
from ufo.transforms.sources.fact_source import SOURCES
from ufo.transforms.verifiers.by_name import VERIFIERS

_CAN = {
    "extracts": "extracts",
    "verifies": "verifies",
    "abstains": "abstains",
    "needs_endpoint": "needs an endpoint",
}


def register(commands: Any) -> None:
    """Add the commands `sources` and `judges`."""
    described: dict[str, tuple[Callable[[], list[dict[str, Any]]], str]] = {
        "sources": (
            _sources,
            "List the fact sources that are installed: where each is from, its options.",
        ),
        "judges": (
            _judges,
            "List the judges (--judge) and the verifiers of the offline judge (--verifier, which "
            "also takes a folder or a cross-encoder of a model hub) that are installed: where each "
            "is from, and what a judge can do and takes.",
        ),
    }
    for name, (rows, description) in described.items():
        parser = commands.add_parser(name, description=description)
        parser.add_argument("--json", action="store_true", help="print a list of objects")
        parser.set_defaults(handler=_list, rows=rows)


def _list(arguments: argparse.Namespace) -> int:
    rows = arguments.rows()
    if arguments.json:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
        return EXIT_DONE
    heading = None
    for row in rows:
        kind = row.get("kind")
        if kind != heading:
            heading = kind
            print(f"{kind}s (--{kind})")
        print(f"  {row['type']}  ({row['package']})\n    {row['help']}")
        said = [", ".join(words for can, words in _CAN.items() if row.get(can))]
        said.append("flags: " + " ".join(f"--{name}" for name in row.get("flags", ())))
        said.append(row.get("judged_by") or "")
        for text in said:
            if text not in ("", "flags: "):
                print(fill(text, 100, initial_indent=" " * 4, subsequent_indent=" " * 8))
        for option, default in row["options"].items():
            print(f"    {option}" + ("" if default in (None, "") else f" (default {default!r})"))
    return EXIT_DONE


def _sources() -> list[dict[str, Any]]:
    return [SOURCES.about(name) for name in SOURCES.types()]


def _judges() -> list[dict[str, Any]]:
    rows = []
    for name in JUDGES.types():
        about, spec = JUDGES.about(name), Spec(name, name)
        kind, flags = JUDGES.kind(spec), sorted(flags_of(spec))
        options = {key: value for key, value in about["options"].items() if key not in flags}
        can = {ability: getattr(kind, ability) for ability in _CAN}
        rows.append({"kind": "judge", **about, **can, "flags": flags, "options": options})
    for name in VERIFIERS.types():
        rows.append({"kind": "verifier", **VERIFIERS.about(name), "judged_by": judged_by(name)})
    return rows
