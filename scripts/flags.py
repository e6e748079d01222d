"""Make docs/flags.md of the declarations of the options.

python scripts/flags.py --write     writes it
python scripts/flags.py --check     exit 1 if the file is out of date
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from ufo.pipelines.options import groups
from ufo.pipelines.options.option import Affects, Option
from ufo.pipelines.options.settings import RECALL_GROUPS

FILE = Path(__file__).parents[1] / "docs/flags.md"
_HEAD = """# Options

Give an option as a flag `--name`, as a key `name` in the file of `--config`, or as a keyword of
`ufo.evaluate` or `ufo.recall`. The last column says whether it changes results: always (*yes*), or
only with fact *sources* or a *judge* that use it. Such an option is part of a run's fingerprint.
`python scripts/flags.py --write` makes this page.
"""
_EXPERT = """
`ufo evaluate --help` leaves out the following options, since few users need them. Set them in the
configuration file."""
_WHO = {
    Affects.RUN: "yes",
    Affects.RESULTS: "yes",
    Affects.SOURCE: "sources",
    Affects.JUDGE: "judge",
    Affects.FUNCTION: "judge",
}


def row(option: Option) -> str:
    """Return the row of an option in its table."""
    takes = "" if option.metavar is None else f" {option.metavar}"
    who = ", ".join(_WHO[one] for one in option.affects)
    return f"| `--{option.name}{takes}` | {bounds(option)} | {option.description} | {who} |"


def bounds(option: Option) -> str:
    """Return the allowed values of an option in words."""
    if option.choices:
        return ", ".join(f"`{value}`" for value in option.choices)
    if option.low is None:
        return "switch" if option.kind is bool else "text"
    noun = "whole number" if option.kind is int else "number"
    return f"{noun}, from {option.low:g}" + ("" if option.high is None else f" to {option.high:g}")


def table(title: str, options: Iterable[Option]) -> Iterator[str]:
    """Yield the lines of a group of options."""
    yield f"\n### {title}\n"
    yield "| option | value | what it does | changes results |"
    yield "|---|---|---|---|"
    yield from map(row, options)


def text() -> str:
    """Return the content of docs/flags.md."""
    lines = [_HEAD, "## `ufo evaluate`"]
    for title, options in groups.GROUPS.items():
        lines += table(title, (one for one in options if not one.expert))
    lines.append(_EXPERT)
    every = (one for options in groups.GROUPS.values() for one in options)
    lines += table("for experts", (one for one in every if one.expert))
    lines.append("\n## `ufo recall`")
    same = [one for options in groups.GROUPS.values() for one in options]
    here = [one for options in RECALL_GROUPS.values() for one in options]
    lines += table("of its own", (one for one in here if one not in same))
    shared = ", ".join(f"`--{one.name}`" for one in here if one in same)
    lines.append(f"\nAs above: {shared}.")
    lines.append("\n## `ufo check`\n\nAs above, beside the text and `--references FILE`: ")
    lines[-1] += ", ".join(f"`--{one.name}`" for group in groups.OF_TEXT.values() for one in group)
    lines[-1] += "."
    lines.append(
        "\n## `ufo serve` and `ufo mcp`\n\nThose of `ufo check`, but `--config`: what holds for a "
        "request that does not set it."
    )
    return "\n".join(lines) + "\n"


def write_or_check(file: Path, content: str) -> int:
    """Write the generated file, or check that it is current; return the exit code."""
    parser = argparse.ArgumentParser(description=f"Make {file.name} of the options.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="write the file")
    what.add_argument("--check", action="store_true", help="exit 1 where it is not current")
    if parser.parse_args().write:
        file.write_text(content, encoding="utf-8")
        return 0
    if file.exists() and file.read_text(encoding="utf-8") == content:
        return 0
    print(f"{file} is not current; python {sys.argv[0]} --write", file=sys.stderr)
    return 1


def main() -> int:
    """Write docs/flags.md, or check that it is current; return the exit code."""
    return write_or_check(FILE, text())


if __name__ == "__main__":
    sys.exit(main())
