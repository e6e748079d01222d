"""`ufo evaluate` whole: what it writes is a function of the input and the options alone."""

import json
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.pipelines.conftest import ok, tables, ufo, write_lines
from ufo.schemas.results import open_results
from ufo.schemas.tables import OF_EVALUATE, from_arrow
from ufo.transforms.scores import VoteRules
from ufo.transforms.what_if import recomputed

SOURCES = ("reference", "wikipedia")


@pytest.fixture(scope="module")
def evaluated(
    tmp_path_factory: pytest.TempPathFactory, responses: Path, index: Path
) -> Callable[..., Any]:
    """Evaluates with some flags, each combination once; returns the folder and its tables."""
    known: dict[tuple[object, ...], tuple[Path, Any]] = {}

    def run(*flags: object) -> tuple[Path, Any]:
        if flags not in known:
            output = tmp_path_factory.mktemp("output")
            ok(
                *("evaluate", "--input", responses, "--output", output, "--index", index),
                *("--sources", "reference,wikipedia", *flags),
            )
            known[flags] = output, tables(output)
        return known[flags]

    return run


def test_every_table_has_its_rows_however_the_work_is_cut(evaluated: Any) -> None:
    _, found = evaluated("--workers", 1)
    assert len(found["responses"]) == 20
    assert len(found["fact_units"]) == len(found["verdicts"]) >= 60
    assert [(row[0], row[1], row[3]) for row in found["sources"]] == [
        (1, "reference", "used"),
        (2, "wikipedia", "used"),
    ]
    assert sorted(row[1] for row in found["failures"]) == ["in.jsonl:22", "in.jsonl:8"]
    assert {row[3] for row in found["verdicts"]} == {"reference", "wikipedia", "none"}
    # A later source is asked only what is undecided.
    decided = {row[1] for row in found["verdicts"] if row[3] == "reference"}
    units = {row[1] for row in found["fact_units"]}
    asked = {name: {row[1] for row in found["evidence"] if row[2] == name} for name in SOURCES}
    assert asked == {"reference": units, "wikipedia": units - decided}
    assert decided
    # Each passage is one row, though chunks found it again.
    output, of_chunks = evaluated("--workers", 2, "--chunk_size", 6)
    assert of_chunks == found
    ids = [row[-1] for row in found["passages"]]
    assert len(ids) == len(set(ids)) > 5
    assert {row[3] for row in found["evidence"] if row[3]} == set(ids)
    for table in OF_EVALUATE:  # plain DuckDB sees what our readers see
        count = duckdb.execute(
            f"SELECT count(*) FROM '{output}/run=*/{table}/*.parquet'"
        ).fetchone()
        assert count == (len(found[table]),), table


@pytest.mark.parametrize(
    ("mode", "tie"),
    [("seq", "not_factual"), ("mv", "not_factual"), ("all", "factual")],
)
def test_verdicts_recomputed_from_the_evidence_are_the_verdicts(
    evaluated: Any, mode: str, tie: str
) -> None:
    flags = () if (mode, tie) == ("seq", "not_factual") else ("--mode", mode, "--tie", tie)
    output, found = evaluated("--workers", 1, *flags)
    modes = ("seq", "mv", "single") if mode == "all" else (mode,)
    with open_results(output) as results:
        order = results.query("SELECT source FROM sources ORDER BY position")["source"].to_pylist()
        again = [
            verdict
            for one in modes
            for _, scores in recomputed(results, VoteRules(order, one, tie))
            for verdict in scores.verdicts
        ]
        own = from_arrow("verdicts", results.query("FROM verdicts"))
    key = attrgetter("response_id", "unit_id", "mode", "source")
    assert sorted(again, key=key) == sorted(own, key=key)
    rows = {"seq": 1, "mv": 1, "all": 4}[mode]
    assert len(found["verdicts"]) == rows * len(found["fact_units"])


def test_single_asks_one_source_and_all_holds_what_each_mode_gives(
    evaluated: Any, responses: Path, index: Path, tmp_path: Path
) -> None:
    alone = ("--sources", "wikipedia", "--index", index, "--mode", "single", "--workers", 1)
    ok("evaluate", "--input", responses, "--output", tmp_path, *alone)
    with open_results(tmp_path) as results:
        columns = results.query("SELECT * EXCLUDE (run) FROM verdicts LIMIT 0").column_names
    at = {name: place for place, name in enumerate(columns)}
    everything = evaluated("--workers", 1, "--mode", "all")[1]["verdicts"]
    for mode, expected in (
        ("single", tables(tmp_path)["verdicts"]),
        ("mv", evaluated("--workers", 1, "--mode", "mv", "--tie", "not_factual")[1]["verdicts"]),
        ("seq", evaluated("--workers", 1)[1]["verdicts"]),
    ):
        sources = {row[at["source"]] for row in expected} if mode == "single" else None
        rows = [
            row
            for row in everything
            if row[at["mode"]] == mode and (sources is None or row[at["source"]] in sources)
        ]
        assert rows == expected


def test_nothing_is_left_but_what_the_manifest_lists(evaluated: Any) -> None:
    output, found = evaluated("--workers", 2, "--chunk_size", 6)
    (folder,) = output.iterdir()
    manifest = json.loads((folder / "manifest.json").read_text())
    listed = {name for entry in manifest["tables"].values() for name in entry["files"]}
    present = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert present == listed | {"manifest.json"}
    assert not list(folder.glob(".attempt-*"))
    assert all(entry["rows"] == len(found[name]) for name, entry in manifest["tables"].items())
    assert manifest["counts"] == {
        "responses": 20,
        "units": len(found["fact_units"]),
        "failures": 2,
    }
    counters = manifest["counters"]  # of both worker processes
    assert counters["read"] == {"lines": 22, "records": 20, "failures": 2}
    assert counters["extract"]["units"] == len(found["fact_units"])
    asked = sum(counters[f"source:{name}"]["evidence"] for name in ("reference", "wikipedia"))
    assert asked == len(found["evidence"])
    assert manifest["fingerprint"]["chunk_size"] == 6
    assert manifest["schema_version"] == 1


def test_several_files_and_patterns_and_files_of_one_name(tmp_path: Path) -> None:
    (tmp_path / "with [brackets]").mkdir()
    (tmp_path / "y").mkdir()
    for name, ids in (("with [brackets]/a-1", "ab"), ("with [brackets]/a-2", "cd"), ("y/a-1", "e")):
        lines = [{"id": i, "response": "Hm.", "claims": []} for i in ids]
        write_lines(tmp_path / f"{name}.jsonl", ["nope", *lines])
    ok(
        *(
            "evaluate",
            "--input",
            tmp_path / "y/a-1.jsonl",
            "--input",
            f"{tmp_path}/with*/a-*.jsonl",
        ),
        *("--output", tmp_path / "o[u]t", "--sources", "reference", "--workers", 1),
        *("--chunk_size", 2),
    )
    found = tables(tmp_path / "o[u]t")
    assert [row[0] for row in found["responses"]] == list("abcde")
    places = ["with [brackets]/a-1", "with [brackets]/a-2", "y/a-1"]
    assert [row[1] for row in found["failures"]] == [f"{tmp_path}/{p}.jsonl:1" for p in places]


def test_the_summary_on_stdout_and_progress_on_stderr(responses: Path, tmp_path: Path) -> None:
    flags = ("--input", responses, "--output", tmp_path, "--sources", "reference", "--run", "one")
    done = ufo("evaluate", *flags, "--json")
    assert done.code == 0
    assert done.json.keys() >= {"run", "responses", "units", "failures", "factuality_score"}
    assert (done.json["run"], done.json["below"]) == ("one", False)
    assert done.json["path"] == f"{tmp_path}/run=one"
    assert 0 < done.json["factuality_score"] < 1
    assert "Judging offline" in done.err
    assert "responses" in done.err
    score = done.json["factuality_score"]
    plain = ufo("evaluate", *flags, "--if_finished", "skip", "--fail_under", score / 2)
    assert plain.code == 0
    assert f"factuality score {score:.3f}" in plain.out
    assert "left as it is" in plain.err
    below = ufo("evaluate", *flags, "--if_finished", "skip", "--fail_under", (score + 1) / 2)
    assert below.code == 3
    assert "--fail_under" in below.err
