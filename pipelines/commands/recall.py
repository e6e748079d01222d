"""Run `ufo recall`, print its result, and return the exit code."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ufo.pipelines import logs
from ufo.pipelines.commands.output import tell_left_out
from ufo.pipelines.options.command_line import settings
from ufo.pipelines.options.option import Parser
from ufo.pipelines.options.settings import RECALL_GROUPS, RecallSettings
from ufo.pipelines.reports.tabular import as_json, page, print_table
from ufo.pipelines.reports.unusable import Unusable, unusable
from ufo.pipelines.runs.remote_results import open_results
from ufo.pipelines.runs.run import SHEET, run_recall
from ufo.schemas.errors import EXIT_DONE, EXIT_FAILED
from ufo.schemas.results import Results
from ufo.schemas.text import quantity
from ufo.schemas.views import View, load_views
from ufo.transforms.score_words import in_numbers

_REPORTS = ("recall_scores", "recall_errors", "recall_cost")
"""FaaF's Tables 1 to 3."""


def register(commands: Any) -> None:
    """Add the command. Its options are parsed by `handle`, which also reads the file of options."""
    parser = commands.add_parser(
        "recall",
        description="Factual recall (FaaF): facts are generated from questions and their true "
        "answers, or given, and each answer of a RAG system is verified for all of them, by every "
        "formulation. Results are Parquet under DIR/run=NAME; see `ufo report DIR recall_scores`.",
    )
    parser.add_options(RECALL_GROUPS)
    parser.set_defaults(parse=handle, parser=parser)


def handle(parser: "Parser", argv: Sequence[str], program: bool = False) -> int:
    """Run the command; returns the exit code."""
    chosen = settings(RecallSettings, parser, argv)
    if program:
        chosen = replace(chosen, command=("recall", *argv))
    logs.start(logs.LogSettings(chosen.log_format))
    finished = run_recall(chosen)
    sheet = {"sheet": f"{chosen.output.rstrip('/')}/{SHEET}"} if chosen.facts_only else {}
    with finished.shown(), open_results(chosen.output, finished.name) as results:
        lost = unusable(results)
        if chosen.json:
            more = {"seconds": round(finished.seconds, 3), "path": finished.folder, **sheet}
            more["judged_by"] = chosen.judged_by()
            print(as_json(recall_summary(results) | more))
            return _ended(lost)
        print_recall(results)
    if judged_by := chosen.judged_by():
        print(judged_by)
    failures = finished.manifest["counts"]["failures"]
    if failures:
        print(f"{quantity(failures, 'failure')}, each with its reason in the table `failures`")
    if chosen.facts_only:
        print(f"sheet to annotate: {sheet['sheet']}; give it back as --input")
    print(f"results in {finished.folder}")
    return _ended(lost)


def _ended(lost: "Unusable") -> int:
    if lost.sentence:
        logs.tell(lost.sentence)
    return EXIT_FAILED if lost.all or lost.extraction else EXIT_DONE


def recall_summary(results: "Results") -> dict[str, Any]:
    """Return the results of a recall run: its size, and the rows of the paper's three tables."""
    run = results.runs[-1]
    return {
        "run": run.name,
        "mode": run.mode,
        "judge": run.judge,
        "records": run.counts["responses"],
        "facts": run.counts["units"],
        "answers": run.counts["answers"],
        "failures": run.counts["failures"],
        "problem": unusable(results).sentence or None,
        **{view.name: _rows(results, view) for view in _views()},
    }


def _views() -> list[View]:
    views = {view.name: view for view in load_views()}
    return [views[name] for name in _REPORTS]


def _rows(results: "Results", view: View, columns: str = "* EXCLUDE (run)") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = results.query(view.select(columns)).to_pylist()
    return found


def print_recall(results: "Results") -> None:
    """Print the run's size, and each of the paper's three tables that has rows."""
    with page(sys.stdout) as console:
        run = results.runs[-1]
        counted = {"responses": "record", "units": "fact", "answers": "answer"}
        sizes = (quantity(run.counts[name], noun) for name, noun in counted.items())
        console.print(f"run {run.name}: {', '.join(sizes)}")
        for view in _views():
            if found := _rows(results, view, view.shows):
                console.print(f"\n{view.title}")
                left_out = print_table([*found[0]], [[*row.values()] for row in found], console)
                more = len(results.columns_of(view)) - 1 - len(found[0]) + left_out
                tell_left_out(console, more, f"ufo report DIR {view.name} --all")
        lost = unusable(results)
        if lost.many:
            console.print(f"\n{in_numbers(lost.n, lost.of)}")
