"""`ufo sources`: which fact sources are installed, and what each takes."""

import argparse
import inspect
import json
from typing import Any

from schemas.errors import EXIT_DONE

_PLAIN = (str, int, float, bool, list, tuple, dict, type(None))


def register(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "sources",
        help="list the fact sources that are installed",
        description="List the fact sources that are installed: where each is from, its options.",
    )
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Print the sources."""
    rows = [_described(name) for name in _types()]
    if arguments.json:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
        return EXIT_DONE
    for row in rows:
        print(f"{row['type']}  ({row['package']})\n  {row['help']}")
        for option, default in row["options"].items():
            print(f"    {option}: {default!r}")
    return EXIT_DONE


def _types() -> list[str]:
    from transforms.sources.registry import source_types

    return source_types()


def _described(name: str) -> dict[str, Any]:
    from transforms.sources.registry import package_of, source_class

    kind = source_class(name)
    parameters = inspect.signature(kind).parameters.values()
    return {
        "type": name,
        "package": package_of(name),
        "help": (inspect.getdoc(kind) or "").partition("\n")[0],
        "options": {
            parameter.name: None if parameter.default is parameter.empty else parameter.default
            for parameter in parameters
            if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
            # A function or an object is for who calls the class, not for a configuration.
            and (parameter.default is parameter.empty or isinstance(parameter.default, _PLAIN))
        },
    }
