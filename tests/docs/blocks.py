"""The fenced blocks of a page of the documentation: run as a reader would, and compared.

A block of commands (`sh`) or of Python is run. Where a block without a language follows it, that is
what it prints; a line of `…` in it stands for any lines.
"""

import io
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

from ufo.pipelines.cli import main

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$\n?", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A block that is run: its language and text, and what the page says that it prints (None: it
    says nothing), which stands at `start` to `end` of the page."""

    language: str
    text: str
    shown: str | None
    start: int = 0
    end: int = 0


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks of a page's text that are run, in order."""
    found = list(_BLOCK.finditer(page))
    for block, after in zip(found, [*found[1:], None], strict=True):
        if block[1] not in ("sh", "python"):
            continue
        if after is not None and not after[1] and not page[block.end() : after.start()].strip():
            yield Block(block[1], block[2], after[2], after.start(2), after.end(2))
        else:
            yield Block(block[1], block[2], None)


def run(block: Block, names: dict[str, object]) -> str:
    """Run a block in this process and return what it prints; `names` are the variables of Python
    that blocks share. A command that fails is an AssertionError with what it said."""
    out = io.StringIO()
    if block.language == "python":
        with redirect_stdout(out):
            exec(compile(block.text, "<a block of the page>", "exec"), names)
        return out.getvalue()
    for program, *words in _commands(block.text):
        if program == "mkdir":
            os.makedirs(words[-1], exist_ok=True)
            continue
        assert program == "ufo", f"a block of commands has {program!r}"
        told = io.StringIO()
        with redirect_stdout(out), redirect_stderr(told):
            code = main(words)
        assert code == 0, f"{shlex.join(words)}\n{told.getvalue()}{out.getvalue()}"
    return out.getvalue()


def _commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each command of a shell block. Variables are those of the environment, so
    a line that exports one is left out."""
    for line in _lines(text.replace("\\\n", " ")):
        words = [os.path.expandvars(word) for word in shlex.split(line, comments=True)]
        if words and words[0] != "export":
            yield words


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a shell block; a text in quotes may go over several."""
    line = ""
    for part in text.splitlines():
        line += part
        if line.count('"') % 2 == 0:
            yield line
            line = ""
        else:
            line += "\n"


def agrees(printed: str, shown: str) -> bool:
    """Return whether a page shows what was printed, with `…` in place of any lines."""
    parts = [re.escape(part) for part in re.split(r"^…\n", shown, flags=re.MULTILINE)]
    return re.fullmatch("(?:.*\n)*?".join(parts), printed) is not None


def with_outputs(page: str, printed: dict[int, str]) -> str:
    """Return the page with what its blocks print now, by where it shows it (`Block.start`)."""
    for block in sorted(blocks(page), key=lambda block: -block.start):
        if block.start in printed:
            page = page[: block.start] + printed[block.start] + page[block.end :]
    return page
