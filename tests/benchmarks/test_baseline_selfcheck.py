"""The baselines run through the ordinary tables, against a server that answers as one."""

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.llm_server import LlmServer, Reply
from tests.llm_server.chat import Chat
from ufo.schemas.results import open_results

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "baseline_selfcheck.py"
CLAIMS = (("Oslo is in Norway.", True), ("Oslo is in Peru.", False), ("Oslo hums.", True))


class Knows:
    """Knows Norway by itself, and all that a passage says; else it cannot tell."""

    def __init__(self) -> None:
        self.passages: list[Any] = []

    def matches(self, chat: Chat) -> bool:
        return "Judge by what you know yourself" in chat.system

    def answer(self, chat: Chat) -> Reply:
        passage, claim = chat.user.split("<claim>")
        self.passages.append(passage)
        if "Norway" in claim:
            text = "True"
        else:
            text = "False" if "not in Peru" in passage and "Peru" in claim else "Not clear"
        return Reply(text=text, step="verify")


@pytest.fixture(name="script")
def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("baseline_selfcheck", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(name="knows")
def _knows() -> Knows:
    return Knows()


@pytest.fixture(name="flags")
def _flags(knows: Knows, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, ...]]:
    with LlmServer(answerers=[knows]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        at = (
            "--base_url",
            server.base_url,
            "--model",
            "offline-judge",
            "--cache",
            "off",
            "--workers",
            "1",
        )
        yield at


@pytest.fixture(name="responses")
def _responses(tmp_path: Path) -> Path:
    record = {
        "id": "r",
        "response": " ".join(claim for claim, _ in CLAIMS),
        "question": "Where is Oslo?",
        "claims": [{"claim": claim, "label": label} for claim, label in CLAIMS],
        "reference_answers": [
            "Oslo is a city of 700,000.",
            "Oslo is not in Peru.",
            "Bergen is a city of rain.",
            "Trondheim is a city of students.",
        ],
    }
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps(record) + "\n" + json.dumps({**record, "id": "s"}) + "\n")
    return path


def test_both_runs_are_in_the_result_tables(
    script: ModuleType,
    knows: Knows,
    flags: tuple[str, ...],
    responses: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--output", str(tmp_path / "out"), "--input", str(responses), *flags]
    assert script.main(words) == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["selfcheck"]["factuality_score"] == pytest.approx(1 / 3)
    assert last["selfcheck"]["coverage"] == pytest.approx(1 / 3)
    assert last["one_document"]["coverage"] == pytest.approx(2 / 3)
    assert last["one_document"]["errors"]["wrong"]["value"] == 0
    assert last["difference"]["n_questions"] == 1
    assert any("Nothing was looked up" in passage for passage in knows.passages)
    for run, source in (("selfcheck", "Nothing"), ("one_document", "reference")):
        with open_results(tmp_path / "out", run) as results:
            rows = results.query("SELECT source, count(*) AS n FROM evidence GROUP BY ALL")
            # One passage a claim.
            ((found, n),) = (tuple(row.values()) for row in rows.to_pylist())
        assert (found.rsplit(":")[-1], n) == (source, 6)


def test_the_labelled_responses_are_taken_where_no_input_is_given(
    script: ModuleType, flags: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "data" / "factcheck_gpt"
    folder.mkdir(parents=True)
    sentence = {
        "text": "Oslo is in Norway.",
        "claims": ["Oslo is in Norway."],
        "claims_factuality_label": [True],
        "auto_evidence": [["Oslo is in Norway."]],
        "sentence_factuality_label": True,
    }
    row = {"prompt": "Q?", "response": "Oslo is in Norway.", "sentences": {"sentence1": sentence}}
    (folder / "benchmark.jsonl").write_text((json.dumps(row) + "\n") * 12)
    words = ["--output", str(tmp_path / "out"), "--data", str(tmp_path / "data"), "--quick", *flags]
    assert script.main(words) == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["selfcheck"]["n_units"] == 10


def test_a_run_that_fails_ends_it_with_its_exit_code(
    script: ModuleType, responses: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    words = ["--output", str(tmp_path / "out"), "--input", str(responses), "--judg", "x"]
    assert script.main(words) == 2
