import json
import threading
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

import ufo
from tests.llm_server import LlmServer
from ufo.schemas.records import FactUnit, Passage
from ufo.transforms.job import Job
from ufo.transforms.sources.fact_source import FactSource
from ufo.webapp.desk import Setup
from ufo.webapp.server import served

TEXT = "Oslo is the capital of Norway. Oslo was founded in 1600. Trams in Oslo are green. 🛸!"
REFERENCE = "Oslo was founded in 1049."
JSON = {"Content-Type": "application/json"}
ORDER = ["reference", "wikipedia"]
TABLES = ("sentences", "fact_units", "evidence", "passages", "verdicts", "failures", "usage")


def ask(client: httpx.Client, **more: Any) -> httpx.Response:
    body = {"text": TEXT, "references": [REFERENCE], "sources": ORDER, **more}
    return client.post("/check", json=body)


@pytest.mark.parametrize("mode", ["seq", "mv", "all"])
def test_the_stream_says_what_the_python_interface_returns(
    client: httpx.Client, events: Callable[..., Any], index: Any, mode: str
) -> None:
    found = events(ask(client, mode=mode))
    told: dict[str, list[Any]] = {name: [] for name in TABLES}
    for event in found:
        for name in TABLES:
            if event.name in ("extracted", "checked"):
                told[name] += event.data.get(name, [])
    same = ufo.check_sync(
        TEXT, references=[REFERENCE], sources=ORDER, mode=mode, index=str(index), judge="offline"
    )
    for name in TABLES:
        expected = [asdict(row) for row in getattr(same, name)]
        assert sorted(map(repr, told[name])) == sorted(map(repr, expected)), name
    scores = next(event.data for event in found if event.name == "scores")
    states: dict[Any, Any] = {}
    for event in found:
        if event.name == "checked":
            states |= {one["sentence_index"]: one["state"] for one in event.data["sentence_scores"]}
    said = {one["sentence_index"]: one["state"] for one in scores["sentences"]}
    assert said == {**said, **states}
    assert set(said.values()) >= {"supported", "contradicted"}
    main = scores["scores"][0]
    assert (main["factuality_score"], main["coverage"]) == (same.score, same.coverage)
    assert sorted(map(repr, scores["verdicts"])) == sorted(map(repr, told["verdicts"]))


def test_a_checked_text_is_reported_as_a_page(
    client: httpx.Client, events: Callable[[httpx.Response], list[Any]]
) -> None:
    asked = {"text": "Oslo was founded in 1049. Lima is the capital of Chile.", "mode": "all"}
    told = events(client.post("/check", json=asked))
    extracted = next(one.data for one in told if one.name == "extracted")
    body: dict[str, Any] = {
        **{name: extracted[name] for name in ("response", "sentences", "fact_units")},
        **{name: told[0].data[name] for name in ("sources", "mode", "tie")},
        "evidence": [],
        "passages": [],
    }
    for one in told:
        if one.name == "checked":
            body["evidence"] += one.data["evidence"]
            body["passages"] += one.data["passages"]
    assert extracted["basis"]["judge"].startswith("Judge offline (overlap@")
    assert extracted["basis"]["trust"].startswith("Verifier overlap (a first look")
    page = client.post("/check/report.html", json=body)
    assert page.status_code == 200, page.text
    assert page.headers["content-type"].startswith("text/html")
    assert "Oslo was founded in 1049." in page.text
    body["response"]["text"] = "\ud800"
    refused = client.post("/check/report.html", content=json.dumps(body), headers=JSON)
    assert refused.status_code == 422


def test_a_text_is_kept_under_a_name_that_is_a_function_of_it(base: Setup, tmp_path: Path) -> None:
    draft = {"text": "Oslo. 🛸", "question": "Where?", "references": ["Oslo."]}
    with (
        served(replace(base, results=tmp_path / "results")) as url,
        httpx.Client(base_url=url, timeout=60, trust_env=False) as client,
    ):
        name = client.post("/drafts", json=draft).json()["id"]
        assert client.post("/drafts", json=draft).json()["id"] == name
        assert client.post("/drafts", json=draft | {"question": ""}).json()["id"] != name
        assert client.get(f"/drafts/{name}").json() == draft
        assert client.get("/drafts/0123456789ab").status_code == 404
        assert client.get("/drafts/..%2Fx").status_code in (404, 422)
        assert client.get("/runs").json() == []


def test_events_come_in_the_order_of_the_steps(
    client: httpx.Client, events: Callable[..., Any]
) -> None:
    response = ask(client)
    assert response.headers["content-type"].startswith("text/event-stream")
    names = [event.name for event in events(response)]
    assert names[:3] == ["started", "extracted", "asking"]
    assert names[-2:] == ["scores", "done"]
    asking = [event.data for event in events(response) if event.name == "asking"]
    assert [one["source"] for one in asking] == ORDER
    assert len(asking[1]["unit_ids"]) < len(asking[0]["unit_ids"])
    (start, end) = (events(response)[1].data["sentences"][1][key] for key in ("start", "end"))
    assert TEXT[start:end] == "Oslo was founded in 1600."


def test_a_text_without_a_claim_has_no_score(
    client: httpx.Client, events: Callable[..., Any]
) -> None:
    found = {event.name: event.data for event in events(ask(client, text="Well, hello!"))}
    assert found["scores"]["scores"][0]["factuality_score"] is None
    assert found["scores"]["passage"]["band"] == "grey"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"text": " "}, "empty"),
        ({"sources": ["wikipeda"]}, "wikipedia"),
        ({"sources": ["examples/own_source.py:Glossary"]}, "allowed"),
        ({"mode": "single"}, "single"),
        ({"model": "m"}, "offline"),
        ({"sources": ["web"]}, "SERPER_API_KEY"),
        ({"retriever": "dense"}, "no vectors"),
        ({"nonsense": 1}, "Extra"),
        ({"passages": 0}, "greater"),
    ],
)
def test_what_is_wrong_is_reported_before_a_stream_begins(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], word: str
) -> None:
    for name in ("SERPER_API_KEY", "SERPER_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    response = ask(client, **change)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert word in problem["detail"] + str(problem["errors"])
    assert problem["remedy"]


class Slow(FactSource):
    """A source that never answers, and tells that it was asked, and that it was cancelled."""

    def __init__(self) -> None:
        self.asked, self.cancelled = threading.Event(), threading.Event()

    async def find(self, unit: FactUnit) -> list[Passage]:
        import asyncio

        self.asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return []


def test_who_hangs_up_cancels_what_is_under_way(
    with_source: Callable[..., Any], read_events: Callable[..., Any]
) -> None:
    source = Slow()
    with served(with_source(source)) as url, httpx.Client(trust_env=False, timeout=60) as client:
        with client.stream("POST", f"{url}/check", json={"text": TEXT}) as response:
            for event in read_events(response.iter_lines()):
                if event.name == "asking":
                    break
            assert source.asked.wait(30)
        assert source.cancelled.wait(30)


def test_an_endpoint_that_does_not_answer_is_named_while_it_is_waited_for(
    base: Setup, llm_server: LlmServer, read_events: Callable[..., Any]
) -> None:
    llm_server.latency = lambda: 3_600.0
    prompt = replace(base.limits, pulse_seconds=0.01, silent_seconds=0.05)
    told = {"judge": "llm", "model": "offline-judge", "sources": ["reference"]}

    def job_of(values: Any, sources: Any) -> Job:
        return base.job_of({**values, "base_url": llm_server.base_url}, sources)

    with (
        served(replace(base, limits=prompt, job_of=job_of)) as url,
        httpx.Client(trust_env=False, timeout=60) as client,
        client.stream("POST", f"{url}/check", json={"text": TEXT, **told}) as response,
    ):
        silent: list[Any] = []
        for event in read_events(response.iter_lines()):
            if event.name == "waiting" and (silent := event.data["silent"]):
                break
    assert silent[0]["endpoint"] == llm_server.base_url
    assert silent[0]["seconds"] >= 0.05


class Broken(FactSource):
    """A source after whose error no other answer is worth waiting for."""

    def find(self, unit: FactUnit) -> list[Passage]:
        raise ufo.RunError("the disk is gone")


@pytest.mark.parametrize("mode", ["seq", "mv"])
def test_an_error_that_ends_the_check_is_its_last_event(
    with_source: Callable[..., Any], events: Callable[..., Any], mode: str
) -> None:
    with served(with_source(Broken())) as url:
        response = httpx.post(f"{url}/check", json={"text": TEXT, "mode": mode}, trust_env=False)
    last = events(response)[-1]
    assert (last.name, last.data["detail"]) == ("error", "the disk is gone")


def test_one_more_check_than_there_are_places_is_refused(
    with_source: Callable[..., Any], read_events: Callable[..., Any]
) -> None:
    from ufo.webapp.limits import ServiceLimits

    source = Slow()
    one = with_source(source, limits=ServiceLimits(checks=1))
    with served(one) as url, httpx.Client(trust_env=False, timeout=60) as client:
        with client.stream("POST", f"{url}/check", json={"text": TEXT}):
            assert source.asked.wait(30)
            other = httpx.post(f"{url}/check", json={"text": TEXT}, trust_env=False)
        assert (other.status_code, other.json()["status"]) == (429, 429)
        assert int(other.headers["retry-after"]) >= 1


def test_a_check_that_takes_too_long_says_so(
    with_source: Callable[..., Any], events: Callable[..., Any]
) -> None:
    from ufo.webapp.limits import ServiceLimits

    source = Slow()
    with served(with_source(source, limits=ServiceLimits(check_seconds=0.2))) as url:
        response = httpx.post(f"{url}/check", json={"text": TEXT}, trust_env=False, timeout=60)
    assert events(response)[-1].data["status"] == 422
    assert source.cancelled.is_set()


@pytest.mark.parametrize("text", ["Hello!", "Die Stadt ist schön und liegt nicht weit vom Meer."])
def test_nothing_is_said_of_a_verifier_that_judges_nothing(
    client: httpx.Client, events: Callable[[httpx.Response], list[Any]], text: str
) -> None:
    told = events(client.post("/check", json={"text": text}))
    (extracted,) = (one.data for one in told if one.name == "extracted")
    assert extracted["basis"]["trust"] == ""
