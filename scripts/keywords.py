"""Make ufo/pipelines/options/keywords.py of the declarations of the options.

python scripts/keywords.py --write     writes it
python scripts/keywords.py --check     exit 1 if the file is out of date

The file types the keywords of `ufo.evaluate`, `ufo.check` and `ufo.recall` for editors and mypy,
which cannot run the declarations.
"""

import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from scripts.flags import write_or_check
from ufo.pipelines.options.groups import OF_CHECK_KEYWORDS, OF_EVALUATE_KEYWORDS
from ufo.pipelines.options.option import Option
from ufo.pipelines.options.settings import OF_RECALL_KEYWORDS

FILE = Path(__file__).parents[1] / "pipelines/options/keywords.py"
_HEAD = '''"""Type the keywords of `ufo.evaluate`, `ufo.check` and `ufo.recall`.

`python scripts/keywords.py --write` makes this file of the declarations of the options.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from ufo.transforms.judges.judge import Judge
'''
_WIDTH = 92


def annotation(option: Option) -> str:
    """Return the type of the values that the keyword of an option takes."""
    if option.name == "judge":
        return "str | Mapping[str, Any] | Judge"
    if option.choices:
        return f"Literal[{', '.join(map(repr, option.choices))}]"
    if option.metavar is not None and "=" in option.metavar and option.kind is str:
        return "str | Mapping[str, str]"
    if option.is_list or option.kind is tuple:
        return "str | Sequence[str]"
    if option.is_path or option.metavar == "URI":
        return "str | Path"
    return option.kind.__name__


def class_lines(
    name: str, base: str, options: Iterable[Option], every: Iterable[Option]
) -> Iterator[str]:
    """Yield the lines of a class with the keywords of `options`, and the help of `every` option.

    `every` includes the options of its base class.
    """
    yield f"\n\nclass {name}({base}, total=False):"
    yield '    """Options by keyword:\n'
    for option in every:
        line = f"    {option.name}: {option.description}."
        yield textwrap.indent(textwrap.fill(line, _WIDTH, subsequent_indent=" " * 8), "    ")
    yield '    """\n'
    for option in options:
        yield f"    {option.name}: {annotation(option)}"


def text() -> str:
    """Return the content of the file."""
    shared = [option for option in OF_EVALUATE_KEYWORDS if option in OF_CHECK_KEYWORDS]
    others = [option for option in OF_EVALUATE_KEYWORDS if option not in shared]
    lines = [
        _HEAD,
        *class_lines("CheckKeywords", "TypedDict", shared, shared),
        *class_lines("EvaluateKeywords", "CheckKeywords", others, OF_EVALUATE_KEYWORDS),
        *class_lines("RecallKeywords", "TypedDict", OF_RECALL_KEYWORDS, OF_RECALL_KEYWORDS),
    ]
    formatted = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(FILE), "-"],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    return formatted.stdout


def main() -> int:
    """Write the file, or check that it is current; return the exit code."""
    return write_or_check(FILE, text())


if __name__ == "__main__":
    sys.exit(main())
