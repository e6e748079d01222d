"""`ufo recall` with a model behind real HTTP and offline: the same verdicts, and resumable."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer, faults
from tests.pipelines.conftest import tables, ufo, write_lines
from tests.pipelines.llm_runs import ENVIRONMENT, EXAMPLE, rows

Ufo = Callable[..., Any]
FIVE = ("prompt", "tf", "tf+citation", "tfn", "tfn+citation")
# By hand from the example: (variant, facts, true) as its labels have it, where there are any.
PEOPLE = [("no_context", 6, 2), ("poor", 6, 0), ("rag", 6, 5)]


def labels(output: Path, formulation: str) -> list[dict[str, Any]]:
    return rows(
        output,
        "SELECT record_id, variant, fact_id, label FROM recall_verdicts "
        f"WHERE formulation = '{formulation}' ORDER BY ALL",
    )


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example recalled without a model."""
    output = tmp_path_factory.mktemp("offline")
    with pytest.MonkeyPatch.context() as patch:
        for name in ENVIRONMENT:
            patch.delenv(name, raising=False)
        done = ufo("recall", "--input", EXAMPLE, "--output", output)
    assert done.code == 0, done.err
    assert "Judging offline" in done.err
    return output


# --- the five formulations in one run -------------------------------------------------------------


def test_five_formulations_are_compared_in_one_run(
    recall: Ufo, server: LlmServer, tmp_path: Path, offline: Path
) -> None:
    done = recall(tmp_path, "--json")
    assert done.code == 0, done.err
    assert (done.json["records"], done.json["facts"], done.json["failures"]) == (3, 8, 0)
    # The model answers as the offline judge does, so every formulation says what that one says.
    expected = labels(offline, "offline")
    assert {row["label"] for row in expected} == {0, 1}
    for formulation in FIVE:
        assert labels(tmp_path, formulation) == expected
    steps = Counter(entry.step for entry in server.chats if entry.step != "probe")
    # One call for facts that are not given; one an answer for each function, one a fact by prompt.
    assert steps == {"generate_facts": 1, "fact_checker": 9 * 4, "prompt": 8 * 3}
    people = [row for row in done.json["recall_scores"] if row["formulation"] == "human"]
    assert [(row["variant"], row["n_facts"], row["n_true"]) for row in people] == PEOPLE
    costs = {row["formulation"]: row for row in done.json["recall_cost"]}
    expected_calls: dict[str | None, int] = {**dict.fromkeys(FIVE, 9), "prompt": 24, None: 1}
    assert {name: row["n_calls"] for name, row in costs.items()} == expected_calls
    sent = sum(entry.prompt_tokens for entry in server.chats if entry.step != "probe")
    assert sum(row["prompt_tokens"] for row in costs.values()) == sent
    assert costs["tf"]["completion_tokens"] < costs["tf+citation"]["completion_tokens"]


def test_as_published_is_one_attempt_by_the_papers_prompts(recall: Ufo, tmp_path: Path) -> None:
    flags = ("--as_published", "--repairs", 0, "--formulations", "prompt,tfn+citation+xml")
    done = recall(tmp_path, "--json", *flags)
    assert (done.code, done.json["facts"], done.json["failures"]) == (0, 8, 0), done.err
    assert labels(tmp_path, "prompt") == labels(tmp_path, "tfn+citation+xml") != []
    errors = done.json["recall_errors"]
    variants = ("no_context", "poor", "rag")
    # By hand: overlap agrees with all labels of people.
    assert {(row["variant"], row["n_labelled"]) for row in errors} == {(v, 6) for v in variants}
    assert {(row["error_rate"], row["f1_false"]) for row in errors} == {(0, 1)}


def test_a_run_of_several_processes_and_chunks_is_the_same(recall: Ufo, tmp_path: Path) -> None:
    flags = ("--formulations", "tfn,prompt", "--chunk_size", 1, "--workers", 2)
    assert recall(tmp_path / "many", *flags).code == 0
    assert recall(tmp_path / "one", "--formulations", "tfn,prompt").code == 0
    many, one = tables(tmp_path / "many"), tables(tmp_path / "one")
    for table in ("recall_records", "recall_answers", "recall_facts"):
        assert many[table] == one[table] != []
    without_ids = [[row[:-1] for row in found["recall_verdicts"]] for found in (many, one)]
    assert without_ids[0] == without_ids[1] != []


# --- unanswered facts -----------------------------------------------------------------------------


def given(tmp_path: Path) -> Path:
    """A record whose two facts are labelled, the second false."""
    facts = [
        {"fact": "Oslo is in Norway.", "labels": {"rag": True}},
        {"fact": "Oslo is small.", "labels": {"rag": False}},
    ]
    record = {
        "id": "oslo",
        "question": "Where is Oslo?",
        "ground_truth": "Oslo is in Norway.",
        "answers": {"rag": "Oslo is in Norway."},
        "facts": facts,
    }
    path: Path = write_lines(tmp_path / "given.jsonl", [record])
    return path


@pytest.mark.parametrize(
    ("flags", "calls", "na", "before"),
    [((), 2, 0, 2), (("--repairs", 0), 1, 2, 2)],
    ids=["repaired", "one attempt"],
)
def test_what_the_first_reply_left_out_is_counted(
    recall: Ufo,
    server: LlmServer,
    tmp_path: Path,
    flags: tuple[object, ...],
    calls: int,
    na: int,
    before: int,
) -> None:
    path = given(tmp_path)
    assert recall(tmp_path / "warm", "--formulations", "tf", source=path).code == 0  # probes
    server.requests.clear()
    server.faults.extend([None] * _probes(tmp_path / "warm"))
    server.faults.append(faults.missing_arguments())
    done = recall(tmp_path / "out", "--formulations", "tf", "--json", *flags, source=path)
    server.faults.clear()
    assert done.code == (1 if na == 2 else 0), done.err  # 1: no judgement was usable
    assert len([entry for entry in server.chats if entry.step == "fact_checker"]) == calls
    (error,) = done.json["recall_errors"]
    assert (error["n_na"], error["n_na_before_repair"]) == (na, before)
    assert error["error_rate"] == (None if na else 0)
    assert error["error_rate_with_na"] == na / 2
    (score,) = (row for row in done.json["recall_scores"] if row["formulation"] == "tf")
    assert (score["n_calls"], score["n_failed_calls_before_repair"]) == (1, 1)
    assert done.json["failures"] == bool(na)
    found = rows(tmp_path / "out", "SELECT * FROM failures")
    assert [(row["step"], row["key"]) for row in found] == [("verify", "oslo/rag/tf")] * bool(na)


def _probes(output: Path) -> int:
    (row,) = rows(output, "SELECT count(*) AS n FROM usage WHERE step = 'probe'")
    return int(row["n"])
