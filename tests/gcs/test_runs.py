"""Input, output, index and cache by `gs://` prefixes, with Google's own clients."""

import gzip
import io
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.gcs.conftest import Place, as_lines, records
from tests.llm_server import LlmServer
from ufo.schemas.results import open_results

TABLES = ("responses", "sentences", "fact_units", "evidence", "verdicts", "passages", "failures")
SOURCES = ("--sources", "reference,wikipedia")


def rows(output: Path) -> dict[str, list[Any]]:
    with open_results(output) as results:
        queries = {table: f"SELECT * EXCLUDE (run) FROM {table} ORDER BY ALL" for table in TABLES}
        return {table: results.query(query).to_pylist() for table, query in queries.items()}


def test_everything_by_prefix_is_as_it_is_here(place: Place, index: Path) -> None:
    place.put(index, "index")
    for number in range(2):
        data = as_lines(records()[10 * number :][:10])
        place.bucket[f"in/{number}.jsonl"] = data
        (place.folder / f"{number}.jsonl").write_bytes(data)
    words = (*SOURCES, "--chunk_size", 1, "--workers", 2, "--run", "r")
    there = ("--input", "gs://b/in/*.jsonl", "--output", "gs://b/out", "--index", "gs://b/index")
    done = place.ufo("evaluate", *there, *words, "--json")
    assert done.code == 0, done.err
    assert done.json["responses"] == 20
    assert done.json["coverage"] > 0.5
    here = ("--input", place.folder / "*.jsonl", "--output", place.folder / "out")
    assert place.ufo_here("evaluate", *here, "--index", index, *words).code == 0
    # What it leaves there is a run like any other, wherever it is copied to.
    place.get("out", place.folder / "copied")
    found = rows(place.folder / "copied")
    assert found == rows(place.folder / "out")
    assert all(found[table] for table in TABLES[:-1])
    # Each file of the index came once, for all processes; nothing unfinished is left anywhere.
    read = [path for method, path, _ in place.server.log if method == "GET" and "alt=media" in path]
    for file in ("passages.arrow", "pages.arrow"):
        assert sum(f"index%2F{file}" in path for path in read) == 1
    assert all("manifest.json" in name or "/part-" in name for name in place.bucket.names("out/"))
    assert not list(place.temporary.iterdir())
    assert "finished" in place.ufo("status", "gs://b/out").out
    assert place.ufo("benchmark", "gs://b/out", "--order", "reference").code == 0


def test_a_run_there_is_left_replaced_or_gone_on_from(place: Place) -> None:
    place.bucket["in.jsonl"] = as_lines(records(6))
    words = ("evaluate", "--output", "gs://b/out", "--sources", "reference", "--workers", 1)
    first = (*words, "--input", "gs://b/in.jsonl", "--run", "first")
    assert place.ufo(*first).code == 0
    before = place.bucket.names("out/")
    assert "left as it is" in place.ufo(*first, "--if_finished", "skip").err
    assert place.bucket.names("out/") == before
    assert place.ufo(*first).code == 0
    assert len(place.bucket.names("out/")) == len(before)
    assert not set(place.bucket.names("out/")) & set(before) - {"out/run=first/manifest.json"}
    place.bucket["more.jsonl.gz"] = gzip.compress(as_lines(records(9)))
    since = place.ufo(
        *words, "--input", "gs://b/more.jsonl.gz", "--run", "second", "--since", "first"
    )
    assert since.code == 0, since.err
    assert "6 responses reused from run first" in since.err
    counted = place.ufo("sql", "gs://b/out", "SELECT run, count(*) AS n FROM responses GROUP BY 1")
    assert "first" in counted.out
    assert "second  9" in counted.out


def test_parquet_there_and_an_output_here(place: Place) -> None:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(records(5)), sink)
    place.bucket["in.parquet"] = sink.getvalue()
    output = place.folder / "out"
    words = ("--input", "gs://b/in.parquet", "--sources", "reference", "--workers", 1)
    done = place.ufo("evaluate", *words, "--output", output, "--json")
    assert done.code == 0, done.err
    assert done.json["responses"] == 5


def test_a_run_that_was_killed_there_goes_on(place: Place) -> None:
    place.bucket["in.jsonl"] = as_lines(records(8))
    words = ("--sources", "reference", "--chunk_size", 2, "--workers", 1, "--run", "r")
    command = ("evaluate", "--input", "gs://b/in.jsonl", "--output", "gs://b/out", *words)
    # While the third of four chunks is written; and again while the parts are moved in.
    place.killed("POST", r"chunks%2F00002%2Fverdicts.*rewriteTo", *command)
    (status,) = place.ufo("status", "gs://b/out", "--json").json
    assert (status["chunks"], status["of_chunks"]) == (2, 4)
    assert place.ufo("report", "gs://b/out").code == 2
    place.killed("POST", r"rewriteTo.*run%3Dr%2Fverdicts%2Fpart-\w+-00001", *command)
    assert "out/run=r/manifest.json" not in place.bucket.names()
    done = place.ufo(*command, "--json")
    assert done.code == 0, done.err
    assert done.json["responses"] == 8
    assert all("manifest.json" in name or "/part-" in name for name in place.bucket.names("out/"))
    # A chunk is kept from before: its parts were written once.
    written = [
        path
        for method, path, _ in place.server.log
        if method == "POST"
        and re.search(r"rewriteTo.*chunks%2F00000%2Fverdicts-00000\.parquet$", path)
    ]
    assert len(written) == 1


def test_an_engines_workers_read_and_write_there(place: Place, index: Path) -> None:
    place.put(index, "index")
    # Lines of one file are read where they are; the other is laid down beside the results.
    place.bucket["in/plain.jsonl"] = as_lines(records(6))
    place.bucket["in/packed.jsonl.gz"] = gzip.compress(as_lines(records()[6:10]))
    words = ("evaluate", "--input", "gs://b/in/*", *SOURCES, "--index", "gs://b/index")
    engine = ("--runner=FnApiRunner", "--parallelism=2", "--run", "r")
    done = place.ufo(*words, "--output", "gs://b/out", *engine, "--json")
    assert done.code == 0, done.err
    assert done.json["responses"] == 10
    assert done.json["coverage"] > 0.5
    assert all("manifest.json" in name or "/part-" in name for name in place.bucket.names("out/"))


def test_what_fails_for_a_moment_is_asked_again(place: Place) -> None:
    place.bucket["in.jsonl"] = as_lines(records(4))
    place.server.fail("GET", r"/o/in\.jsonl.*alt=media", 503, 2)
    place.server.fail("PUT", r"upload_id=", 503)
    place.server.fail("POST", "rewriteTo", 429)
    place.server.fail("DELETE", "attempt.json", 503)
    words = ("--input", "gs://b/in.jsonl", "--output", "gs://b/out", "--workers", 1)
    done = place.ufo("evaluate", *words, "--sources", "reference", "--json")
    assert done.code == 0, done.err
    assert done.json["responses"] == 4
    assert not [name for name in place.bucket.names("out/") if ".attempt-" in name]
    assert {503, 429} <= {status for _, _, status in place.server.log}


def test_answers_are_shared_by_a_prefix(place: Place) -> None:
    place.bucket["in.jsonl"] = as_lines(records(4))
    with LlmServer() as models:
        words = (
            *("evaluate", "--input", "gs://b/in.jsonl", "--workers", 1, "--judge", "llm"),
            *("--sources", "reference", "--base_url", models.base_url, "--model", "offline-judge"),
            *("--cache", "gs://b/cache/"),
        )
        key = {"OPENAI_API_KEY": models.key}
        first = place.ufo(*words, "--output", "gs://b/one", "--json", **key)
        assert first.code == 0, first.err
        assert first.json["requests"] > 0
        # Another machine: nothing of it is here.
        again = place.ufo(*words, "--output", place.folder / "two", "--json", **key)
    assert again.code == 0, again.err
    assert again.json["requests"] == 0
    assert again.json["factuality_score"] == first.json["factuality_score"]
    counted = place.ufo_here("cache", "stats", "--cache", "gs://b/cache/", "--json")
    assert json.loads(counted.out)["judgements"] > 0
