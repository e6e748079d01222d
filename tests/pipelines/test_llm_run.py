"""`ufo evaluate` with models behind real HTTP: the same as in process, and who judges."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.pipelines.conftest import tables, ufo
from tests.pipelines.llm_runs import at, rows
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
        done = ufo(  # no --judge and no --base_url: the environment names the endpoint
            *("evaluate", "--input", few, "--output", tmp_path, "--index", index),
            *("--model", "offline-judge", "--sampling", "bundled", "--cache", "off"),
            *("--knowledge_model", "offline-knowledge", "--extractor_model", "offline-judge-small"),
            *("--workers", 1),
        )
        assert done.code == 0, done.err
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
