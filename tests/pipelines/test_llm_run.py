"""`ufo evaluate` with models behind HTTP: as in process, errors, and where nothing is usable."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer, faults
from tests.pipelines.conftest import ok, tables, ufo, write_lines
from tests.pipelines.llm_runs import EXAMPLE, at, rows
from ufo.pipelines.options.command_line import settings
from ufo.pipelines.options.groups import GROUPS
from ufo.pipelines.options.option import Parser
from ufo.pipelines.options.settings import Settings

SOURCES = "reference,wikipedia,llm"
FORMULATIONS = {
    "json": (),
    "xml": ("--format", "xml"),
    "stepwise": ("--formulation", "stepwise"),
}


@pytest.fixture(scope="module")
def evaluated(
    tmp_path_factory: pytest.TempPathFactory, few: Path, index: Path, server: LlmServer
) -> Callable[..., Path]:
    """Evaluates with some flags, each combination once; returns the output folder."""
    known: dict[tuple[object, ...], Path] = {}

    def run(judge: str, mode: str, *flags: object) -> Path:
        asked = (judge, mode, *flags)
        if asked not in known:
            output = tmp_path_factory.mktemp("output")
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("OPENAI_API_KEY", server.key)
                done = ufo(
                    *("evaluate", "--input", few, "--output", output, "--index", index),
                    *("--sources", "llm" if mode == "single" else SOURCES),
                    *("--judge", judge, "--mode", mode, *at(server, *flags)),
                )
            assert done.code == 0, done.err
            assert server.key not in done.err + done.out
            known[asked] = output
        return known[asked]

    return run


# --- the same over HTTP as in process -----------------------------------------------------------


@pytest.mark.parametrize(
    ("formulation", "mode"),
    [*((name, "all") for name in FORMULATIONS), ("json", "seq"), ("json", "single")],
)
def test_verdicts_over_http_are_those_in_process(
    evaluated: Any, server: LlmServer, formulation: str, mode: str
) -> None:
    expected = tables(evaluated("offline", mode))
    found = tables(evaluated("llm", mode, *FORMULATIONS[formulation]))
    for table in ("responses", "sentences", "fact_units", "verdicts"):
        assert found[table] == expected[table]
    assert found["failures"] == []
    assert len(found["evidence"]) == len(expected["evidence"])
    assert len({row[4] for row in found["verdicts"]}) > 1  # not all of one label
    query = "SELECT sample_index, logprob_mean FROM evidence WHERE source = 'llm'"
    sampled = rows(evaluated("llm", mode, *FORMULATIONS[formulation]), query)
    assert {row["sample_index"] for row in sampled} == {0, 1, 2, 3, 4}
    assert all(row["logprob_mean"] < 0 for row in sampled)
    # No secret is written anywhere.
    assert server.key not in repr(found)
    files = [path for path in evaluated("llm", mode).rglob("*") if path.is_file()]
    assert not [path for path in files if server.key.encode() in path.read_bytes()]


def test_evidence_and_usage_say_where_it_comes_from(
    tmp_path: Path, few: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LlmServer() as own:
        monkeypatch.setenv("OPENAI_API_KEY", own.key)
        monkeypatch.setenv("OPENAI_BASE_URL", own.base_url)
        ok(  # no --judge and no --base_url: the environment names the endpoint
            *("evaluate", "--input", few, "--output", tmp_path, "--index", index),
            *("--model", "offline-judge", "--sampling", "bundled", "--cache", "off"),
            *("--knowledge_model", "offline-knowledge", "--extractor_model", "offline-judge-small"),
            *("--workers", 1),
        )
        used = rows(tmp_path, "SELECT * FROM usage WHERE model IS NOT NULL")
        assert len(used) == len(own.chats)
        sent = sum(entry.prompt_tokens for entry in own.chats)
        assert sum(row["prompt_tokens"] for row in used) == sent
        asked = {(entry.step, entry.body["model"]) for entry in own.chats}
        assert asked - {("probe", model) for model in own.models} == {
            ("extract_facts", "offline-judge-small"),
            ("verify_facts", "offline-judge"),
            ("knowledge", "offline-knowledge"),
        }
    steps = Counter(row["step"] for row in used if row["step"] != "probe")
    # One call a response for extraction, and at most one for each further step.
    assert steps["extract"] == 6
    assert 0 < steps["knowledge"] <= 6
    assert 0 < steps["verify"] <= 18
    manifest = json.loads(next(tmp_path.glob("run=*/manifest.json")).read_text())
    assert (manifest["judge"], manifest["sources"]) == ("llm", SOURCES.split(","))
    found = rows(tmp_path, "SELECT * FROM evidence WHERE passage_id IS NOT NULL")
    by = {(row["judge"], row["model"], row["prompt_version"]) for row in found}
    assert [who[:2] for who in by] == [("llm", "offline-judge")]
    assert {row["request_id"] for row in found} <= {row["request_id"] for row in used}


# --- which judge, and what is said to it --------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "flags", "judge"),
    [
        ({}, (), "offline"),
        ({"OPENAI_API_KEY": "k"}, (), "llm"),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, (), "llm"),
        ({}, ("--base_url", "http://127.0.0.1:9/v1"), "llm"),
        ({"OPENAI_API_KEY": "k"}, ("--judge", "offline"), "offline"),
        ({"KNOWLEDGE_API_KEY": "k"}, (), "offline"),
    ],
    ids=str,
)
def test_a_model_judges_where_an_endpoint_is_named(
    monkeypatch: pytest.MonkeyPatch,
    environment: Mapping[str, str],
    flags: tuple[str, ...],
    judge: str,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    parser = Parser(prog="ufo evaluate")
    parser.add_options(GROUPS)
    assert (
        settings(Settings, parser, ["--input", "in", "--output", "out", *flags]).judge.name == judge
    )


# --- `ufo evaluate` with models behind real HTTP: what ends a run, and what only ends a request.


@pytest.mark.parametrize("judge", [(), ("--judge", "offline"), ("--sources", "llm")])
def test_an_address_that_can_be_none_is_reported(
    tmp_path: Path, few: Path, monkeypatch: pytest.MonkeyPatch, judge: tuple[str, ...]
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost:8000")
    done = ufo("evaluate", "--input", few, "--output", tmp_path, "--workers", 1, *judge)
    assert done.code == (0 if "offline" in judge else 2 if "llm" in judge else 1)
    told = (
        done.err if done.code else ufo("sql", tmp_path, "SELECT reason FROM sources", "--csv").out
    )
    assert "'localhost:8000' is not an http:// or https:// URL" in told


# --- what ends a run ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "path", "model", "remedy"),
    [
        ("sk-wrong-0123456789abcdef", "/v1", "offline-judge", "set it to one that is valid"),
        (None, "/v1", "offline-judge", "set OPENAI_API_KEY"),
        ("right", "/nowhere", "offline-judge", "check --base_url"),
        ("right", "/v1", "ofline-judge", "Did you mean 'offline-judge'?"),
        ("right", "gone", "offline-judge", "check --base_url"),
    ],
    ids=["wrong key", "no key", "wrong path", "unknown model", "no server"],
)
def test_what_every_request_would_meet_ends_the_run_at_once(
    tmp_path: Path,
    few: Path,
    monkeypatch: pytest.MonkeyPatch,
    key: str | None,
    path: str,
    model: str,
    remedy: str,
) -> None:
    with LlmServer() as own:
        if key:
            monkeypatch.setenv("OPENAI_API_KEY", own.key if key == "right" else key)
        url = "http://127.0.0.1:9/v1" if path == "gone" else own.base_url.replace("/v1", path)
        for sources, judge in (("reference", "llm"), ("llm", "offline")):
            own.requests.clear()
            done = ufo(
                *("evaluate", "--input", few, "--output", tmp_path, "--sources", sources),
                *("--judge", judge, "--model", model, "--base_url", url, "--cache", "off"),
                *("--workers", 1),
            )
            assert len(own.requests) <= 3
            assert done.code == 1
            assert remedy in done.err
            assert (key or "sk-") not in done.err
            assert not list(tmp_path.glob("run=*/manifest.json"))


# --- what ends a request ------------------------------------------------------------------------

FAULTS: Mapping[str, tuple[faults.Fault, str]] = {
    "Refusal": (faults.refusal(), "refused"),
    "Filter": (faults.content_filter(), "filtered"),
    "Prompt": (faults.filtered_prompt(), "filtered"),
    "Length": (faults.length(), "truncated"),
    "Prose": (faults.prose(), "unparsable"),
    "Empty": (faults.empty_tool_calls(), "unparsable"),
    "Types": (faults.wrong_types(), "unparsable"),
    "Half": (faults.half_arguments(), "truncated"),
    "Thin": (faults.missing_arguments(), ""),  # the rest comes when it is asked for again
    "Extra": (faults.extra_arguments(), ""),
}


class _ByName:
    """Does to each verification what the city that it is about is named after."""

    def next(self, body: bytes) -> faults.Fault | None:
        if b'"name": "verify_facts"' not in body and b'"name":"verify_facts"' not in body:
            return None
        return next((f for name, (f, _) in FAULTS.items() if f"{name}ville".encode() in body), None)


def test_each_bad_reply_has_its_reason_and_is_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = ["{0}ville is large.", "{0}ville has 5 bridges.", "{0}ville was founded in 1901."]
    records = [
        {
            "id": name,
            "response": " ".join(claims).format(name),
            "reference_answers": [f"{' '.join(claims[:2])} Founded in 1850.".format(name)],
        }
        for name in (*FAULTS, "Fine")
    ]
    path = write_lines(tmp_path / "in.jsonl", records)
    outputs = {}
    with LlmServer() as own:
        monkeypatch.setenv("OPENAI_API_KEY", own.key)
        own.mix = _ByName()  # type: ignore[assignment]
        for judge in ("llm", "offline"):
            outputs[judge] = tmp_path / judge
            ok(
                *("evaluate", "--input", path, "--output", outputs[judge]),
                *("--sources", "reference", "--judge", judge),
                *(at(own) if judge == "llm" else ()),
            )
    query = "SELECT response_id, unit_id, outcome, reason, label FROM evidence"
    said = {(row["response_id"], row["unit_id"]): row for row in rows(outputs["offline"], query)}
    wrong: dict[str, list[str]] = {name: [] for name in (*FAULTS, "Fine")}
    for row in rows(outputs["llm"], query):
        if row["outcome"] == "error":
            assert row["label"] is None
            wrong[row["response_id"]].append(row["reason"])
        else:
            # What could be read of a spoiled reply is what the model said.
            assert row == said[row["response_id"], row["unit_id"]]
    for name, (_, reason) in FAULTS.items():
        assert set(wrong[name]) == ({reason} if reason else set()), name
        if name not in ("Length", "Half"):
            assert len(wrong[name]) == (3 if reason else 0), name
    assert wrong["Fine"] == []
    undecided = rows(outputs["llm"], "SELECT * FROM verdicts WHERE n_error > 0")
    assert len(undecided) == sum(map(len, wrong.values()))
    assert {(row["label"], row["source"]) for row in undecided} == {(None, "none")}
    failed = rows(outputs["llm"], "SELECT step, key, error_type FROM failures")
    assert {row["key"] for row in failed} == {name for name, found in wrong.items() if found}


@pytest.mark.parametrize("fault", ["refusal", "prose"])
def test_an_extraction_that_fails_is_a_failure_and_not_a_response_without_claims(
    tmp_path: Path, llm_server: LlmServer, fault: str
) -> None:
    path = write_lines(tmp_path / "in.jsonl", [{"id": "r", "response": "Oslo has 5 bridges."}])
    spoiled = getattr(faults, fault)()
    llm_server.faults.extend([None, spoiled, spoiled])  # the first is the probe's
    words = ("--input", path, "--output", tmp_path / "out", "--sources", "reference")
    done = ufo("evaluate", *words, *at(llm_server))
    assert (done.code, "no claim could be extracted" in done.err) == (1, True)
    (failure,) = rows(tmp_path / "out", "SELECT step, key, error_type FROM failures")
    error = "refused" if fault == "refusal" else "unparsable"
    assert failure == {"step": "extract", "key": "r", "error_type": error}


# --- Runs whose judge gives nothing that can be used: no score anywhere, a reason, and exit code 1


RECORDS = [
    {
        "id": f"city-{number}",
        "response": f"City {number} is large. It has {number} bridges. It was founded in 1901.",
        "reference_answers": f"City {number} is large. It has 7 bridges.",
    }
    for number in range(3)
]


@dataclass
class Spoiling:
    """Spoils the reply to each request that has these words; all but the first `spared`."""

    words: bytes
    spared: int = 0
    fault: Callable[[], faults.Fault] = faults.prose

    def next(self, body: bytes) -> faults.Fault | None:
        if self.words not in body:
            return None
        self.spared -= 1
        return None if self.spared >= 0 else self.fault()


@pytest.fixture(name="own")
def _own(monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmServer]:
    with LlmServer() as own:
        monkeypatch.setenv("OPENAI_API_KEY", own.key)
        yield own


@pytest.fixture(name="command")
def _command(tmp_path: Path, own: LlmServer) -> tuple[object, ...]:
    path = write_lines(tmp_path / "in.jsonl", RECORDS)
    return (
        *("evaluate", "--input", path, "--output", tmp_path / "out"),
        *("--sources", "reference", "--judge", "llm", *at(own)),
    )


def test_a_run_without_a_usable_judgement(
    tmp_path: Path, own: LlmServer, command: tuple[object, ...]
) -> None:
    own.mix = Spoiling(b"Task: verify_facts")  # type: ignore[assignment]
    done = ufo(*command, "--run", "bad")
    said = "judgements were unusable; try --formulation prompt or --facts_per_call 4 (unparsable"
    assert done.code == 1
    assert said in done.err.splitlines()[-1]
    assert "no judgement was usable, so there is no score" in done.out
    assert "0.000" not in done.out
    output = tmp_path / "out"
    assert len(rows(output, "FROM verdicts")) == 9
    assert {row["reason"] for row in rows(output, "FROM evidence")} == {"unparsable"}

    again = ufo(*command, "--run", "bad", "--if_finished", "skip", "--json")
    assert again.code == 1
    assert (again.json["factuality_score"], again.json["n_unusable"]) == (None, 9)
    assert said in again.json["problem"]

    page = tmp_path / "page.html"
    assert ufo("report", output, "--html", page).out == ""
    report = ufo("report", output)
    assert "No judgement was usable, so there is no score." in report.out
    assert said in " ".join(report.out.split())
    assert "0.000" not in report.out
    assert "No judgement was usable, so there is no score." in page.read_text(encoding="utf-8")
    assert said in page.read_text(encoding="utf-8")
    assert json.loads(ufo("report", output, "--json").out)["scores"][0]["factuality_score"] is None
    own.mix = None
    ok(*command, "--run", "good")
    compared = ufo("compare", output, "good", "bad")
    assert compared.code == 2
    assert "no judgement was usable, so there is no score" in compared.err


@pytest.mark.parametrize(
    ("words", "fault", "code", "said"),
    [
        (b"verify_facts", faults.length, 0, "try --context N with the tokens that the model's"),
        (b"verify_facts", lambda: faults.status(400), 1, "(transport 9): URL answered 400: "),
        (b"extract_facts", faults.prose, 1, "no claim could be extracted from 3 of 3 responses"),
    ],
)
def test_the_remedy_is_that_of_the_reason(
    own: LlmServer,
    command: tuple[object, ...],
    words: bytes,
    fault: Callable[[], faults.Fault],
    code: int,
    said: str,
) -> None:
    own.mix = Spoiling(b"Task: " + words, fault=fault)  # type: ignore[assignment]
    done = ufo(*command, "--repairs", 0)
    assert done.code == code
    assert said.replace("URL", own.base_url) in done.err
    assert "--concurrency" not in done.err


def test_a_recall_without_a_usable_judgement(tmp_path: Path, own: LlmServer) -> None:
    own.mix = Spoiling(b"It is clear from the passage that")  # type: ignore[assignment]
    command = ("recall", "--input", EXAMPLE, "--output", tmp_path, "--formulations", "tf")
    done = ufo(*command, *at(own))
    assert done.code == 1
    assert "judgements were unusable; try --formulations prompt or --facts_per_call 4" in done.err
    (scored,) = rows(tmp_path, "FROM recall_scores WHERE formulation = 'tf' AND variant = 'rag'")
    assert (scored["accuracy"], scored["recall"], scored["mean_recall"]) == (None, None, None)
