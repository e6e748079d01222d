"""The shipped SQL views: one file a view, a SELECT under a header of comments.

    -- Title in one line
    -- Help, in as many lines as it takes.
    -- needs: another_view, a_third
    -- order: the columns a report sorts its rows by

The file's name is the view's; `needs` may be left out. Reading them needs no database.
"""

from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class View:
    """A view: what it is called and good for, the views it reads, and its SELECT."""

    name: str
    title: str
    help: str
    needs: tuple[str, ...]
    order: str
    sql: str


@cache
def load_views() -> tuple[View, ...]:
    """Return every shipped view, each after those it needs and by name where that leaves a choice.

    Raises:
        graphlib.CycleError: views that need each other.
        KeyError: a view that needs one which is not shipped.
    """
    paths = sorted(files(__name__).iterdir(), key=lambda path: path.name)
    views = {
        view.name: view
        for view in (
            parse_view(path.name.removesuffix(".sql"), path.read_text(encoding="utf-8"))
            for path in paths
            if path.name.endswith(".sql")
        )
    }
    order = TopologicalSorter({name: view.needs for name, view in views.items()})
    return tuple(views[name] for name in order.static_order())


def parse_view(name: str, text: str) -> View:
    """Return the view that a file holds: its header's fields and everything below the header."""
    lines = text.splitlines()
    size = next((i for i, line in enumerate(lines) if not line.startswith("--")), len(lines))
    header = [line.removeprefix("--").strip() for line in lines[:size]]
    fields = dict.fromkeys(("needs", "order"), "")
    prose = []
    for line in header:
        key, colon, value = line.partition(":")
        if colon and key in fields:
            fields[key] = value.strip()
        else:
            prose.append(line)
    needs = tuple(part.strip() for part in fields["needs"].split(",") if part.strip())
    title, *help_lines = prose or [name]
    sql = "\n".join(lines[size:]).strip().removesuffix(";")
    return View(name, title, " ".join(help_lines), needs, fields["order"], sql)
