"""Report words, long sentences and dead links in documents and docstrings; the limits: prose.toml.

python scripts/prose.py [FILE ...]     exit 1 where there are any; by default all tracked files
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SETTINGS = Path(__file__).with_suffix(".toml")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`|\]\([^)]*\)|https?://\S+")
_LINK = re.compile(r"\]\(([^)#:\s]+)[^):]*\)")  # to a file
# What ends a sentence: its mark, an empty line, a table's cell, an item of a list.
_END = re.compile(r"[.?!][\"'”’)*_]*(?=\s)|\n\s*\n|\n\s*(?:[-*#|>]|\d+\.)\s|\|")


def blank(text: str, pattern: re.Pattern[str]) -> str:
    """Return the text with each match replaced, so that lines and columns stay the same."""
    return pattern.sub(lambda m: re.sub(r"[^\n]", "_", m[0]), text)


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each piece of prose of a file with the number of its first line."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield 1, blank(text, _FENCE)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node, clean=False)
            if docstring is not None:
                yield node.body[0].lineno, docstring


def problems(text: str, settings: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """Yield the problems of a text, each with its line, from 0."""
    text = blank(text, _CODE)
    for pattern, better in settings["words"].items():
        for match in re.finditer(pattern.replace(" ", r"\s+"), text, re.IGNORECASE):
            words = " ".join(match[0].split())
            yield text.count("\n", 0, match.start()), f"{words!r}: {better}"
    numbered = sentences(text)
    long = [one for one in numbered if len(one[1]) > settings["long_sentence"]]
    few = len(long) <= max(1, settings["share_of_long"] * len(numbered))
    for line, sentence in long:
        if len(sentence) > settings["longest_sentence"] or not few:
            yield line, f"a sentence of {len(sentence)} words: {' '.join(sentence[:6])} …"


def dead_links(text: str, folder: Path) -> Iterator[tuple[int, str]]:
    """Yield each link of a text in this folder to a file that does not exist."""
    for match in _LINK.finditer(text):
        if not (folder / match[1]).exists():
            yield text.count("\n", 0, match.start()), f"there is no {match[1]}"


def sentences(text: str) -> list[tuple[int, list[str]]]:
    """Return the words of each sentence, with the line in which it begins, from 0."""
    ends = [0, *(match.end() for match in _END.finditer(text)), len(text)]
    spans = [(start, text[start:end].split()) for start, end in pairwise(ends)]
    return [(text.count("\n", 0, start), words) for start, words in spans if words]


def tracked() -> list[Path]:
    """Return the tracked files that are checked by default."""
    names = ("docs/*.md", "README.md", "CONTRIBUTING.md", "SECURITY.md", "*.py")
    without = (":!tests", ":!benchmarks", ":!docs/flags.md", ":!docs/tables.md")
    listed = subprocess.run(["git", "ls-files", *names, *without], cwd=ROOT, capture_output=True,
                            text=True, check=True).stdout  # fmt: skip
    return [ROOT / name for name in listed.splitlines()]


def main() -> int:
    """Print every problem as FILE:LINE; return the exit code."""
    settings = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
    count = 0
    for path in [Path(name) for name in sys.argv[1:]] or tracked():
        for first, text in prose(path):
            for line, what in (*problems(text, settings), *dead_links(text, path.parent)):
                print(f"{path}:{first + line}: {what}")
                count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
