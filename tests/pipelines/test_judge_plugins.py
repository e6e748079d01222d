"""Judges of other people: a file, an installed package, an object; and broken ones."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ufo as python
from tests.pipelines.installed import install
from tests.pipelines.llm_runs import rows
from tests.pipelines.other_judges import judge as judge_of
from ufo.examples.own_judge import Contained
from ufo.schemas.records import ERROR, NOANS, REFUTED, SUPPORTED

Ufo = Callable[..., Any]
OUTCOMES = "SELECT outcome, judge FROM evidence ORDER BY response_id"
EXAMPLE = Path(__file__).parents[2] / "examples/own_judge.py"


def test_an_installed_package_judges_without_an_edit_here(
    tmp_path: Path, ufo_process: Ufo, two_responses: tuple[object, ...]
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
    tmp_path: Path,
    ufo: Ufo,
    two_responses: tuple[object, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/judge.py").write_text(EXAMPLE.read_text())
    monkeypatch.chdir(tmp_path)
    done = ufo(*two_responses, "--judge", "mine/judge.py:Contained", "--runner", "DirectRunner")
    assert done.code == 0, done.err
    assert [row["outcome"] for row in rows(tmp_path / "out", OUTCOMES)] == [SUPPORTED, NOANS]
    (manifest,) = (tmp_path / "out").glob("run=*/manifest.json")
    assert json.loads(manifest.read_text())["judge"] == "Contained"


@pytest.mark.parametrize(
    ("judge", "messages"),
    [
        ("ofline", ["unknown judge 'ofline'", "Did you mean 'offline'?", "path/to/file.py:Class"]),
        ("nowhere.py:Mine", ["no file", "judge 'Mine'"]),
        ("Nobody", ["has no class 'Nobody'"]),
        ("Judgement", ["is not a judge: it must be a subclass of ufo.Judge"]),
        ("Extracts", ["verifies nothing", "`outcome` or `verify`"]),
        ("Broken", ["the judge 'Broken' cannot judge: it is broken; mend it"]),
        ("Says --verifier overlap", ["--verifier is for --judge offline"]),
        ("Says --formulation stepwise", ["--formulation is for --judge llm"]),
        ("Says --model m", ["--model 'm' would be passed over", "'Says'"]),
        ("Sided --sources reference,llm --base_url http://127.0.0.1:1/v1",
         ["the judge 'Sided' cannot say that a passage does not tell", "--mode mv"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_before_anything_is_read(
    ufo: Ufo, two_responses: tuple[object, ...], judge: str, messages: list[str]
) -> None:
    name, *flags = judge.split()
    named = judge_of(name) if name[0].isupper() else name
    done = ufo(*two_responses, "--workers", 1, "--judge", named, *flags)
    assert done.code == 2, done
    for message in messages:
        assert message in done.err


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


def test_recall_asks_it_too() -> None:
    record = {
        "question": "How large is Oslo?",
        "ground_truth": "Oslo is large.",
        "answers": {"one": "They say that Oslo is large.", "two": "It is small."},
    }
    found = python.recall([record], judge=Contained(), quiet=True)
    assert found.scores["recall"].to_pylist() == [1.0, 0.0]
    assert set(found.scores["formulation"].to_pylist()) == {"Contained"}
    found.close()


def test_garbage_from_a_judge_is_an_error_of_that_passage_and_no_more(
    tmp_path: Path, ufo: Ufo, two_responses: tuple[object, ...], write_lines: Any
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


def test_a_judge_that_leaves_units_out_has_judged_nothing(
    tmp_path: Path, ufo: Ufo, two_responses: tuple[object, ...]
) -> None:
    ufo(*two_responses, "--workers", 1, "--judge", judge_of("Sloppy"))
    assert [row["outcome"] for row in rows(tmp_path / "out", OUTCOMES)] == [ERROR, ERROR]
