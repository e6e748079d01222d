"""`ufo evaluate --sources web` over the local web, by each of the search engines."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.case_files import cases
from tests.llm_server import LlmServer
from tests.local_web import ORDER, Engines, LocalWeb
from tests.pipelines.conftest import ok, tables, ufo, write_lines
from tests.pipelines.llm_runs import at, results, rows

ADDRESSES = ("SERPER_BASE_URL", "SEARXNG_BASE_URL", "BRAVE_BASE_URL")
CLAIMS = cases(Path(__file__).with_name("web_claims.txt"))


@dataclass(frozen=True, slots=True)
class Scene:
    """The local web with its engines, and responses that make claims about it."""

    folder: Path
    web: LocalWeb
    engines: Engines
    input: Path
    config: Path

    def write(self, claims: Sequence[str]) -> None:
        """Write a response for each claim, which is its own query."""
        records = [{"response": one, "claims": [{"claim": one, "query": one}]} for one in claims]
        write_lines(self.input, [{"id": f"r{at}", **one} for at, one in enumerate(records)])

    def flags(self, engine: str, output: str, *more: object) -> tuple[object, ...]:
        return (
            "evaluate",
            "--input",
            self.input,
            "--output",
            self.folder / output,
            "--run",
            "r",
            "--config",
            self.config,
            "--search",
            engine,
            "--allow_private_hosts",
            "--workers",
            1,
            *more,
        )


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    monkeypatch.delenv("BRAVE_API_KEY", raising=False)
    config = tmp_path / "ufo.yaml"
    config.write_text("sources: [{name: web, type: web}]\n")
    with LocalWeb() as web, Engines(web) as engines:
        for name in ADDRESSES:
            monkeypatch.setenv(name, engines.url)
        scene = Scene(tmp_path, web, engines, tmp_path / "in.jsonl", config)
        scene.write([claim for claim, _ in CLAIMS])
        yield scene


OFFLINE = ("--judge", "offline", "--cache", "off")


def labels(output: Path) -> dict[str, int | None]:
    verdicts = rows(output, "SELECT response_id, label FROM verdicts")
    return {row["response_id"]: row["label"] for row in verdicts}


@pytest.mark.slow
def test_claims_are_settled_by_the_pages_that_a_search_finds(scene: Scene) -> None:
    estimate = ufo(*scene.flags("serper", "out", *OFFLINE, "--dry_run", "--json"))
    calls = {row["step"]: row["calls"] for row in estimate.json["rows"]}
    assert calls == {"search": len(CLAIMS), "page": 5 * len(CLAIMS)}
    snippets = ufo(*scene.flags("serper", "snippets", *OFFLINE, "--passages_per_page", 0))
    assert snippets.code == 0
    assert scene.web.requests == []
    labels_found = labels(scene.folder / "snippets")
    assert labels_found["r7"] == 1
    assert labels_found["r4"] == 1
    done = ufo(*scene.flags("serper", "out", *OFFLINE))
    assert done.code == 0, done.err
    assert done.err.count("Traceback") == 0, done.err
    output = scene.folder / "out"
    expected = {"1": 1, "0": 0, "no page": None}
    assert labels(output) == {f"r{n}": expected[label] for n, (_, label) in enumerate(CLAIMS)}
    assert {query.shape for query in scene.engines.queries} == {"serper"}
    evidence = "SELECT e.response_id, e.outcome, e.reason, p.* FROM evidence e"
    evidence_rows = rows(
        output, f"{evidence} LEFT JOIN passages p USING (run, passage_id) ORDER BY ALL"
    )
    nothing = [row for row in evidence_rows if row["response_id"] == "r10"]
    assert [(row["outcome"], row["reason"]) for row in nothing] == [("noans", "no_passages")]
    lamp = next(row for row in evidence_rows if row["url"] == scene.web.url("/lighthouse"))
    assert "Tarnholm Lighthouse was built in 1874." in lamp["text"]
    assert lamp["title"] == "Tarnholm Lighthouse"
    assert lamp["hostname"] == "127.0.0.1"
    assert lamp["source_category"] == "other"
    assert lamp["published_at"] == "2021-03-05"
    assert lamp["retrieved_at"]
    texts = {row["url"].rpartition("/")[2]: row["text"] for row in evidence_rows if row["url"]}
    assert "dredged in 2016" in texts["report.pdf"]
    assert "The crane of Tarnholm lifts 12 tonnes." in texts["notes.txt"]
    # Of a page that cannot be had or says nothing there is the snippet, and the reason.
    assert texts["gone"] == "The old pier of Tarnholm was 90 metres long."
    assert texts["paywall"] == "The smugglers of Tarnholm hid brandy."
    failures = rows(output, "SELECT DISTINCT step, key, error_type FROM failures ORDER BY key")
    reasons = {row["key"]: row["error_type"] for row in failures}
    assert {row["step"] for row in failures} == {"page"}
    assert reasons[scene.web.url("/gone")] == "http_404"
    assert reasons[scene.web.url("/paywall")] == "paywall"
    assert reasons[scene.web.url("/private/diary")] == "blocked_by_robots"
    assert "/private/diary" not in scene.web.paths()
    steps = rows(output, "SELECT DISTINCT step FROM usage WHERE status = 'ok'")
    assert {row["step"] for row in steps} == {"search", "page"}


@pytest.mark.slow
def test_a_search_that_fails_is_an_error_and_is_asked_again(scene: Scene) -> None:
    scene.engines.faults.extend([(200, {"error": "try later"})] * len(CLAIMS))
    flags = scene.flags("searxng", "out", *OFFLINE)
    assert ufo(*flags).code == 1  # no search answered
    output = scene.folder / "out"
    selected = rows(output, "SELECT DISTINCT outcome, reason FROM evidence")
    assert selected == [{"outcome": "error", "reason": "transport"}]
    # One that is stopped has each search once in its usage.
    scene.engines.faults.extend([403] * len(CLAIMS))
    again = (*flags, "--if_finished", "retry_errors", "--concurrency", 1)
    assert ufo(*again).code == 1
    scene.engines.faults.clear()
    ok(*again)
    assert labels(output)["r0"] == 1
    usage = "SELECT request_id FROM usage WHERE step = 'search' AND NOT (cached OR coalesced)"
    sent = [row["request_id"] for row in rows(output, usage)]
    assert len(sent) == len(set(sent)) == scene.engines.requests


@pytest.mark.parametrize(
    ("engine", "status", "remedy"),
    [
        ("searxng", 403, "search.formats"),
        ("brave", 401, "BRAVE_API_KEY"),
        ("serper", 403, "SERPER_API_KEY"),
    ],
)
def test_what_every_search_would_meet_ends_the_run(
    scene: Scene, engine: str, status: int, remedy: str
) -> None:
    scene.engines.faults.extend([status] * 20)
    done = ufo(*scene.flags(engine, "out", *OFFLINE))
    assert done.code == 1
    assert remedy in done.err
    assert "Traceback" not in done.err


@pytest.mark.slow
def test_a_snapshot_by_two_processes_is_replayed_without_a_web(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = scene.folder / "snapshot"
    more = (*OFFLINE, "--web_snapshot", folder, "--chunk_size", 6)
    ok(*scene.flags("serper", "recorded", *more, "--workers", 2))
    assert [path.name for path in folder.iterdir()] == ["snapshot.sqlite"]
    for name in ADDRESSES:
        monkeypatch.delenv(name)
    asked, searched = len(scene.web.requests), scene.engines.requests
    ok(*scene.flags("serper", "replayed", *more))
    assert len(scene.web.requests) == asked
    assert scene.engines.requests == searched
    before, after = (tables(scene.folder / name) for name in ("recorded", "replayed"))
    assert results(before) == results(after)
    assert before["passages"]
    (scene.folder / "mine").mkdir()
    (scene.folder / "mine" / "thesis.tex").write_text("…")
    wrong = ufo(*scene.flags("serper", "out", *OFFLINE, "--web_snapshot", scene.folder / "mine"))
    assert wrong.code == 2
    assert "is neither a snapshot nor empty" in wrong.err
    # What was not recorded is an error with the remedy, and nobody is asked.
    scene.write(["The Nile is long."])
    assert ufo(*scene.flags("serper", "other", *more)).code == 1  # the snapshot has no such search
    (failure,) = rows(scene.folder / "other", "SELECT step, message FROM failures")
    assert failure["step"] == "source:web"
    assert "record another with --web_snapshot" in failure["message"]
    assert len(scene.web.requests) == asked
    assert scene.engines.requests == searched


def test_domains_and_kinds_are_left_out_before_the_vote(scene: Scene) -> None:
    for flags in (("--exclude_domains", "127.0.0.1"), ("--include_categories", "news,wiki")):
        ok(*scene.flags("serper", flags[0], *OFFLINE, *flags))
        selected = rows(scene.folder / flags[0], "SELECT DISTINCT outcome, reason FROM evidence")
        assert selected == [{"outcome": "noans", "reason": "no_passages"}]
    assert scene.web.paths() == []


@pytest.mark.slow
def test_what_a_page_orders_the_judge_to_say_changes_nothing(
    scene: Scene, llm_server: LlmServer
) -> None:
    """The same page with and without an order in it: the verdicts are the same."""
    lit = "The beacon of Holmsund was lit for the first time in "
    scene.write([f"{lit}1890.", f"{lit}1955."])
    model = ("--judge", "llm", "--context_sentences", 5, *at(llm_server))
    ok(*scene.flags("serper", "with", *model))
    texts = rows(scene.folder / "with", "SELECT text FROM passages")
    assert any(ORDER in row["text"] for row in texts)
    sent = json.dumps([logged.body for logged in llm_server.requests], ensure_ascii=False)
    assert "&lt;/passage>" in sent
    scene.web.pages["/orders"] = scene.web.pages["/beacon"]
    ok(*scene.flags("serper", "without", *model))
    for output in ("with", "without"):
        assert labels(scene.folder / output) == {"r0": 1, "r1": 0}
