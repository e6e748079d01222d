"""Results of checks that the service keeps: read, labelled, forgotten; what is left out."""

import json
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.webapp.browser.patient_service import NOT_JUDGED, NOT_READ, patient
from tests.webapp.conftest import events, opened, read_events
from ufo.pipelines.cli import main
from ufo.webapp.service import Setup

ASKED = {
    "text": "Oslo is the capital of Norway. Oslo was founded in 1600.",
    "references": ["Oslo was founded in 1049."],
    "sources": ["reference", "wikipedia"],
    "mode": "mv",
}


@pytest.fixture
def service(base: Setup, tmp_path: Path) -> Iterator[httpx.Client]:
    with opened(replace(base, results=tmp_path)) as client:
        yield client


def check(service: httpx.Client, **changes: Any) -> str:
    """Check a text, and return the name of its result."""
    done = events(service.post("/check", json=ASKED | changes))[-1]
    assert done.name == "done"
    assert done.data["not_kept"] is None
    return str(done.data["id"])


def test_a_result_is_kept_with_what_was_asked(service: httpx.Client) -> None:
    stream = events(service.post("/check", json=ASKED))
    by_name = {event.name: event.data for event in stream}
    kept = service.get(f"/results/{by_name['started']['id']}").json()
    assert kept["status"] == "done"
    assert kept["request"] == ASKED
    assert kept["scores"] == by_name["scores"]
    assert kept["basis"] == by_name["done"]["basis"]
    assert kept["layout"] == by_name["extracted"]["layout"]
    evidence = [row for event in stream for row in event.data.get("evidence", [])]
    assert sorted(map(str, kept["evidence"])) == sorted(map(str, evidence))
    assert kept["labels"] == []
    assert kept["left_out"] == {"without_passages": [], "without_categories": [], "words": ""}


def test_the_json_is_that_of_the_shell_and_of_a_run(
    base: Setup, service: httpx.Client, client: httpx.Client, capsys: pytest.CaptureFixture[str]
) -> None:
    """The service adds how the result is kept, and nothing has another name or form."""
    kept = service.get(f"/results/{check(service)}").json()
    words = ["--judge=offline", f"--index={base.index}", "--mode=mv", "--json"]
    words += ["--sources=reference,wikipedia", "--references", *ASKED["references"]]
    assert main(["check", str(ASKED["text"]), *words]) == 0
    shell = json.loads(capsys.readouterr().out)
    own = {"id", "kept_at", "status", "seconds", "problem", "request"}
    assert kept.keys() - shell.keys() == own
    assert {name: kept[name] for name in shell} == shell
    of_run = client.get("/runs/older/responses/r1").json()
    assert of_run.keys() == shell.keys()


def test_what_is_left_out_changes_scores_and_is_said(service: httpx.Client) -> None:
    name = check(service)
    whole = service.get(f"/results/{name}").json()
    assert whole["headline"] == "1 of 2 claims supported, 1 contradicted"
    (refuted,) = (
        row for row in whole["evidence"] if row["source"] == "reference" and row["label"] == 0
    )
    without = {"without": refuted["passage_id"], "without_category": "wiki"}
    result = service.get(f"/results/{name}", params=without).json()
    assert result["evidence"] == whole["evidence"]
    assert whole["score"] == 0.5
    assert result["score"] == 0.0
    assert result["score_in_words"].startswith("no score")
    assert result["verdicts"] == result["scores"]["verdicts"]
    assert result["left_out"]["without_passages"] == [refuted["passage_id"]]
    words = result["left_out"]["words"]
    assert words.startswith("The reader left out ")
    assert "1 passage" in words
    assert "category 'wiki'" in words
    report = service.get(f"/results/{name}/report.html", params=without)
    assert report.headers["content-disposition"] == 'attachment; filename="checked.html"'
    assert "The reader left out " in report.text
    assert "The reader left out " not in service.get(f"/results/{name}/report.html").text


def test_the_report_of_a_response_of_a_run_leaves_out_the_same(client: httpx.Client) -> None:
    whole = client.get("/runs/older/responses/r1").json()
    passage = next(row["passage_id"] for row in whole["evidence"] if row["passage_id"])
    result = client.get("/runs/older/responses/r1", params={"without": passage}).json()
    report = client.get(
        "/runs/older/response.html", params={"response": "r1", "without": passage}
    ).text
    assert result["left_out"]["words"].split(" (")[0] in report
    assert result["headline"] in report


def test_a_large_text_has_a_report(service: httpx.Client) -> None:
    """Its rows are larger than the body of a request may be."""
    text = " ".join(f"Oslo was founded in {1000 + n} by {'x' * 900}." for n in range(100))
    name = check(service, text=text)
    assert service.get(f"/results/{name}/report.html").status_code == 200


def test_a_label_is_saved_and_removed(service: httpx.Client) -> None:
    name = check(service)
    kept = service.get(f"/results/{name}").json()
    of = {
        "response_id": kept["response"]["response_id"],
        "unit_id": kept["fact_units"][0]["unit_id"],
    }
    labels = service.post(f"/results/{name}/labels", json={**of, "label": 1, "note": "seen"}).json()
    assert [(row["unit_id"], row["label"], row["note"]) for row in labels] == [
        (of["unit_id"], 1, "seen")
    ]
    assert service.get(f"/results/{name}").json()["labels"] == labels
    assert service.post(f"/results/{name}/labels", json={**of, "label": None}).json() == []
    assert service.get(f"/results/{name}").json() == kept
    other = {**of, "unit_id": "other"}
    assert service.post(f"/results/{name}/labels", json={**other, "label": 1}).status_code == 404


def test_a_forgotten_result_is_gone_with_its_text_and_comes_back(service: httpx.Client) -> None:
    draft = {"text": ASKED["text"], "question": "", "references": ASKED["references"]}
    of_text = service.post("/drafts", json=draft).json()["id"]
    name = check(service)
    assert service.delete(f"/results/{name}").status_code == 204
    for path in (f"/results/{name}", f"/drafts/{of_text}", f"/results/{name}/report.html"):
        answer = service.get(path)
        assert answer.status_code == 404, path
    assert service.delete(f"/results/{name}").status_code == 404
    assert service.post(f"/results/{name}/restore").status_code == 204
    assert service.get(f"/results/{name}").json()["text"] == ASKED["text"]
    assert service.get(f"/drafts/{of_text}").json() == draft


@pytest.mark.parametrize("name", ["0" * 32, "..%2Fx", "A" * 32, "", "x"])
def test_an_unknown_name_is_no_result(service: httpx.Client, name: str) -> None:
    assert service.get(f"/results/{name}").status_code in (404, 422)


def test_results_are_for_their_owner_only_and_not_for_ever(
    service: httpx.Client, tmp_path: Path
) -> None:
    name = check(service)
    folder = tmp_path / ".results"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    long_ago = time.time() - 91 * 86_400
    os.utime(folder / f"{name}.json", (long_ago, long_ago))
    other = check(service)
    assert [path.stem for path in folder.iterdir()] == [other]
    answer = service.get(f"/results/{name}").json()
    assert "newest 1,000 of the last 90 days" in answer["detail"]


def test_a_result_that_cannot_be_written_is_said(service: httpx.Client, tmp_path: Path) -> None:
    (tmp_path / ".results").write_text("in the way")
    done = events(service.post("/check", json=ASKED))[-1]
    assert done.name == "done"
    assert done.data["id"] is None
    assert "not kept" in done.data["not_kept"]


def test_a_damaged_result_is_said_and_can_be_deleted(service: httpx.Client, tmp_path: Path) -> None:
    name = check(service)
    path = tmp_path / ".results" / f"{name}.json"
    path.write_bytes(path.read_bytes().replace(b'"headline"', b'"hfadline"'))
    for address in (f"/results/{name}", f"/results/{name}/report.html"):
        answer = service.get(address)
        assert answer.status_code == 500
        assert "is damaged; delete it" in answer.json()["detail"]
    assert service.delete(f"/results/{name}").status_code == 204
    assert service.get(f"/results/{name}").status_code == 404


def test_a_cancelled_check_keeps_what_it_found(base: Setup, tmp_path: Path) -> None:
    text = f"Oslo is the capital of {NOT_JUDGED}. Lima is the capital of Peru."
    service_setup = replace(patient(str(tmp_path)), limits=base.limits)
    asked = {
        "text": text,
        "references": ["Oslo is the capital of Norway."],
        "sources": ["reference"],
    }
    with opened(service_setup) as client:
        with client.stream("POST", "/check", json=asked) as answer:
            stream = read_events(answer.iter_lines())
            name = next(stream).data["id"]
            next(event for event in stream if event.name == "asking")
        kept = client.get(f"/results/{name}").json()
    assert kept["status"] == "cancelled"
    assert kept["text"] == text
    assert len(kept["fact_units"]) == 2
    assert kept["verdicts"] == kept["scores"]["verdicts"] == []


def test_a_check_under_way_is_not_a_result_yet(base: Setup, tmp_path: Path) -> None:
    service_setup = replace(patient(str(tmp_path)), limits=base.limits)
    asked = {"text": f"Lima is the capital of {NOT_READ}."}
    with opened(service_setup) as client, client.stream("POST", "/check", json=asked) as answer:
        stream = read_events(answer.iter_lines())
        name = next(stream).data["id"]
        refusal = client.get(f"/results/{name}")
    assert refusal.status_code == 409
    assert "still under way" in refusal.json()["detail"]
