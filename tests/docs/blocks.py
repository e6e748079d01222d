"""The fenced blocks of a page of the documentation: run as a reader would, and compared.

A block of commands (`sh`) or of Python is run. Where a block without a language, or of `text`,
follows it, that is what it prints; a line of `…` in it stands for any lines.
"""

import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

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
    before: str = ""
    """The page's text between this block and the one before it."""


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks of a page's text that are run, in order."""
    matches = list(_BLOCK.finditer(page))
    place = 0
    for block, after in zip(matches, [*matches[1:], None], strict=True):
        before, place = page[place : block.start()], block.end()
        if block[1] not in ("sh", "python"):
            continue
        if (
            after is not None
            and after[1] in ("", "text")
            and not page[place : after.start()].strip()
        ):
            yield Block(block[1], block[2], after[2], after.start(2), after.end(2), before)
        else:
            yield Block(block[1], block[2], None, before=before)


def run(block: Block, names: dict[str, object]) -> str:
    """Run a block in the working directory and return what it prints; `names` are the variables of
    Python that blocks share. A command that fails is an AssertionError with what it said."""
    if block.language == "python":
        out = io.StringIO()
        with redirect_stdout(out):
            exec(compile(block.text, "<a block of the page>", "exec"), names)
        return out.getvalue()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", block.text],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{block.text}\n{done.stderr}{done.stdout}"
    return done.stdout


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
