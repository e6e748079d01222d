"""Print results as text: JSON, CSV, and tables for a terminal.

JSON and CSV are streamed and complete. A table has one line a row, so it cuts long texts. Text from
a model or a web page must neither control the terminal nor run in a spreadsheet. So JSON escapes
control characters, a table replaces them, and CSV has no formulas.
"""

import datetime as dt
import io
import json
import math
import re
import shutil
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, count, islice
from typing import Any, TextIO

import numpy as np
import pyarrow as pa
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ufo.schemas.errors import UsageError, reason_of
from ufo.schemas.results import texts_of
from ufo.schemas.storage import writing
from ufo.schemas.text import escape_formula, escaped_json, quantity, visible

DEFAULT_WIDTH = 100
_NARROWEST = 8
# The least width of a report's texts; narrower columns are left out.
_READABLE = 10
_LONGEST_WORD = 24
_GAP = 2
_NOTHING = "–"
# Columns of several names with commas between them, which are wrapped where they do not fit.
_WRAPPED = ("source_order",)
_NAMES = re.compile("[^,]+,?")
# Columns of sentences, which are wrapped where they do not fit.
_PROSE = ("what it shows",)
# Columns of words that ufo defines, which are never cut.
_WHOLE = ("kind", "level", "mode", "error", "metric", "state", "interval_method", "comparison")
_LONGEST = 400
# Characters that format text, and so are not printable, but belong inside words and emoji.
_JOINERS = "\u200c\u200d"


OF_UNUSABLE = ("n_judgements", "n_unusable", "n_unjudged", "n_unsupported")


def plain(value: object) -> Any:
    """Return a value as plain JSON; NaN and infinity become None, since JSON has neither."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        if value == value.to_integral_value():
            return int(value)
        # A number of JSON is read as a float by most, which would lose digits.
        return float(value) if Decimal(repr(float(value))) == value else f"{value:f}"
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, str | int) else str(value)


def as_json(value: object, indent: int | None = None) -> str:
    """Return a value of rows, lists and scalars as JSON."""
    return escaped_json(
        json.dumps(plain(value), ensure_ascii=False, indent=indent, allow_nan=False)
    )


def values_of(table: pa.Table) -> list[dict[str, Any]]:
    """Return the rows of a table as mappings, with the plain values of `rows_of`."""
    names = table.column_names
    return [dict(zip(names, row, strict=True)) for row in rows_of(table.to_reader())]


def rows_of(reader: pa.RecordBatchReader, limit: int = 0) -> Iterator[tuple[Any, ...]]:
    """Yield the rows as plain Python values, up to `limit` of them (0: all).

    A value that Python cannot hold, such as a date before the year 1, is the text that DuckDB
    prints for it.
    """
    rows = (row for batch in reader for row in zip(*map(_values, batch.columns), strict=True))
    return islice(rows, limit) if limit else rows


def _values(column: pa.Array) -> list[Any]:
    try:
        values = column.to_pylist(maps_as_pydicts="strict")
    except (OverflowError, ValueError, TypeError):
        values = list(map(_python_value, column, texts_of(column)))
    if pa.types.is_float32(column.type):
        return [value if value is None else float(str(np.float32(value))) for value in values]
    return list(map(_decode_bytes, values)) if "binary" in str(column.type) else values


def _python_value(value: pa.Scalar, text: str | None) -> Any:
    """Return a value as an object of Python, or `text` where Python cannot hold it."""
    try:
        return value.as_py(maps_as_pydicts="strict")
    except (OverflowError, ValueError, TypeError):
        return text and _TIME.sub("T", text)


# The blank that DuckDB writes between a day and its time; ISO 8601, as in other rows, has a T.
_TIME = re.compile(r"(?<=^\d{4}-\d\d-\d\d) (?=\d\d:)")


def _decode_bytes(value: Any) -> Any:
    """Return a value with its bytes as texts, in the form that DuckDB prints."""
    if isinstance(value, bytes):
        return "".join(chr(one) if one in _LETTERS else f"\\x{one:02X}" for one in value)
    if isinstance(value, dict):
        return {key: _decode_bytes(item) for key, item in value.items()}
    return [_decode_bytes(item) for item in value] if isinstance(value, list) else value


_LETTERS = frozenset(range(32, 127)) - frozenset(b"\\'\"")


def write_json(reader: pa.RecordBatchReader, out: TextIO, limit: int = 0) -> None:
    """Write a list of objects, one a line; columns of equal names get the suffixes `_1`, `_2`, …"""
    names = unique_names(reader.schema.names)
    before = "[\n"
    for row in rows_of(reader, limit):
        out.write(before + as_json(dict(zip(names, row, strict=True))))
        before = ",\n"
    out.write("[]\n" if before == "[\n" else "\n]\n")


def write_csv(reader: pa.RecordBatchReader, out: TextIO, limit: int = 0) -> None:
    """Write RFC 4180 rows under a header; NULL is an empty field, an empty text is `""`.

    On a terminal control characters are written out.
    """
    for values in chain([reader.schema.names], rows_of(reader, limit)):
        line = csv_line(values)
        out.write(visible(line) if out.isatty() else line)


def csv_line(values: Iterable[object]) -> str:
    """Return a row of CSV with its line end; NULL is an empty field, an empty text is `""`.

    A text that a spreadsheet would take for a formula has an apostrophe in front.
    """
    safe = (escape_formula(one) if isinstance(one, str) else one for one in values)
    return ",".join(map(_csv_field, safe)) + "\n"


def _csv_field(value: object) -> str:
    if isinstance(value, Decimal) or (isinstance(value, float) and not math.isfinite(value)):
        return cell(value)
    value = plain(value)
    if value is None:
        return ""
    if not isinstance(value, str):
        return _csv_field(as_json(value)) if isinstance(value, list | dict) else as_json(value)
    if value and value.strip() == value and not any(char in value for char in ',"\r\n'):
        return value
    return '"' + value.replace('"', '""') + '"'


def unique_names(names: Sequence[str]) -> list[str]:
    """Return the names, with `_1`, `_2`, … appended to repeated ones."""
    unique: list[str] = []
    for name in names:
        numbered = chain([name], (f"{name}_{number}" for number in count(1)))
        unique.append(next(one for one in numbered if one not in unique))
    return unique


# --- tables for people ---------------------------------------------------------------------------


@contextmanager
def page(out: TextIO, width: int | None = None, color: bool | None = None) -> Iterator[Console]:
    """Yield a console whose output goes to `out` at the end, without trailing blanks.

    Text is printed unchanged: no mark-up, no emoji codes, no highlighting. There are colours only
    on a terminal, unless `color` says otherwise. A character that `out` cannot show becomes a
    question mark.
    """
    if isinstance(out, io.TextIOWrapper):
        out.reconfigure(errors="replace")
    console = Console(
        file=out,
        markup=False,
        emoji=False,
        highlight=False,
        force_terminal=color,
        force_jupyter=False,  # a notebook would show the output twice
        width=width,
    )
    if width is None and not console.is_terminal:
        console.width = shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns
    with console.capture() as capture:
        yield console
    out.write("\n".join(line.rstrip() for line in capture.get().split("\n")))


def one_line(text: str, longest: int = _LONGEST) -> str:
    """Return the text on one line, without control characters, cut where it is too long."""
    # Take enough for runs of white space; a text can have megabytes.
    shown = " ".join(text[: longest * 4].split())
    shown = "".join(
        c if c.isprintable() or c in _JOINERS else "\N{REPLACEMENT CHARACTER}" for c in shown
    )
    return shown if len(shown) <= longest else shown[: longest - 1].rstrip() + "…"


def cell(value: object) -> str:
    """Return the text of a value in a table."""
    if value is None:
        return _NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        usual = value == 0 or 0.001 <= abs(value) < 1e6
        return f"{value:.3f}" if usual else f"{value:.4g}"
    if isinstance(value, Decimal):
        return f"{value:f}"
    value = plain(value)
    return one_line(value if isinstance(value, str) else as_json(value))


def print_rows(
    names: Sequence[str],
    rows: Sequence[Sequence[object]],
    console: Console,
    right: Collection[str] = (),
) -> None:
    """Print rows as a table, or each row as a list where the columns do not fit.

    Numbers are aligned to the right, and so are the columns named in `right`.
    """
    columns = _columns(names, rows, right)
    for broken in (False, True):
        if _least_width(columns, broken, _NARROWEST) <= console.width:
            _print_table(columns, broken, _NARROWEST, console)
            return
    for number in range(len(rows)):
        console.print(Text(f"row {number + 1}", style="bold"))
        pairs = ((f"  {one.name}", one.texts[number]) for one in columns)
        print_pairs(pairs, console)


def print_table(
    names: Sequence[str],
    rows: Sequence[Sequence[object]],
    console: Console,
    right: Collection[str] = (),
) -> int:
    """Print rows as a table of the columns that fit; return the number of those left out.

    Columns without a value are left out first, then the last ones: the columns come in the order of
    their importance. The first one always stays. `right` is as in `print_rows`.
    """
    columns = _columns(names, rows, right)
    while columns[1:] and _least_width(columns, True, _READABLE) > console.width:
        empty = [at for at, one in enumerate(columns) if at and one.is_empty]
        del columns[empty[-1] if empty else -1]
    broken = _least_width(columns, False, _READABLE) > console.width
    _print_table(columns, broken, _READABLE, console)
    return len(names) - len(columns)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a table as texts."""

    name: str
    texts: list[str]
    is_text: bool

    @property
    def is_empty(self) -> bool:
        return all(text == _NOTHING for text in self.texts)

    def head(self, broken: bool) -> str:
        """Return the name, in several lines if `broken`: it may be longer than its numbers."""
        return self.name.replace("_", "_\n") if broken else self.name

    def width(self, broken: bool) -> int:
        """Return the width at which nothing is cut."""
        lines = [*self.head(broken).split("\n"), *self.texts, " "]
        return max(map(cell_len, lines))

    def least(self, broken: bool, narrowest: int) -> int:
        """Return the least width of the column: numbers are never cut, texts only so far.

        A text keeps the `narrowest` width, that of its head, and that of each wrapped name.
        """
        if not self.is_text or self.name in _WHOLE:
            return self.width(broken)
        parts = self.head(broken).split("\n")
        if self.name in _WRAPPED:
            parts += [part for text in self.texts for part in _NAMES.findall(text)]
        longest = min(max(map(cell_len, parts)), _LONGEST_WORD)
        return min(self.width(broken), max(longest, narrowest))


def _columns(
    names: Sequence[str], rows: Sequence[Sequence[object]], right: Collection[str]
) -> list[_Column]:
    return [
        _Column(
            name,
            [cell(row[at]) for row in rows],
            name not in right and any(isinstance(row[at], str | list | dict) for row in rows),
        )
        for at, name in enumerate(names)
    ]


def _least_width(columns: Sequence[_Column], broken: bool, narrowest: int) -> int:
    widths = (one.least(broken, narrowest) for one in columns)
    return sum(widths) + _GAP * (len(columns) - 1)


def _widths(
    columns: Sequence[_Column], broken: bool, narrowest: int, console: Console
) -> list[int]:
    """Return the width of each column: the widest texts are narrowed first."""
    widths = [one.width(broken) for one in columns]
    least = [one.least(broken, narrowest) for one in columns]
    room = console.width - _GAP * (len(columns) - 1)
    while sum(widths) > room:
        widest = max(range(len(widths)), key=lambda at: (widths[at] > least[at], widths[at]))
        if widths[widest] <= least[widest]:
            break
        widths[widest] -= 1
    return widths


def _print_table(
    columns: Sequence[_Column], broken: bool, narrowest: int, console: Console
) -> None:
    table = Table(
        box=SIMPLE_HEAD,
        padding=(0, _GAP - 1),
        collapse_padding=True,
        pad_edge=False,
        show_edge=False,
        header_style="bold",
    )
    widths = _widths(columns, broken, narrowest, console)
    for column, width in zip(columns, widths, strict=True):
        table.add_column(
            Text(column.head(broken), no_wrap=True, overflow="ellipsis"),
            justify="left" if column.is_text else "right",
            no_wrap=column.name not in _PROSE,
            width=width,
        )
    for row in zip(*(column.texts for column in columns), strict=True):
        cells = []
        for text, column, width in zip(row, columns, widths, strict=True):
            if column.name in _PROSE:
                cells.append(Text(text))
                continue
            shown = _in_lines(text, width) if column.name in _WRAPPED else cut_to(text, width)
            cells.append(Text(shown, no_wrap=True, overflow="ellipsis"))
        table.add_row(*cells)
    console.print(table)


def _in_lines(names: str, width: int) -> str:
    """Return names with commas between them, wrapped at a width."""
    lines = [""]
    for name in _NAMES.findall(names):
        if lines[-1] and cell_len(lines[-1] + name) > width:
            lines.append("")
        lines[-1] += name
    return "\n".join(cut_to(line, width) for line in lines)


def tell_left_out(console: Console, n: int, how: str = "--all, --json or --csv") -> None:
    """Print how many columns a table has no room for, and how to see them."""
    if n > 0:
        console.print(Text(f"{quantity(n, 'more column')}: {how}", style="dim"), soft_wrap=True)


def cut_to(text: str, most: int) -> str:
    """Return a text cut to a width: a name in its middle, and a sentence at its end.

    The names of models and sources often differ at the end.
    """
    if cell_len(text) <= most:
        return text
    if " " in text.strip():
        return f"{set_cell_size(text, max(most - 1, 0)).rstrip()}…"
    after = (most - 1) // 2
    end = next((text[at:] for at in range(len(text)) if cell_len(text[at:]) <= after), "")
    return f"{set_cell_size(text, max(most - 1 - after, 0)).rstrip()}…{end}"


def print_pairs(pairs: Iterable[tuple[str, str]], console: Console, style: str = "dim") -> None:
    """Print texts beside their names, wrapped at the width of the console."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style=style, no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in pairs:
        grid.add_row(name, Text(text))
    console.print(grid)


@contextmanager
def text_output(path: str | None, flag: str = "--output") -> Iterator[TextIO]:
    """Yield stdout (None or -), or a file that appears only when it is complete."""
    if path in (None, "-"):
        if isinstance(sys.stdout, io.TextIOWrapper):
            # Programs expect UTF-8, whatever the terminal's locale.
            sys.stdout.reconfigure(encoding="utf-8")
        yield sys.stdout
        return
    try:
        with writing(path) as file:
            out = io.TextIOWrapper(file, encoding="utf-8", newline="")
            yield out
            out.detach()  # flushes; the binary file below is closed by its context
    except OSError as error:
        raise UsageError(f"{flag}: cannot write {path!r}: {reason_of(error)}.") from error
