"""The score of a response is that of the view `scores`, wherever it is shown; and `/score`."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

import ufo
from tests.conftest import rows_of, write_run
from tests.webapp.conftest import opened
from ufo.pipelines.cli import main
from ufo.pipelines.reports.check_settings import CheckSettings
from ufo.pipelines.reports.html_report import render_html
from ufo.schemas.results import open_results
from ufo.transforms.check_text import CheckedText
from ufo.transforms.sources.fact_source import SourceSpec
from ufo.webapp.service import Setup

VOTES = {
    "half": {"u1": {"ref": "s"}, "u2": {"ref": "n"}},
    "nothing-decided": {"u3": {"ref": "n"}, "u4": {"ref": "-"}},
    "nothing-usable": {"u5": {"ref": "e"}},
    "no-claim": {},
}
SCORES = {"half": 0.5, "nothing-decided": 0.0, "nothing-usable": None, "no-claim": None}
# A number is shown only where a source knew something.
WORDS = {
    "half": "factuality score 0.500, coverage 0.500",
    "nothing-decided": "no score: no source knew any of 2 claims",
    "nothing-usable": "no score: no judgement was usable",
    "no-claim": "no score: there is no claim",
}

ROWS = rows_of(VOTES, sources=("ref",), models=dict.fromkeys(VOTES, "m"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of these responses."""
    path = tmp_path_factory.mktemp("one-score")
    write_run(path, ROWS)
    return path


@pytest.fixture(scope="module")
def service(base: Setup, folder: Path) -> Iterator[httpx.Client]:
    """A service over that run."""
    with opened(replace(base, results=folder)) as client:
        yield client


def test_a_score_is_the_same_in_reports(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(folder), "scores", "--json"]) == 0
    by_response = {row["response_id"]: row for row in json.loads(capsys.readouterr().out)}
    assert {name: row["factuality_score"] for name, row in by_response.items()} == SCORES


def test_a_score_is_the_same_on_the_page_of_a_report(folder: Path) -> None:
    with open_results(folder) as results:
        page = render_html(results)
    shown = {
        name: re.findall(r"no score: [^·<]*[^·<\s]|score \d\.\d+", article)
        for article in re.findall(r"<article.*?</article>", page, re.DOTALL)
        for name in re.findall(r"<h3[^>]*>What of (.*?)\?</h3>", article)
    }
    assert shown == {  # a response without a claim is not among the most doubtful
        "half": ["score 0.500"],
        "nothing-decided": ["no score: no source knew any of 2 claims"],
        "nothing-usable": ["no score: no judgement was usable"],
    }


def test_a_score_is_the_same_in_the_list_of_the_service(service: httpx.Client) -> None:
    listed = service.get("/runs/r1/responses").json()["rows"]
    assert {row["response_id"]: row["factuality_score"] for row in listed} == SCORES
    by_response = {row["response_id"]: row["words"].removeprefix("⚠ ") for row in listed}
    assert by_response == WORDS | {"half": "0.500"}


@pytest.mark.parametrize("name", SCORES)
def test_a_score_is_the_same_where_the_service_shows_a_response(
    service: httpx.Client, name: str
) -> None:
    (score,) = service.get(f"/runs/r1/responses/{name}").json()["scores"]["scores"]
    assert score["factuality_score"] == SCORES[name]
    assert score["words"] == WORDS[name]


@pytest.mark.parametrize("name", SCORES)
def test_a_score_is_the_same_in_python(name: str) -> None:
    own = {
        table: [row for row in ROWS[table] if row.response_id == name]
        for table in ("responses", "sentences", "fact_units", "evidence", "verdicts")
    }
    (response,) = own.pop("responses")
    asked = CheckSettings(
        judge="offline",
        sources=[SourceSpec("ref", "reference")],
        mode="seq",
        tie="not_factual",
    )
    check = ufo.Check(CheckedText(response, **own), asked)
    score = SCORES[name]
    assert check.score == score
    assert (check.coverage is None) is (score is None)
    assert WORDS[name] in repr(check)
    assert check.score_in_words == WORDS[name]


# --- `/score` ---

ASKED: dict[str, Any] = {
    "sources": ["ref", "wiki"],
    "n_sentences": 3,  # the last has no claim
    "fact_units": [
        {"unit_id": "a", "sentence_index": 0},
        {"unit_id": "b", "sentence_index": 1},
        {"unit_id": "c"},
    ],
    "passages": [
        {"passage_id": "p1", "hostname": "a.org", "source_category": "news"},
        {"passage_id": "p2", "hostname": "b.org", "source_category": "blog"},
    ],
    "evidence": [
        {"unit_id": "a", "source": "ref", "passage_id": "p1", "outcome": "supported"},
        {"unit_id": "a", "source": "wiki", "passage_id": "p2", "outcome": "refuted"},
        {"unit_id": "b", "source": "ref", "outcome": "noans"},
        {"unit_id": "b", "source": "wiki", "passage_id": "p2", "outcome": "refuted"},
        {"unit_id": "c", "source": "ref", "passage_id": "p1", "outcome": "supported"},
        {"unit_id": "c", "source": "ref", "passage_id": "p2", "outcome": "refuted"},
    ],
}


@pytest.mark.parametrize(
    ("changes", "labels"),
    [
        pytest.param({}, "100", id="as asked: a tie is false"),
        pytest.param({"tie": "factual"}, "101", id="a tie is true"),
        pytest.param({"mode": "mv"}, "000", id="the votes of all"),
        pytest.param({"sources": ["wiki", "ref"]}, "000", id="another order of sources"),
        pytest.param({"sources": ["ref"]}, "1-0", id="one source alone"),
        pytest.param({"without_passages": ["p1"]}, "000", id="without a passage"),
        pytest.param({"without_categories": ["news"]}, "000", id="without a category"),
        pytest.param({"only_categories": ["news"]}, "1-1", id="one category alone"),
        pytest.param({"without_domains": ["b.org"]}, "1-1", id="without a domain"),
        pytest.param({"only_domains": ["b.org"]}, "000", id="one domain alone"),
        pytest.param({"fact_units": ASKED["fact_units"][:1]}, "1", id="one claim alone"),
    ],
)
def test_each_choice_decides(client: httpx.Client, changes: dict[str, Any], labels: str) -> None:
    """The label of each claim is 1, 0, or a dash where it is undecided."""
    answer = client.post("/score", json=ASKED | changes)
    verdicts = [row["label"] for row in answer.json()["verdicts"]]
    assert "".join("-" if label is None else str(label) for label in verdicts) == labels


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        pytest.param({}, "no claim", id="not given"),
        pytest.param({"extraction_failed": False}, "no claim", id="it did not fail"),
        pytest.param({"extraction_failed": True}, "error", id="it failed"),
    ],
)
def test_a_sentence_without_a_claim_may_be_one_that_a_failed_extraction_lost(
    client: httpx.Client, changes: dict[str, Any], state: str
) -> None:
    sentences = client.post("/score", json=ASKED | changes).json()["sentences"]
    assert [one["state"] for one in sentences] == ["supported", "contradicted", state]


def test_a_text_whose_extraction_failed_says_so_where_it_has_no_claim(
    client: httpx.Client,
) -> None:
    nothing = ASKED | {"fact_units": [], "evidence": []}
    by_failure = {
        failed: client.post("/score", json=nothing | {"extraction_failed": failed}).json()
        for failed in (True, False)
    }
    assert by_failure[True]["headline"] == "Not scored: the claims could not be extracted"
    assert by_failure[False]["headline"] == "No claim to check"


def test_each_field_of_a_row_reaches_the_scores(client: httpx.Client) -> None:
    unusable = [{**row, "reason": "unsupported_language"} for row in ASKED["evidence"]]
    scores = client.post("/score", json=ASKED | {"evidence": unusable}).json()
    assert scores["scores"][0]["n_unusable"] == 6
    scores = client.post("/score", json=ASKED).json()
    assert scores["scores"][0]["n_judgements"] == 5
    assert [one["n_refuted"] for one in scores["sentences"]] == [1, 1, 0]
    assert scores["passage"]["n_supported"] == 2
    shares = {row["source_category"]: row["n_evidence"] for row in scores["categories"]}
    assert shares == {"news": 2, "blog": 3}
