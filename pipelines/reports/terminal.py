"""Print results as text, for a terminal of 80 columns or more, or for a file."""

import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ufo.pipelines.reports.overview import FAILURE_COLUMNS, Row
from ufo.pipelines.reports.tabular import DEFAULT_WIDTH, one_line, page, print_pairs, print_table
from ufo.schemas.records import ERROR, MULTI, NO_SOURCE, SUPPORTED
from ufo.schemas.text import quantity
from ufo.transforms.gate_score import LEFT_OUT
from ufo.transforms.score_words import as_shown, in_numbers, is_many
from ufo.transforms.scores import CONTRADICTED, NOT_FOUND, SYMBOLS

if TYPE_CHECKING:
    from ufo.pipelines.reports.evaluation import Check

MODES = {
    "seq": "one source after another",
    "mv": "majority of all sources",
    "single": "one source alone",
    "all": "every source for every claim",
}
_COLORS = {SUPPORTED: "green", CONTRADICTED: "red", NOT_FOUND: "yellow", ERROR: "magenta"}
_BAR_WIDTH = 24
_MOST_CLAIMS = 5
_LONGEST_NAME = 60  # characters of a question and its model beside a verdict
_SHORTEST_NAME = 12  # with less room they are left out
_LONGEST_LINE = 1_000
_EIGHTHS = " ▏▎▍▌▋▊▉"


def text_of(
    printing: Callable[[Console], None], width: int = DEFAULT_WIDTH, color: bool = False
) -> str:
    """Return printed output as text of a given width; `color` adds a terminal's escape codes."""
    out = StringIO()
    with page(out, width, color) as console:
        printing(console)
    return out.getvalue()


def print_check(check: "Check", console: Console) -> None:
    """Print the result of checking a text, claim by claim."""
    console.print(Text(check.headline, style="bold"))
    lost = check.lost
    note = f"; {in_numbers(lost.n, lost.of)}" if lost.many and check.score is not None else ""
    console.print(Text(f"{check.score_in_words}{note}"))
    if check.trust:
        console.print(Text(check.trust))
    for row in check.claims():
        print_claim(row, console)


def shortfall(check: "Check", no_claim: str = LEFT_OUT) -> str:
    """Return why a checked text does not pass a gate: its score, failures and unsupported claims.

    Each of these claims has its evidence. `no_claim` is the gate's treatment of a text without one.
    """
    words = check.score_in_words
    if check.gate_score("pass") != check.gate_score("fail"):  # there is no claim
        others = "no_claim='pass' lets such a text pass, no_claim='fail' counts it as 0"
        words += f" ({others if no_claim == LEFT_OUT else f'no_claim={no_claim!r}'})"
    rows = [row for row in check.claims() if row["state"] != SUPPORTED]
    rows.sort(key=lambda row: row["state"] != CONTRADICTED)

    def printing(console: Console) -> None:
        for line in (words, check.lost.sentence, check.headline, check.trust):
            if line:
                console.print(Text(line))
        for row in rows:
            print_claim(row, console)

    return text_of(printing).rstrip()


def print_overview(overview: Row, console: Console) -> None:
    """Print the result of `overview`."""
    _print_first(overview, console)
    if overview["contradicted"]:
        shown = overview["contradicted"][:_MOST_CLAIMS]
        of = overview["score"]["n_refuted"]
        some = f": {len(shown)} of {of:,}" if len(shown) < of else ""
        console.print(Text(f"\nContradicted claims{some}", style="bold"))
        for claim in shown:
            print_claim(claim, console)
    console.print()
    _print_header(overview, console)
    _print_scores(overview, console)
    _print_corrected(overview, console)
    _print_contributions(overview, console)
    title = f"What failed ({_command(overview, 'failures')} has each with its input)"
    _print_table(title, FAILURE_COLUMNS, overview["failures"], console)
    if overview["directory"]:
        console.print(Text(f"\nResponses, the lowest first: {_command(overview, 'scores')}"))


def _print_table(
    title: str,
    columns: Mapping[str, str],
    rows: Sequence[Row],
    console: Console,
    right: Collection[str] = (),
) -> None:
    """Print rows under a title, or nothing without rows.

    `columns` maps the shown names to the names of fields.
    """
    if rows:
        console.print(Text(f"\n{title}", style="bold"))
        values = [[row[name] for name in columns.values()] for row in rows]
        print_table(list(columns), values, console, right)


def _command(overview: Row, name: str) -> str:
    if not overview["directory"]:
        return f"the view {name}"
    directory, run = shlex.quote(overview["directory"]), shlex.quote(overview["run"])
    return f"ufo report {directory} {name} --run {run}"


def _print_header(overview: Row, console: Console) -> None:
    used = [row["source"] for row in overview["sources"] if row["status"] == "used"]
    counts, mode = overview["counts"], overview["mode"]
    size = f"{quantity(counts['responses'], 'response')}, {quantity(counts['units'], 'claim')}"
    failed = counts.get("failures", 0)
    lines = [
        ("Run", f"{overview['title']} ({mode}: {MODES.get(mode, 'unknown mode')})"),
        *(
            ("Not asked", f"{row['source']}: {row['reason'] or row['status']}")
            for row in overview["sources"]
            if row["status"] != "used"
        ),
        ("Sources", (" → " if mode == "seq" else ", ").join(used) or "none"),
        ("Judge", f"{overview['judge']}; a tie counts as {overview['tie'].replace('_', ' ')}"),
        ("Size", f"{size}, {quantity(failed, 'failure') if failed else 'no failures'}"),
    ]
    print_pairs(((name, one_line(value, _LONGEST_LINE)) for name, value in lines), console, "bold")


_SCORE_COLUMNS = {
    "score": "factuality_score",
    "low": "low",
    "high": "high",
    "decided": "decided_score",
    "coverage": "coverage",
    "people": "human_score",
    "responses": "n_responses",
    "claims": "n_units",
}


def _print_first(overview: Row, console: Console) -> None:
    """Print the headline, the score, and how far to trust it: what a reader needs first."""
    console.print(Text(overview["headline"], style="bold"))
    console.print(Text(overview["words"], style="bold"))
    if overview["problem"] and (overview["beside"] or not overview["shown"]):
        console.print(Text(overview["problem"], style="bold yellow"))
    if overview["left_out"]:
        console.print(Text(overview["left_out"]))
    if overview["trust"]:
        console.print(Text(overview["trust"]))


def _print_scores(overview: Row, console: Console) -> None:
    if overview["shown"]:
        others = {
            "Score of decided claims": overview["score"]["decided_score"],
            "evidence support": overview["evidence_support"],
        }
        figures = [f"{name} {value:.3f}" for name, value in others.items() if value is not None]
        console.print(Text(f"\n{', '.join(figures)}"))
    people = any(row["human_score"] is not None for row in overview["scores"])
    columns = {k: v for k, v in _SCORE_COLUMNS.items() if people or v != "human_score"}
    for title, key, rows in (
        ("Scores by mode", {"mode": "mode", "source": "source"}, overview["scores"]),
        ("Models, the most factual first", {"model": "model"}, overview["models"]),
    ):
        if rows is overview["models"] or len(rows) > 1:
            # Shown only where there are so many that a score must be read with them.
            many = any(is_many(row["n_unusable"], row["n_judgements"]) for row in rows)
            unusable = {"unusable": "n_unusable"} if many else {}
            shown = [as_shown(row) for row in rows]
            right = ("score",)
            _print_table(title, key | columns | unusable, shown, console, right)


def _print_corrected(overview: Row, console: Console) -> None:
    """Print the score as corrected by people's labels."""
    row = overview["corrected"]
    if row is None:
        return
    line = Text(f"\n{row['title']}", style="bold")
    line.append(row["rest"], style="not bold")
    console.print(line)
    for note in row["notes"]:
        console.print(Text(note))
    if row["nobody"]:
        console.print(Text(f"Nobody labelled any of these: {row['nobody']}"))
    if row["next"]:
        directory, run = shlex.quote(overview["directory"] or "DIR"), shlex.quote(overview["run"])
        console.print(Text(f"{row['next']}: ufo label sample {directory} --run {run}"))
    for name in ("corrected_scores", "judge_errors"):
        console.print(Text(f"more: {_command(overview, name)}"))


_CONTRIBUTIONS = {
    "seq": "Who decided: the share of claims that each source decided",
    "mv": "Share of the valid votes, and of those that agree with verdicts",
    "single": "Sources alone: the share of claims that each decides",
}


def _print_contributions(overview: Row, console: Console) -> None:
    for mode, title in _CONTRIBUTIONS.items():
        own = [row for row in overview["contributions"] if row["mode"] == mode]
        rows = [
            {
                "source": "(undecided)" if row["source"] == NO_SOURCE else row["source"],
                "": bar(row["share"]),
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


def bar(share: float | None) -> str:
    """Return a share of 1 as a bar, to an eighth of a character."""
    eighths = round((share or 0.0) * _BAR_WIDTH * 8)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


def print_claim(row: Row, console: Console) -> None:
    """Print a claim with its verdict and the strongest evidence for it."""
    head = Text(f"{SYMBOLS[row['state']]} {row['state']}", style=f"bold {_COLORS[row['state']]}")
    if row["label"] is not None:
        by = "all sources" if row["source"] == MULTI else row["source"]
        votes = f"{row['n_supported']} for, {row['n_refuted']} against"
        head.append(f" by {by} ({votes}{', tied' if row['tied'] else ''})", style="not bold")
    head.append(_whose(row, console.width - head.cell_len), style="not bold dim")
    console.print(head)
    texts = (
        ("claim", one_line(row["claim"], 300)),
        ("evidence", _evidence(row)),
        ("why", _why(row)),
    )
    print_pairs(((f"  {name}", text) for name, text in texts if text), console)


def _whose(row: Row, room: int) -> str:
    """Return the question of a claim and the model that answered, to fill the rest of a line.

    The question is cut first.
    """
    model = one_line(row["model"] or "", _LONGEST_NAME)
    left = min(room - 2, _LONGEST_NAME) - (len(model) + 3 if model else 0)
    question = one_line(row["question"] or "", left) if left >= _SHORTEST_NAME else ""
    shown = " · ".join(filter(None, (question, model)))
    return f"  {shown}" if shown and len(shown) + 2 <= room else ""


def _evidence(row: Row) -> str:
    where = ", ".join(one_line(part, 120) for part in (row["title"], row["url"]) if part)
    # A passage that does not answer is no evidence: only where it is from is said.
    quoted = row["quote"] if row["label"] is not None else row["citation"]
    quote = f'"{one_line(quoted, 300)}"' if quoted else ""
    return " - ".join(filter(None, (quote, where)))


def _why(row: Row) -> str:
    if row["rationale"]:
        return one_line(row["rationale"], 300)
    if row["reason"]:
        return f"{row['evidence_source']}: {row['reason'].replace('_', ' ')}"
    return ""
