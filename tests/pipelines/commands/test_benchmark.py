"""`ufo benchmark`: other rules over what a run found, nothing asked again."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import rows_of, write_run
from ufo.pipelines.cli import main

VOTES = {
    "a": {"a1": {"ref": "ss", "wiki": "r"}, "a2": {"ref": "r", "wiki": "s"}},
    "b": {"b1": {"ref": "-", "wiki": "s"}, "b2": {"ref": "n", "wiki": "n"}},
    "c": {},
}


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    models = {"a": "alder", "b": "birch", "c": "birch"}
    write_run(tmp_path, rows_of(VOTES, mode="all", models=models), "everything", mode="all")
    in_order = {"a": {"a1": {"ref": "s"}, "a2": {"ref": "n", "wiki": "r"}}}
    write_run(tmp_path, rows_of(in_order), "ordered", finished_at="2025-05-01T00:00:00Z")
    return tmp_path


@pytest.fixture(name="ufo")
def _ufo(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> Callable[..., Any]:
    monkeypatch.setenv("COLUMNS", "100")

    def run(*words: str, code: int = 0) -> str:
        assert main(["benchmark", str(folder), *words]) == code
        out, err = capsys.readouterr()
        return err if code else out

    return run


def test_scores_stand_beside_those_of_the_run(ufo: Callable[..., Any]) -> None:
    found = json.loads(ufo("--order", "wiki,ref", "--json"))
    expected: dict[str, Any] = {"level": "run", "name": "everything", "mode": "seq", "source": None}
    expected |= {"n_responses": 3, "n_units": 4, "n_supported": 2, "n_refuted": 1, "coverage": 0.75}
    expected |= {"factuality_score": 0.5, "before": 0.5, "difference": 0.0, "decided_score": 0.75}
    assert found[0] | expected == found[0]
    assert [(row["level"], row["name"], row["n_units"]) for row in found[1:]] == [
        ("model", "alder", 2),
        ("model", "birch", 2),
        ("dataset", None, 4),
        ("response", "a", 2),
        ("response", "b", 2),
        ("response", "c", 0),
    ]
    rows = list(csv.DictReader(io.StringIO(ufo("--order", "wiki,ref", "--csv"))))
    assert [row["name"] for row in rows][:3] == ["everything", "alder", "birch"]


def test_people_get_a_table_that_says_what_was_asked(ufo: Callable[..., Any]) -> None:
    text = ufo("--order", "wiki")
    assert "What if: seq, wiki; run everything (nothing was asked again)" in text
    assert "alder" in text
    assert "row 1" not in text
    assert "response" not in text
    assert "wiki > ref" in ufo("--order", "wiki,ref")
    single = [row for row in json.loads(ufo("--mode", "single", "--json")) if row["level"] == "run"]
    scores = {row["source"]: row["factuality_score"] for row in single}
    assert scores == {"ref": 0.25, "wiki": 0.5}


@pytest.mark.parametrize(
    ("words", "score"),
    [
        ((), 0.5),
        (("--mode", "mv"), 0.5),
        (("--tie", "factual", "--mode", "mv"), 0.75),
        # All passages of wiki are of category wiki here, and those of ref of none: `other`.
        (("--exclude_categories", "wiki"), 0.25),
        (("--include_categories", "wiki"), 0.5),
        (("--exclude_passages", "ref:a-a2-0"), 0.75),
        (("--include_domains", "example.org"), None),
    ],
)
def test_rules_change_the_score(
    ufo: Callable[..., Any], words: tuple[str, ...], score: float | None
) -> None:
    assert json.loads(ufo(*words, "--json"))[0]["factuality_score"] == score


def test_a_run_of_mode_seq_answers_what_it_asked_and_says_what_it_did_not(
    ufo: Callable[..., Any],
) -> None:
    found = json.loads(ufo("--run", "ordered", "--order", "ref", "--json"))
    assert found[0]["factuality_score"] == 0.5
    error = ufo("--run", "ordered", "--order", "wiki,ref", code=2)
    assert "does not know every verdict" in error
    assert "--mode all" in error
    assert "ref,wiki" in error
