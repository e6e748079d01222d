"""Find the lines of a page, and the text before and after an element on its line.

`elements.yaml` has the names of elements and classes that the modules beside this one use, and
`boilerplate.yaml` the phrases.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from lxml.etree import iterwalk

from ufo.transforms.sources.web.superscripts import CONTEXT
from ufo.transforms.sources.web.tables import table

if TYPE_CHECKING:
    from lxml.html import HtmlElement

SENTENCE_END: Final = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")
_PIECES: Final = 24  # pieces of text that are looked at before or after an element


def phrases(kind: str, before: str = "", after: str = "") -> re.Pattern[str]:
    """Return a pattern of any phrase of a kind, between two other patterns."""
    pattern = f"{before}(?:{'|'.join(table('boilerplate.yaml')[kind])}){after}"
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


@cache
def names() -> dict[str, Any]:
    """Return the tables of `elements.yaml`, words as sets."""
    return {
        key: value if isinstance(value, dict) else frozenset(value.split())
        for key, value in table("elements.yaml").items()
    }


def breaks(element: "HtmlElement") -> bool:
    """Return whether an element ends the line before it."""
    return element.tag == "br" or element.tag in names()["blocks"]


def lines_of(element: "HtmlElement") -> list[str]:
    """Return the lines of an element as a page shows them, without outer white space."""
    pieces: list[str] = []
    for event, node in iterwalk(element, events=("start", "end")):
        if node is not element and breaks(node):
            pieces.append("\n")
        text = node.text if event == "start" else None if node is element else node.tail
        pieces.append((text or "").replace("\n", " "))
    lines = ("".join(pieces)).split("\n")
    return [line for line in (" ".join(line.split()) for line in lines) if line]


def text_before(element: "HtmlElement") -> str:
    """Return the end of the text before an element on its line."""
    return "".join(reversed(_enough(_backwards(element))))[-CONTEXT:]


def text_after(element: "HtmlElement") -> str:
    """Return the beginning of the text after an element on its line."""
    return "".join(_enough(_forwards(element)))[:CONTEXT]


def _enough(pieces: Iterable[str | None]) -> list[str]:
    taken: list[str] = []
    for _, piece in zip(range(_PIECES), pieces, strict=False):
        taken.append(piece or "")
        if sum(map(len, taken)) >= CONTEXT:
            break
    return taken


def _backwards(node: "HtmlElement") -> Iterator[str | None]:
    while True:
        before, outer = node.getprevious(), node.getparent()
        if before is not None:
            yield before.tail
        elif outer is not None:
            yield outer.text
        node = outer if before is None else before
        if node is None or breaks(node):
            return
        if before is not None:
            yield node.text_content()


def _forwards(node: "HtmlElement") -> Iterator[str | None]:
    while True:
        yield node.tail
        after = node.getnext()
        node = node.getparent() if after is None else after
        if node is None or breaks(node):
            return
        if after is not None:
            yield node.text_content()
