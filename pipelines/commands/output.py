"""The arguments and the printing of rows that commands share."""

import argparse
import sys
from itertools import islice

import pyarrow as pa

from ufo.pipelines.options.option import Option
from ufo.pipelines.reports.tabular import (
    OF_UNUSABLE,
    as_json,
    page,
    print_rows,
    print_table,
    rows_of,
    tell_left_out,
    text_output,
    write_csv,
    write_json,
)
from ufo.schemas.results import Results
from ufo.schemas.text import quantity
from ufo.transforms.score_words import as_shown

ROWS = 20
RIGHT = ("factuality_score",)
"""Columns of numbers that may hold a reason instead of a number."""

RUN = Option("run", str, "name of a finished run (default: the newest)", "NAME")
AS_JSON = Option("json", bool, "print the whole result as JSON")
AS_CSV = Option("csv", bool, "print the whole result as CSV for spreadsheets, without formulas")
ALL = Option("all", bool, "print every column; where these do not fit, each row as a list")
MOST_ROWS = Option(
    "rows",
    int,
    f"print N rows at most, 0 for all (default: {ROWS} in a table, else all)",
    "N",
    low=0,
)


def declare(parser: "argparse._ActionsContainer", *options: Option) -> None:
    """Declare the flags of options, with their defaults."""
    for option in options:
        option.add(parser)
        # argparse extends the default of an option of several words, which must be a list for that.
        default = list(option.unset) if option.kind is tuple else option.unset
        parser.set_defaults(**{option.name: default})


def add_directory(parser: argparse.ArgumentParser, optional: bool = False) -> None:
    """Declare the folder of runs."""
    help_text = "results folder: --output of ufo evaluate"
    parser.add_argument("directory", metavar="DIR", nargs="?" if optional else None, help=help_text)


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options for printing rows."""
    declare(parser.add_mutually_exclusive_group(), AS_JSON, AS_CSV)
    declare(parser, MOST_ROWS)


def print_json(value: object) -> None:
    """Print a value of rows, lists and scalars as JSON."""
    with text_output(None) as out:
        out.write(as_json(value, indent=2) + "\n")


def print_query(
    results: Results,
    sql: str,
    args: argparse.Namespace,
    title: str = "",
    empty: str = "",
    of: int | None = None,
) -> None:
    """Print the result of a SELECT in the form that the flags ask for, else as a titled table.

    The parameters are those of `print_reader_as`.
    """
    limit = ROWS if args.rows is None else args.rows
    some = limit + 1 if limit and not (args.json or args.csv) else 10_000
    with results.stream(sql, rows=some) as reader:
        print_reader_as(reader, args, title, empty, of)


def print_reader_as(
    reader: pa.RecordBatchReader,
    args: argparse.Namespace,
    title: str = "",
    empty: str = "",
    of: int | None = None,
) -> None:
    """Print rows in the form that --json, --csv and --rows ask for, else as a titled table.

    `empty` is the explanation of a table without rows. Where judgements were unusable, a line below
    the table says how many: the table has no room for their counts.

    `of` is the number of columns that there are, if the table is to show only those that fit; None
    shows all, each row as a list where they do not fit.
    """
    if args.json or args.csv:
        with text_output(None) as out:
            (write_json if args.json else write_csv)(reader, out, args.rows or 0)
        return
    limit = ROWS if args.rows is None else args.rows
    names, rows = reader.schema.names, rows_of(reader)
    shown = list(islice(rows, limit) if limit else rows)
    every = bool(title) and of is None
    kept = [i for i, name in enumerate(names) if every or name not in OF_UNUSABLE]
    with page(sys.stdout) as console:
        if title:
            console.print(title)
        printed = shown
        if title:  # a report; the rows of a SELECT are printed as they are
            printed = [
                tuple(as_shown(dict(zip(names, row, strict=True))).values()) for row in shown
            ]
        cells = [[row[i] for i in kept] for row in printed]
        heads = [names[i] for i in kept]
        if of is None:
            print_rows(heads, cells, console, RIGHT)
        else:
            left_out = print_table(heads, cells, console, RIGHT)
            tell_left_out(console, of - len(kept) + left_out)
        if {"n_unusable", "n_judgements"} <= set(names):
            at, of = names.index("n_unusable"), names.index("n_judgements")
            lost = [row for row in shown if row[at]]
            if lost:
                most = max(lost, key=lambda row: row[at] / (row[of] or 1))
                console.print(
                    f"{len(lost):,} of {quantity(len(shown), 'row')} "
                    f"{'has' if len(lost) == 1 else 'have'} unusable judgements, the worst "
                    f"{most[at]:,} of {most[of] or 0:,}; --json has n_unusable of each"
                )
        if not shown:
            # A path is not broken over lines.
            console.print(f"no rows: {empty}" if empty else "no rows", soft_wrap=True)
        if limit and next(rows, None) is not None:
            console.print(
                f"\nThe first {quantity(limit, 'row')}. All of them: --rows 0, --json or --csv."
            )
