"""`ufo evaluate` with models behind HTTP: as in process, errors, and where nothing is usable."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer, faults
from tests.pipelines.conftest import ends, evaluation, named_cases, ok, settings_of, tables, ufo
from tests.pipelines.llm_runs import EXAMPLE, at, rows

SOURCES = "reference,wikipedia,llm"
FORMULATIONS = {
    "json": (),
    "stepwise": ("--formulation", "stepwise"),
}


# --- the same over HTTP as in process -----------------------------------------------------------


@pytest.mark.parametrize("flags", FORMULATIONS.values(), ids=FORMULATIONS)
def test_verdicts_over_http_are_those_in_process(
    tmp_path: Path, few: Path, index: Path, llm_server: LlmServer, flags: tuple[object, ...]
) -> None:
    words = ("evaluate", "--input", few, "--index", index, "--sources", SOURCES, "--mode", "all")
    printed = ""
    for judge, more in (("offline", ()), ("llm", flags)):
        places = ("--output", tmp_path / judge, "--judge", judge)
        done = ok(*words, *places, *at(llm_server, *more))
        printed += done.out + done.err
    expected, rows_by_table = tables(tmp_path / "offline"), tables(tmp_path / "llm")
    for table in ("responses", "sentences", "fact_units", "verdicts"):
        assert rows_by_table[table] == expected[table]
    assert rows_by_table["failures"] == []
    assert len(rows_by_table["evidence"]) == len(expected["evidence"])
    assert len({row[4] for row in rows_by_table["verdicts"]}) > 1  # not all of one label
    query = "SELECT sample_index FROM evidence WHERE source = 'llm'"
    sampled = rows(tmp_path / "llm", query)
    assert {row["sample_index"] for row in sampled} == {0, 1, 2, 3, 4}
    # No secret is told or written anywhere.
    assert llm_server.key not in printed + repr(rows_by_table)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if llm_server.key.encode() in path.read_bytes()]


def test_evidence_and_usage_say_where_it_comes_from(
    tmp_path: Path, few: Path, index: Path, llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", llm_server.base_url)
    ok(  # no --judge and no --base_url: the environment names the endpoint
        "evaluate",
        "--input",
        few,
        "--output",
        tmp_path,
        "--index",
        index,
        "--model",
        "offline-judge",
        "--sampling",
        "bundled",
        "--cache",
        "off",
        "--knowledge_model",
        "offline-knowledge",
        "--extractor_model",
        "offline-judge-small",
        "--workers",
        1,
    )
    used = rows(tmp_path, "SELECT * FROM usage WHERE model IS NOT NULL")
    assert len(used) == len(llm_server.chats)
    sent = sum(entry.prompt_tokens for entry in llm_server.chats)
    assert sum(row["prompt_tokens"] for row in used) == sent
    asked = {(entry.step, entry.body["model"]) for entry in llm_server.chats}
    assert asked - {("probe", model) for model in llm_server.models} == {
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
    assert manifest["judge"] == "llm"
    assert manifest["sources"] == SOURCES.split(",")
    selected = rows(tmp_path, "SELECT * FROM evidence WHERE passage_id IS NOT NULL")
    by = {(row["judge"], row["model"], row["prompt_version"]) for row in selected}
    assert [who[:2] for who in by] == [("llm", "offline-judge")]
    assert {row["request_id"] for row in selected} <= {row["request_id"] for row in used}


# --- which judge, and what is said to it --------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "judge"), named_cases(Path(__file__).with_name("who_judges.txt"))
)
def test_a_model_judges_where_an_endpoint_is_named(
    monkeypatch: pytest.MonkeyPatch, words: str, judge: str
) -> None:
    flags = [word for word in words.split() if word.startswith("--")]
    for variable in set(words.split()) - set(flags):
        monkeypatch.setenv(*variable.split("="))
    assert settings_of("--input", "in", "--output", "out", *flags).judge.name == judge


# --- `ufo evaluate` with models behind real HTTP: what ends a run, and what only ends a request.


@pytest.mark.parametrize(
    ("judge", "code"),
    [((), 1), (("--judge", "offline"), 0), (("--sources", "llm"), 2)],
    ids=["by a run", "for a source that is not needed", "for a source that is named"],
)
def test_an_address_that_can_be_none_is_reported(
    tmp_path: Path, few: Path, monkeypatch: pytest.MonkeyPatch, judge: tuple[str, ...], code: int
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost:8000")
    done = ufo("evaluate", "--input", few, "--output", tmp_path, "--workers", 1, *judge)
    assert done.code == code
    reasons = ufo("sql", tmp_path, "SELECT reason FROM sources", "--csv").out
    message = done.err if code else reasons
    assert "'localhost:8000' is not an http:// or https:// URL" in message


# --- what ends a run ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "url", "remedy"),
    [
        ("sk-wrong-0123456789abcdef", None, "set it to one that is valid"),
        (None, "http://127.0.0.1:9/v1", "check --base_url"),
    ],
    ids=["a wrong key", "no server"],
)
def test_what_every_request_would_meet_ends_the_run_at_once(
    tmp_path: Path,
    llm_server: LlmServer,
    monkeypatch: pytest.MonkeyPatch,
    key: str | None,
    url: str | None,
    remedy: str,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key or llm_server.key)
    flags = at(llm_server, "--base_url", url or llm_server.base_url)
    words = evaluation(tmp_path, RECORDS, *flags)
    for sources, judge in (("reference", "llm"), ("llm", "offline")):
        llm_server.requests.clear()
        done = ufo(*words, "--sources", sources, "--judge", judge)
        assert len(llm_server.requests) <= 3
        assert done.code == 1
        assert remedy in done.err
        assert (key or "sk-") not in done.err
        assert not list(tmp_path.glob("out/run=*/manifest.json"))


# --- what ends a request ------------------------------------------------------------------------

FAULTS: Mapping[str, tuple[faults.Fault, str]] = {
    "Refusal": (faults.refusal(), "refused"),
    "Filter": (faults.content_filter(), "filtered"),
    "Prompt": (faults.filtered_prompt(), "filtered"),
    "Length": (faults.length(), "truncated"),
    "Prose": (faults.prose(), "unparsable"),
    "Empty": (faults.empty_tool_calls(), "unparsable"),
    "Types": (faults.wrong_types(), ""),  # a value in an object of its own is read
    "Half": (faults.half_arguments(), "truncated"),
    "Thin": (faults.missing_arguments(), ""),  # the rest comes when it is asked for again
    "Extra": (faults.extra_arguments(), ""),
}


@dataclass
class Spoiling:
    """Does to each request for a completion what a function of its body says."""

    next: Callable[[bytes], faults.Fault | None]


def by_name(body: bytes) -> faults.Fault | None:
    """What the city that a verification is about is named after."""
    if b"Task: verify_facts" not in body:
        return None
    return next((f for name, (f, _) in FAULTS.items() if f"{name}ville".encode() in body), None)


def test_each_bad_reply_has_its_reason_and_is_no_verdict(
    tmp_path: Path, llm_server: LlmServer
) -> None:
    claims = ["{0}ville is large.", "{0}ville has 5 bridges.", "{0}ville was founded in 1901."]
    names = [*FAULTS, "Fine"]
    records = [
        {
            "id": name,
            "response": " ".join(claims).format(name),
            "reference_answers": [f"{' '.join(claims[:2])} Founded in 1850.".format(name)],
        }
        for name in names
    ]
    llm_server.mix = Spoiling(by_name)  # type: ignore[assignment]
    words, llm = evaluation(tmp_path, records, "--judge"), tmp_path / "out"
    ok(*words, "llm", *at(llm_server))
    ok(*words, "offline", "--output", tmp_path / "offline")
    query = "SELECT response_id, unit_id, outcome, reason, label FROM evidence"
    verdicts = {
        (row["response_id"], row["unit_id"]): row for row in rows(tmp_path / "offline", query)
    }
    wrong: dict[str, list[str]] = {name: [] for name in names}
    for row in rows(llm, query):
        if row["outcome"] == "error":
            assert row["label"] is None
            wrong[row["response_id"]].append(row["reason"])
        else:
            # What could be read of a spoiled reply is what the model said.
            assert row == verdicts[row["response_id"], row["unit_id"]]
    for name, (_, reason) in FAULTS.items():
        assert set(wrong[name]) == ({reason} if reason else set()), name
        if name not in ("Length", "Half"):
            assert len(wrong[name]) == (3 if reason else 0), name
    assert wrong["Fine"] == []
    undecided = rows(llm, "SELECT * FROM verdicts WHERE n_error > 0")
    assert len(undecided) == sum(map(len, wrong.values()))
    assert {(row["label"], row["source"]) for row in undecided} == {(None, "none")}
    failed = {row["key"] for row in rows(llm, "FROM failures")}
    assert failed == {name for name, found in wrong.items() if found}


# --- Runs whose judge gives nothing that can be used: no score anywhere, a reason, and exit code 1


RECORDS = [
    {
        "id": f"city-{number}",
        "response": f"City {number} is large. It has {number} bridges. It was founded in 1901.",
        "reference_answers": f"City {number} is large. It has 7 bridges.",
    }
    for number in range(3)
]


def spoiling(words: bytes) -> Any:
    """Spoils the reply to each request that has these words."""
    return Spoiling(lambda body: faults.prose() if words in body else None)


@pytest.mark.slow
def test_a_run_without_a_usable_judgement(tmp_path: Path, llm_server: LlmServer) -> None:
    llm_server.mix = spoiling(b"Task: verify_facts")
    command = evaluation(tmp_path, RECORDS, *at(llm_server))
    done = ufo(*command, "--run", "bad")
    message = "judgements were unusable; try --formulation prompt or --facts_per_call 4 (unparsable"
    assert done.code == 1
    assert message in done.err.splitlines()[-1]
    assert "no score: no judgement was usable" in done.out
    output, page = tmp_path / "out", tmp_path / "page.html"
    assert len(rows(output, "FROM verdicts")) == 9
    assert {row["reason"] for row in rows(output, "FROM evidence")} == {"unparsable"}

    again = ufo(*command, "--run", "bad", "--if_finished", "skip", "--json")
    assert again.code == 1
    assert message in again.json["problem"]
    assert again.json["factuality_score"] is None
    assert again.json["n_unusable"] == 9

    assert ufo("report", output, "--html", page).out == ""
    report = ufo("report", output).out
    for text in (report, page.read_text(encoding="utf-8")):
        assert "no score: no judgement was usable" in text.lower()
        assert message in " ".join(text.split())
    assert "0.000" not in done.out + report
    assert ufo("report", output, "--json").json["scores"][0]["factuality_score"] is None
    llm_server.mix = None
    ok(*command, "--run", "good")
    assert "no judgement was usable, so there" in ends(2, "compare", output, "good", "bad").err


def test_a_text_whose_claims_cannot_be_extracted_is_a_failure(
    tmp_path: Path, llm_server: LlmServer
) -> None:
    llm_server.mix = spoiling(b"Task: extract_facts")
    done = ends(1, *evaluation(tmp_path, RECORDS, *at(llm_server, "--repairs", 0)))
    assert "no claim could be extracted from 3 of 3 responses" in done.err
    failed = rows(tmp_path / "out", "SELECT error_type FROM failures WHERE step = 'extract'")
    assert failed == [{"error_type": "unparsable"}] * 3


def test_a_recall_without_a_usable_judgement(tmp_path: Path, llm_server: LlmServer) -> None:
    llm_server.mix = spoiling(b"It is clear from the passage that")
    command = ("recall", "--input", EXAMPLE, "--output", tmp_path, "--formulations", "tf")
    done = ends(1, *command, *at(llm_server))
    assert "judgements were unusable; try --formulations prompt or --facts_per_call 4" in done.err
    (scored,) = rows(tmp_path, "FROM recall_scores WHERE formulation = 'tf' AND variant = 'rag'")
    assert scored["accuracy"] is None
    assert scored["recall"] is None
    assert scored["mean_recall"] is None
