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

from tests.conftest import blank, rows_of, write_run
from tests.webapp.conftest import opened
from ufo.schemas.label_sheets import keep_label
from ufo.schemas.labels import Label
from ufo.schemas.records import Failure
from ufo.transforms.verifiers.by_name import model_column
from ufo.webapp.browsing import Filters, list_responses, show_response
from ufo.webapp.request_models import LeaveOut
from ufo.webapp.service import Service, Setup


def listed(client: httpx.Client, **params: Any) -> list[str]:
    page = client.get("/runs/older/responses", params=params).json()
    return [row["response_id"] for row in page["rows"]]


def test_runs_are_listed_the_newest_first_with_what_they_can_be_filtered_by(
    client: httpx.Client,
) -> None:
    runs = client.get("/runs").json()
    assert [run["run"] for run in runs] == ["newer", "older"]
    assert runs[1]["counts"] == {"responses": 4, "units": 5, "failures": 0}
    run = client.get("/runs/older").json()
    assert run["headline"] == "2 of 5 claims supported, 2 contradicted, 1 error"
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


def test_failures_are_of_a_response_by_its_id_its_units_or_its_judgements(
    base: Setup, tmp_path: Path
) -> None:
    names = ("by id", "by unit", "by judgement", "whole")
    rows = rows_of({name: {f"u-{name}": {"ref": "s"}} for name in names})
    rows["failures"] = [
        Failure("extract", "by id", "refused", "", None),
        Failure("verify", "u-by unit", "refused", "", None),
        Failure("read", "in.jsonl:3", "BadJson", "", None),
    ]
    rows["evidence"] = [
        replace(row, outcome="error") if row.response_id == "by judgement" else row
        for row in rows["evidence"]
    ]
    write_run(tmp_path, rows)
    asked = Filters.model_validate({"failures": True})
    page = list_responses("r1", asked, Service(replace(base, results=tmp_path)))
    assert [row.response_id for row in page.rows] == ["by id", "by unit", "by judgement"]
    assert [row.n_errors for row in page.rows] == [0, 0, 1]
    assert page.total == 3


@pytest.mark.parametrize(("size", "shown"), [(200, 200), (201, 200)])
def test_a_response_is_listed_with_its_first_characters(
    base: Setup, tmp_path: Path, size: int, shown: int
) -> None:
    rows = rows_of({"r": {"u": {"ref": "sr"}, "v": {"ref": "sr"}, "w": {"ref": "ss"}}})
    rows["responses"] = [replace(row, text="ä" * size) for row in rows["responses"]]
    write_run(tmp_path, rows)
    asked = Filters.model_validate({})
    (row,) = list_responses("r1", asked, Service(replace(base, results=tmp_path))).rows
    assert row.excerpt == "ä" * shown
    assert row.n_disagreements == 2


def test_a_response_is_found_by_its_id(client: httpx.Client) -> None:
    assert listed(client, text="R1") == ["r1"]


def test_a_page_says_how_many_there_are(client: httpx.Client) -> None:
    page = client.get("/runs/older/responses", params={"limit": 1, "offset": 2}).json()
    assert {name: page[name] for name in ("total", "limit", "offset")} == {
        "total": 4,
        "limit": 1,
        "offset": 2,
    }


@pytest.mark.parametrize(
    "params",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"models": ["m1"]}, id="one model"),
        pytest.param({"models": ["m1", "m2", "m1"]}, id="three models"),
        pytest.param({"models": ["m1", "m2"], "baseline": "newer"}, id="models and a run"),
    ],
)
def test_a_comparison_is_with_a_run_or_of_two_models(
    client: httpx.Client, params: dict[str, Any]
) -> None:
    answer = client.get("/runs/older/compare.html", params=params)
    assert answer.status_code == 409
    assert answer.json()["detail"] == (
        "name another run as `baseline`, or two `models` of this one"
    )


def test_all_contradicted_claims_are_listed_in_pages(base: Setup, tmp_path: Path) -> None:
    votes = {f"r{n:02}": {f"u{n}": {"ref": "rr" if n == 3 else "r"}} for n in range(12)}
    votes["r12"] = {"good": {"ref": "s"}, "bad": {"ref": "-", "wiki": "r"}}
    write_run(tmp_path, rows_of(votes, mode="all", models=dict.fromkeys(votes, "m")), mode="all")
    with opened(replace(base, results=tmp_path)) as client:
        listed = "/runs/r1/contradicted"
        first = client.get(listed, params={"limit": 5}).json()
        pages = [client.get(listed, params={"limit": 5, "offset": at}).json() for at in (5, 10, 15)]
        lines = client.get("/runs/r1/contradicted.csv").text.splitlines()
        shown = client.get("/runs/r1/overview.html").text
        for wrong in ({"limit": 0}, {"limit": 201}, {"offset": -1}, {"offset": "x"}):
            assert client.get(listed, params=wrong).status_code == 422
    assert [page["total"] for page in (first, *pages)] == [13] * 4
    rows = [row for page in (first, *pages) for row in page["rows"]]
    assert sorted(row["response_id"] for row in rows) == sorted(votes)
    assert rows[0] == {
        "response_id": "r03",
        "unit_id": "u3",
        "sentence_index": 0,
        "claim": "Claim u3.",
        "question": "What of r03?",
        "model": "m",
        "quote": "what ref says of u3",
        "title": "Page u3",
        "evidence_source": "ref",
    }
    assert rows[-1]["unit_id"] == "bad"
    assert rows[-1]["evidence_source"] == "wiki"
    assert [line.partition(",")[0] for line in lines[1:]] == [row["response_id"] for row in rows]
    assert "Claim u3." not in shown


def test_addresses_in_html_are_quoted(base: Setup, tmp_path: Path) -> None:
    votes = {"c/d ü?": {"u": {"ref": "r"}}, "s": {"v": {"ref": "s"}}}
    models, questions = {"c/d ü?": "a", "s": "b"}, dict.fromkeys(votes, "q")
    write_run(tmp_path, rows_of(votes, models=models, questions=questions), "a b")
    with opened(replace(base, results=tmp_path)) as client:
        overview = client.get("/runs/a b/compare.html", params={"models": ["a", "b"]}).text
        reports = client.get("/runs/a b/reports.html").text
    assert 'href="#/runs/a%20b/responses/c%2Fd%20%C3%BC%3F"' in overview
    assert "/reports/scores?run=a%20b&amp;format=csv" in reports


def test_rows_of_a_response_are_in_the_order_of_the_text_and_the_sources(
    base: Setup, tmp_path: Path
) -> None:
    units = {name: {"ref": "ss", "wiki": "s"} for name in ("z", "y", "x")}
    rows = rows_of({"a": units, "b": {"z": {"ref": "r", "wiki": "r"}}}, mode="all")
    first, *others = rows["fact_units"]
    rows["fact_units"] = [replace(first, sentence_index=None), *others]
    rows["failures"] = [Failure("verify", key, "t", key, None) for key in ("a", "y", "b", "other")]
    for name in ("sentences", "evidence"):
        rows[name].reverse()
    write_run(tmp_path, rows, mode="all")
    for sheet, unit in (("page", "x"), ("other", "y")):
        label = {"run": "r1", "response_id": "a", "unit_id": unit, "label": 1}
        keep_label(tmp_path, blank(Label, **label, annotator=sheet, sheet=sheet))
    response = show_response(
        "r1", "a", LeaveOut.model_validate({}), Service(replace(base, results=tmp_path))
    )
    assert [row.sentence_index for row in response.sentences] == [0, 1, 2]
    assert [row.unit_id for row in response.fact_units] == ["y", "x", "z"]
    order = [(row.source, row.unit_id, row.rank) for row in response.evidence]
    assert order == [
        *(("ref", unit, rank) for unit in "xyz" for rank in (0, 1)),
        *(("wiki", unit, 0) for unit in "xyz"),
    ]
    assert len(response.passages) == 9
    assert sorted(row.key for row in response.failures) == ["a", "y"]
    assert [row.unit_id for row in response.labels] == ["x"]
    assert response.sources == ["ref", "wiki"]
    assert response.mode == "all"


def test_a_response_whole(client: httpx.Client) -> None:
    response = client.get(f"/runs/older/responses/{quote('a/b ü?', safe='')}").json()
    assert response["response"]["response_id"] == "a/b ü?"
    assert len(response["evidence"]) == len(response["passages"]) == 3
    first = client.get("/runs/older/responses/r1").json()
    assert [unit["unit_id"] for unit in first["fact_units"]] == ["u1", "u2"]
    rows = client.get("/runs/older/responses").json()["rows"]
    (row,) = (row for row in rows if row["response_id"] == "r1")
    assert first["scores"]["passage"]["credibility"] == row["credibility"]
    names = ("unit_id", "mode", "source", "label")
    verdicts_shown, follows = (
        {tuple(v[name] for name in names) for v in verdicts}
        for verdicts in (first["verdicts"], first["scores"]["verdicts"])
    )
    assert verdicts_shown == follows
    assert first["scores"]["headline"] == "1 of 2 claims supported, 1 contradicted"


def test_a_run_is_shown_and_compared_as_html(client: httpx.Client) -> None:
    shown = client.get("/runs/older/overview.html")
    assert shown.headers["content-type"] == "text/html; charset=utf-8"
    assert "2 of 5 claims supported" in shown.text
    models = client.get("/runs/older/compare.html", params={"models": ["m1", "m2"]}).text
    assert "m2 scores" in models
    runs = client.get("/runs/older/compare.html", params={"baseline": "newer"})
    assert runs.status_code == 422
    assert "share no question" in runs.json()["detail"]
    assert client.get("/runs/older/compare.html").json()["status"] == 409


def test_the_files_of_a_run_are_in_an_archive(client: httpx.Client) -> None:
    archive = zipfile.ZipFile(io.BytesIO(client.get("/runs/older/parquet").content))
    assert "run=older/manifest.json" in archive.namelist()
    table = pq.read_table(io.BytesIO(archive.read("run=older/responses/part-00000.parquet")))
    assert table.num_rows == 4


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/page/nothing.js",
        "/upload/0123456789abcdef",
        "/runs/nothing",
        "/runs/nothing/responses",
        "/runs/nothing/parquet",
        "/runs/older/responses/nothing",
        "/reports/nothing",
        "/reports/scores?run=nothing",
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


@pytest.mark.parametrize(
    ("votes", "kind", "other"),
    [
        pytest.param({"ref": "-", "wiki": "s"}, "an encyclopaedia", "web pages", id="the second"),
        pytest.param({"ref": "s", "wiki": "-"}, "web pages", "an encyclopaedia", id="the first"),
    ],
)
def test_how_far_to_trust_a_response_is_said_of_the_sources_that_were_judged(
    tmp_path: Path, base: Setup, votes: dict[str, str], kind: str, other: str
) -> None:
    rows = rows_of({"r": {"u": votes}})
    of_web, of_wiki = rows["sources"]
    rows["sources"] = [replace(of_web, type="web"), replace(of_wiki, type="wikipedia")]
    model = model_column("overlap")
    rows["evidence"] = [
        replace(row, model=model if row.passage_id else None) for row in rows["evidence"]
    ]
    write_run(tmp_path, rows)
    with opened(replace(base, results=tmp_path)) as client:
        basis = client.get("/runs/r1/responses/r").json()["basis"]
    assert f"with {kind}" in basis["judged_by"]
    assert f"With {kind}" in basis["trust"]
    assert other not in basis["judged_by"] + basis["trust"]
