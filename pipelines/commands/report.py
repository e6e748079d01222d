"""Query finished runs, by reports (`ufo report`) or by SQL (`ufo sql`)."""

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import groupby

from ufo.pipelines.commands.output import (
    ALL,
    RUN,
    add_directory,
    add_output_options,
    declare,
    print_json,
    print_query,
)
from ufo.pipelines.options.option import Option
from ufo.pipelines.reports.overview import overview
from ufo.pipelines.reports.recall import print_recall, recall_summary
from ufo.pipelines.reports.tabular import page, print_table
from ufo.pipelines.reports.terminal import print_overview
from ufo.pipelines.runs.remote_results import open_results
from ufo.schemas import storage
from ufo.schemas.errors import EXIT_DONE, Interrupted, UsageError, unknown_value
from ufo.schemas.file_systems import is_remote
from ufo.schemas.results import Results
from ufo.schemas.tables import LABELS, RUN_PREFIX, TABLES
from ufo.schemas.views import GROUPS, load_views

_REPORTS = Option("reports", str, "folder with reports of your own, one .sql file each", "FOLDER")

_THRESHOLD = Option(
    "threshold",
    float,
    "a sentence is not factual if less than this share of its evidence supports it, in the reports "
    "that compare sentences with people: sentence_f1, agreement (default 0.3)",
    "X",
    low=0,
    high=1,
)


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands."""
    report = subparsers.add_parser(
        "report",
        description="Print the overview of the newest finished run, or one report by its name.",
    )
    add_directory(report, optional=True)
    report.add_argument(
        "name", metavar="NAME", nargs="?", help="a report or a table; --list names them"
    )
    html = "write plots, tables and evidence to FILE as one HTML page; print no overview"
    declare(
        report,
        Option("list", bool, "list the reports, of DIR those that have rows"),
        Option("html", str, html, "FILE"),
        RUN,
        Option("all_runs", bool, "with NAME: the rows of all finished runs in one table"),
        _THRESHOLD,
        _REPORTS,
        ALL,
    )
    add_output_options(report)
    report.set_defaults(handler=_report)

    sql = subparsers.add_parser(
        "sql",
        description="Run one SELECT (DuckDB) over the tables and views of all finished runs, "
        "distinguished by the column `run`.",
    )
    add_directory(sql)
    sql.add_argument("sql", metavar="SELECT", help='for example "FROM scores LIMIT 5"')
    declare(
        sql,
        Option("run", str, "only this finished run (default: all of them)", "NAME"),
        _REPORTS,
    )
    add_output_options(sql)
    sql.set_defaults(handler=_sql)


def _report(args: argparse.Namespace) -> int:
    if args.list:
        return _list(args)
    if args.directory is None:
        raise UsageError("expected DIR, the --output folder of an earlier 'ufo evaluate'.")
    if args.csv and args.name is None:
        raise UsageError("--csv: the overview is not one table; name a report, or take --json.")
    if args.all_runs and (args.name is None or args.run is not None):
        raise UsageError("--all_runs takes the NAME of a report, and no --run.")
    with open_results(
        args.directory,
        args.run,
        args.all_runs,
        reports=args.reports,
        threshold=args.threshold,
    ) as results:
        if args.html is not None:
            # Jinja, which only HTML needs, is slow to import.
            from ufo.pipelines.reports.html_report import write_html

            write_html(results, args.html)
            if args.html != "-":
                print(f"wrote {args.html}", file=sys.stderr)
            if args.name is None and not args.json:
                return EXIT_DONE
        if args.name is not None:
            _print_report(results, args)
            return EXIT_DONE
        of_recall = results.runs[-1].mode == "recall"
        if of_recall and not args.json:
            with page(sys.stdout) as console:
                print_recall(results, console)
            return EXIT_DONE
        there = args.directory if is_remote(args.directory) else None
        summary = recall_summary(results) if of_recall else overview(results, there)
        if args.json:
            print_json(summary)
        else:
            with page(sys.stdout) as console:
                print_overview(summary, console)
    return EXIT_DONE


def _sql(args: argparse.Namespace) -> int:
    # On a thread: a thread that waits for DuckDB does not receive Ctrl-C.
    with (
        open_results(args.directory, args.run, args.run is None, reports=args.reports) as results,
        ThreadPoolExecutor(1) as thread,
    ):
        query = thread.submit(print_query, results, args.sql, args)
        try:
            query.result()
        except KeyboardInterrupt:
            while not query.done():
                results.interrupt()  # more than once: the query may not have begun
                wait([query], 0.1)
            raise Interrupted("interrupted; the query was stopped") from None
    return EXIT_DONE


def _list(args: argparse.Namespace) -> int:
    """Print the names of the reports by group; with a folder, of those that have rows."""
    if args.directory is None:
        listed_views = sorted(
            (view for view in load_views(args.reports) if view.group),
            key=lambda view: (list(GROUPS).index(view.group), view.name),
        )
    else:
        with open_results(args.directory, args.run, reports=args.reports) as results:
            listed_views = list(results.filled_views())
    if args.json:
        names = ("name", "group", "title", "summary", "help")
        listed = [{name: getattr(view, name) for name in names} for view in listed_views]
        print_json(listed)
        return EXIT_DONE
    with page(sys.stdout) as console:
        for group, views in groupby(listed_views, key=lambda view: view.group):
            console.print(f"\n{GROUPS[group]}")
            rows = [[view.name, view.summary or view.title] for view in views]
            print_table(["report", "what it shows"], rows, console)
        console.print(f"\nTables: {', '.join([*TABLES, LABELS, 'runs'])}")
    return EXIT_DONE


def _print_report(results: "Results", args: argparse.Namespace) -> None:
    """Print a view or a table; in a terminal with its title, and without the column `run`."""
    view = results.report(args.name)
    if view is None:
        if storage.exists(storage.join(args.directory, f"{RUN_PREFIX}{args.name}")):
            raise UsageError(f"{args.name!r} is a run: name it with --run {args.name}.")
        raise UsageError(unknown_value("report", args.name, sorted(results.names)))
    columns, title, empty, of = "*", "", view.empty, None
    if not args.json and not args.csv:
        of_runs = "all runs" if args.all_runs else f"run {results.runs[-1].name}"
        title = f"{view.title}, {of_runs}\n"
        # A user's own report may have no column `run`, or no other one.
        names = results.columns_of(view)
        says = view.name != "runs" and "run" in names and len(names) > 1
        every = "* EXCLUDE (run)" if says and not args.all_runs else "*"
        columns = every if args.all else view.shows or every
        if view.shows and says and args.all_runs and not args.all:
            columns = f"run, {columns}"
        of = None if args.all else len(names) - (says and not args.all_runs)
    if results.runs[-1].mode == "recall" and view.group and "recall_" not in view.name:
        empty = "the run is of 'ufo recall': see recall_scores, recall_errors and recall_cost"
    print_query(results, view.select(columns), args, title, empty, of)
