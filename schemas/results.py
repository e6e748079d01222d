"""Query finished runs by SQL: the tables and the shipped views, over one run or over all.

Only files in a run's manifest are read, so an unfinished attempt or a stale file is never seen. The
database is in memory, takes only SELECT, and never uses the network.
"""

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Self
from weakref import finalize

import duckdb
import pyarrow as pa

from ufo.schemas.errors import RunError, UfoError, UsageError
from ufo.schemas.reopened import Reopened
from ufo.schemas.run_folders import choose_runs, finished_runs
from ufo.schemas.statistics import add_statistics
from ufo.schemas.tables import (
    BESIDE_RUNS,
    KEYS,
    RUN_PREFIX,
    TABLES,
    Run,
    arrow_schema,
    check_part,
    label_files,
)
from ufo.schemas.text import REPLACEMENT, storable
from ufo.schemas.views import GROUPS, OWN, View, identifier, load_views, tables_of, views_with_needs

__all__ = ["Results", "Run", "finished_runs", "open_results", "texts_of"]

_WORDS = re.compile(r"\w+")
# The macro whose value `threshold` replaces.
_THRESHOLD = "sentence_threshold"
# Arrow has no such type, or takes its bytes for something else; such a column is read as text.
_NOT_IN_ARROW = re.compile(
    r"\b(UHUGEINT|BIT|BIGNUM|INTERVAL|TIME WITH TIME ZONE|TIME_NS|GEOMETRY|VARIANT)\b"
)
# So that a time with a zone is shown in UTC, wherever the machine is.
_IN_UTC = "SET GLOBAL TimeZone = 'UTC'"
_SQL_TYPES = {"string": "VARCHAR", "int64": "BIGINT", "double": "DOUBLE", "bool": "BOOLEAN"}
# Kinds of error that no damaged file causes.
_NOT_OF_FILES = (
    duckdb.ParserException,
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.InterruptException,
    duckdb.ConnectionException,
)
# Errors while rows are streamed come through Arrow, as an OSError without a number, or through
# DuckDB's binding to Python (nanobind), as a RuntimeError.
_OF_STREAM = (duckdb.Error, pa.ArrowException, OSError, RuntimeError, MemoryError)
# While a query begins, the binding refuses arguments, too.
_OF_QUERY = (*_OF_STREAM, TypeError, ValueError)
_FROM_PYTHON = "Python exception occurred while executing the UDF: ValueError: "
# After these words DuckDB advises statements that are refused here.
_OF_EXTENSION = "\n\nPlease try installing and loading"
# DuckDB's messages begin with the kind of error; no SQL causes these kinds.
_NOT_THE_QUERY = ("IO Error", "Out of Memory", "INTERNAL", "FATAL", "INTERRUPT", "Connection")


def open_results(
    directory: str | Path,
    run: str | None = None,
    all_runs: bool = False,
    *,
    reports: str | Path | None = None,
    threshold: float | None = None,
) -> "Results":
    """Return the results of one finished run: the newest, unless `run` names another.

    With `all_runs` the tables hold the rows of every finished run, with its name in column `run`.
    `reports` is a folder of the user's own `.sql` files. `threshold` is the credibility below which
    a sentence counts as not factual where it is compared with people.

    Raises:
        UsageError: the folder does not exist, or has no finished run, or none of that name; or a
            report of the user is not SQL.
        RunError: a run is damaged, or newer than this version can read.
    """
    return Results(choose_runs(directory, run, all_runs), reports, threshold)


class _Database:
    """A DuckDB database, with the statements that it has still to run, in order of need."""

    def __init__(self, unmade: dict[str, Callable[[], str]]) -> None:
        self.connection = _connect()
        self.unmade = unmade
        self.making = Lock()
        self.newest: duckdb.DuckDBPyConnection | None = None


class Results(Reopened):
    """Tables and views of finished runs, each with a first column `run`; close it after use.

    `runs` are the runs in it, oldest first. Safe to query from several threads, and from a forked
    child.
    """

    def __init__(
        self,
        runs: Sequence[Run],
        reports: str | Path | None = None,
        threshold: float | None = None,
    ) -> None:
        self._views = load_views(reports)
        if threshold is not None:
            literal = f"CAST({threshold} AS DOUBLE)"
            self._views = tuple(
                replace(view, sql=literal) if view.name == _THRESHOLD else view
                for view in self._views
            )
        self.runs = tuple(runs)
        self._memory_limit = ""
        self._opened: list[_Database] = []  # at most one
        self._closed = False
        # DuckDB prints warnings of leaks if a database with functions is left open.
        finalize(self, _close, self._opened)
        super().__init__()
        self._database()
        if reports is not None:  # so that an error in a user's report is raised at once
            for view in self._views:
                if view.group == OWN:
                    self._check_own(view)
            self._make(self._database(), self._database().unmade)
            for view in self.views:
                if view.group == OWN:
                    self._check_header(view)

    def _database(self) -> _Database:
        """Return the database, opened anew after a fork."""
        with self.in_use:
            if not self._opened:
                # To create the view of a table reads its files.
                tables = (*TABLES, *BESIDE_RUNS)
                unmade: dict[str, Callable[[], str]] = {
                    **{table: partial(_definition, table, self.runs) for table in tables},
                    **{view.name: partial(getattr, view, "definition") for view in self._views},
                }
                opened = _Database(unmade)
                with self._convert_errors(RunError):
                    about = pa.Table.from_pylist(list(map(_run_row, self.runs)))
                    opened.connection.from_arrow(about).create("runs")
                    if self._memory_limit:
                        opened.connection.execute(self._memory_limit)
                self._opened.append(opened)
            return self._opened[0]

    def before_fork(self) -> None:
        """Close the database, since a forked child lacks its threads and would crash."""
        if not self._closed:
            _close(self._opened)
            self._opened.clear()

    @property
    def names(self) -> tuple[str, ...]:
        """The names to select from: views first, then tables."""
        return (*(view.name for view in self.views), *TABLES, *BESIDE_RUNS, "runs")

    @property
    def views(self) -> tuple[View, ...]:
        """The views, also the user's own, each after the views it needs."""
        return tuple(view for view in self._views if view.parameters is None)

    def report(self, name: str) -> View | None:
        """Return the view of a name, or a view of the table of that name; None without either."""
        if name not in self.names:
            return None
        table = View(name, name, "", "", order=", ".join(map(identifier, KEYS.get(name, ("run",)))))
        return next((view for view in self.views if view.name == name), table)

    def filled_views(self) -> tuple[View, ...]:
        """Return the views with a group and at least one row, by group and title."""
        groups = list(GROUPS)
        views = [view for view in self.views if view.group and self._has_rows(view)]
        return tuple(sorted(views, key=lambda view: (groups.index(view.group), view.title)))

    def has_runs(self, view: View) -> bool:
        """Return whether the view has a column `run`; a user's own may have none."""
        return "run" in self.columns_of(view)

    def columns_of(self, view: View) -> list[str]:
        """Return the names of a view's columns."""
        no_rows = self.query(f"SELECT * FROM {identifier(view.name)} LIMIT 0")  # noqa: S608
        names: list[str] = no_rows.column_names
        return names

    def _has_rows(self, view: View) -> bool:
        named = view.name if view.group == OWN else ""
        with self._convert_errors(UsageError, named, _OF_QUERY):
            row = self._select(f'SELECT 1 FROM "{view.name}" LIMIT 1', ())  # noqa: S608
            return bool(row.to_arrow_table().num_rows)

    def query(self, sql: str, params: Sequence[object] | dict[str, object] = ()) -> pa.Table:
        """Return the rows of a SELECT; `params` fill its `?` (or `$name`) placeholders.

        Raises:
            UsageError: the SQL is wrong, or is not one SELECT.
            RunError: the files cannot be read, or memory is not enough.
        """
        with self._convert_errors(UsageError, of=_OF_QUERY):
            return self._select(sql, params).to_arrow_table()

    @contextmanager
    def stream(
        self, sql: str, params: Sequence[object] | dict[str, object] = (), rows: int = 10_000
    ) -> Iterator[pa.RecordBatchReader]:
        """Return a reader of the rows of a SELECT, for any size: batches of up to `rows` rows."""
        with self._convert_errors(UsageError, of=_OF_QUERY):
            reader = self._select(sql, params).to_arrow_reader(rows)
        with self._convert_errors(UsageError):
            yield reader

    def _check_own(self, view: View) -> None:
        """Raise a UsageError unless a user's report is one SELECT, or a macro one expression."""
        of_macro = view.parameters is not None
        with self._convert_errors(UsageError, view.name):
            sql = view.definition if of_macro else view.sql
            statements = self._database().connection.cursor().extract_statements(sql)
        wanted = duckdb.StatementType.CREATE if of_macro else duckdb.StatementType.SELECT
        if [statement.type for statement in statements] != [wanted]:
            raise UsageError(
                f"report {view.name!r}: expected one SELECT below the header of {view.file!r}, "
                f"found {_statement_kinds(statements)}. {_REFUSED}"
            )

    def _check_header(self, view: View) -> None:
        """Raise a UsageError if `order` or `shows` of a user's report names no column of it."""
        with self._convert_errors(UsageError, view.name):
            self._database().connection.cursor().sql(view.select(view.shows or "*"))

    def _make(self, database: _Database, names: Iterable[str]) -> None:
        """Create the tables and views of these names that do not exist yet."""
        own = {view.name for view in self._views if view.group == OWN}
        with database.making:
            for name in [one for one in database.unmade if one in set(names)]:
                fault = UsageError if name in own else RunError
                with self._convert_errors(fault, name if name in own else ""):
                    database.connection.cursor().execute(database.unmade[name]())
                del database.unmade[name]

    def _make_named(self, database: _Database, sql: str) -> None:
        """Create the tables and views that a query names and their needs; all if it names none."""
        # By its words: DuckDB's own list would follow views to the files that they read.
        named = set(_WORDS.findall(sql.lower())) & {*self.names}
        views = views_with_needs(named)
        needed = {view.name for view in views} | tables_of(views) | named
        self._make(database, needed if named else list(database.unmade))

    def _select(
        self, sql: str, params: Sequence[object] | dict[str, object]
    ) -> duckdb.DuckDBPyRelation:
        if not isinstance(sql, str):
            raise UsageError(f"expected the text of a SELECT, found {type(sql).__name__}")
        if storable(sql).count(REPLACEMENT) > sql.count(REPLACEMENT):
            raise UsageError(
                "the SELECT has a character that is not Unicode text; write it in UTF-8"
            )
        # A result belongs to its cursor: another statement on the same cursor would empty it.
        database = self._database()
        cursor = database.connection.cursor()
        statements = cursor.extract_statements(sql)
        if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
            raise UsageError(
                "expected one SELECT (or FROM, WITH, VALUES, DESCRIBE, SUMMARIZE, SHOW TABLES), "
                f"found {_statement_kinds(statements)}. {_REFUSED}"
            )
        self._make_named(database, sql)
        database.newest = cursor
        return _cast_for_arrow(cursor.sql(sql, params=params or None))

    def interrupt(self) -> None:
        """Stop the newest query, which another thread runs."""
        for database in self._opened:
            if database.newest is not None:
                database.newest.interrupt()

    @contextmanager
    def _convert_errors(
        self, fault: type[UfoError], report: str = "", of: tuple[type[Exception], ...] = _OF_STREAM
    ) -> Iterator[None]:
        """Convert DuckDB's errors to `fault`, unless the files or the machine caused them."""
        try:
            yield
        except of as error:
            message = str(error).strip().rpartition(_FROM_PYTHON)[2]
            if isinstance(error, OSError) and (
                type(error) is not OSError or error.errno is not None
            ):
                raise  # an error of the caller, who reads the rows
            if isinstance(error, RuntimeError) and "interrupt" in message.lower():
                raise  # an interrupt, which the caller handles
            if not isinstance(error, _NOT_OF_FILES):
                self._check_parts()
            if isinstance(error, MemoryError):
                raise RunError(f"Out of Memory Error: {message or 'no memory is left'}") from error
            if message.startswith(_NOT_THE_QUERY):
                # The rest of the message may be our own SQL, which does not help the user.
                raise RunError(message.split("\n\nLINE ")[0]) from error
            if _OF_EXTENSION in message:
                cause, _, _ = message.partition(_OF_EXTENSION)
                message = (
                    f"{cause.rstrip('.')}. Extensions are not loaded, and the network is not used."
                )
            if report:
                message = self._of_report(report, message, error)
            raise fault(message) from error

    def _of_report(self, name: str, message: str, error: Exception) -> str:
        """Return an error's message with the report, its file, and needs its header may lack."""
        view = next(view for view in self._views if view.name == name)
        message = f"report {name!r}: {message}" + (f" (in {view.file!r})" if view.file else "")
        own = {other.name for other in self._views if other.group == OWN} - {name, *view.needs}
        if isinstance(error, duckdb.CatalogException):
            for other in sorted(own & set(_WORDS.findall(view.sql))):
                message += (
                    f"; if it reads the report {other!r}, its header needs: -- needs: {other}"
                )
        return message

    def _check_parts(self) -> None:
        """Raise a RunError if a part file is damaged. Call it after a read has failed."""
        for run in self.runs:
            for path in chain(*run.files.values()):
                check_part(str(path), run.checksums.get(path))
            for table in BESIDE_RUNS:
                for path in label_files(run.folder.parent, table):
                    check_part(str(path), None, "remove it, and import the sheet again")

    def limit_memory(self, size: str) -> None:
        """Limit the memory of queries ("4GB"), beyond which they spill to disk or fail.

        Raises:
            UsageError: the text is not a size.
        """
        limit = f"SET memory_limit = {_quoted(size)}"
        with self._convert_errors(UsageError):
            self._database().connection.execute(limit)
        self._memory_limit = limit

    def close(self) -> None:
        """Close the database; fetched results stay valid.

        If another thread runs a query, the database closes after it.
        """
        self._closed = True
        _close(self._opened)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


_REFUSED = (
    "Results are read only: COPY, CREATE, INSERT, UPDATE, DELETE, MERGE, DROP, ALTER, ATTACH, USE, "
    "INSTALL, LOAD, SET, PRAGMA, CALL, EXPLAIN, PREPARE, EXPORT and several statements are "
    "refused, and so is a PIVOT that does not list its values: ON … IN (…). A SELECT can read "
    "local files: FROM read_csv('FILE'), read_json, read_parquet."
)


def _statement_kinds(statements: Sequence[duckdb.Statement]) -> str:
    """Return the kinds of statements, by the words that they begin with."""
    words = []
    for statement in statements:
        first = _WORDS.match(statement.query.lstrip())
        word = first[0].upper() if first else ""
        words.append(word if word and word != "WITH" else statement.type.name)
    listed = ", ".join(words) or "nothing"
    return listed if len(words) < 2 else f"{len(words)} statements: {listed}"


# --- the database --------------------------------------------------------------------------------


def _close(databases: Iterable[_Database]) -> None:
    for database in databases:
        database.newest = None
        # DuckDB refuses while a cursor is in use, and closes with the last cursor.
        with suppress(duckdb.ResourceInUseException):
            database.connection.close()


def _connect() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            # Otherwise a name in the SQL could mean a Python variable of the caller.
            "python_enable_replacements": "false",
            # With more, sums of floats would differ in their last digits from one time to the next.
            "threads": 1,
            # Otherwise a large sort would spill into the user's working folder.
            "temp_directory": os.path.join(tempfile.gettempdir(), f"ufo-duckdb-{os.getpid()}"),
        },
    )
    connection.execute(_IN_UTC)
    # It is for remote files, and costs time for each of many small local ones.
    connection.execute("SET GLOBAL enable_external_file_cache = false")
    add_statistics(connection)
    return connection


def texts_of(column: pa.Array) -> list[str | None]:
    """Return the values of a column as DuckDB prints them, also those that Python cannot hold."""
    with duckdb.connect(":memory:", config={"python_enable_replacements": "false"}) as connection:
        connection.execute(_IN_UTC)
        rows = connection.from_arrow(pa.table({"value": column}))
        texts = rows.project("CAST(value AS VARCHAR) AS text").to_arrow_table()
    values: list[str | None] = texts.column("text").to_pylist()
    return values


def _cast_for_arrow(rows: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return rows with each column that Arrow cannot hold cast to text."""
    strange = [bool(_NOT_IN_ARROW.search(str(kind))) for kind in rows.types]
    if not any(strange):
        return rows
    columns = [
        f"{f'CAST(c{at} AS VARCHAR)' if as_text else f'c{at}'} AS {identifier(name)}"
        for at, (name, as_text) in enumerate(zip(rows.columns, strange, strict=True))
    ]
    # By place, since two columns may have one name.
    places = ", ".join(f"c{at}" for at in range(len(columns)))
    return rows.query("found", f"SELECT {', '.join(columns)} FROM found AS f({places})")  # noqa: S608


def _run_row(run: Run) -> dict[str, object]:
    return {
        "run": run.name,
        **{name: getattr(run, name) for name in ("mode", "tie", "judge", "schema_version")},
        "finished_at": run.finished_at,
        **{f"n_{name}": run.counts.get(name, 0) for name in ("responses", "units", "failures")},
    }


# More files than this are read into memory if they are small, since every view that is made or read
# opens the files of the views it reads.
_MANY_FILES = 64
_SMALL_BYTES = 64_000_000

# The run of a part file is the name of its folder: DIR/run=NAME/TABLE/FILE. DuckDB computes it once
# for a file, and a query of one run opens the files of that run alone.
_FILE = "file of the row"
_RUN_OF_FILE = f"string_split(\"{_FILE}\", '/')[-3][{len(RUN_PREFIX) + 1}:]"


def _definition(table: str, runs: Sequence[Run]) -> str:
    """Return the statement that creates a table of these runs, with at least this version's
    columns."""
    fields = [field for field in arrow_schema(table) if field.name != "run"]
    columns = ", ".join(
        f'CAST(NULL AS {_SQL_TYPES[str(field.type)]}) AS "{field.name}"' for field in fields
    )
    empty = f"SELECT CAST(NULL AS VARCHAR) AS run, {columns} WHERE false"
    files, parts = [], []
    for paths, columns_of in _read_groups(table, runs):
        if paths:
            files += paths
            parts.append(f"SELECT {columns_of} FROM {_read_call(paths)}")  # noqa: S608
    kind = "TABLE" if _are_many_and_small(files) else "VIEW"
    return f"CREATE {kind} {table} AS {' UNION ALL BY NAME '.join([empty, *parts])}"


def _read_groups(table: str, runs: Sequence[Run]) -> Iterator[tuple[list[Path], str]]:
    """Yield groups of files to read by one call, with the columns to select from them.

    A call for each of 1,500 runs would take ten times as long, and hold each file open.
    """
    if table in BESIDE_RUNS:  # a table of labels has its own column `run`
        folders = sorted({run.folder.parent for run in runs})
        files = [path for folder in folders for path in label_files(folder, table)]
        yield files, f'* EXCLUDE ("{_FILE}")'
        return
    together: list[Path] = []
    for run in runs:
        files = list(run.files.get(table, ()))
        # The page calls a run of an inner folder `folder:run`.
        if len(runs) > 1 and run.folder.name == RUN_PREFIX + run.name:
            together += files
        else:
            yield files, f'{_quoted(run.name)} AS run, * EXCLUDE ("{_FILE}")'
    yield together, f'{_RUN_OF_FILE} AS run, * EXCLUDE ("{_FILE}")'


def _read_call(files: Sequence[Path]) -> str:
    """Return the call that reads Parquet files, with a column for the file of each row."""
    # A view has no parameters; the values inserted here are quoted.
    listed = ", ".join(_quoted(_escape_path(path)) for path in files)
    options = f"union_by_name = true, hive_partitioning = false, filename = '{_FILE}'"
    return f"read_parquet([{listed}], {options})"


# DuckDB takes these characters of a path for patterns, and in brackets for themselves.
_PATTERNS = str.maketrans({char: f"[{char}]" for char in "*?["})


def _escape_path(path: Path) -> str:
    """Return a path with pattern characters in brackets, so that DuckDB reads only this file."""
    return path.absolute().as_posix().translate(_PATTERNS)


def _are_many_and_small(files: Sequence[Path]) -> bool:
    """Return whether there are many files with little content."""
    if len(files) <= _MANY_FILES:
        return False
    with suppress(OSError):  # a file that is gone: DuckDB says so
        return sum(path.stat().st_size for path in files) <= _SMALL_BYTES
    return False


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
