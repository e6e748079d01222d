"""The steps of a check one by one."""

import httpx
import pytest

from tests.webapp.conftest import events


def test_verify(client: httpx.Client) -> None:
    passages = ["Oslo was founded in 1049.", "Oslo was founded in 1049, by Harald.", "Lima is big."]
    body = {
        "claims": [{"claim": "Oslo was founded in 1049."}, {"claim": "Oslo was founded in 1300."}],
        "passages": [{"text": text, "title": "Oslo"} for text in passages],
    }
    for name in ("overlap", "bundled"):
        found = client.post("/verify", json=body | {"verifier": name}).json()
        assert [row["label"] for row in found["verdicts"]] == [1, 0]
        assert len(found["evidence"]) == 6
        assert {row["citation_found"] for row in found["evidence"] if row["citation"]} == {True}
        assert all(row["model"].startswith(f"{name}@") for row in found["evidence"])
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
    found = verified.json()
    assert found["fact_units"] == passages["fact_units"] == extracted["fact_units"]
    checked = events(client.post("/check", json=asked))[-2].data
    assert found["verdicts"] == checked["verdicts"]
    assert [row["source"] for row in found["verdicts"]][:1] == ["wikipedia"]
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
    assert answer.status_code == 422
    assert "give `" in answer.json()["detail"]
