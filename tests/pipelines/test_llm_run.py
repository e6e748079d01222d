"""`ufo evaluate` with models behind real HTTP: the same as in process, and who judges."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.pipelines.llm_runs import at, rows
from ufo.pipelines.options.command_line import settings
from ufo.pipelines.options.groups import GROUPS
from ufo.pipelines.options.option import Parser
from ufo.pipelines.options.settings import Settings

Ufo = Callable[..., Any]
SOURCES = "reference,wikipedia,llm"
FORMULATIONS = {
    "json": (),
    "xml": ("--format", "xml"),
    "stepwise": ("--formulation", "stepwise"),
}


@pytest.fixture(scope="module")
def evaluated(
    tmp_path_factory: pytest.TempPathFactory,
    ufo: Ufo,
    few: Path,
    index: Path,
    server: LlmServer,
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
    [
        *((name, "all") for name in FORMULATIONS),
        ("json", "seq"),
        ("json", "mv"),
        ("json", "single"),
    ],
)
def test_verdicts_over_http_are_those_in_process(
    evaluated: Any, tables: Any, formulation: str, mode: str
) -> None:
    expected = tables(evaluated("offline", mode))
    found = tables(evaluated("llm", mode, *FORMULATIONS[formulation]))
    for table in ("responses", "sentences", "fact_units", "verdicts"):
        assert found[table] == expected[table]
    assert found["failures"] == []
    assert len(found["evidence"]) == len(expected["evidence"])
    assert len({row[4] for row in found["verdicts"]}) > 1  # not all of one label


def test_each_source_decides_some_facts_in_turn(evaluated: Any) -> None:
    found = rows(evaluated("llm", "seq"), "SELECT source FROM verdicts")
    assert {row["source"] for row in found} == {"reference", "wikipedia", "llm", "none"}


def test_all_holds_what_each_mode_says(evaluated: Any) -> None:
    query = (
        "SELECT response_id, unit_id, source, label FROM verdicts WHERE mode = '{0}' ORDER BY ALL"
    )
    for mode in ("seq", "mv"):
        alone = rows(evaluated("llm", mode), query.format(mode))
        assert rows(evaluated("llm", "all"), query.format(mode)) == alone != []
    single = query.format("single").replace("WHERE", "WHERE source = 'llm' AND")
    assert rows(evaluated("llm", "all"), single) == rows(evaluated("llm", "single"), single) != []


def test_a_later_source_is_asked_only_about_what_is_undecided(evaluated: Any) -> None:
    output = evaluated("llm", "seq")
    (wrong,) = rows(
        output,
        "SELECT count(*) AS n FROM evidence AS e JOIN verdicts AS v USING (response_id, unit_id) "
        "WHERE v.source = 'reference' AND e.source <> 'reference'",
    )
    assert wrong == {"n": 0}


def test_evidence_says_where_it_comes_from(evaluated: Any) -> None:
    found = rows(evaluated("llm", "all"), "SELECT * FROM evidence")
    assert {(row["judge"], row["model"]) for row in found if row["passage_id"]} == {
        ("llm", "offline-judge")
    }
    assert len({row["prompt_version"] for row in found if row["passage_id"]}) == 1
    sampled = [row for row in found if row["source"] == "llm"]
    assert {row["sample_index"] for row in sampled} == {0, 1, 2, 3, 4}
    assert all(row["logprob_mean"] < 0 for row in sampled)
    requests = {row["request_id"] for row in rows(evaluated("llm", "all"), "SELECT * FROM usage")}
    assert {row["request_id"] for row in found if row["passage_id"]} <= requests


def test_every_request_is_in_the_usage_table(
    ufo: Ufo, tmp_path: Path, few: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LlmServer() as own:
        monkeypatch.setenv("OPENAI_API_KEY", own.key)
        monkeypatch.setenv("OPENAI_BASE_URL", own.base_url)
        done = ufo(  # no --judge and no --base_url: the environment names the endpoint
            *("evaluate", "--input", few, "--output", tmp_path, "--index", index),
            *("--model", "offline-judge", "--sampling", "bundled", "--cache", "off"),
            *("--workers", 1),
        )
        assert done.code == 0, done.err
        used = rows(tmp_path, "SELECT * FROM usage WHERE model IS NOT NULL")
        assert len(used) == len(own.chats)
        assert sum(row["prompt_tokens"] for row in used) == sum(
            entry.prompt_tokens for entry in own.chats
        )
        steps = Counter(row["step"] for row in used if row["step"] != "probe")
        # One call a response for extraction, and at most one for each further step.
        assert steps["extract"] == 6
        assert 0 < steps["knowledge"] <= 6
        assert 0 < steps["verify"] <= 18
    manifest = json.loads(next(tmp_path.glob("run=*/manifest.json")).read_text())
    assert (manifest["judge"], manifest["sources"]) == ("llm", SOURCES.split(","))


def test_no_secret_is_written_anywhere(evaluated: Any, tables: Any, server: LlmServer) -> None:
    output = evaluated("llm", "all")
    assert server.key not in repr(tables(output))
    for path in output.rglob("*"):
        if path.is_file():
            assert server.key.encode() not in path.read_bytes()


def test_judging_may_take_another_model_for_each_role(
    ufo: Ufo, tmp_path: Path, few: Path, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", server.key)
    before = len(server.chats)
    done = ufo(
        *("evaluate", "--input", few, "--output", tmp_path, "--sources", "reference,llm"),
        *("--knowledge_model", "offline-knowledge", "--extractor_model", "offline-judge-small"),
        *at(server),
    )
    assert done.code == 0, done.err
    asked = {(entry.step, entry.body["model"]) for entry in server.chats[before:]}
    assert asked - {("probe", model) for model in server.models} == {
        ("extract_facts", "offline-judge-small"),
        ("verify_facts", "offline-judge"),
        ("knowledge", "offline-knowledge"),
    }


# --- which judge, and what is said to it --------------------------------------------------------


@pytest.mark.parametrize(
    "flags",
    [
        ("--formulation", "stepwise"),
        ("--verdict_labels", "tf"),
        ("--explain", "none"),
        ("--citation",),
        ("--format", "xml"),
        ("--repairs", "0"),
        ("--passages_per_call", "1"),
        ("--facts_per_call", "1"),
        ("--extract_tokens", "500"),
        ("--extractor_model", "m"),
        ("--extractor_base_url", "http://127.0.0.1:9/v1"),
    ],
    ids=lambda flags: flags[0],
)
def test_what_the_offline_judge_would_not_hear_is_wrong_usage(
    ufo: Ufo, tmp_path: Path, few: Path, flags: tuple[str, ...]
) -> None:
    done = ufo("evaluate", "--input", few, "--output", tmp_path / "out", *flags)
    assert done.code == 2
    assert flags[0] in done.err
    assert "--judge llm" in done.err
    assert not (tmp_path / "out").exists()


def test_who_cannot_abstain_cannot_go_first(
    ufo: Ufo, tmp_path: Path, few: Path, index: Path
) -> None:
    done = ufo(
        *("evaluate", "--input", few, "--output", tmp_path, "--index", index),
        *("--sources", "reference,wikipedia", "--verdict_labels", "tf"),
        *("--base_url", "http://127.0.0.1:9/v1"),
    )
    assert done.code == 2
    assert "--verdict_labels tf" in done.err


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
