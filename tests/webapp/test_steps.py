"""The steps of a check one by one."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.webapp.conftest import events, opened
from ufo.webapp.limits import ServiceLimits
from ufo.webapp.service import Setup


def test_verify(client: httpx.Client) -> None:
    passages = ["Oslo was founded in 1049.", "Oslo was founded in 1049, by Harald.", "Lima is big."]
    body = {
        "claims": [{"claim": "Oslo was founded in 1049."}, {"claim": "Oslo was founded in 1300."}],
        "passages": [{"text": text, "title": "Oslo"} for text in passages],
    }
    for name in ("overlap", "bundled"):
        reply = client.post("/verify", json=body | {"verifier": name}).json()
        assert [row["label"] for row in reply["verdicts"]] == [1, 0]
        assert len(reply["evidence"]) == 6
        assert {row["citation_found"] for row in reply["evidence"] if row["citation"]} == {True}
        assert all(row["model"].startswith(f"{name}@") for row in reply["evidence"])
    # A source that failed in the step before is an error in this one.
    answer = {"source": "web", "claim": "Oslo is big.", "outcome": "error", "reason": "transport"}
    failed = {"fact_units": [{"claim": "Oslo is big."}], "answers": [answer]}
    (row,) = client.post("/verify", json=failed).json()["evidence"]
    assert row["source"] == "web"
    assert row["outcome"] == "error"
    assert row["reason"] == "transport"


def test_what_a_step_gives_goes_into_the_next_unchanged(client: httpx.Client) -> None:
    text = "🛸 Oslo was founded in 1049. I like it. Lima is the capital of Chile. Oslo is zzz."
    asked = {"text": text, "question": "What is where?"}
    extracted = client.post("/extract", json=asked).json()
    for sentence in extracted["sentences"]:
        assert text[sentence["start"] : sentence["end"]] == sentence["text"]
    whole = client.post("/extract", json=asked | {"units": "sentence"}).json()
    assert [unit["sentence_index"] for unit in whole["fact_units"]] == [0, 2, 3]
    passages = client.post("/passages", json=extracted).json()
    asked_of = [(one["source"], len(one["hits"]) > 0) for one in passages["answers"]]
    assert asked_of[0] == ("reference", False)
    assert ("wikipedia", True) in asked_of
    assert passages["answers"][0]["reason"] == "no_references"
    verified = client.post("/verify", json=passages)
    assert verified.status_code == 200, verified.text
    reply = verified.json()
    assert reply["fact_units"] == passages["fact_units"] == extracted["fact_units"]
    checked = events(client.post("/check", json=asked))[-2].data
    assert reply["verdicts"] == checked["verdicts"]
    assert [row["source"] for row in reply["verdicts"]][:1] == ["wikipedia"]
    # A text without a claim passes through.
    extracted = client.post("/extract", json={"text": "Hello!"}).json()
    passages = client.post("/passages", json=extracted).json()
    assert passages["answers"] == []
    assert client.post("/verify", json=passages).json()["verdicts"] == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        pytest.param("/passages", {}, id="passages of nothing"),
        pytest.param(
            "/passages",
            {"claims": [{"claim": "A."}], "fact_units": [{"claim": "A."}]},
            id="passages of two inputs",
        ),
        pytest.param("/verify", {"claims": [{"claim": "A."}]}, id="verify without passages"),
        pytest.param("/verify", {"passages": [{"text": "A."}]}, id="verify without claims"),
    ],
)
def test_a_step_without_its_input_says_what_it_takes(
    client: httpx.Client, path: str, body: dict[str, object]
) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == 409
    assert "give `" in answer.json()["detail"]


CLAIMS = [{"claim": "Oslo is big."}, {"claim": "Lima is big.", "query": "How big is Lima?"}]
GIVEN = {"text": "Both are big.", "question": "Of what size?", "language": "en"}


@pytest.mark.parametrize(
    ("body", "text", "question", "language"),
    [
        pytest.param({}, "Oslo is big.\nLima is big.", None, None, id="claims alone"),
        pytest.param({"text": "T."}, "T.", None, None, id="with their text"),
        pytest.param({"response": GIVEN}, *GIVEN.values(), id="with their response"),
        pytest.param({"response": GIVEN, "text": "T."}, "T.", "Of what size?", "en",
                     id="a text before that of the response"),
        pytest.param({"response": GIVEN, "question": "Q?"}, "Both are big.", "Q?", "en",
                     id="a question before that of the response"),
        pytest.param({"response": GIVEN, "language": "de"}, "Both are big.", "Of what size?", "de",
                     id="a language before that of the response"),
    ],
)  # fmt: skip
def test_the_response_of_claims(
    client: httpx.Client, body: dict[str, Any], text: str, question: str | None, language: Any
) -> None:
    asked = {"claims": CLAIMS, "sources": ["reference"], **body}
    reply = client.post("/passages", json=asked).json()
    assert reply["response"]["text"] == text
    assert reply["response"]["question"] == question
    assert reply["response"]["language"] == language
    assert [unit["claim"] for unit in reply["fact_units"]] == ["Oslo is big.", "Lima is big."]
    assert reply["fact_units"][1]["query"] == "How big is Lima?"


def test_passages_are_those_of_each_source_for_each_claim_ranked(client: httpx.Client) -> None:
    asked = {"claims": CLAIMS, "references": ["Oslo is big.", "Oslo is old."], "passages": 2}
    reply = client.post("/passages", json=asked | {"sources": ["wikipedia", "reference"]}).json()
    rows = [(row["source"], row["claim"]) for row in reply["answers"]]
    assert rows == [
        *(("wikipedia", claim) for claim in ("Oslo is big.", "Lima is big.")),
        *(("reference", claim) for claim in ("Oslo is big.", "Lima is big.")),
    ]
    first = reply["answers"][2]
    assert [hit["rank"] for hit in first["hits"]] == [1, 2]
    assert first["hits"][0]["passage"]["text"] == "Oslo is big."
    assert first["query"] == reply["fact_units"][0]["query"]
    assert [first[name] for name in ("outcome", "reason", "message")] == [None] * 3


@pytest.mark.parametrize(
    ("answer", "outcome", "reason"),
    [
        pytest.param({}, "noans", "no_passages", id="nothing found"),
        pytest.param({"reason": "no_references"}, "noans", "no_references", id="a reason"),
        pytest.param({"outcome": "error", "reason": "transport"}, "error", "transport", id="error"),
        pytest.param({"claim": "Another."}, "noans", "no_passages", id="of another claim"),
        pytest.param({"hits": [{"passage": {"text": "Oslo is big."}}], "outcome": "error"},
                     "supported", None, id="passages before an outcome"),
    ],
)  # fmt: skip
def test_what_a_source_answered_is_judged(
    client: httpx.Client, answer: dict[str, Any], outcome: str, reason: str | None
) -> None:
    source_answer = {"source": "mine", "claim": "Oslo is big.", **answer}
    asked = {"claims": CLAIMS[:1], "answers": [source_answer]}
    (row,) = client.post("/verify", json=asked).json()["evidence"]
    assert row["source"] == "mine"
    assert row["outcome"] == outcome
    assert row["reason"] == reason


@pytest.mark.parametrize(
    ("mode", "sources"),
    [
        pytest.param("seq", ["a"], id="the first that answers"),
        pytest.param("mv", ["multi"], id="a vote of all"),
        pytest.param("all", ["a", "a", "b", "multi"], id="all of these"),
    ],
)
def test_answers_are_voted_on_in_the_mode_that_is_asked_for(
    client: httpx.Client, mode: str, sources: list[str]
) -> None:
    hits = [{"passage": {"text": "Oslo is big."}}]
    source_answers = [
        {"source": name, "claim": "Oslo is big.", "hits": hits} for name in ("a", "b")
    ]
    asked = {"claims": CLAIMS[:1], "answers": source_answers, "mode": mode}
    reply = client.post("/verify", json=asked).json()["verdicts"]
    assert sorted(row["source"] for row in reply) == sorted(sources)


def test_a_search_has_its_hits_for_each_query(client: httpx.Client) -> None:
    asked = {"queries": ["capital of Peru", "zyzzyva", "Oslo"], "passages": 1}
    reply = client.post("/search", json=asked).json()
    assert [one["query"] for one in reply] == asked["queries"]
    assert [len(one["hits"]) for one in reply] == [1, 0, 1]
    (hit,) = reply[0]["hits"]
    assert hit["rank"] == 1
    assert hit["score"] > 0
    assert hit["passage"]["title"] == "Lima"
    assert hit["passage"]["source"] == "wikipedia"


def test_an_extraction_has_no_evidence(client: httpx.Client) -> None:
    reply = client.post("/extract", json={"text": "Oslo is big."}).json()
    assert reply.keys() == {"response", "sentences", "fact_units", "failures", "usage"}


@pytest.fixture(scope="module")
def full(base: Setup) -> Iterator[httpx.Client]:
    """A service without a free place."""
    with opened(replace(base, limits=ServiceLimits(checks=0))) as client:
        yield client


STEPS: dict[str, dict[str, Any]] = {
    "/extract": {"text": "Oslo is big."},
    "/search": {"queries": ["Oslo"]},
    "/passages": {"claims": CLAIMS},
    "/verify": {"claims": CLAIMS, "passages": [{"text": "Oslo is big."}]},
    "/check": {"text": "Oslo is big."},
}


@pytest.mark.parametrize("path", STEPS)
def test_every_step_takes_a_place(full: httpx.Client, path: str) -> None:
    answer = full.post(path, json=STEPS[path])
    assert answer.status_code == 429
    assert "checks are under way" in answer.json()["detail"]
