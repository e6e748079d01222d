"""Judges under names of their own, in the configuration file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.pipelines import other_judges
from tests.pipelines.llm_runs import rows
from tests.pipelines.other_judges import judge as judge_of
from ufo.schemas.records import NOANS, REFUTED

Ufo = Callable[..., Any]
OUTCOMES = "SELECT outcome, judge FROM evidence ORDER BY response_id"


@pytest.mark.parametrize(
    ("text", "flags", "judge", "outcome"),
    [
        ("judge: {name: mine, type: TYPE, word: refuted}", (), "mine", REFUTED),
        ("judge: {type: TYPE, word: refuted}", ("--judge", "offline"), "offline", NOANS),
        ("judges: [{name: a, type: TYPE, word: noans}, offline]", (), "a", NOANS),
        ("judges: [{name: a, type: TYPE}, {name: b, type: TYPE, word: refuted}]\njudge: b", (),
         "b", REFUTED),
        ("judges: [offline, {name: b, type: TYPE, word: refuted}]", ("--judge", "b"), "b", REFUTED),
    ],
)  # fmt: skip
def test_a_named_judge_of_the_configuration(
    tmp_path: Path,
    ufo: Ufo,
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


def test_a_changed_option_or_file_is_another_run(
    tmp_path: Path, ufo: Ufo, two_responses: tuple[object, ...]
) -> None:
    config = tmp_path / "ufo.yaml"
    code = Path(other_judges.__file__).read_text()
    (tmp_path / "mine.py").write_text(code)
    mine = f"name: mine, type: '{tmp_path}/mine.py:Says'"
    config.write_text(f"judge: {{{mine}, word: noans, api_key: hunt}}")
    flags = (*two_responses, "--workers", 1, "--config", config)
    assert ufo(*flags).code == 0
    assert all(b"hunt" not in path.read_bytes() for path in tmp_path.glob("out/run=*/*.json"))
    config.write_text(f"judge: {{{mine}, word: refuted}}")
    assert ufo(*flags).code == 0
    (tmp_path / "mine.py").write_text(code + "# another word\n")
    assert ufo(*flags).code == 0
    assert len(list((tmp_path / "out").glob("run=*"))) == 3
    again = (*flags, "--run", "r")
    assert ufo(*again).code == 0
    (tmp_path / "mine.py").write_text(code)
    done = ufo(*again, "--if_finished", "retry_errors")
    assert done.code == 2
    assert "options.judge" in done.err


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("judge: {name: x}", ["ufo.yaml", "a judge is a name or"]),
        ("judges: []", ["ufo.yaml", "`judges` is a list"]),
        ("judges: [{type: offline, name: 5}]", ["a judge's name is text"]),
        ("judges: [{type: offline}, {type: offline}]", ["two judges are named 'offline'"]),
        ("judge: {type: oflline}", ["unknown judge 'oflline'"]),
        ("judge: {name: o, type: offline, verifer: x}",
         ["option of the judge 'o' (offline)", "Did you mean 'verifier'?"]),
        ("judge: {name: o, type: offline, formulation: prompt}", ["option of the judge 'o'"]),
        ("judge: {name: m, type: llm, formulation: promt}", ["unknown --formulation 'promt'"]),
        ("judge: {name: m, type: llm, client: x}", ["option of the judge 'm' (llm)"]),
    ],
)  # fmt: skip
def test_what_is_wrong_in_the_file_is_reported(
    tmp_path: Path, ufo: Ufo, two_responses: tuple[object, ...], text: str, messages: list[str]
) -> None:
    config = tmp_path / "ufo.yaml"
    config.write_text(text)
    done = ufo(*two_responses, "--config", config)
    assert done.code == 2, done
    for message in messages:
        assert message in done.err


def test_a_named_judge_of_recall_takes_its_flags_alone(
    tmp_path: Path, ufo: Ufo, write_lines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "ufo.yaml"
    config.write_text("judge: {name: m, type: llm, formulation: prompt}")
    path = write_lines(tmp_path / "in.jsonl", [{"question": "?", "ground_truth": "Oslo."}])
    done = ufo("recall", "--input", path, "--output", tmp_path / "out", "--config", config)
    assert done.code == 2
    assert "unknown option of the judge 'm' (llm) 'formulation'" in done.err
    assert "'formulations'?" in done.err


def test_a_named_llm_judge_takes_its_flags_as_options(
    tmp_path: Path,
    ufo: Ufo,
    two_responses: tuple[object, ...],
    llm_server: LlmServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", llm_server.key)
    config = tmp_path / "ufo.yaml"
    config.write_text(
        "judge: {name: strict, type: llm, formulation: prompt, model: offline-judge, "
        f"base_url: '{llm_server.base_url}'}}"
    )
    done = ufo(*two_responses, "--workers", 1, "--config", config, "--cache", "off")
    assert done.code == 0, done.err
    assert {row["judge"] for row in rows(tmp_path / "out", OUTCOMES)} == {"strict"}
    assert {entry.step for entry in llm_server.chats} >= {"prompt"}
