"""Render results as HTML: the overview of a run, its report, comparisons, notebooks, plots.

Every value is escaped: whatever a response contains, the page runs no script and loads nothing.
Plots are SVG in the colours of the style sheet around them, so that they suit light and dark pages.
They have descriptions in words.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from unicodedata import category
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ufo.pipelines.reports.overview import (
    FAILURE_COLUMNS,
    Row,
    lowest_responses,
    overview,
)
from ufo.pipelines.reports.tabular import (
    OF_UNUSABLE,
    cell,
    one_line,
    text_output,
    values_of,
)
from ufo.schemas.errors import UsageError
from ufo.schemas.records import NO_SOURCE
from ufo.schemas.text import quantity
from ufo.schemas.views import GROUPS
from ufo.transforms.score_words import (
    as_shown,
    as_word,
    brief_score,
    interval,
    score_with_interval,
    why_no_score,
)
from ufo.transforms.scores import SYMBOLS
from ufo.transforms.votes import main_mode

if TYPE_CHECKING:
    from ufo.schemas.results import Results

Link = Callable[[str, str], str | None]
"""A function from a run and the id of a response to the address of its page, or None."""

_STYLES = ("base", "parts", "result", "report")
_MOST_ROWS = 100
_TOTAL = "rows_in_all"
_KEPT = "\n\t"
_LONGEST_CELL = 300
# Columns whose values are names that ufo defines.
_NAMED = {"measure", "metric", "reason"}
_WORDS = {
    "refuted": "contradicted",
    "noans": "does not answer",
    "unit": "claim",
    "units": "claims",
    "credibility": "evidence support",
}
# Okabe and Ito (2008), the last after Tol: people with any colour vision can tell them apart.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#882255")
UNDECIDED = "#9e9e9e"
_RADIUS = 80.0
_LEAST_LABELLED = 7.0  # per cent: a smaller slice has no room for its share
_ACROSS = 344.0  # what a plot has for a line of text
_GAP = 12.0  # between a name and the number beside it
_NARROW = "fijlrtI.,:;'|!()[] -/"
_WIDE = "mMWw@%…—"
_MOST_BARS = 24
_NO_MODEL = "(no model)"


def write_html(results: "Results", path: str) -> None:
    """Write the report of the newest run to a file; the file appears when it is complete.

    Raises:
        UsageError: the file cannot be written, or it is a run of `ufo recall`.
    """
    with text_output(path, "--html") as out:
        out.write(render_html(results))


def render_html(results: "Results", note: str = "") -> str:
    """Return the report of the newest run as a page, with a note at its top.

    Equal runs give equal reports. Reports without a row are left out. A long report is cut to its
    first rows, with the total number, so that the page's size is bounded.

    Raises:
        UsageError: it is a run of `ufo recall`.
    """
    run = results.runs[-1]
    if run.mode == "recall":
        raise UsageError(
            f"--html: run {run.name!r} is of 'ufo recall', which has no page; name a run of "
            "'ufo evaluate' with --run."
        )
    run_overview = overview(results)
    responses = lowest_responses(results)
    own = files(__package__).joinpath("templates", "report.css").read_text(encoding="utf-8")
    places = {row["response_id"]: f"#r{at}" for at, row in enumerate(responses, 1)}
    return render_template(
        "report.html",
        style=Markup(_style(*_STYLES) + own),  # noqa: S704 - files of this package
        found=run_overview,
        note=note,
        overview=_overview(run_overview, lambda _, response: places.get(response)),
        groups=_reports(results),
        csv=None,
        responses=responses,
    )


def reports_html(results: "Results", csv: Callable[[str], str]) -> str:
    """Return the reports of the newest run that have rows, to be shown within a page.

    `csv` returns the address of all rows of a report.
    """
    return render_template("reports.html", groups=_reports(results), csv=csv)


def overview_html(results: "Results") -> str:
    """Return the overview of the newest run, to be shown within a page."""
    return _overview(overview(results), lambda run, response: None)


def summary_html(results: "Results") -> str:
    """Return the overview of the newest run without its contradicted claims.

    It is for a page that lists all contradicted claims itself.
    """
    return _overview(overview(results) | {"contradicted": []}, lambda run, response: None)


def comparison_html(comparison: Mapping[str, Any], link: Link) -> str:
    """Return the result of `compare_runs` or `compare_models`, to be shown within a page."""
    names = [comparison["a"], comparison["b"]]
    texts = {name: _isolate_names(comparison[name], names) for name in ("headline", "basis")}
    notes = [_isolate_names(note, names) for note in comparison["notes"]]
    return render_macro(
        "comparison.html", "comparison", {**comparison, **texts, "notes": notes}, link
    )


def _isolate_names(text: str, names: Sequence[str]) -> Markup:
    """Return a text whose names are isolated, so that none changes the direction around it.

    Names may be written from right to left, or have marks that turn the direction.
    """
    whole = escape(_printable(text))
    for name in {escape(_printable(one)) for one in names if not one.isascii()}:
        whole = whole.replace(name, Markup('<bdi dir="auto">{}</bdi>').format(name))
    return whole


def notebook_html(results: "Results") -> str:
    """Return the overview of the newest run for a notebook, light or dark."""
    return render_macro("notebook.html", "framed", Markup(overview_html(results)), _style("report"))  # noqa: S704


def _overview(run_overview: Row, link: Link) -> str:
    used = [row["source"] for row in run_overview["sources"] if row["status"] == "used"]
    names = (", then " if run_overview["mode"] == "seq" else ", ").join(used) or "no source"
    of_run = run_overview["run"]
    return render_macro(
        "overview.html",
        "overview",
        run_overview,
        list(_charts(run_overview)),
        _failures_table(run_overview["failures"]),
        lambda response: link(of_run, response),
        names,
    )


def _charts(run_overview: Row) -> Iterable[tuple[str, Markup]]:
    """Yield each plot of the overview with its title; none where there is nothing to compare."""
    if not run_overview["shown"]:
        return
    models = run_overview["models"]
    several = len(models) > 1
    yield "Models, the most factual first" if several else "Score", draw_scores(models)
    own = [
        row
        for row in run_overview["contributions"]
        if row["mode"] == main_mode(run_overview["mode"])
    ]
    ranks = [row["model"] for row in models]
    rows = sorted(run_overview["contributions_by_model"], key=lambda row: ranks.index(row["model"]))
    decided = draw_decided(own, rows)
    if decided is not None:
        yield "Who decided", draw_pie(own)
        if several:
            yield "Who decided, by model", decided


def _failures_table(rows: Sequence[Row]) -> Row:
    """Return a table of the failures."""
    shown = [{head: row[name] for head, name in FAILURE_COLUMNS.items()} for row in rows]
    return {"title": "What failed", "rows": shown, "columns": _columns(shown), "total": len(shown)}


def _reports(results: "Results") -> list[tuple[str, list[Row]]]:
    """Return the reports that have rows, by their groups, each with its first rows."""
    groups: dict[str, list[Row]] = {group: [] for group in GROUPS}
    run = results.runs[-1].name
    for view in results.filled_views():
        where, parameters = (" WHERE run = ?", [run]) if results.has_runs(view) else ("", [])
        select = view.select(f"*, count(*) OVER () AS {_TOTAL}", where)
        rows = values_of(results.query(f"{select} LIMIT {_MOST_ROWS}", parameters))
        if rows:
            more = {
                "rows": list(map(as_shown, rows)),
                "columns": _columns(rows),
                "total": rows[0][_TOTAL],
            }
            groups[view.group].append(asdict(view) | more)
    return [(GROUPS[group], found) for group, found in groups.items() if found]


def _columns(rows: Sequence[Row]) -> dict[str, bool]:
    """Return the columns to show, and whether each has texts.

    Columns without a value are left out, and counts of unusable judgements, which are shown beside
    the scores.
    """
    return {
        name: any(isinstance(row.get(name), str | list | dict) for row in rows)
        for name in next(iter(rows), ())
        if name not in ("run", _TOTAL, *OF_UNUSABLE)
        and any(row.get(name) is not None for row in rows)
    }


def _style(*names: str) -> str:
    folder = files("ufo.webapp").joinpath("page", "style")
    return "".join(folder.joinpath(f"{name}.css").read_text(encoding="utf-8") for name in names)


# --- plots ---------------------------------------------------------------------------------------


def draw_scores(rows: Sequence[Row]) -> Markup:
    """Draw the factuality scores of models with their intervals, on a scale from 0 to 1.

    The models are in the order of the rows; diamonds are the scores by people.
    """
    dots = []
    for row in rows:
        why = brief_score(row) if why_no_score(row) else ""
        score = "" if why else score_with_interval(row)
        words = {"name": row["model"] or _NO_MODEL, "said": score, "why": why}
        dots.append(row | words)
    score = "; ".join(f"{row['name']} {row['why'] or row['said']}" for row in dots)
    return render_macro("charts.html", "dots", dots[:_MOST_BARS], score)


def draw_decided(whole: Sequence[Row], by_model: Sequence[Row] = ()) -> Markup | None:
    """Draw the share of claims that each source decided, in all and by model.

    The rows are from `source_contributions` and `source_contributions_by_model`. Returns None if no
    claim was decided.
    """
    key = _shares(whole)
    if not any(part["n"] for part in key):
        return None
    groups: dict[str, list[Row]] = {"all models" if by_model else "": list(whole)}
    for row in by_model:
        groups.setdefault(row["model"] or _NO_MODEL, []).append(row)
    stacks, sentences = [], []
    for name, rows in list(groups.items())[:_MOST_BARS]:
        parts = _shares(rows)
        size = quantity(sum(part["n"] for part in parts), "claim")
        stacks.append({"name": name, "said": size, "parts": parts})
        sentences.append(f"{name} " + ", ".join(f"{part['name']} {part['said']}" for part in parts))
    return render_macro("charts.html", "stacks", stacks, key, "; ".join(sentences).strip())


def draw_pie(rows: Sequence[Row], title: str = "", of: str = "") -> Markup:
    """Draw the share of claims that each source decided as a pie, with the key below it.

    It runs clockwise from the top in the order of the sources. The rows are as in `draw_decided`.
    With a title, and a subtitle `of`, the pie is a picture with a background that can be saved. It
    is light or dark as its reader's screen is.
    """
    key = _shares(rows)
    n = sum(part["n"] for part in key)
    slices = [part | _slice(part["start"], part["share"], part["color"]) for part in key]
    votes = bool(rows) and rows[0]["mode"] == "mv"
    size = quantity(n, "valid vote" if votes else "claim")
    sentence = ", ".join(f"{part['name']} {part['said']}" for part in key) if n else "nobody"
    return render_macro("charts.html", "pie", slices, sentence, size, title, shorten(of, _ACROSS))


def _slice(start: float, share: float, color: str) -> Row:
    """Return the path of a slice, given in per cent, with its label in a readable colour."""

    def place(percent: float, radius: float) -> str:
        angle = 2 * math.pi * percent / 100
        return f"{radius * math.sin(angle):.2f} {-radius * math.cos(angle):.2f}"

    far = int(share > 50)
    arc = f"A{_RADIUS:g} {_RADIUS:g} 0 {far} 1 {place(start + share, _RADIUS)}"
    # An arc from a point to itself would not be drawn.
    path = "" if share > 99.99 else f"M0 0L{place(start, _RADIUS)}{arc}Z"
    label = place(start + share / 2, 0.0 if share > 99.99 else 0.68 * _RADIUS).split()
    return {
        "path": path,
        "label": _percent(share) if share >= _LEAST_LABELLED else "",
        "x": label[0],
        "y": label[1],
        "ink": "#ffffff" if _luminance(color) < _EVEN else "#000000",
    }


# White and black have the same contrast with a colour of this luminance.
_EVEN = 0.179


def _luminance(color: str) -> float:
    """Return the relative luminance of a colour as WCAG 2 defines it."""
    shares = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return sum(weight * one for weight, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _shares(rows: Sequence[Row]) -> list[Row]:
    """Return the part of each source in the bar, and last the undecided part.

    A part has its count, its colour, and its start and share in per cent.
    """
    counted = []
    for row in rows:
        if row["source"] != NO_SOURCE:
            n = row["n_votes"] if row["mode"] == "mv" else row["n_decided"]
            color = COLORS[((row["position"] or 1) - 1) % len(COLORS)]
            counted.append((row["source"], n, color))
    undecided = [row["n_decided"] for row in rows if row["source"] == NO_SOURCE]
    if [row["mode"] for row in rows] == ["single"]:
        undecided = [rows[0]["n_units"] - rows[0]["n_decided"]]
    counted += [("undecided", n, UNDECIDED) for n in undecided]
    total = sum(n for _, n, _ in counted)
    shares: list[Row] = []
    start = 0.0
    for name, n, color in counted:
        share = 100 * n / total if total else 0.0
        part = {"name": one_line(name), "n": n, "color": color}
        label = f"{_percent(share)} ({n:,})"
        shares.append(part | {"share": share, "start": start, "said": label})
        start += share
    return shares


def _percent(share: float) -> str:
    """Return a share in per cent; only nothing is shown as 0 %, and only all as 100 %."""
    if 0 < share < 0.5:
        return "<1 %"
    return ">99 %" if 99.5 <= share < 100 else f"{share:.0f} %"


def shorten(name: str, room: float) -> str:
    """Return a name on one line that is at most `room` wide in a plot.

    A long name is cut in the middle: model names of a family often differ at the end.
    """
    whole = one_line(name)
    if width_of(whole) <= room:
        return whole
    left = room - width_of("…")
    first, last = 0, len(whole)
    while True:
        from_start = len(whole) - last >= first
        left -= width_of(whole[first] if from_start else whole[last - 1])
        if left < 0:
            break
        first, last = (first + 1, last) if from_start else (first, last - 1)
    end = whole[last:]
    while end and (_letter_width(end[0]) == 0 or end[0] == " "):  # a mark of a letter that is gone
        end = end[1:]
    return f"{whole[:first].rstrip()}…{end}"


def beside_note(name: str, note: str, start: float) -> str:
    """Return a name that begins at `start`, shortened to leave room for a note beside it."""
    return shorten(name, _ACROSS + 8 - start - width_of(note) - (_GAP if note else 0))


def width_of(text: str) -> float:
    """Return the maximum width of a text in a plot, whatever the font of the reader's system."""
    return sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    """Return the width of a letter of 13 units height, as in the widest usual fonts."""
    if category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    if letter in _NARROW:
        return 5.5
    if letter in _WIDE:
        return 13.5
    if letter.isascii():
        return 10.0 if letter.isupper() else 8.5
    return 18.0 if category(letter) == "So" else 13.5


# --- templates -----------------------------------------------------------------------------------


@cache
def environment() -> Environment:
    """Return the Jinja environment of the templates."""
    jinja = Environment(
        loader=PackageLoader("ufo.pipelines.reports"),
        autoescape=True,
        finalize=_printable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.globals |= {
        "SYMBOLS": SYMBOLS,
        "brief_score": brief_score,
        "in_words": in_words,
        "interval": interval,
        "many": quantity,
        "as_word": as_word,
        "beside_note": beside_note,
        "shown": _cell_text,
        "web_address": _web_address,
        "why_no_score": why_no_score,
        "width_of": width_of,
    }
    return jinja


def render_template(template: str, **values: object) -> str:
    """Return the output of a template for these values."""
    return environment().get_template(template).render(**values)


def render_macro(template: str, macro: str, *values: object) -> Markup:
    """Return the output of a template's macro for these values."""
    return Markup(getattr(environment().get_template(template).module, macro)(*values))  # noqa: S704


def in_words(name: str) -> str:
    """Return the name of a column or a measure in plain words."""
    return " ".join(_WORDS.get(word, word) for word in name.removeprefix("n_").split("_"))


def _cell_text(name: str, value: object) -> str:
    """Return the text of a table's cell."""
    shown = f"{value:,}" if type(value) is int else cell(value)
    if name in _NAMED:
        shown = in_words(shown)
    return shown if len(shown) <= _LONGEST_CELL else shown[: _LONGEST_CELL - 1].rstrip() + "…"


def _web_address(address: str | None) -> str | None:
    """Return an http(s) address, None for any other: those may run code."""
    try:
        known = address is not None and urlsplit(address).scheme in ("http", "https")
    except ValueError:
        return None
    return address if known else None


def _printable(value: object) -> object:
    """Return a value as a template writes it: "" for None, texts without control characters.

    HTML forbids these characters.
    """
    if value is None:
        return ""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return "".join(
        c if (c >= " " and not "\x7f" <= c <= "\x9f") or c in _KEPT else "\N{REPLACEMENT CHARACTER}"
        for c in value
    )
