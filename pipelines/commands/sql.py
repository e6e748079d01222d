"""Ask finished runs by SQL (`ufo sql`)."""

import argparse
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial

from ufo.pipelines.commands.report import (
    add_output_options,
    add_view_options,
    print_query,
    until_closed,
)
from ufo.pipelines.options.option import number
from ufo.pipelines.runs.remote_results import open_results
from ufo.schemas.errors import EXIT_DONE, Interrupted, RunError, UsageError
from ufo.schemas.results import Results


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    sql = subparsers.add_parser(
        "sql",
        description="Run one SELECT (DuckDB) over the tables and views of all finished runs, "
        "distinguished by the column `run`.",
    )
    sql.add_argument("directory", metavar="DIR", help="results folder: --output of ufo evaluate")
    sql.add_argument("sql", metavar="SELECT", help='for example "FROM scores LIMIT 5"')
    add_output_options(sql, "only this finished run (default: all of them)")
    sql.add_argument(
        "--memory_limit",
        metavar="SIZE",
        help="memory that the query may take, as in 4GB (default: half of the machine's)",
    )
    sql.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=number("--timeout", 0.001, whole=False),
        help="stop the query after this time (default: never)",
    )
    add_view_options(sql)
    sql.set_defaults(handler=_sql)


@until_closed
def _sql(args: argparse.Namespace) -> int:
    with open_results(
        args.directory,
        args.run,
        all_runs=args.run is None,
        reports=args.reports,
        threshold=args.threshold,
    ) as results:
        try:
            results.limit_memory(args.memory_limit or f"{_machine_memory() // 2}B")
        except UsageError as error:
            why = error.message.partition("\n")[0]
            raise UsageError(
                f"--memory_limit {args.memory_limit!r} is not a size such as 4GB: {why}"
            ) from error
        _stoppable(partial(print_query, results, args.sql, args), results, args.timeout)
    return EXIT_DONE


def _machine_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _stoppable(work: Callable[[], None], results: Results, seconds: float | None) -> None:
    """Run a query on a thread, so that this one hears Ctrl-C, and stop it when that comes.

    Raises:
        RunError: it took longer than `seconds`; Interrupted: by Ctrl-C.
    """
    with ThreadPoolExecutor(1) as thread:
        query = thread.submit(work)
        error: RunError | None = None
        try:
            if not wait([query], seconds).done:
                error = RunError(f"the query was stopped after {seconds:g} s (--timeout)")
        except KeyboardInterrupt:
            error = Interrupted("interrupted; the query was stopped")
        while error is not None and not query.done():
            results.interrupt()  # more than once: the query may not have begun
            wait([query], 0.1)
        if error is not None:
            raise error
        query.result()
