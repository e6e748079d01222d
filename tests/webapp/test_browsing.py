"""Runs and their responses and downloads over HTTP; what is not there or damaged."""

import io
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pyarrow.parquet as pq
import pytest

from tests.conftest import rows_of, write_run
from tests.webapp.conftest import opened
from ufo.webapp.desk import Setup


def listed(client: httpx.Client, **params: Any) -> list[str]:
    found = client.get("/runs/older/responses", params=params).json()
    return [row["response_id"] for row in found["rows"]]


def test_runs_are_listed_the_newest_first_with_what_they_can_be_filtered_by(
    client: httpx.Client,
) -> None:
    runs = client.get("/runs").json()
    assert [run["run"] for run in runs] == ["newer", "older"]
    assert runs[1]["counts"] == {"responses": 4, "units": 5, "failures": 0}
    run = client.get("/runs/older").json()
    assert run["headline"] == "2 of 5 claims supported, 2 contradicted, 1 not judged"
    assert run["models"] == ["m1", "m2"]
    assert run["datasets"] == ["d1"]


# The order of the responses by each word; what is equal is in the order of the names.
SORTS = {
    "score": "r2 r1 a empty",
    "-score": "a r1 r2 empty",
    "credibility": "r2 r1 a empty",
    "-credibility": "a r1 r2 empty",
    "coverage": "r2 a r1 empty",
    "-coverage": "a r1 r2 empty",
    "id": "a empty r1 r2",
    "-id": "r2 r1 empty a",
    "model": "a r1 r2 empty",
    "-model": "r2 a r1 empty",
    "dataset": "r1 a empty r2",
    "-dataset": "r1 a empty r2",
    "units": "empty a r1 r2",
    "-units": "r1 r2 a empty",
    "disagreements": "r1 a empty r2",
    "errors": "r2 a empty r1",
    "contradicted": "r1 r2 a empty",
}


@pytest.mark.parametrize("word", SORTS)
def test_responses_are_sorted(client: httpx.Client, word: str) -> None:
    assert " ".join(listed(client, sort=word)).replace("a/b ü?", "a") == SORTS[word]


def test_responses_are_paged(client: httpx.Client) -> None:
    pages = [listed(client, sort="dataset", limit=2, offset=at) for at in range(5)]
    assert pages == [["r1", "a/b ü?"], ["a/b ü?", "empty"], ["empty", "r2"], ["r2"], []]


# Responses that are not asked for otherwise are sorted by score, the lowest first, none last.
FILTERS = {
    "all": ({}, ["r2", "r1", "a/b ü?", "empty"]),
    "at most 0.5": ({"max_score": 0.5}, ["r2", "r1"]),
    "below 0.5": ({"max_score": 0.499}, ["r2"]),
    "at least 0.5": ({"min_score": 0.5}, ["r1", "a/b ü?"]),
    "above 0.5": ({"min_score": 0.501}, ["a/b ü?"]),
    "a model": ({"model": "m1"}, ["r1", "a/b ü?"]),
    "a data set": ({"dataset": "d1"}, ["r1"]),
    "disagreement": ({"disagreement": True}, ["r1"]),
    "failures": ({"failures": True}, ["r2"]),
    "undecided units": ({"undecided": True}, ["r2"]),
    "words in capitals": ({"text": "TEXT OF R1"}, ["r1"]),
    "a letter with an accent": ({"text": "Ü?"}, ["a/b ü?"]),
    "words of the question": ({"text": "WHAT OF EMPTY"}, ["empty"]),
    "no wildcard": ({"text": "%"}, []),
    "no SQL in the text": ({"text": "' OR '1'='1"}, []),
    "no SQL in the model": ({"model": "m1' OR 1=1 --"}, []),
    "a question and a model": ({"question": "What of it?", "model": "m2"}, ["r2"]),
}


@pytest.mark.parametrize(("params", "expected"), FILTERS.values(), ids=FILTERS)
def test_responses_are_filtered(
    client: httpx.Client, params: dict[str, object], expected: list[str]
) -> None:
    assert listed(client, **params) == expected


def test_a_response_whole(client: httpx.Client) -> None:
    found = client.get(f"/runs/older/responses/{quote('a/b ü?', safe='')}").json()
    assert found["response"]["response_id"] == "a/b ü?"
    assert len(found["evidence"]) == len(found["passages"]) == 3
    first = client.get("/runs/older/responses/r1").json()
    assert [unit["unit_id"] for unit in first["fact_units"]] == ["u1", "u2"]
    rows = client.get("/runs/older/responses").json()["rows"]
    (row,) = (row for row in rows if row["response_id"] == "r1")
    assert first["scores"]["passage"]["credibility"] == row["credibility"]
    names = ("unit_id", "mode", "source", "label")
    told, follows = (
        {tuple(v[name] for name in names) for v in verdicts}
        for verdicts in (first["verdicts"], first["scores"]["verdicts"])
    )
    assert told == follows
    assert first["scores"]["headline"] == "1 of 2 claims supported, 1 contradicted"


def test_a_run_is_shown_and_compared_as_html(client: httpx.Client) -> None:
    shown = client.get("/runs/older/overview.html")
    assert shown.headers["content-type"] == "text/html; charset=utf-8"
    assert 'href="#/runs/older/responses/' in shown.text
    models = client.get("/runs/older/compare.html", params={"models": ["m1", "m2"]}).text
    assert "m2 scores" in models
    runs = client.get("/runs/older/compare.html", params={"baseline": "newer"})
    assert runs.status_code == 422
    assert "share no question" in runs.json()["detail"]
    assert client.get("/runs/older/compare.html").json()["status"] == 422


def test_the_files_of_a_run_are_in_an_archive(client: httpx.Client) -> None:
    archive = zipfile.ZipFile(io.BytesIO(client.get("/runs/older/parquet").content))
    assert "run=older/manifest.json" in archive.namelist()
    table = pq.read_table(io.BytesIO(archive.read("run=older/responses/part-00000.parquet")))
    assert table.num_rows == 4


@pytest.mark.parametrize(
    "path",
    [
        *("/nothing", "/page/nothing.js", "/upload/0123456789abcdef"),
        *("/runs/nothing", "/runs/nothing/responses", "/runs/nothing/parquet"),
        *("/runs/older/responses/nothing", "/reports/nothing", "/reports/scores?run=nothing"),
    ],
)
def test_what_there_is_not_says_what_there_is(client: httpx.Client, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["remedy"]


def test_a_part_file_that_cannot_be_read_is_named(tmp_path: Path, base: Setup) -> None:
    part = write_run(tmp_path, rows_of({"r": {"u": {"ref": "s"}}})) / "verdicts/part-00000.parquet"
    data = bytearray(part.read_bytes())
    data[4:200] = bytes(byte ^ 0xFF for byte in data[4:200])
    part.write_bytes(data)
    with opened(replace(base, results=tmp_path)) as client:
        for address in ("/runs/r1", "/runs/r1/responses", "/runs/r1/responses/r"):
            answer = client.get(address)
            assert answer.status_code == 500, address
            assert f"{str(part)!r} is damaged: " in answer.json()["detail"]
            assert "evaluate its run again" in answer.json()["detail"]
