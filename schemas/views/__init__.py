"""Load the views of reports: one SQL file each, a SELECT under a header of comments.

    -- Title in one line.
    -- Help, in any number of lines.
    -- group: the group that lists show it in; a view without one is a part of others.
    -- summary: a line for lists, for readers who do not know the names of columns.
    -- needs: another_view, a_third
    -- order: the columns that a report sorts its rows by.
    -- shows: the columns of a printed report, the most important first; those that a terminal has
       no room for are left out. `--all`, JSON and CSV have all.
    -- empty: what it means that there are no rows.
    -- parameters: the parameters of a macro, as `a, b := NULL`.

The file's name is the view's; every field may be left out. A file with `parameters` is a macro that
views call: a table macro if it has a SELECT, else a macro of an expression. A user's folder of such
files is loaded after the shipped ones: `needs` there names only views of the same folder. Reading
the files needs no database.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.resources import files
from pathlib import Path
from typing import Any

from ufo.schemas.errors import UsageError
from ufo.schemas.tables import BESIDE_RUNS, TABLES
from ufo.schemas.text_file import read_text

OWN = "own"
GROUPS = {
    "scores": "Scores",
    "sources": "Sources",
    "agreement": "Agreement with people",
    "cost": "Cost",
    "problems": "Problems",
    OWN: "Reports of your own",
}
_FIELDS = ("group", "summary", "needs", "order", "shows", "empty", "parameters")


@dataclass(frozen=True, slots=True)
class View:
    """A view: its name and purpose, the views it reads, and its SELECT.

    `group` is one of GROUPS, or empty, and `summary` a line for lists. `shows` are the columns of a
    printed report, the most important first (none: all). `empty` says what it means that there are
    no rows. `parameters` are the parameters of a macro, None for a view. `file` is the path of a
    user's own.
    """

    name: str
    title: str
    help: str
    sql: str
    needs: tuple[str, ...] = ()
    order: str = ""
    shows: str = ""
    empty: str = ""
    parameters: str | None = None
    group: str = ""
    summary: str = ""
    file: str = ""

    def select(self, columns: str = "*", where: str = "") -> str:
        """Return the SELECT of the view's rows, in the view's order."""
        order = f" ORDER BY {self.order}" if self.order else ""
        return f"SELECT {columns} FROM {identifier(self.name)}{where}{order}"  # noqa: S608

    @property
    def definition(self) -> str:
        """The statement that creates the view or macro."""
        if self.parameters is None:
            return f"CREATE VIEW {identifier(self.name)} AS {self.sql}"
        # An expression may hold a SELECT, but does not begin with one.
        table = self.sql.lstrip().upper().startswith(("SELECT", "WITH", "FROM"))
        return f"CREATE MACRO {self.name}({self.parameters}) AS {'TABLE ' * table}{self.sql}"


@cache
def load_views(folder: str | Path | None = None) -> tuple[View, ...]:
    """Return every view and macro, each after those it needs, else by name.

    `folder` has a user's own `.sql` files, which are added to the shipped ones.

    Raises:
        UsageError: the folder does not exist, a file cannot be read, a name is taken, views need
            each other, or a needed view does not exist.
    """
    views = {view.name: view for view in _read(files(__name__).iterdir(), "")}
    shipped = tuple(views)
    if folder is not None:
        taken = {*shipped, *TABLES, *BESIDE_RUNS, "runs"}
        for view in _read(_folder(folder).iterdir(), f"{folder}/"):
            # SQL does not tell capital letters from small ones in names.
            if view.name.lower() in taken:
                raise UsageError(
                    f"report {str(folder)!r}/{view.name}.sql has the name of a shipped report or "
                    "table, or of another of yours; give the file another name."
                )
            taken.add(view.name.lower())
            file = str(Path(folder) / f"{view.name}.sql")
            empty = view.empty or f"the SELECT in {file!r} gives none"
            views[view.name] = replace(view, group=OWN, file=file, empty=empty)
    for view in views.values():
        for need in view.needs:
            if need not in views:
                raise UsageError(
                    f"report {view.name!r} needs {need!r}, which does not exist; its header may "
                    f"name these views under `needs`: {', '.join(views)}."
                )
    # A user's own report need not name the views that it reads.
    before = {
        name: view.needs if name in shipped else (*view.needs, *shipped)
        for name, view in views.items()
    }
    try:
        return tuple(views[name] for name in TopologicalSorter(before).static_order())
    except CycleError as error:
        raise UsageError(f"reports need each other: {' → '.join(error.args[1])}.") from error


def views_with_needs(names: Iterable[str]) -> tuple[View, ...]:
    """Return the shipped views of these names and the views they need, in order of need."""
    views = load_views()
    wanted = set(names)
    for view in reversed(views):
        if view.name in wanted:
            wanted.update(view.needs)
    return tuple(view for view in views if view.name in wanted)


def tables_of(views: Iterable[View]) -> set[str]:
    """Return the tables that views read, as their SELECTs name them."""
    text = " ".join(view.sql for view in views)
    return {table for table in (*TABLES, *BESIDE_RUNS) if re.search(rf"\b{table}\b", text)}


def _read(paths: Iterable[Any], where: str) -> list[View]:
    views = []
    for path in sorted(paths, key=lambda path: str(path.name)):
        if path.name.endswith(".sql"):
            try:
                text = read_text(str(path))
            except ValueError as error:
                raise UsageError(f"cannot read the report {where}{path.name}: {error}.") from error
            views.append(parse_view(path.name.removesuffix(".sql"), text))
    return views


def _folder(folder: str | Path) -> Path:
    path = Path(folder)
    if not path.is_dir():
        raise UsageError(
            f"--reports {str(folder)!r} is not a folder; give one with .sql files, a report each."
        )
    return path


def identifier(name: str) -> str:
    """Return a name as a quoted identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


def parse_view(name: str, text: str) -> View:
    """Parse a view's file: the fields of its header and the SELECT below."""
    lines = text.splitlines()
    size = next((i for i, line in enumerate(lines) if not line.startswith("--")), len(lines))
    header = [line.removeprefix("--").strip() for line in lines[:size]]
    fields: dict[str, Any] = {}
    prose = []
    for line in header:
        key, colon, value = line.partition(":")
        if colon and key in _FIELDS:
            fields[key] = value.strip()
        else:
            prose.append(line)
    needs = fields.get("needs", "").split(",")
    fields["needs"] = tuple(part.strip() for part in needs if part.strip())
    title, *help_lines = prose or [name]
    sql = "\n".join(lines[size:]).strip().removesuffix(";")
    return View(name, title, " ".join(help_lines), sql, **fields)
