"""List what is installed: fact sources (`ufo sources`), judges and verifiers (`ufo judges`)."""

import argparse
import shutil
from collections.abc import Callable
from itertools import groupby
from textwrap import fill
from typing import Any

from ufo.pipelines.commands.output import AS_JSON, declare, print_json
from ufo.pipelines.options.judge_flags import flags_of
from ufo.schemas.errors import EXIT_DONE
from ufo.transforms.judges.by_name import JUDGES
from ufo.transforms.judges.trust import verifier_figures
from ufo.transforms.plugins import Spec
from ufo.transforms.sources.fact_source import SOURCES
from ufo.transforms.verifiers.by_name import VERIFIERS

_WIDEST = 100
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
        declare(parser, AS_JSON)
        parser.set_defaults(handler=_list, rows=rows)


def _list(arguments: argparse.Namespace) -> int:
    rows = arguments.rows()
    if arguments.json:
        print_json(rows)
        return EXIT_DONE
    for kind, of_kind in groupby(rows, key=lambda row: row.get("kind")):
        if kind:
            print(f"{kind}s (--{kind})")
        for row in of_kind:
            _print(row)
    return EXIT_DONE


def _print(row: dict[str, Any]) -> None:
    print(f"  {row['type']}  ({row['package']})")
    width = min(shutil.get_terminal_size((_WIDEST, 24)).columns, _WIDEST)
    flags = " ".join(f"--{name}" for name in row.get("flags", ()))
    can = ", ".join(words for can, words in _CAN.items() if row.get(can))
    for text in (row["help"], can, flags and f"flags: {flags}", row.get("judged_by")):
        if text:
            print(fill(text, width, initial_indent=" " * 4, subsequent_indent=" " * 8))
    for option, default in row["options"].items():
        print(f"    {option}" + ("" if default in (None, "") else f" (default {default!r})"))


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
        rows.append(
            {"kind": "verifier", **VERIFIERS.about(name), "judged_by": verifier_figures(name)}
        )
    return rows
