"""Runs whose judge gives nothing that can be used: no score anywhere, a reason, and exit code 1."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.llm_server import LlmServer, faults
from tests.pipelines.conftest import ufo, write_lines
from tests.pipelines.llm_runs import EXAMPLE, at, rows

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
    assert ufo(*command, "--run", "good").code == 0
    compared = ufo("compare", output, "good", "bad")
    assert compared.code == 2
    assert "no judgement was usable, so there is no score" in compared.err


def test_many_errors_stand_beside_the_score(
    tmp_path: Path, own: LlmServer, command: tuple[object, ...]
) -> None:
    own.mix = Spoiling(b"Task: verify_facts", spared=2)  # type: ignore[assignment]
    done = ufo(*command, "--repairs", 0)
    said = "3 of 9 judgements were unusable; try --formulation prompt or --facts_per_call 4"
    assert done.code == 0
    assert "factuality score" in done.out
    assert said in done.err.splitlines()[-1]
    assert "; 3 of 9 judgements were unusable" in done.out
    page = tmp_path / "page.html"
    assert said in " ".join(ufo("report", tmp_path / "out").out.split())
    assert ufo("report", tmp_path / "out", "--html", page).code == 0
    assert said in page.read_text(encoding="utf-8")
    (run,) = rows(tmp_path / "out", "FROM scores_by_run")
    assert (run["n_unjudged"], run["n_unusable"], run["n_judgements"]) == (1, 3, 9)
    again = ufo(*command, "--repairs", 0, "--if_finished", "skip", "--json")
    assert again.json["error_share"] == pytest.approx(1 / 3)


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
