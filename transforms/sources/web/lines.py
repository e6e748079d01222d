"""Tell which elements of a page share a line, and what is before and after an element on it.

`elements.yaml` has the names of elements and classes that the modules beside this one use, and
`boilerplate.yaml` the phrases.
"""

import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import yaml
from lxml.etree import iterwalk

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_STEPS: Final = 12  # elements looked at for the text before or after another
_CONTEXT: Final = 60  # characters


@cache
def boilerplate() -> dict[str, list[str]]:
    """Return the phrases of `boilerplate.yaml`."""
    text = resources.files(__package__).joinpath("boilerplate.yaml").read_text("utf-8")
    table: dict[str, list[str]] = yaml.safe_load(text)
    return table


def phrases(kind: str, before: str = "", after: str = "") -> re.Pattern[str]:
    """Return a pattern of any phrase of a kind, between two other patterns."""
    pattern = f"{before}(?:{'|'.join(boilerplate()[kind])}){after}"
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


@cache
def names() -> dict[str, Any]:
    """Return the tables of `elements.yaml`, words as sets."""
    text = resources.files(__package__).joinpath("elements.yaml").read_text("utf-8")
    return {
        key: value if isinstance(value, dict) else frozenset(value.split())
        for key, value in yaml.safe_load(text).items()
    }


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
    """Return the text before an element on its line, from its end."""
    pieces: list[str] = []
    node = element
    for _ in range(_STEPS):
        previous = node.getprevious()
        if previous is not None:
            node = previous
            pieces.append(node.tail or "")
            if breaks(node):
                break
            pieces.append(node.text_content())
        else:
            node = node.getparent()
            if node is None:
                break
            pieces.append(node.text or "")
            if breaks(node):
                break
        if sum(map(len, pieces)) >= _CONTEXT:
            break
    return "".join(reversed(pieces))[-_CONTEXT:]


def text_after(element: "HtmlElement") -> str:
    """Return the text after an element on its line."""
    pieces = [element.tail or ""]
    node = element
    for _ in range(_STEPS):
        following = node.getnext()
        if following is not None:
            if breaks(following):
                break
            node = following
            pieces += [node.text_content(), node.tail or ""]
        else:
            node = node.getparent()
            if node is None or breaks(node):
                break
            pieces.append(node.tail or "")
        if sum(map(len, pieces)) >= _CONTEXT:
            break
    return "".join(pieces)[:_CONTEXT]


def breaks(element: "HtmlElement") -> bool:
    """Return whether an element ends the line before it."""
    return element.tag == "br" or element.tag in names()["blocks"]
