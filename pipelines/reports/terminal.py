"""Print the overview of a run, for a terminal of 80 columns and up or for a file."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ufo.pipelines.reports.overview import ERRORS_IN_WORDS, Row, overview
from ufo.pipelines.reports.tabular import one_line, page, print_rows
from ufo.pipelines.reports.unusable import beside, is_many, no_score, without_score
from ufo.schemas.records import MULTI, NO_SOURCE
from ufo.schemas.results import Results
from ufo.schemas.text import quantity
from ufo.transforms.states import CONTRADICTED, ERROR, NOT_FOUND, SUPPORTED, SYMBOLS
from ufo.transforms.votes import main_mode

MODES = {
    "seq": "one source after another",
    "mv": "majority of all sources",
    "single": "one source alone",
    "all": "every source for every unit",
}
# Colour of each state of a claim, and its symbol where there is ASCII alone.
_LOOKS = {
    SUPPORTED: ("green", "+"),
    CONTRADICTED: ("red", "x"),
    NOT_FOUND: ("yellow", "?"),
    ERROR: ("magenta", "!"),
}
_BAR_WIDTH = 24
_EIGHTHS = " ▏▎▍▌▋▊▉"


def render_overview(results: Results, width: int = 100, color: bool = False) -> str:
    """Return the overview as text of that width; `color` adds a terminal's escape codes."""
    out = StringIO()
    with page(out, width, color) as console:
        print_overview(overview(results), console)
    return out.getvalue()


def print_overview(found: Row, console: Console) -> None:
    """Print what `overview` found."""
    console.print(Text(f"{found['headline']}\n", style="bold"))
    _print_header(found, console)
    _print_scores(found, console)
    _print_corrected(found, console)
    _print_contributions(found, console)
    rest = found["counts"].get("responses", 0) - len(found["responses"])
    more = f" ({rest:,} more: {_command(found, 'scores')})" if rest > 0 else ""
    columns = {
        "response": "response_id",
        "model": "model",
        "score": "factuality_score",
        "coverage": "coverage",
        "claims": "n_units",
        **_unusable_column(found["responses"]),
        "question": "question",
    }
    title = f"Scores by response, the lowest first{more}"
    _print_table(title, columns, found["responses"], console)
    if found["examples"]:
        console.print(Text("\nSome claims", style="bold"))
        for example in found["examples"]:
            print_claim(example, console)
    title = f"Failures: {_command(found, 'failures')} has each with its input"
    columns = {name: name for name in ("step", "error_type", "n")}
    _print_table(title, columns, found["failures"], console)


def _print_table(
    title: str,
    columns: Mapping[str, str],
    rows: Sequence[Row],
    console: Console,
    right: Collection[str] = (),
) -> None:
    """Print rows under a title, and nothing where there are none; `columns` are the names of their
    fields by those that are shown."""
    if rows:
        console.print(Text(f"\n{title}", style="bold"))
        values = [[row[name] for name in columns.values()] for row in rows]
        print_rows(list(columns), values, console, right)


def _command(found: Row, name: str) -> str:
    return f"ufo report {shlex.quote(found['directory'])} {name} --run {shlex.quote(found['run'])}"


def _print_header(found: Row, console: Console) -> None:
    used = [row["source"] for row in found["sources"] if row["status"] == "used"]
    then = " > " if console.options.ascii_only else " → "
    counts = found["counts"]
    size = f"{quantity(counts['responses'], 'response')}, {quantity(counts['units'], 'claim')}"
    failed = counts.get("failures", 0)
    lines = [
        ("Run", f"{found['run']} ({found['mode']}: {MODES.get(found['mode'], 'unknown mode')})"),
        ("Sources", (then if found["mode"] == "seq" else ", ").join(used) or "none"),
        ("Judge", f"{found['judge']}; a tie counts as {found['tie'].replace('_', ' ')}"),
        *([("", found["judged_by"])] if found["judged_by"] else []),
        ("Size", f"{size}, {quantity(failed, 'failure') if failed else 'no failures'}"),
    ]
    for row in found["sources"]:
        if row["status"] != "used":
            lines.insert(2, ("Not asked", f"{row['source']}: {row['reason'] or row['status']}"))
    if found["errors"]:
        n = sum(row["n"] for row in found["errors"])
        why = ", ".join(f"{row['source']} {row['reason']} {row['n']:,}" for row in found["errors"])
        lines.append(("Errors", f"{quantity(n, 'judgement')} without an answer, no votes: {why}"))
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    for name, value in lines:
        grid.add_row(name, Text(one_line(value)))
    console.print(grid)


_SCORE_COLUMNS = {
    "score": "factuality_score",
    "decided": "decided_score",
    "coverage": "coverage",
    "people": "human_score",
    "responses": "n_responses",
    "no claims": "n_without_units",
    "claims": "n_units",
}


def _unusable_column(rows: list[Row]) -> dict[str, str]:
    """Return the column of unusable judgements where a score has to be seen with it."""
    many = any(is_many(row["n_unusable"], row["n_judgements"]) for row in rows)
    return {"unusable": "n_unusable"} if many else {}


def _print_scores(found: Row, console: Console) -> None:
    own = main_mode(found["mode"])
    whole = next((row for row in found["scores"] if row["mode"] == own), None)
    if whole is None or whole["factuality_score"] is None:
        why = no_score(whole)
        console.print(Text(f"\n{why[0].upper()}{why[1:]}.", style="bold"))
        if found["problem"]:
            console.print(Text(found["problem"]))
        return
    line = Text("\n").append(f"Factuality score {whole['factuality_score']:.3f}", style="bold")
    line.append(
        f"  of decided claims {whole['decided_score']:.3f}, coverage {whole['coverage']:.3f}"
    )
    if found["evidence_support"] is not None:
        line.append(f", evidence support {found['evidence_support']:.3f}")
    console.print(line)
    if beside(whole):
        console.print(Text(found["problem"], style="bold yellow"))
    if left_out := without_score(whole):
        console.print(Text(left_out))
    people = any(row["human_score"] is not None for row in found["scores"])
    columns = {k: v for k, v in _SCORE_COLUMNS.items() if people or v != "human_score"}
    by_dataset = [row["dataset"] for row in found["datasets"]] != [None]
    for title, key, rows in (
        ("mode", {"mode": "mode", "source": "source"}, found["scores"]),
        ("model", {"model": "model"}, found["models"]),
        ("data set", {"data set": "dataset"}, found["datasets"] if by_dataset else []),
    ):
        if title != "mode" or len(rows) > 1:
            lost = _unusable_column(rows)
            # In 80 columns there is room for one of them.
            shown = {k: v for k, v in columns.items() if not (lost and k == "no claims")}
            _print_table(f"Scores by {title}", {**key, **shown, **lost}, rows, console)


def _print_corrected(found: Row, console: Console) -> None:
    """Print what people's labels make of the scores, and how often the judge errs."""
    rows = [
        {**row, "name": "(all)" if row["level"] == "run" else row["name"]}
        for row in found["corrected"]
        if row["level"] != "dataset"
    ]
    if not rows:
        return
    columns = {"model": "name", "judge": "judge_score", "corrected": "corrected_score"}
    columns |= {"low": "low", "high": "high", "labels": "n_labelled"}
    title = "Corrected by what people said, with 95 % intervals"
    _print_table(title, columns, rows, console)
    for row in rows:
        if row["level"] == "run" and row["strata_without_label"]:
            console.print(Text(f"Nobody labelled any of these: {row['strata_without_label']}"))
    title = f"The judge's errors ({_command(found, 'judge_errors')} has them by source)"
    errors = [{**row, "error": ERRORS_IN_WORDS[row["error"]]} for row in found["judge_errors"]]
    columns = {"model": "model", "judged": "error", "share": "value"}
    columns |= {"low": "low", "high": "high", "claims": "n"}
    _print_table(title, columns, errors, console)


_CONTRIBUTIONS = {
    "seq": "Who decided: the share of claims that each source decided",
    "mv": "Share of the valid votes, and of those that agree with verdicts",
    "single": "Sources alone: the share of claims that each decides",
}


def _print_contributions(found: Row, console: Console) -> None:
    for mode, title in _CONTRIBUTIONS.items():
        own = [row for row in found["contributions"] if row["mode"] == mode]
        rows = [
            {
                "source": "(undecided)" if row["source"] == NO_SOURCE else row["source"],
                "": bar(row["share"], console.options.ascii_only),
                "share": _percent(row["share"]),
                "claims": row["n_decided"],
                "votes": row["n_votes"],
                "agreeing": _percent(row["agreeing_share"]),
            }
            for row in own
            if any(one["n_units"] for one in own)
        ]
        names = ("votes", "agreeing") if mode == "mv" else ("claims",)
        columns = {name: name for name in ("source", "", "share", *names)}
        _print_table(title, columns, rows, console, right=("share", "agreeing"))


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{share:.1%}"


def bar(share: float | None, ascii_only: bool = False) -> str:
    """Return a share of 1 as a bar, to an eighth of a character where these can be shown."""
    size = (share or 0.0) * _BAR_WIDTH
    if ascii_only:
        return "#" * round(size)
    eighths = round(size * 8)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


def print_claim(row: Row, console: Console) -> None:
    """Print a claim with its verdict and the evidence that says most for it."""
    style, plain = _LOOKS[row["state"]]
    symbol = plain if console.options.ascii_only else SYMBOLS[row["state"]]
    head = Text(f"{symbol} {row['state']}", style=f"bold {style}")
    if row["label"] is not None:
        by = "all sources" if row["source"] == MULTI else row["source"]
        votes = f"{row['n_supported']} for, {row['n_refuted']} against"
        head.append(f" by {by} ({votes}{', tied' if row['tied'] else ''})", style="not bold")
    who = " · ".join(filter(None, (row["response_id"], row["model"])))
    head.append(f"  {one_line(who, 60)}", style="not bold dim")
    console.print(head)
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    grid.add_row("  claim", Text(one_line(row["claim"], 300)))
    for name, text in (("evidence", _evidence(row)), ("why", _why(row))):
        if text:
            grid.add_row(f"  {name}", Text(text))
    console.print(grid)


def _evidence(row: Row) -> str:
    where = ", ".join(one_line(part, 120) for part in (row["title"], row["url"]) if part)
    said = f'"{one_line(row["citation"], 300)}"' if row["citation"] else ""
    return " - ".join(filter(None, (said, where)))


def _why(row: Row) -> str:
    if row["rationale"]:
        return one_line(row["rationale"], 300)
    if row["reason"]:
        return f"{row['evidence_source']}: {row['reason'].replace('_', ' ')}"
    return ""
