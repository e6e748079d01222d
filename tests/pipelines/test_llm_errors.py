"""`ufo evaluate` with models behind real HTTP: what ends a run, and what only ends a request."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.llm_server import LlmServer, faults
from tests.pipelines.conftest import ufo, write_lines
from tests.pipelines.llm_runs import at, rows


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
            done = ufo(
                *("evaluate", "--input", path, "--output", outputs[judge]),
                *("--sources", "reference", "--judge", judge),
                *(at(own) if judge == "llm" else ()),
            )
            assert done.code == 0, done.err
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
