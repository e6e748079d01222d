"""Run `ufo recall`, print its result, and return the exit code."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ufo.pipelines import logs
from ufo.pipelines.options.command_line import settings
from ufo.pipelines.options.option import Parser
from ufo.pipelines.options.settings import RECALL_GROUPS, RecallSettings
from ufo.pipelines.reports.recall import print_recall, recall_summary
from ufo.pipelines.reports.tabular import as_json, page
from ufo.pipelines.reports.unusable import Unusable, unusable
from ufo.pipelines.runs.remote_results import open_results
from ufo.pipelines.runs.run import SHEET, run_recall
from ufo.schemas.errors import EXIT_DONE, EXIT_FAILED
from ufo.schemas.text import quantity


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
    """Run the command; return the exit code."""
    chosen = settings(RecallSettings, parser, argv)
    if program:
        chosen = replace(chosen, command=("recall", *argv))
    logs.start(logs.LogSettings(chosen.log_format))
    finished = run_recall(chosen)
    sheet = {"sheet": f"{chosen.output.rstrip('/')}/{SHEET}"} if chosen.facts_only else {}
    with finished.explain_memory_errors(), open_results(chosen.output, finished.name) as results:
        lost = unusable(results)
        if chosen.json:
            more = {"seconds": round(finished.seconds, 3), "path": finished.folder, **sheet}
            print(as_json(recall_summary(results) | more))
            return _exit_code(lost)
        with page(sys.stdout) as console:
            print_recall(results, console)
    failures = finished.manifest["counts"]["failures"]
    if failures:
        print(f"{quantity(failures, 'failure')}, each with its reason in the table `failures`")
    if chosen.facts_only:
        print(f"sheet to annotate: {sheet['sheet']}; give it back as --input")
    print(f"results in {finished.folder}")
    return _exit_code(lost)


def _exit_code(lost: "Unusable") -> int:
    if lost.sentence:
        logs.tell(lost.sentence)
    return EXIT_FAILED if lost.all or lost.extraction else EXIT_DONE
