"""List the installed fact sources and their options (`ufo sources`)."""

import argparse
import json
from typing import Any

from ufo.schemas.errors import EXIT_DONE
from ufo.transforms.sources.registry import SOURCES


def register(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "sources",
        description="List the fact sources that are installed: where each is from, its options.",
    )
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Print the sources."""
    rows = [SOURCES.about(name) for name in SOURCES.types()]
    if arguments.json:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
        return EXIT_DONE
    for row in rows:
        print(f"{row['type']}  ({row['package']})\n  {row['help']}")
        for option, default in row["options"].items():
            print(f"    {option}" + ("" if default in (None, "") else f" (default {default!r})"))
    return EXIT_DONE
