"""Folders of runs as tables: which run is opened, what is damaged, what a query may do."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.conftest import rows_of, write_run
from ufo.schemas.errors import RunError, UsageError
from ufo.schemas.labels import Label
from ufo.schemas.results import Results, open_results
from ufo.schemas.run_folders import choose_runs
from ufo.schemas.tables import LABELS, TABLES, arrow_schema, to_arrow, write_part

ONE = {"a": {"u": {"ref": "s"}}}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of the one run in `tmp_path`."""
    return write_run(tmp_path, rows_of(ONE))


def test_newest_run_is_opened_unless_another_is_named(tmp_path: Path) -> None:
    rows = rows_of(ONE)
    write_run(tmp_path, rows, "new", finished_at="2025-06-02T01:00:00+02:00")
    write_run(tmp_path, rows, "old", finished_at="2025-06-01T22:30:00Z")
    write_run(tmp_path, rows, "z", finished_at="2025-06-01T22:30:00")
    with open_results(tmp_path) as results:
        assert results.query("SELECT DISTINCT run FROM evidence").to_pydict() == {"run": ["new"]}
    with open_results(tmp_path, "old") as results:
        assert results.query("SELECT run FROM verdicts").to_pydict() == {"run": ["old"]}
    with open_results(tmp_path, all_runs=True) as results:
        table = results.query("SELECT run, n_units FROM runs ORDER BY finished_at, run")
        assert table.to_pydict() == {"run": ["old", "z", "new"], "n_units": [1, 1, 1]}


def test_a_run_is_a_row_of_the_table_of_runs(tmp_path: Path) -> None:
    counts = {"responses": 3, "units": 5, "failures": 2}
    about = {"judge": "llm", "schema_version": 0, "counts": counts}
    write_run(tmp_path, rows_of(ONE), "r", "mv", "factual", "2025-06-01T12:00:00+02:00", 1, **about)
    with open_results(tmp_path) as results:
        (row,) = results.query("FROM runs").to_pylist()
    assert row == {
        "run": "r",
        "mode": "mv",
        "tie": "factual",
        "judge": "llm",
        "schema_version": 0,
        "finished_at": datetime(2025, 6, 1, 10, tzinfo=UTC),
        "n_responses": 3,
        "n_units": 5,
        "n_failures": 2,
    }


TIMES = """
SELECT
    finished_at::VARCHAR AS text,
    finished_at::DATE::VARCHAR AS day,
    date_trunc('day', finished_at)::VARCHAR AS midnight,
    extract(hour FROM finished_at) AS hour,
    abs(epoch(now()) - epoch(finished_at)) < 600 AS is_new,
    now() - finished_at BETWEEN INTERVAL '-1 minute' AND INTERVAL '10 minutes' AS is_young
FROM runs
ORDER BY finished_at
"""
AWAY = """
import json, sys
from ufo.schemas.results import open_results
with open_results(sys.argv[1], all_runs=True) as results:
    print(json.dumps(results.query(sys.argv[2]).to_pylist()))
"""


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Asia/Kolkata", "UTC"])
def test_times_are_those_of_greenwich_wherever_the_machine_is(tmp_path: Path, zone: str) -> None:
    write_run(tmp_path, rows_of(ONE), "then", finished_at="2025-06-01T23:30:00Z")
    write_run(tmp_path, rows_of(ONE), "now", finished_at=datetime.now(UTC).isoformat())
    done = subprocess.run(
        [sys.executable, "-c", AWAY, str(tmp_path), TIMES],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"TZ": zone},
    )
    then, now = json.loads(done.stdout)
    assert then == {
        "text": "2025-06-01 23:30:00+00",
        "day": "2025-06-01",
        "midnight": "2025-06-01 00:00:00+00",
        "hour": 23,
        "is_new": False,
        "is_young": False,
    }
    assert (now["is_new"], now["is_young"]) == (True, True)


def test_a_run_without_counts_has_none(tmp_path: Path) -> None:
    write_run(tmp_path, rows_of(ONE), counts={})
    with open_results(tmp_path) as results:
        rows = results.query("SELECT n_responses, n_units, n_failures FROM runs").to_pylist()
    assert rows == [{"n_responses": 0, "n_units": 0, "n_failures": 0}]


@pytest.fixture(scope="module")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    """A run with rows for some views, and files for some tables."""
    folder = tmp_path_factory.mktemp("one")
    write_run(folder, rows_of(ONE))
    with open_results(folder) as results:
        yield results


@pytest.mark.parametrize("table", [*TABLES, LABELS])
def test_a_table_has_its_columns_also_without_a_file(small_run: Results, table: str) -> None:
    schema = small_run.query(f"FROM {table} LIMIT 0").schema
    assert {field.name: field.type for field in schema} == {
        "run": pa.string(),
        **{field.name: field.type for field in arrow_schema(table)},
    }


def test_the_names_are_of_views_and_then_of_tables(small_run: Results) -> None:
    views = [view.name for view in small_run.views]
    assert {"scores", "run_modes"} <= set(views)
    assert {"cluster_of", "run_comparison"} & set(views) == set()  # macros
    assert list(small_run.names) == [*views, *TABLES, "labels", "label_populations", "runs"]


def test_the_reports_of_a_run_have_rows_and_are_in_order_of_their_groups(
    small_run: Results,
) -> None:
    names = [view.name for view in small_run.filled_views()]
    assert {"run_modes", "tallies"} & set(names) == set()  # a part of others
    assert names == [
        "passage_credibility",
        "scores_by_dataset",
        "scores_by_model",
        "scores",
        "scores_by_run",
        "sentence_scores",
        "source_contributions",
        "source_contributions_by_model",
        "category_shares",
    ]


@pytest.mark.parametrize(
    ("asked", "most"), [({}, 10_000), ({"rows": 1_000}, 1_000)], ids=["by default", "as asked"]
)
def test_a_stream_has_batches_of_so_many_rows(
    small_run: Results, asked: dict[str, Any], most: int
) -> None:
    with small_run.stream("FROM range(25_000)", **asked) as batches:
        assert next(batches).num_rows == most


def test_a_query_is_stopped_by_another_thread(small_run: Results) -> None:
    small_run.interrupt()  # nothing runs
    slow = "SELECT max(a.range * b.range) FROM range(10_000_000) AS a, range(10_000_000) AS b"
    with ThreadPoolExecutor(1) as pool:
        query = pool.submit(small_run.query, slow)
        while not query.done():
            small_run.interrupt()
    with pytest.raises(RunError, match="INTERRUPT"):
        query.result()


@pytest.mark.parametrize("sql", ["selec 1", "SELECT nope FROM runs", "SELECT nope(1) FROM runs"])
def test_what_is_wrong_in_a_query_is_told_though_a_part_is_damaged(
    tmp_path: Path, run: Path, sql: str
) -> None:
    (run / "evidence" / "part-00000.parquet").write_bytes(b"not parquet")
    with open_results(tmp_path) as results, pytest.raises(UsageError, match=r"selec|nope"):
        results.query(sql)


def test_a_damaged_sheet_says_what_to_do(tmp_path: Path, run: Path) -> None:
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / "a.parquet").write_bytes(b"not parquet")
    with open_results(tmp_path) as results, pytest.raises(RunError, match="import the sheet again"):
        results.query("FROM labels")


def test_a_query_beyond_its_memory_ends_the_run(tmp_path: Path, run: Path) -> None:
    with open_results(tmp_path) as results:
        results.limit_memory("1MB")
        with pytest.raises(RunError, match="Out of Memory"):
            results.query("SELECT list(range) FROM range(10_000_000)")
        with pytest.raises(UsageError, match="must have a number"):
            results.limit_memory("much")


def test_labels_lie_beside_the_runs(tmp_path: Path, run: Path) -> None:
    write_run(tmp_path, rows_of(ONE), "two")
    (tmp_path / "labels").mkdir()
    label = Label("r", "a", "u", 1, None, None, None, "x", "s")
    write_part(LABELS, str(tmp_path / "labels" / "a.parquet"), to_arrow(LABELS, [label]))
    with open_results(tmp_path, all_runs=True) as results:
        assert results.query("SELECT run, label FROM labels").to_pylist() == [
            {"run": "r", "label": 1}
        ]


def test_an_empty_run_has_every_table_and_view_with_the_run_first(tmp_path: Path) -> None:
    write_run(tmp_path, rows_of({}, mode="all"), mode="all")
    with open_results(tmp_path) as results:
        assert {*TABLES, "scores", "source_contributions", "runs"} <= set(results.names)
        listed = results.query("SHOW TABLES").column("name").to_pylist()
        assert set(listed) == set(results.names)
        for name in results.names:
            rows = results.query(f"SELECT * FROM {name.upper()}")
            assert rows.column_names[0] == "run", name
            assert (rows.num_rows == 0) == (name not in ("runs", "run_modes", "sources")), name


@pytest.mark.parametrize("folder", ["it's", 'a "b" c', "ünï 🛸", "a*b?[c]", "run=x", "k=v{1}"])
def test_folder_names_are_only_names(tmp_path: Path, folder: str) -> None:
    write_run(tmp_path / folder, rows_of(ONE), "n'1 [x]")
    # What the fourth name would match as a pattern.
    write_run(tmp_path / "aXbYc", rows_of({"a": {"other": {"ref": "s"}}}), "n'1 x")
    with open_results(tmp_path / folder) as results:
        rows = results.query("SELECT run, unit_id FROM evidence").to_pylist()
    assert rows == [{"run": "n'1 [x]", "unit_id": "u"}]


def test_only_files_of_the_manifest_are_read(tmp_path: Path) -> None:
    folder = write_run(tmp_path, rows_of({"a": {**ONE["a"], "v": {"ref": "r"}}}), parts=2)
    stale = folder / "evidence" / "part-00009.parquet"
    stale.write_bytes((folder / "evidence" / "part-00000.parquet").read_bytes())
    (folder / ".attempt-x").mkdir()
    (tmp_path / "run=unfinished" / ".attempt-y").mkdir(parents=True)
    # Part files of one run may differ in columns.
    part = folder / "fact_units" / "part-00000.parquet"
    pq.write_table(pq.read_table(part, partitioning=None).drop_columns(["query"]), part)
    with open_results(tmp_path, all_runs=True) as results:
        units = results.query("SELECT unit_id FROM evidence ORDER BY unit_id").to_pydict()
        assert units == {"unit_id": ["u", "v"]}
        rows = results.query("SELECT query FROM fact_units ORDER BY unit_id")
        assert rows.to_pydict() == {"query": [None, "Q v?"]}


def test_an_older_run_has_null_where_it_had_no_column_or_table(tmp_path: Path) -> None:
    write_run(tmp_path, rows_of(ONE), "now")
    old = write_run(tmp_path, rows_of(ONE), "old", schema_version=0)
    part = old / "evidence" / "part-00000.parquet"
    data = pq.read_table(part, partitioning=None).drop_columns(["request_id", "probability"])
    pq.write_table(data.append_column("extra", pa.array(["kept"])), part)
    manifest = json.loads((old / "manifest.json").read_text())
    del manifest["tables"]["usage"]
    (old / "manifest.json").write_text(json.dumps(manifest))
    with open_results(tmp_path, all_runs=True) as results:
        rows = results.query("SELECT run, probability, extra FROM evidence ORDER BY run")
        assert rows.to_pylist() == [
            {"run": "now", "probability": None, "extra": None},
            {"run": "old", "probability": None, "extra": "kept"},
        ]
        assert rows.schema.field("probability").type == pa.float64()
    with open_results(tmp_path, "old") as results:
        assert results.query("SELECT * FROM usage").num_rows == 0
        assert results.query("SELECT factuality_score AS s FROM scores").to_pydict() == {"s": [1]}


ANSWER = """
import resource, sys
from ufo.schemas.results import open_results
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
with open_results(sys.argv[1], all_runs=True) as results:
    sql = "SELECT run, factuality_score AS score FROM scores_by_run ORDER BY run"
    for row in results.query(sql).to_pylist():
        print(row["run"], row["score"])
"""


def test_more_runs_than_files_that_may_be_open_are_read(tmp_path: Path) -> None:
    half = write_run(tmp_path, rows_of({"a": {**ONE["a"], "v": {"ref": "r"}}}), "half")
    for n in range(300):
        shutil.copytree(half, tmp_path / f"run=copy-{n:03d}")
    write_run(tmp_path, rows_of(ONE), "whole")
    done = subprocess.run(
        [sys.executable, "-c", ANSWER, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    copies = [f"copy-{n:03d} 0.5" for n in range(300)]
    assert done.stdout.splitlines() == [*copies, "half 0.5", "whole 1.0"]


def test_runs_of_two_folders_have_the_names_that_they_are_given(tmp_path: Path) -> None:
    """As the page names them, one of them by its folder, too."""
    runs = []
    for folder, unit in (("a", "u"), ("b", "v"), ("c", "w")):
        write_run(tmp_path / folder, rows_of({"x": {unit: {"ref": "s"}}}), "r")
        runs += choose_runs(tmp_path / folder)
    renamed = [runs[0], *(replace(run, name=f"{run.folder.parent.name}:r") for run in runs[1:])]
    with Results(renamed) as results:
        rows = results.query("SELECT run, unit_id FROM evidence ORDER BY unit_id").to_pylist()
        score = results.query("SELECT count(*) AS n FROM scores_by_run").to_pylist()
    assert [tuple(row.values()) for row in rows] == [("r", "u"), ("b:r", "v"), ("c:r", "w")]
    assert score == [{"n": 3}]


@pytest.mark.parametrize("copies", [0, 100], ids=["few files", "many files"])
def test_files_of_several_versions_are_read_together(tmp_path: Path, copies: int) -> None:
    now = write_run(tmp_path, rows_of(ONE), "now")
    for n in range(copies):
        shutil.copytree(now, tmp_path / f"run=copy-{n}")
    old = write_run(tmp_path, rows_of({"a": {"w": {"ref": "r"}}}), "old", schema_version=0)
    part = old / "evidence" / "part-00000.parquet"
    data = pq.read_table(part, partitioning=None).drop_columns(["request_id"])
    pq.write_table(data.append_column("extra", pa.array(["kept"])), part)
    with open_results(tmp_path, all_runs=True) as results:
        rows = results.query("FROM evidence ORDER BY run = 'old'").to_pylist()
    assert len(rows) == copies + 2
    assert rows[0] == {**rows[0], "unit_id": "u", "extra": None}
    assert rows[-1] == {**rows[-1], "run": "old", "unit_id": "w", "extra": "kept"}
    assert rows[-1]["request_id"] is None


def test_a_missing_or_broken_part_file_is_named(tmp_path: Path, run: Path) -> None:
    part = run / "evidence" / "part-00000.parquet"
    part.write_bytes(b"not parquet")
    damaged = pytest.raises(RunError, match=r"evidence/part-00000\.parquet' is damaged: ")
    with damaged as raised, open_results(tmp_path) as results:
        results.query("FROM scores")
    assert "UNION ALL" not in str(raised.value)
    assert "evaluate its run again" in str(raised.value)
    part.unlink()
    with open_results(tmp_path) as results:
        # What a query does not name is not read.
        assert [results.query("FROM responses").num_rows for _ in ("once", "again")] == [1, 1]
        with damaged:
            results.query("FROM scores")


def test_what_is_no_select_or_fails_is_a_usage_error(tmp_path: Path, run: Path) -> None:
    path, local_name = tmp_path / "written", 1
    statements = (
        f"COPY (SELECT 1) TO '{path}'",
        f"COPY (PIVOT (SELECT 1 a, 2 b) ON a USING sum(b)) TO '{path}'",
        f"EXPLAIN ANALYZE COPY (SELECT 1) TO '{path}'",
        f"ATTACH '{path}'",
        "CREATE TABLE t AS SELECT 1",
        "INSTALL httpfs",
        "SET threads = 1",
        "DROP VIEW scores",
        "SELECT 1; SELECT 2",
        "",
        "-- nothing",
    )
    messages = dict.fromkeys(statements, "expected one SELECT") | {
        "selec 1": "syntax error",
        "SELECT nope FROM scores": "nope",
        "SELECT CAST('x' AS INT)": "Could not convert",
        "FROM local_name": "local_name",
        "FROM read_parquet('http://127.0.0.1:9/x.parquet')": "Extensions are not loaded, and the n",
    }
    with open_results(tmp_path) as results:
        for sql, message in messages.items():
            with pytest.raises(UsageError, match=message):
                results.query(sql)
            assert results.query("SELECT 1 AS x").to_pydict() == {"x": [1]}
        with pytest.raises(RunError, match="No files found"):
            results.query("FROM read_parquet('/nonexistent/x.parquet')")
        bad = "SELECT CASE WHEN range = 50000 THEN error('late') ELSE 1 END FROM range(60000)"
        with pytest.raises(UsageError, match="late"), results.stream(bad) as reader:
            list(reader)
    assert not path.exists()
    assert local_name == 1


def test_queries_take_parameters_do_not_disturb_each_other_and_are_limited(
    tmp_path: Path, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with open_results("..") as results:
        hostile = "x' OR '1'='1"
        assert results.query("SELECT ? AS v", [hostile]).to_pydict() == {"v": [hostile]}
        assert results.query("SELECT $v AS v", {"v": None}).to_pydict() == {"v": [None]}
        with results.stream("FROM range(50000)", rows=1000) as first:
            assert results.query("SELECT 7 AS i").to_pydict() == {"i": [7]}
            assert sum(batch.num_rows for batch in first) == 50_000
        with ThreadPoolExecutor(8) as pool:
            sums = pool.map(lambda n: results.query(f"SELECT {n} AS n")["n"].to_pylist(), range(8))
            assert list(sums) == [[n] for n in range(8)]
        results.limit_memory("250MiB")
        limits = "current_setting('memory_limit') AS memory, current_setting('threads') AS n"
        assert results.query(f"SELECT {limits}").to_pylist() == [{"memory": "250.0 MiB", "n": 1}]
        results.query("FROM evidence_full")
    # Nothing is left in the current folder.
    assert not list(Path().iterdir())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("autoinstall_known_extensions", False, id="extensions are not installed"),
        pytest.param("autoload_known_extensions", False, id="extensions are not loaded"),
        pytest.param("allow_community_extensions", False, id="nor those of others"),
        pytest.param("python_enable_replacements", False, id="variables are no tables"),
        pytest.param(
            "temp_directory",
            str(Path(tempfile.gettempdir(), f"ufo-duckdb-{os.getpid()}")),
            id="what is large goes to a folder of the process",
        ),
    ],
)
def test_the_database_is_set(tmp_path: Path, run: Path, name: str, value: object) -> None:
    with open_results(tmp_path) as results:
        rows = results.query(f"SELECT current_setting('{name}') AS value").to_pylist()
    assert rows == [{"value": value}]


def test_closing_leaves_a_query_under_way_to_end(tmp_path: Path, run: Path) -> None:
    results = open_results(tmp_path)
    with results.stream("SELECT range AS n FROM range(100_000)") as batches:
        first = next(batches)
        results.close()
        assert first.num_rows + sum(batch.num_rows for batch in batches) == 100_000
    with pytest.raises(RunError, match="closed"):
        results.query("SELECT 1")


@pytest.mark.parametrize(
    ("sql", "params", "message"),
    [
        pytest.param(5, (), "expected the text of a SELECT, found int", id="no text"),
        pytest.param("SELECT '\udcff'", (), "is not Unicode text", id="no UTF-8"),
        pytest.param("SELECT ?", 5, "'int' object is not iterable", id="no list of values"),
        pytest.param("SELECT ?", (), "Values were not provided", id="a value too few"),
        pytest.param("SELECT 1", (1,), "count mismatch", id="a value too many"),
        pytest.param("SELECT $a", [1], "Mixing named and positional", id="no names"),
        pytest.param("SELECT ?", [object()], "Unable to transform", id="no value of SQL"),
        pytest.param("SELECT 1 % 0", (), "Division by zero", id="a division"),
        pytest.param("SELECT source_orders([{'source': 'a'}, {'source': 'b'}, {'source': 'c'}, "
                     "{'source': 'd'}, {'source': 'e'}, {'source': 'f'}, {'source': 'g'}], [], [])",
                     (), "the orders of 7 sources are too many", id="a function of ours"),
    ],
)  # fmt: skip
def test_an_error_of_the_query_is_told_in_the_words_of_the_database(
    small_run: Results, sql: Any, params: Any, message: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        small_run.query(sql, params)


def test_a_mean_has_the_same_digits_each_time(tmp_path: Path) -> None:
    with duckdb.connect() as connection:  # many row groups, which threads would share
        connection.execute(
            f"COPY (SELECT random() AS x FROM range(400000)) TO '{tmp_path}/x.parquet' "
            "(FORMAT parquet, ROW_GROUP_SIZE 5000)"
        )
    write_run(tmp_path, rows_of(ONE))
    sql = f"SELECT avg(x), sum(x), stddev(x) FROM '{tmp_path}/x.parquet'"
    with open_results(tmp_path) as results:
        means = {str(results.query(sql).to_pylist()) for _ in range(5)}
    assert len(means) == 1


def test_what_a_reader_raises_within_a_stream_stays_its_own(small_run: Results) -> None:
    with pytest.raises(ValueError, match="mine"), small_run.stream("SELECT 1"):
        raise ValueError("mine")


class Gone(BrokenPipeError):
    """A reader that has gone, without a number."""


def test_a_reader_that_has_gone_is_no_error_of_the_query(small_run: Results) -> None:
    with pytest.raises(Gone), small_run.stream("SELECT 1"):
        raise Gone


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            "340282366920938463463374607431768211455::UHUGEINT",
            "340282366920938463463374607431768211455",
        ),
        ("'101'::BIT", "101"),
        ("INTERVAL 3 MONTH", "3 months"),
        ("'12:00:00+02'::TIMETZ", "12:00:00+02"),
        ("[1::UHUGEINT]", "[1]"),
        ("TIME_NS '12:00:00.123456789'", "12:00:00.123456789"),
        ("{'a': [INTERVAL 1 DAY]}", "{'a': [1 day]}"),
        ("MAP {'k': INTERVAL 1 DAY}", "{k=1 day}"),
        ("union_value(i := INTERVAL 2 DAY)", "2 days"),
    ],
)
def test_a_value_that_arrow_cannot_hold_is_text(small_run: Results, value: str, text: str) -> None:
    rows = small_run.query(f'SELECT {value} AS "a""b", 2 AS "a""b"')
    assert rows.column(0).to_pylist() == [text]
    assert rows.column(1).to_pylist() == [2]
    assert rows.column_names == ['a"b', 'a"b']
