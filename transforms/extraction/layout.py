"""Parse the layout of a Markdown text: its blocks, and the styles of its words."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from ufo.transforms.sentences import MARKER, blocks, cells

_TARGET: Final = (
    r"\]\((?=[^()\s]{0,2000}[./#:])[^()\s]{0,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?"
    r"(?: \"[^\"\n]*\")?\)"
)
_INLINE: Final = re.compile(
    r"(?P<ticks>(?<!`)`{1,3}(?!`))(?P<code>[^`]+)(?P=ticks)(?!`)"
    rf"|(?P<label>!?\[)(?=[^\[\]\n]+{_TARGET})"
    rf"|(?P<target>{_TARGET})"
    r"|<(?P<address>https?:[^<>\s]+)>"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<marks>\*+|_+)"
)
_EM, _STRONG, _CODE, _LINK = 1, 2, 4, 8  # for emphasis the number of marks
_STYLES: Final = ("", "em", "strong", "strong em")


@dataclass(frozen=True, slots=True)
class StyledRange:
    """A visible half-open range of a text. `style` is "", "strong", "em", "strong em", "code" or
    "link"."""

    start: int
    end: int
    style: str


@dataclass(frozen=True, slots=True)
class LayoutBlock:
    """A block of a text, as a reader sees it.

    `kind` is paragraph, heading, item, row, quote, code or rule. `level` is the level of a heading
    (from 1) or the depth of a nested item (from 0). `marker` is an item's bullet or number. `head`
    says whether a row is the head of its table. All but rows have one cell. Text outside of all
    pieces is markup.
    """

    kind: str
    cells: list[list[StyledRange]]
    level: int = 0
    marker: str = ""
    head: bool = False


def layout(text: str) -> list[LayoutBlock]:
    """Return the layout of a Markdown text, block by block, in time linear in its length."""
    layout_blocks: list[LayoutBlock] = []
    indents: list[int] = []  # of the items in which the next one may be nested
    last = 0
    for start, end, kind in _paragraphs(text):
        before = layout_blocks[-1].kind if layout_blocks and start == last else ""
        last = end
        body = start + len(text[start:end]) - len(text[start:end].lstrip())
        first = text[body:end].split(maxsplit=1)[0]
        if kind == "marked" and first[0] not in "#>":
            indent = len(text[start:body].expandtabs(4))
            while indents and indents[-1] >= indent:
                indents.pop()
            marker = "•" if first in "-*+•‣◦" else first
            pieces = list(_pieces(text, body + len(first), end))
            layout_blocks.append(LayoutBlock("item", [pieces], len(indents), marker))
            indents.append(indent)
            continue
        if start == body:  # an indented paragraph belongs to the item before it
            indents = []
        if kind == "rule":
            if before == "row":
                layout_blocks[-1] = replace(layout_blocks[-1], head=True)
            elif before == "paragraph" and not first.strip("="):
                layout_blocks[-1] = replace(layout_blocks[-1], kind="heading", level=1)
            elif "|" not in first:
                layout_blocks.append(LayoutBlock("rule", []))
        elif kind == "code":
            layout_blocks.append(LayoutBlock("code", [_code(text, start, end)]))
        elif kind == "whole":
            ranges = cells(text[start:end])[1]
            row = [list(_pieces(text, start + left, start + right)) for left, right in ranges]
            layout_blocks.append(LayoutBlock("row", row))
        elif kind == "marked" and first[0] == "#":
            closing = re.search(r"\s#+\s*$", text[body:end])
            end = body + closing.start() if closing else end
            layout_blocks.append(
                LayoutBlock("heading", [list(_pieces(text, body + len(first), end))], len(first))
            )
        else:
            quoted = len(first) if kind == "marked" else 0
            kind = "quote" if quoted else "paragraph"
            layout_blocks.append(LayoutBlock(kind, [list(_pieces(text, body + quoted, end))]))
    return layout_blocks


def _code(text: str, start: int, end: int) -> list[StyledRange]:
    """Return the lines of a block of code without its fences, of which the last may be missing."""
    inner = (text.find("\n", start, end) + 1) or end
    close = start + len(text[start:end].rstrip())
    last = max(inner, text.rfind("\n", inner, close))
    close = last if text[last:close].strip(" \t\n`~$\\]") == "" else close
    return [StyledRange(inner, close, "code")] if inner < close else []


def _paragraphs(text: str) -> list[tuple[int, int, str]]:
    """Return the blocks of a text, with lines that no blank line divides as one paragraph."""
    merged: list[tuple[int, int, str]] = []
    for start, end, kind in blocks(text):
        kind = "marked" if kind == "prose" and MARKER.match(text, start, end) else kind
        if merged and kind == "prose" and merged[-1][1:] == (start, "prose"):
            start = merged.pop()[0]
        merged.append((start, end, kind))
    return merged


def _pieces(text: str, start: int, end: int) -> Iterator[StyledRange]:
    """Yield the visible pieces of a range, without marks of emphasis, code, links and escapes."""
    start = end - len(text[start:end].lstrip())
    end = start + len(text[start:end].rstrip())
    hidden: list[tuple[int, int]] = []
    edges: list[tuple[int, int]] = []  # (place, style that begins there, negative: that ends)
    waiting: dict[str, list[tuple[int, int]]] = {"*": [], "_": []}  # marks that are not closed yet
    linked = False
    for match in _INLINE.finditer(text, start, end):
        a, b = match.span()
        name = match.lastgroup or ""
        if name == "label" or (name == "target" and linked):
            linked = name == "label"
            hidden.append((a, b))
            edges.append((b, _LINK) if linked else (a, -_LINK))
        elif name in ("code", "address", "escaped"):
            style = {"code": _CODE, "address": _LINK, "escaped": 0}[name]
            hidden += [(a, match.start(name)), (match.end(name), b)]
            edges += [(match.start(name), style), (match.end(name), -style)]
        elif name == "marks" and b - a <= _EM + _STRONG:
            before, after = text[max(start, a - 1) : a] or " ", text[b : min(end, b + 1)] or " "
            inside = before.isalnum() and after.isalnum()
            if inside and (text[a] == "_" or b - a == 1 or before.isdigit()):
                continue  # snake_case, 2*3
            opened = waiting[text[a]]
            closes = not before.isspace() and (before.isalnum() or not after.isalnum())
            while closes and opened and a < b:
                first, last = opened.pop()
                n = min(last - first, b - a)
                hidden += [(last - n, last), (a, a + n)]
                for style in (_EM, _STRONG):
                    edges += [(last, style & n), (a, -(style & n))]
                a += n
                if last - n > first:
                    opened.append((first, last - n))
            if a < b and not after.isspace() and (after.isalnum() or not before.isalnum()):
                opened.append((a, b))
    at, styles = start, Counter[int]()
    stops = [(place, style, place) for place, style in edges] + [(a, 0, b) for a, b in hidden]
    for place, style, after_it in [*sorted(stops), (end, 0, end)]:
        if at < place:
            emphasis = _STYLES[_EM * bool(styles[_EM]) | _STRONG * bool(styles[_STRONG])]
            yield StyledRange(
                at, place, "code" if styles[_CODE] else "link" if styles[_LINK] else emphasis
            )
            at = place
        styles[abs(style)] += (style > 0) - (style < 0)
        at = max(at, after_it)
