"""`ufo benchmark`: other rules over what a run found, nothing asked again."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import rows_of, write_run
from tests.pipelines.conftest import named_cases, printed, ufo

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


@pytest.fixture(name="benchmark")
def _benchmark(folder: Path) -> Callable[..., Any]:
    return lambda *words: ufo("benchmark", folder, *words)


def test_scores_stand_beside_those_of_the_run(benchmark: Any) -> None:
    printed = benchmark("--order", "wiki,ref", "--json").json
    expected: dict[str, Any] = {"level": "run", "name": "everything", "mode": "seq", "source": None}
    expected |= {"n_responses": 3, "n_units": 4, "n_supported": 2, "n_refuted": 1, "coverage": 0.75}
    expected |= {"factuality_score": 0.5, "before": 0.5, "difference": 0.0, "decided_score": 0.75}
    assert printed[0] | expected == printed[0]
    assert [(row["level"], row["name"], row["n_units"]) for row in printed[1:]] == [
        ("model", "alder", 2),
        ("model", "birch", 2),
        ("dataset", None, 4),
        ("response", "a", 2),
        ("response", "b", 2),
        ("response", "c", 0),
    ]
    rows = list(csv.DictReader(io.StringIO(benchmark("--order", "wiki,ref", "--csv").out)))
    assert [row["name"] for row in rows][:3] == ["everything", "alder", "birch"]


def test_people_get_a_table_that_says_what_was_asked(benchmark: Any, folder: Path) -> None:
    text = printed("benchmark", folder, "--order", "wiki")
    assert "What if: seq, wiki; run everything (nothing was asked again)" in text
    assert "alder" in text
    assert "row 1" not in text
    assert "response" not in text
    assert "wiki > ref" in printed("benchmark", folder, "--order", "wiki,ref")
    single = [row for row in benchmark("--mode", "single", "--json").json if row["level"] == "run"]
    scores = {row["source"]: row["factuality_score"] for row in single}
    assert scores == {"ref": 0.25, "wiki": 0.5}


@pytest.mark.parametrize(("words", "score"), named_cases(Path(__file__).with_name("what_if.txt")))
def test_rules_change_the_score(benchmark: Any, words: str, score: str) -> None:
    printed = benchmark(*words.split(), "--json").json
    assert str(printed[0]["factuality_score"]) == score


def test_a_run_of_mode_seq_answers_what_it_asked_and_says_what_it_did_not(benchmark: Any) -> None:
    printed = benchmark("--run", "ordered", "--order", "ref", "--json").json
    assert printed[0]["factuality_score"] == 0.5
    error = benchmark("--run", "ordered", "--order", "wiki,ref")
    assert error.code == 2
    for part in ("does not know every verdict", "--mode all", "ref,wiki"):
        assert part in error.err
