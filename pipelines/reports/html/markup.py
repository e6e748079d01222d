"""Make HTML of plain values. Every text is escaped, unless it is `Html` already.

What comes from data (a response, a page of the web, a model's name) is hostile: it is never
mark-up, never an address that runs code, and cannot turn the direction of the text around it.
"""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from pipelines.reports.tabular import cell

Row = Mapping[str, Any]
Child = object

_EMPTY = {"meta", "input", "br"}  # elements without an end tag
MOST_ROWS = 100
_LONGEST_CELL = 300
_SHORT_CELL = 28
_WORDS = {"error", "measure", "metric", "reason", "tag"}  # columns whose values are names of ours
_KEPT = "\n\t"


class Html(str):
    """Mark-up that is safe to put into a page as it is."""

    __slots__ = ()


def text(value: object) -> Html:
    """Return a value as escaped text; control characters, which HTML forbids, are replaced."""
    if isinstance(value, Html):
        return value
    shown = "".join(
        c if (c >= " " and not "\x7f" <= c <= "\x9f") or c in _KEPT else "\N{REPLACEMENT CHARACTER}"
        for c in str(value)
    )
    return Html(html.escape(shown))


def join(parts: Iterable[Child], between: str = "") -> Html:
    """Return the parts one after another, without those that are None."""
    return Html(text(between).join(text(part) for part in parts if part is not None))


def tag(name: str, /, *children: Child, **attributes: object) -> Html:
    """Return an element. `class_` is `class`, `aria_label` is `aria-label`; None and False leave an
    attribute out, True gives it no value."""
    words = [name]
    for key, value in attributes.items():
        if value is not None and value is not False:
            key = key.rstrip("_").replace("_", "-")
            words.append(key if value is True else f'{key}="{text(value)}"')
    start = f"<{' '.join(words)}>"
    return Html(start if name in _EMPTY else f"{start}{join(children)}</{name}>")


def data(value: object, name: str = "span", **attributes: object) -> Html:
    """Return a text of unknown direction in an element of its own, apart from what is around it."""
    return tag(name, value, dir="auto", **attributes)


def link(address: str | None, shown: str) -> Html:
    """Return a link where the address is one of the web, else the text alone."""
    try:
        known = address is not None and urlsplit(address).scheme in ("http", "https")
    except ValueError:
        known = False
    if not known:
        return data(shown, "bdi")
    return tag("a", data(shown, "bdi"), href=address, rel="noopener noreferrer", target="_blank")


def folded(summary: Child, *children: Child, class_: str | None = None) -> Html:
    """Return what is shown only when its summary is opened."""
    return tag("details", tag("summary", summary), *children, class_=class_)


def table(
    rows: Sequence[Row],
    title: str,
    columns: Sequence[str] | None = None,
    total: int | None = None,
) -> Html:
    """Return a table of rows by name, of the first hundred at most, and say of how many.

    Args:
        columns: those shown, in order; default: all of the first row's but `run`.
        total: how many rows there are, where `rows` are not all.
    """
    shown = rows[:MOST_ROWS]
    names = [name for name in columns or rows[0] if name != "run"]
    # A column that says nothing takes room from those that do.
    names = [name for name in names if any(row.get(name) is not None for row in shown)]
    textual = {name for name in names if any(_textual(row.get(name)) for row in shown)}
    head = [
        tag("th", heading(name), scope="col", class_=None if name in textual else "number")
        for name in names
    ]
    body = [
        tag("tr", *(_cell(name, row.get(name), name in textual) for name in names)) for row in shown
    ]
    total = len(rows) if total is None else total
    caption = title if total == len(shown) else f"{title}: {len(shown):,} of {total:,} rows"
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption),
            tag("thead", tag("tr", *head)),
            tag("tbody", *body),
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=caption,
    )


def heading(name: str) -> str:
    """Return a column's name as people say it."""
    return name.removeprefix("n_").replace("_", " ")


def _textual(value: object) -> bool:
    return isinstance(value, str | list | dict)


def _cell(name: str, value: object, textual: bool) -> Html:
    shown = f"{value:,}" if type(value) is int else cell(value)
    if name in _WORDS:
        shown = shown.replace("_", " ")
    if len(shown) > _LONGEST_CELL:
        shown = shown[: _LONGEST_CELL - 1].rstrip() + "…"
    if textual:
        return data(shown, "td", class_="short" if len(shown) <= _SHORT_CELL else None)
    return tag("td", shown, class_="number")
