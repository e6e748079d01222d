"""`--judge cascade`: a model is asked less, each row says who decided, and 1 is `--judge llm`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ufo
from tests.llm_server import LlmServer
from tests.pipelines.llm_runs import ENVIRONMENT, rows

CITIES = ["Oslo", "Lima", "Rome", "Cairo", "Quito", "Hanoi"]


@pytest.fixture
def evaluate(
    tmp_path: Path,
    ufo: Callable[..., Any],
    write_lines: Any,
    llm_server: LlmServer,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Any]:
    """Six responses: the reference has both claims of some, one or none of others."""
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", llm_server.key)
    said = "{0} was visited by Napoleon in 1802. {0} was founded in 1901."
    known = [said, "{0} was founded in 1901. It has parks.", "Towns have parks."]
    records = [
        {"id": city, "response": said.format(city), "reference_answers": known[n % 3].format(city)}
        for n, city in enumerate(CITIES)
    ]
    path = write_lines(tmp_path / "in.jsonl", records)

    def run(output: str, judge: str, *flags: object) -> Any:
        return ufo(
            *("evaluate", "--input", path, "--output", tmp_path / output, "--judge", judge),
            *("--sources", "reference", "--base_url", llm_server.base_url, "--workers", 1),
            *("--model", "offline-judge", "--cache", "off", *flags),
        )

    return run


def _calls(server: LlmServer) -> int:
    """How many verifications were asked for since the last look."""
    calls = sum(entry.step == "verify_facts" for entry in server.chats)
    server.requests.clear()
    return calls


def test_what_is_sure_is_not_asked(evaluate: Any, tmp_path: Path, llm_server: LlmServer) -> None:
    assert evaluate("llm", "llm").code == 0
    whole = _calls(llm_server)
    done = evaluate("cascade", "cascade")
    assert done.code == 0, done.err
    assert "Judging offline, and by a model where that is not sure." in done.err
    assert (whole, _calls(llm_server)) == (6, 4)
    found = rows(tmp_path / "cascade", "SELECT * FROM evidence")
    by = {judge: [row for row in found if row["judge"] == judge] for judge in ("offline", "llm")}
    assert len(by["offline"]) == 6
    assert len(found) == len(by["offline"]) + len(by["llm"]) == 12
    assert all(row["probability"] >= 0.9 and row["model"] for row in by["offline"])
    assert {row["model"] for row in by["llm"]} == {"offline-judge"}
    query = "SELECT response_id, unit_id, label, source FROM verdicts ORDER BY ALL"
    assert rows(tmp_path / "cascade", query) == rows(tmp_path / "llm", query)


def test_at_one_it_is_the_models_judgement(
    evaluate: Any, tmp_path: Path, tables: Any, llm_server: LlmServer
) -> None:
    assert evaluate("llm", "llm").code == 0
    whole = _calls(llm_server)
    assert evaluate("cascade", "cascade", "--confidence", 1).code == 0
    assert _calls(llm_server) == whole
    one, other = (tables(tmp_path / name) for name in ("llm", "cascade"))
    for table in ("fact_units", "verdicts", "sentences"):
        assert one[table] == other[table]
    # But for the id of the request.
    assert [row[:-1] for row in one["evidence"]] == [row[:-1] for row in other["evidence"]]


def test_what_the_model_said_is_kept_and_another_threshold_is_another_run(
    evaluate: Any, tmp_path: Path, llm_server: LlmServer
) -> None:
    cache = ("--cache", tmp_path / "cache.sqlite")
    assert evaluate("one", "cascade", *cache).code == 0
    llm_server.requests.clear()
    assert evaluate("two", "cascade", *cache).code == 0
    assert llm_server.requests == []
    assert evaluate("two", "cascade", "--confidence", 1, *cache).code == 0
    assert 0 < _calls(llm_server) <= 4
    assert len(list((tmp_path / "two").glob("run=*"))) == 2


def test_the_estimate_leaves_out_what_is_sure(evaluate: Any, llm_server: LlmServer) -> None:
    told = {}
    for confidence in (0.9, 1):
        found = evaluate("none", "cascade", "--confidence", confidence, "--dry_run", "--json").json
        (told[confidence],) = (row["calls"] for row in found["rows"] if row["step"] == "verify")
    assert told == {0.9: 4, 1: 6}
    assert llm_server.requests == []


@pytest.mark.parametrize(
    ("judge", "flags", "words"),
    [
        ("llm", ("--confidence", 0.8), "--judge cascade"),
        ("llm", ("--verifier", "overlap"), "--judge offline or --judge cascade"),
        ("cascade", ("--verifier", "overlop"), "Did you mean 'overlap'?"),
        ("cascade", ("--confidence", 1.5), "from 0 to 1"),
        ("cascading", (), "cascade"),
    ],
)
def test_what_is_wrong_is_said(
    evaluate: Any, llm_server: LlmServer, judge: str, flags: tuple[object, ...], words: str
) -> None:
    done = evaluate("none", judge, *flags)
    assert done.code == 2
    assert words in done.err
    assert llm_server.requests == []


def test_one_text_from_python() -> None:
    claim = "Oslo was founded in 1901."
    facts = [{"sentence": 1, "claim": claim, "query": "When was Oslo founded?"}]
    model = ufo.FakeClient([{"facts": facts, "no_claim": []}])
    checked = ufo.check_sync(
        claim,
        references=[f"{claim} It has many parks."],
        sources=["reference"],
        judge="cascade",
        client=model,
        base_url="http://localhost:1/v1",
    )
    assert [(row.judge, row.outcome) for row in checked.evidence] == [("offline", "supported")]
    assert len(model.requests) == 1
