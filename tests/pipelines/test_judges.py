"""Judges of other people: a file, an installed package, an object; and broken ones."""

import json
from pathlib import Path
from typing import Any

import pytest

import ufo as python
from tests.llm_server import LlmServer
from tests.pipelines.conftest import ufo, ufo_process, write_lines
from tests.pipelines.installed import install
from tests.pipelines.llm_runs import at, rows
from tests.pipelines.other_judges import judge as judge_of
from tests.transforms.judges.stated import STATED
from ufo.examples.own_judge import Contained
from ufo.schemas.records import ERROR, NOANS, REFUTED, SUPPORTED

OUTCOMES = "SELECT outcome, judge FROM evidence ORDER BY response_id"
CASCADE = Path(__file__).parents[2] / "examples/own_judge.py:Cascade"
EXAMPLE = Path(__file__).parents[2] / "examples/own_judge.py"


def test_an_installed_package_judges_without_an_edit_here(
    tmp_path: Path, two_responses: tuple[object, ...]
) -> None:
    entry = "contained = acme_facts:Contained"
    environment = install(tmp_path, EXAMPLE.read_text(), "ufo.judges", entry)
    done = ufo_process(
        *(*two_responses, "--judge", "contained", "--workers", 1),
        env=environment,
        cwd=tmp_path,
    )
    assert done.code == 0, done.err
    found = rows(tmp_path / "out", OUTCOMES)
    assert [tuple(row.values()) for row in found] == [
        (SUPPORTED, "contained"),
        (NOANS, "contained"),
    ]
    listed = ufo_process("judges", "--json", env=environment)
    (row,) = [row for row in listed.json if row["type"] == "contained"]
    assert (row["package"], row["options"]) == ("acme-facts", {"share": 0.9, "letters": 4})
    assert (row["extracts"], row["verifies"], row["abstains"]) == (False, True, True)
    assert (row["needs_endpoint"], row["flags"]) == (False, [])


def test_a_file_by_a_relative_path_on_beams_direct_runner(
    tmp_path: Path, two_responses: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/judge.py").write_text(EXAMPLE.read_text())
    monkeypatch.chdir(tmp_path)
    done = ufo(*two_responses, "--judge", "mine/judge.py:Contained", "--runner", "DirectRunner")
    assert done.code == 0, done.err
    assert [row["outcome"] for row in rows(tmp_path / "out", OUTCOMES)] == [SUPPORTED, NOANS]
    (manifest,) = (tmp_path / "out").glob("run=*/manifest.json")
    assert json.loads(manifest.read_text())["judge"] == "Contained"


def test_objects_and_descriptions_from_python() -> None:
    records = [{"response": "Oslo is large.", "reference_answers": "They say Oslo is large."}]
    found = python.evaluate(records, ["reference"], judge=Contained(), workers=1, quiet=True)
    assert found.evidence["outcome"].to_pylist() == [SUPPORTED]
    assert set(found.evidence["judge"].to_pylist()) == {"Contained"}
    found.close()
    checked = python.check_sync(
        "Oslo is large.",
        references=["Rome."],
        sources=["reference"],
        judge={"name": "mine", "type": judge_of("Says"), "word": "refuted"},
    )
    assert [(row.judge, row.outcome) for row in checked.evidence] == [("mine", REFUTED)]
    with pytest.raises(python.UsageError, match="a judge is a name or"):
        python.check_sync("Oslo is large.", judge=5)
    record: dict[str, Any] = {"question": "How large?", "ground_truth": "Oslo is large."}
    record["answers"] = {"one": "They say that Oslo is large.", "two": "It is small."}
    recalled = python.recall([record], judge=Contained(), quiet=True)
    assert recalled.scores["recall"].to_pylist() == [1.0, 0.0]
    assert set(recalled.scores["formulation"].to_pylist()) == {"Contained"}
    recalled.close()


def test_garbage_from_a_judge_is_an_error_of_that_passage_and_no_more(
    tmp_path: Path, two_responses: tuple[object, ...]
) -> None:
    said = ["supported it is", "nonsense", "refuted", "error"]
    write_lines(
        tmp_path / "in.jsonl",
        [
            {"id": str(n), "response": "Oslo is large.", "reference_answers": text}
            for n, text in enumerate(said)
        ],
    )
    done = ufo(*two_responses, "--workers", 1, "--judge", judge_of("Says"))
    assert done.code == 0, done.err
    found = [row["outcome"] for row in rows(tmp_path / "out", OUTCOMES)]
    assert found == [SUPPORTED, ERROR, REFUTED, ERROR]
    (failure,) = rows(tmp_path / "out", "SELECT step, error_type, message FROM failures")
    assert (failure["step"], failure["error_type"]) == ("verify", "ValueError")
    assert "unknown outcome 'nonsense'" in failure["message"]
    # One that leaves units out has judged nothing.
    ufo(*two_responses, "--workers", 1, "--judge", judge_of("Sloppy"))
    assert {row["outcome"] for row in rows(tmp_path / "out", OUTCOMES)} == {ERROR}


# --- under names of their own, in the configuration file


@pytest.mark.parametrize(
    ("text", "flags", "judge", "outcome"),
    [
        ("judge: {name: mine, type: TYPE, word: refuted}", (), "mine", REFUTED),
        ("judge: {type: TYPE, word: refuted}", ("--judge", "offline"), "offline", NOANS),
        ("judges: [{name: a, type: TYPE}, {name: b, type: TYPE, word: refuted}]\njudge: b", (),
         "b", REFUTED),
        ("judges: [offline, {name: b, type: TYPE, word: refuted}]", ("--judge", "b"), "b", REFUTED),
    ],
)  # fmt: skip
def test_a_named_judge_of_the_configuration(
    tmp_path: Path,
    two_responses: tuple[object, ...],
    text: str,
    flags: tuple[str, ...],
    judge: str,
    outcome: str,
) -> None:
    config = tmp_path / "ufo.yaml"
    config.write_text(text.replace("TYPE", json.dumps(judge_of("Says"))))
    done = ufo(*two_responses, "--workers", 1, "--config", config, *flags)
    assert done.code == 0, done.err
    assert [tuple(row.values()) for row in rows(tmp_path / "out", OUTCOMES)][1] == (outcome, judge)


# --- those that ask a model, or another service


@pytest.fixture
def asked(
    two_responses: tuple[object, ...], llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> tuple[object, ...]:
    """The words of a command over two responses, whose models are at the server."""
    monkeypatch.setenv("OPENAI_API_KEY", llm_server.key)
    return (*two_responses, *at(llm_server))


def test_one_that_asks_a_model_gets_the_client_of_the_run(
    tmp_path: Path,
    two_responses: tuple[object, ...],
    asked: tuple[object, ...],
    llm_server: LlmServer,
) -> None:
    estimate = ufo(*asked, "--judge", judge_of("Plain"), "--dry_run", "--json").json
    (calls,) = [row["calls"] for row in estimate["rows"] if row["step"] == "verify"]
    assert (calls, llm_server.requests) == (2, [])
    # A service that is none of a model is counted too.
    far = ufo(*two_responses, "--judge", judge_of("Far"), "--dry_run", "--json").json
    assert [(row["step"], row["calls"]) for row in far["rows"]] == [("verify", 2)]
    done = ufo(*asked, "--judge", judge_of("Plain"))
    assert done.code == 0, done.err
    found = rows(tmp_path / "out", "SELECT DISTINCT judge, model FROM evidence")
    assert [tuple(row.values()) for row in found] == [("Plain", "offline-judge")]


def test_the_cascade_of_the_examples_asks_a_model_where_it_is_not_sure(
    tmp_path: Path, asked: tuple[object, ...], llm_server: LlmServer
) -> None:
    chances = {"Lima": "0.4 0.2 0.4 said.", "Oslo": "0.95 0 0.05 said.", "Rome": "0 1 0 said."}
    records = [
        {"id": city, "response": f"{city} is large.", "reference_answers": text}
        for city, text in chances.items()
    ]
    write_lines(tmp_path / "in.jsonl", records)  # in the place of the two responses
    words = ("--verifier", STATED, "--formulation", "prompt", "--judge", CASCADE)
    flags = (*asked, *words)
    estimate = ufo(*flags, "--dry_run", "--json").json
    assert [row["calls"] for row in estimate["rows"] if row["step"] == "verify"] == [2]
    assert llm_server.requests == []
    done = ufo(*flags)
    assert done.code == 0, done.err
    found = rows(tmp_path / "out", "SELECT judge FROM evidence ORDER BY response_id")
    assert [row["judge"] for row in found] == ["llm", "offline", "llm"]
    assert "Verifier stated (a first look" in done.out
