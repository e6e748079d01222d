"""Compare two runs (`ufo compare`), or a run with itself under other rules (`ufo benchmark`)."""

import argparse
import sys
from dataclasses import replace
from typing import Any

import pyarrow as pa

from ufo.pipelines.commands.output import (
    ALL,
    AS_JSON,
    RUN,
    add_directory,
    add_output_options,
    declare,
    print_json,
    print_reader_as,
)
from ufo.pipelines.options.groups import TIES, RunOptions, WebOptions
from ufo.pipelines.options.option import Option, options_of
from ufo.pipelines.reports.comparison import (
    MOST_SHOWN,
    NothingToCompare,
    add_verdict,
    empty_comparison,
    undecided_gate,
)
from ufo.pipelines.reports.tabular import page, print_rows, print_table, tell_left_out
from ufo.pipelines.runs.comparison import compare
from ufo.pipelines.runs.remote_results import open_results
from ufo.schemas.errors import EXIT_BELOW, EXIT_DONE, UsageError, unknown_value
from ufo.schemas.results import Results
from ufo.transforms.score_words import as_word
from ufo.transforms.scores import VoteRules
from ufo.transforms.sources.host_selection import hosts_chosen
from ufo.transforms.votes import MV, SEQ, SINGLE
from ufo.transforms.what_if import scores_if

_SHOWN = (
    "level", "name", "source", "factuality_score", "before", "difference", "coverage", "n_units",
    "before_coverage", "n_judgements", "n_unusable",
)  # fmt: skip
_MODES = (SEQ, MV, SINGLE)
_GATE = {one.name: one for one in options_of(RunOptions)}
_OF_HOSTS = [one for one in options_of(WebOptions) if one.name.startswith(("include_", "exclude_"))]


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands."""
    parser = subparsers.add_parser(
        "compare",
        description="Compare run B with run A, the baseline: scores paired by question and data "
        "set (by response where there is no question), the questions that changed most, and the "
        "claims that one run found supported and the other not.",
    )
    add_directory(parser)
    parser.add_argument("baseline", metavar="A", help="a finished run: the baseline")
    parser.add_argument("run", metavar="B", help="a finished run")
    declare(parser, replace(_GATE["fail_if_worse"], default=None), _GATE["least_shared"])
    declare(parser, ALL, AS_JSON)
    parser.set_defaults(handler=_compare)

    parser = subparsers.add_parser(
        "benchmark",
        description="Recompute the verdicts and scores of a finished run from its evidence with "
        "other sources, orders, passages or rules. No request is sent. A run of --mode all or "
        "mv has the evidence for any order; one of --mode seq only for what it asked. The score "
        "of the run's own verdicts in the same mode is shown beside each score.",
    )
    add_directory(parser)
    modes = "seq: one source after another; mv: majority of all; single: each source alone"
    tie = "verdict where votes are tied (default: the run's own rule)"
    declare(
        parser,
        RUN,
        Option("mode", str, modes, "|".join(_MODES), default=SEQ, choices=_MODES),
        Option("order", str, "sources to use, in this order (default: the run's own)", "A,B"),
        Option("exclude_passages", str, "exclude these passages, by passage_id", "A,B"),
        *_OF_HOSTS,
        Option("tie", str, tie, "|".join(TIES), choices=TIES),
        ALL,
    )
    add_output_options(parser)
    parser.set_defaults(handler=_benchmark)


def _compare(args: argparse.Namespace) -> int:
    level = args.fail_if_worse
    try:
        comparison = compare(args.directory, args.baseline, args.run, args.least_shared)
    except NothingToCompare as error:
        if level is None:
            raise
        if args.json:
            print_json(empty_comparison(error))
        print(undecided_gate(error.message), file=sys.stderr)
        return EXIT_BELOW
    comparison = comparison | {"worse": False} if level is None else add_verdict(comparison, level)
    if args.json:
        print_json(comparison)
    else:
        own = [f"{comparison[side]} as a whole: {comparison['own'][side]}" for side in "ab"]
        print(comparison["headline"], comparison["basis"], *comparison["notes"], *own, sep="\n")
        changed = ("question", "score_a", "score_b", "difference")
        _print("\nQuestions that differ most", comparison["questions"], changed, args.all)
        heading = "\nclaims no longer supported: {lost:,}; supported now: {won:,}".format(
            **comparison
        )
        turned = ("before", "after", "source_after", "response_id", "claim")
        _print(heading, [_in_display_words(row) for row in comparison["turned"]], turned, args.all)
    if level is None:
        return EXIT_DONE
    if not comparison["decided"]:
        print(undecided_gate(comparison["undecided"]), file=sys.stderr)
        return EXIT_BELOW
    if comparison["worse"]:
        print(f"Significantly worse: p < --fail_if_worse {level}", file=sys.stderr)
        return EXIT_BELOW
    return EXIT_DONE


def _in_display_words(row: dict[str, Any]) -> dict[str, Any]:
    """Return a claim that turned, with its verdicts in the words of displays."""
    return row | {side: as_word(row[side]) for side in ("before", "after")}


def _print(
    title: str, rows: list[dict[str, Any]], names: tuple[str, ...], every_column: bool
) -> None:
    with page(sys.stdout) as console:
        if rows:
            shown = tuple(rows[0]) if every_column else names
            cells = [[row[name] for name in shown] for row in rows[:MOST_SHOWN]]
            console.print(title)
            if every_column:
                print_rows(shown, cells, console)
            else:
                left_out = print_table(shown, cells, console)
                tell_left_out(console, len(rows[0]) - len(names) + left_out, "--all or --json")
        if len(rows) > MOST_SHOWN:
            console.print(f"\nThe first {MOST_SHOWN} of {len(rows):,}. All of them: --json.")


def _words(flag: str, text: str | None) -> list[str]:
    words = [word.strip() for word in (text or "").split(",") if word.strip()]
    if text is not None and not words:
        raise UsageError(f"{flag}: expected names with commas between them, found {text!r}")
    return words


def _benchmark(args: argparse.Namespace) -> int:
    with open_results(args.directory, args.run) as results:
        if results.runs[-1].mode == "recall":
            raise UsageError(
                f"run {results.runs[-1].name!r} is of 'ufo recall', which asks no sources; name a "
                "run of 'ufo evaluate' with --run."
            )
        rules = _rules(results, args)
        rows = scores_if(results, rules)
        of = None if args.all else len(rows[0])
        if not (args.json or args.csv):
            rows = [
                row if args.all else {name: row[name] for name in _SHOWN}
                for row in rows
                if row["level"] in ("run", "model")
                or (row["level"] == "dataset" and row["name"] is not None)
            ]
        print_reader_as(pa.Table.from_pylist(rows).to_reader(), args, _title(results, rules), of=of)
    return EXIT_DONE


def _title(results: "Results", rules: VoteRules) -> str:
    asked = (" > " if rules.mode == SEQ else ", ").join(rules.sources)
    run = results.runs[-1]
    return f"What if: {rules.mode}, {asked}; run {run.name} (nothing was asked again)\n"


def _rules(results: "Results", args: argparse.Namespace) -> VoteRules:
    """Return the vote rules of the command line, checked against the run's sources and passages.

    Raises:
        UsageError: a source, category or passage is unknown, a domain is invalid, or the run cannot
            meet the rules.
    """
    names = ("order", "exclude_passages", *(one.name for one in _OF_HOSTS))
    words = {name: _words(f"--{name}", getattr(args, name)) for name in names}
    order, passages = words.pop("order"), words.pop("exclude_passages")
    used = results.runs[-1].sources
    for name in order:
        if name not in used:
            raise UsageError(unknown_value("source", name, used))
        if order.count(name) > 1:
            raise UsageError(f"--order names {name!r} {order.count(name)} times; once is enough.")
    order = order or list(used)
    missing = results.query(
        "SELECT name FROM (SELECT unnest($names::VARCHAR[]) AS name) "
        "WHERE name NOT IN (SELECT passage_id FROM passages)",
        {"names": passages},
    ).to_pylist()
    if missing:
        raise UsageError(
            f"--exclude_passages: the run has no passage {missing[0]['name']!r}; the table "
            "`passages` has their ids."
        )
    selection = replace(hosts_chosen(**words), without_passages=frozenset(passages))
    tie = args.tie or results.runs[-1].tie
    return VoteRules(order, args.mode, tie, selection)
