"""`ufo evaluate` whole: what it writes is a function of the input and the options alone."""

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.pipelines.conftest import ok, tables, write_lines
from ufo.schemas.results import open_results
from ufo.schemas.tables import OF_EVALUATE, from_arrow
from ufo.transforms.scores import VoteRules
from ufo.transforms.what_if import recompute

SOURCES = ("reference", "wikipedia")


@pytest.fixture(scope="module")
def evaluated(
    tmp_path_factory: pytest.TempPathFactory, responses: Path, index: Path
) -> Callable[..., Any]:
    """Evaluates with some flags, each combination once; returns the folder and its tables."""

    @cache
    def run(*flags: object) -> tuple[Path, Any]:
        output = tmp_path_factory.mktemp("output")
        words = ("evaluate", "--input", responses, "--output", output, "--index", index)
        ok(*words, "--sources", "reference,wikipedia", *flags)
        return output, tables(output)

    return run


@pytest.mark.slow
def test_every_table_has_its_rows_however_the_work_is_cut(evaluated: Any) -> None:
    _, rows_by_table = evaluated("--workers", 1)
    assert len(rows_by_table["responses"]) == 20
    assert len(rows_by_table["fact_units"]) == len(rows_by_table["verdicts"]) >= 60
    used = [(place, name, "used") for place, name in enumerate(SOURCES, 1)]
    assert [(row[0], row[1], row[3]) for row in rows_by_table["sources"]] == used
    assert sorted(row[1] for row in rows_by_table["failures"]) == ["in.jsonl:22", "in.jsonl:8"]
    assert {row[3] for row in rows_by_table["verdicts"]} == {"reference", "wikipedia", "none"}
    # A later source is asked only what is undecided.
    decided = {row[1] for row in rows_by_table["verdicts"] if row[3] == "reference"}
    units = {row[1] for row in rows_by_table["fact_units"]}
    asked = {
        name: {row[1] for row in rows_by_table["evidence"] if row[2] == name} for name in SOURCES
    }
    assert asked == {"reference": units, "wikipedia": units - decided}
    assert decided
    # Each passage is one row, though chunks found it again.
    output, of_chunks = evaluated("--workers", 2, "--chunk_size", 6)
    assert of_chunks == rows_by_table
    ids = [row[-1] for row in rows_by_table["passages"]]
    assert len(ids) == len(set(ids)) > 5
    assert {row[3] for row in rows_by_table["evidence"] if row[3]} == set(ids)
    for table in OF_EVALUATE:  # plain DuckDB sees what our readers see
        files = f"'{output}/run=*/{table}/*.parquet'"
        counts = duckdb.execute(f"SELECT count(*) FROM {files}").fetchall()
        assert counts == [(len(rows_by_table[table]),)], table


@pytest.mark.parametrize(
    ("mode", "tie"), [("seq", "not_factual"), ("mv", "not_factual"), ("all", "factual")]
)
def test_verdicts_recomputed_from_the_evidence_are_the_verdicts(
    evaluated: Any, mode: str, tie: str
) -> None:
    flags = () if (mode, tie) == ("seq", "not_factual") else ("--mode", mode, "--tie", tie)
    output, rows_by_table = evaluated("--workers", 1, *flags)
    modes = ("seq", "mv", "single") if mode == "all" else (mode,)
    with open_results(output) as results:
        order = results.query("SELECT source FROM sources ORDER BY position")["source"].to_pylist()
        again = [
            verdict
            for each_mode in modes
            for _, scores in recompute(results, VoteRules(order, each_mode, tie))
            for verdict in scores.verdicts
        ]
        own = from_arrow("verdicts", results.query("FROM verdicts"))
    key = attrgetter("response_id", "unit_id", "mode", "source")
    assert sorted(again, key=key) == sorted(own, key=key)
    rows = {"seq": 1, "mv": 1, "all": 4}[mode]
    assert len(rows_by_table["verdicts"]) == rows * len(rows_by_table["fact_units"])


def test_several_files_and_patterns_and_files_of_one_name(tmp_path: Path) -> None:
    places = ["with [brackets]/a-1", "with [brackets]/a-2", "y/a-1"]
    paths = [tmp_path / f"{place}.jsonl" for place in places]
    for path, ids in zip(paths, ("ab", "cd", "e"), strict=True):
        path.parent.mkdir(exist_ok=True)
        write_lines(path, ["nope", *({"id": i, "response": "Hm.", "claims": []} for i in ids)])
    inputs = ("--input", paths[2], "--input", f"{tmp_path}/with*/a-*.jsonl", "--chunk_size", 2)
    ok(
        "evaluate",
        *inputs,
        "--output",
        tmp_path / "o[u]t",
        "--sources",
        "reference",
        "--workers",
        1,
    )
    rows_by_table = tables(tmp_path / "o[u]t")
    assert [row[0] for row in rows_by_table["responses"]] == list("abcde")
    assert [row[1] for row in rows_by_table["failures"]] == [f"{path}:1" for path in paths]
