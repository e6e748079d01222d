"""Checking a text over HTTP: the stream, what ends it, and texts that are kept."""

import asyncio
import os
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

import ufo
from tests.llm_server import LlmServer
from tests.webapp.conftest import events, opened, read_events
from ufo.schemas.records import FactUnit, Passage
from ufo.transforms.sources.fact_source import FactSource
from ufo.webapp.limits import ServiceLimits
from ufo.webapp.service import Setup

TEXT = "Oslo is the capital of Norway. Oslo was founded in 1600. Trams in Oslo are green. 🛸!"
REFERENCE = "Oslo was founded in 1049."
ORDER = ["reference", "wikipedia"]
TABLES = ("sentences", "fact_units", "evidence", "passages", "verdicts", "failures", "usage")


def ask(client: httpx.Client, **more: Any) -> httpx.Response:
    body = {"text": TEXT, "references": [REFERENCE], "sources": ORDER, **more}
    return client.post("/check", json=body)


@pytest.mark.parametrize("mode", ["seq", "mv", "all"])
def test_the_stream_says_what_the_python_interface_returns(
    client: httpx.Client, index: Any, mode: str
) -> None:
    response = ask(client, mode=mode)
    assert response.headers["content-type"].startswith("text/event-stream")
    stream = events(response)
    names = [event.name for event in stream]
    assert names[:3] == ["started", "extracted", "asking"]
    assert names[-2:] == ["scores", "done"]
    asking = [event.data for event in stream if event.name == "asking"]
    assert {sentence_score["source"] for sentence_score in asking} == set(ORDER)
    if mode == "seq":
        assert len(asking[1]["unit_ids"]) < len(asking[0]["unit_ids"])
    assert stream[1].data["basis"]["judge"].startswith("Judge offline (overlap@")
    assert stream[1].data["basis"]["judged_by"].startswith("Verifier overlap (a first look")
    assert stream[1].data["basis"]["trust"].startswith("A first look; for findings use a model")
    sentence = stream[1].data["sentences"][1]
    assert TEXT[sentence["start"] : sentence["end"]] == "Oslo was founded in 1600."
    rows = [event.data for event in stream if event.name in ("extracted", "checked")]
    by_table = {name: [row for data in rows for row in data.get(name, [])] for name in TABLES}
    same = ufo.check_sync(
        TEXT, references=[REFERENCE], sources=ORDER, mode=mode, index=str(index), judge="offline"
    )
    for name in TABLES:
        expected = [asdict(row) for row in getattr(same, name)]
        assert sorted(map(repr, by_table[name])) == sorted(map(repr, expected)), name
    basis = stream[-1].data["basis"]
    assert (basis["trust"], basis["judged_by"]) == (same.trust, same.judged_by)
    scores = stream[-2].data
    states: dict[Any, Any] = {
        sentence_score["sentence_index"]: sentence_score["state"]
        for data in rows
        for sentence_score in data.get("sentence_scores", [])
    }
    by_sentence = {
        sentence_score["sentence_index"]: sentence_score["state"]
        for sentence_score in scores["sentences"]
    }
    assert by_sentence == {**by_sentence, **states}
    assert set(by_sentence.values()) >= {"supported", "contradicted"}
    main = scores["scores"][0]
    assert main["factuality_score"] == same.score
    assert main["coverage"] == same.coverage
    assert sorted(map(repr, scores["verdicts"])) == sorted(map(repr, by_table["verdicts"]))


@pytest.mark.parametrize("text", ["Hello!", "Die Stadt ist schön und liegt nicht weit vom Meer."])
def test_a_text_that_nobody_judges_has_no_score(client: httpx.Client, text: str) -> None:
    by_name = {event.name: event.data for event in events(ask(client, text=text))}
    assert by_name["extracted"]["basis"]["trust"] == ""
    assert by_name["scores"]["scores"][0]["factuality_score"] is None
    assert by_name["extracted"]["fact_units"] or by_name["scores"]["passage"]["band"] == "grey"


def test_a_text_is_kept_under_a_name_that_is_a_function_of_it(base: Setup, tmp_path: Path) -> None:
    draft = {"text": "Oslo. 🛸", "question": "Where?", "references": ["Oslo."]}
    with opened(replace(base, results=tmp_path / "results")) as client:
        name = client.post("/drafts", json=draft).json()["id"]
        assert client.post("/drafts", json=draft).json()["id"] == name
        for field, other in {"text": "Oslo.", "question": "", "references": []}.items():
            assert client.post("/drafts", json=draft | {field: other}).json()["id"] != name
        assert client.get(f"/drafts/{name}").json() == draft
        assert client.get("/drafts/0123456789ab").status_code == 404
        assert client.get("/drafts/..%2Fx").status_code in (404, 422)
        assert client.get("/runs").json() == []


def test_the_newest_thousand_texts_are_kept(base: Setup, tmp_path: Path) -> None:
    folder = tmp_path / "results" / ".drafts"
    folder.mkdir(parents=True)
    now = time.time()
    for n in range(1_000):
        path = folder / f"{n:012x}.json"
        path.touch()
        os.utime(path, (now - 2_000 + n, now - 2_000 + n))
    with opened(replace(base, results=folder.parent)) as client:
        name = client.post("/drafts", json={"text": "Oslo."}).json()["id"]
    kept = {path.stem for path in folder.iterdir()}
    assert kept == {name, *(f"{n:012x}" for n in range(1, 1_000))}


# What fits the description, but not the judge, the keys or the index of the service.
UNFIT = (
    "one vote of several sources",
    "a model for the offline judge",
    "a search without its key",
    "vectors an index lacks",
)
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "an empty text": ({"text": " "}, "empty"),
    "a misspelt source": ({"sources": ["wikipeda"]}, "wikipedia"),
    "a source in a file": ({"sources": ["examples/own_source.py:Glossary"]}, "allowed"),
    "a judge in a file": ({"judge": "examples/own_judge.py:Contained"}, "unknown judge"),
    "a verifier by its model": ({"verifier": "someone/model"}, "unknown verifier"),
    "one vote of several sources": ({"mode": "single"}, "single"),
    "a model for the offline judge": ({"model": "m"}, "offline"),
    "a search without its key": ({"sources": ["web"]}, "SERPER_API_KEY"),
    "vectors an index lacks": ({"retriever": "dense"}, "no vectors"),
    "an unknown field": ({"nonsense": 1}, "Extra"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_reported_before_a_stream_begins(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for variable in ("SERPER_API_KEY", "SERPER_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    change, word = WRONG[name]
    response = ask(client, **change)
    assert response.status_code == (409 if name in UNFIT else 422)
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert word in problem["detail"] + str(problem["errors"])
    assert problem["remedy"]


class Slow(FactSource):
    """A source that never answers, and tells that it was asked, and that it was cancelled."""

    def __init__(self) -> None:
        self.asked, self.cancelled = threading.Event(), threading.Event()

    async def find(self, unit: FactUnit) -> list[Passage]:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return []


def test_a_check_keeps_its_place_until_who_asked_hangs_up(with_source: Callable[..., Any]) -> None:
    source = Slow()
    with opened(with_source(source, limits=ServiceLimits(checks=1))) as client:
        with client.stream("POST", "/check", json={"text": TEXT}) as response:
            stream = read_events(response.iter_lines())
            next(event for event in stream if event.name == "asking")
            assert source.asked.wait(30)
            other = client.post("/check", json={"text": TEXT})
            assert other.status_code == 429
            assert other.json()["status"] == 429
            assert int(other.headers["retry-after"]) >= 1
            assert not source.cancelled.is_set()
        assert source.cancelled.wait(30)


def test_a_check_that_takes_too_long_says_so(with_source: Callable[..., Any]) -> None:
    source = Slow()
    with opened(with_source(source, limits=ServiceLimits(check_seconds=0.2))) as client:
        response = client.post("/check", json={"text": TEXT})
    assert events(response)[-1].data["status"] == 422
    assert source.cancelled.is_set()


def test_an_endpoint_that_does_not_answer_is_named_while_it_is_waited_for(
    base: Setup, llm_server: LlmServer
) -> None:
    llm_server.latency = lambda: 3_600.0
    prompt = replace(base.limits, pulse_seconds=0.01, silent_seconds=0.05)
    options = {"judge": "llm", "model": "offline-judge", "sources": ["reference"]}

    with (
        opened(replace(base, limits=prompt, flags={"base_url": llm_server.base_url})) as client,
        client.stream("POST", "/check", json={"text": TEXT, **options}) as response,
    ):
        waits = (one for one in read_events(response.iter_lines()) if one.name == "waiting")
        silent = next(one.data["silent"] for one in waits if one.data["silent"])
    assert silent[0]["endpoint"] == llm_server.base_url
    assert silent[0]["seconds"] >= 0.05


KEPT_FROM: list[tuple[str, dict[str, str], str]] = [
    ("https://model.example/v1", {"SSL_CERT_FILE": "/nowhere/ca.pem"}, "/nowhere/ca.pem"),
    ("http://other.example/v1", {"ALL_PROXY": "socks5://127.0.0.1:1"}, "pip install socksio"),
    ("http://third.example/v1", {"HTTP_PROXY": "nonsense://x y"}, "is not a proxy"),
    ("http://127.0.0.1:9/v1", {}, "nothing answers at"),
]


@pytest.mark.parametrize(
    ("url", "variables", "message"), KEPT_FROM, ids=[row[2] for row in KEPT_FROM]
)
def test_what_keeps_requests_from_an_endpoint_is_said_with_the_remedy(
    base: Setup,
    monkeypatch: pytest.MonkeyPatch,
    url: str,
    variables: dict[str, str],
    message: str,
) -> None:
    options = {"judge": "llm", "model": "m", "sources": ["reference"]}

    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with opened(replace(base, flags={"base_url": url})) as client:
        last = events(client.post("/check", json={"text": TEXT, **options}))[-1]
    assert last.data["status"] == 502
    assert message in last.data["detail"]


class Broken(FactSource):
    """A source after whose error no other answer is worth waiting for."""

    def find(self, unit: FactUnit) -> list[Passage]:
        raise ufo.RunError("the disk is gone")


@pytest.mark.parametrize("mode", ["seq", "mv"])
def test_an_error_that_ends_the_check_is_its_last_event(
    with_source: Callable[..., Any], mode: str
) -> None:
    with opened(with_source(Broken())) as client:
        last = events(client.post("/check", json={"text": TEXT, "mode": mode}))[-1]
    assert last.name == "error"
    assert last.data["detail"] == "the disk is gone"
