"""`ufo judges` and `ufo judges fit`: what is listed, learned, said and written."""

import csv
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.conftest import Outcome

# Reads numbers that stand in the passage, and takes the second for support, which is the first.
WRONG = '''
import numpy as np
from ufo.transforms.verifiers.base import Head, Verifier

class Wrong(Verifier):
    """Reads the wrong number."""

    def vectors(self, pairs):
        return np.array([pair.passage.split() for pair in pairs], dtype=np.float32)

    def head(self):
        weights = np.array([[0, 2], [0, 0], [0, 0]], dtype=np.float32)
        return Head(weights, np.zeros(3, dtype=np.float32))
'''


@pytest.fixture(name="wrong")
def _wrong(tmp_path: Path) -> str:
    (tmp_path / "wrong.py").write_text(WRONG)
    return f"{tmp_path}/wrong.py:Wrong"


@pytest.fixture(name="results")
def _results(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> Callable[..., Any]:
    """Writes a run of 15 responses with 4 claims of 2 passages each; the first number of a passage
    is high where it supports a true claim. A label of None leaves the claim without."""

    def write(
        labelled: int = 60, shuffled: bool = False, passages: str = "nn", name: str = "r1"
    ) -> Path:
        choose = random.Random(0)
        votes = {
            f"a{n:02d}": {f"u{n:02d}{k}": {"ref": passages} for k in range(4)} for n in range(15)
        }
        rows = rows_of(votes)
        truth = {unit.unit_id: choose.random() < 0.6 for unit in rows["fact_units"]}
        shown = list(truth.values())
        if shuffled:
            choose.shuffle(shown)
        rows["fact_units"] = [
            replace(unit, human_label=int(label) if place < labelled else None)
            for place, (unit, label) in enumerate(zip(rows["fact_units"], shown, strict=True))
        ]
        # Its id ends in the rank: the first passage is the one that supports.
        rows["passages"] = [
            replace(
                row,
                text=f"{choose.gauss(2.5 if supports else -0.5):.3f} {choose.gauss():.3f}",
            )
            for row in rows["passages"]
            for supports in [row.passage_id.endswith("-0") and truth[row.title.split()[1]]]
        ]
        write_run(tmp_path / "out", rows, name)
        return tmp_path / "out"

    return write


@pytest.fixture(name="fit")
def _fit(ufo: Callable[..., Any], wrong: str, tmp_path: Path) -> Callable[..., Any]:
    """Fits that verifier, or another, to a run; what is written goes to `mine`."""

    def fit(runs: Path, *words: str, verifier: Path | str = wrong, output: str = "mine") -> Outcome:
        named = ("--verifier", verifier, "--output", tmp_path / output)
        return ufo("judges", "fit", runs, *named, *words)

    return fit


def test_a_verifier_that_reads_the_wrong_number_learns(
    fit: Callable[..., Any], results: Callable[..., Any], wrong: str, tmp_path: Path
) -> None:
    done = fit(results())
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "run r1: 60 labels, 0 of them of sheets"
    assert lines[1] == (
        "Left out of 60 labelled claims: 0 without a passage, 0 tagged wrong_claim or "
        "wrong_evidence."
    )
    assert "refitted to 60 claims" in lines[2]
    assert [line.split("  ")[1] for line in lines[3:6]] == [
        *("log loss of claims", "balanced accuracy", "AUC")
    ]
    assert lines[6] == (
        f"written to {tmp_path / 'mine'}; use it: ufo evaluate … --judge offline --verifier "
        f"{tmp_path / 'mine'}"
    )
    written = json.loads((tmp_path / "mine" / "verifier.json").read_text())
    assert written["base"] == wrong
    assert written["weights"][0][0] > 0.5
    assert written["trained"]["run"] == "r1"
    assert written["trained"]["finished_at"] == "2025-06-01T12:00:00+00:00"
    assert written["trained"]["gains"]["auc"]["after"] > 0.8
    card = (tmp_path / "mine" / "card.md").read_text()
    assert card.startswith("# mine\n\nThe verifier `" + wrong)
    assert "| AUC | " in card


def test_what_it_wrote_is_a_verifier_and_no_base_of_another(
    fit: Callable[..., Any], results: Callable[..., Any], tmp_path: Path
) -> None:
    from ufo.transforms.verifiers.base import Pair
    from ufo.transforms.verifiers.registry import opened

    folder = tmp_path / "mine"
    runs = results()
    assert fit(runs).code == 0
    high, low = opened(str(folder)).predict([Pair("A.", "3 -2"), Pair("A.", "-1 2")])
    assert high.supported > 0.7 > 0.3 > low.supported
    before = (folder / "verifier.json").read_bytes()
    again = fit(runs)
    assert (again.code, (folder / "verifier.json").read_bytes()) == (0, before)
    nested = fit(runs, verifier=folder, output="next")
    assert nested.code == 2
    assert "is itself fitted to labels" in nested.err


def test_random_labels_gain_nothing_and_write_nothing(
    fit: Callable[..., Any], results: Callable[..., Any], tmp_path: Path
) -> None:
    done = fit(results(shuffled=True))
    assert done.code == 0
    assert "nothing gained, nothing written: " in done.out
    assert not (tmp_path / "mine").exists()


def test_json_has_the_same(
    fit: Callable[..., Any], results: Callable[..., Any], wrong: str
) -> None:
    found = fit(results(shuffled=True), "--json").json
    assert (found["verifier"], found["run"], found["n_labelled"]) == (wrong, "r1", 60)
    assert found["gained"] is False
    assert found["why"]
    assert found["written"] is None
    assert set(found["gains"]["log_loss"]) == {
        *("before", "after", "after_low", "after_high", "gain", "low", "high")
    }


def test_sheets_win_over_labels_of_the_input_and_tags_leave_out(
    ufo: Callable[..., Any], fit: Callable[..., Any], results: Callable[..., Any], tmp_path: Path
) -> None:
    runs, sheet = results(labelled=40), tmp_path / "sheet.csv"
    with sheet.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["response_id", "unit_id", "label", "tag"])
        writer.writerow(["a00", "u000", "true", "wrong_evidence"])
        writer.writerow(["a00", "u001", "", "wrong_claim"])
        writer.writerow(["a00", "u002", "", "wrong_judgement"])
        writer.writerow(["a14", "u143", "false", ""])
    assert ufo("label", "import", runs, sheet).code == 0
    found = fit(runs, "--json").json
    assert (found["n_labelled"], found["of_sheets"], found["tagged"]) == (41, 2, 2)
    assert found["n_claims"] == 39


def test_what_needs_no_last_layer_is_not_learned_from(
    fit: Callable[..., Any], results: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "some.py").write_text(
        WRONG.replace("class Wrong", "class Some")
        + """
    def settled(self, pairs):
        return [None if "u003" < pair.title.split()[1] < "u143" else (0.1, 0.1, 0.8)
                for pair in pairs]
"""
    )
    found = fit(results(), "--json", verifier=f"{tmp_path}/some.py:Some").json
    assert (found["n_labelled"], found["settled"], found["n_claims"]) == (60, 5, 55)


def test_too_few_labels_say_what_to_do(
    fit: Callable[..., Any], results: Callable[..., Any], tmp_path: Path
) -> None:
    runs = results(labelled=12)
    done = fit(runs)
    assert done.code == 1
    assert "run 'r1' has 12 claims to learn from" in done.err
    assert f"'ufo label sample {runs}', then 'ufo label import {runs} SHEET'" in done.err
    assert not (tmp_path / "mine").exists()


def test_claims_without_passages_are_not_learned_from(
    fit: Callable[..., Any], results: Callable[..., Any]
) -> None:
    done = fit(results(passages="-"))
    assert done.code == 1
    assert "has 0 claims to learn from" in done.err
    assert "Left out of 60 labelled claims: 60 without a passage" in done.err


def test_a_folder_of_something_else_is_left_alone(
    fit: Callable[..., Any], results: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("mine")
    runs = results()
    for place in ("notes", "notes/a.txt"):
        done = fit(runs, output=place)
        assert done.code == 2
        assert "--output" in done.err
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["a.txt"]


def test_an_unknown_run_or_verifier_is_a_usage_error(
    fit: Callable[..., Any], results: Callable[..., Any]
) -> None:
    runs = results()
    done = fit(runs, verifier="overlapp")
    assert done.code == 2
    assert "Did you mean 'overlap'?" in done.err
    done = fit(runs, "--run", "r2")
    assert done.code == 2
    assert "unknown run 'r2'" in done.err


def test_the_list_has_judges_and_verifiers_with_package_and_help(ufo: Callable[..., Any]) -> None:
    rows = ufo("judges", "--json").json
    assert {("judge", "offline"), ("judge", "llm")} <= {(row["kind"], row["type"]) for row in rows}
    assert ("verifier", "overlap") in {(row["kind"], row["type"]) for row in rows}
    assert all(row["package"] and row["help"] for row in rows)
    out = ufo("judges").out
    assert "judges (--judge)\n" in out
    assert "verifiers (--verifier)\n" in out
    for row in rows:
        assert f"  {row['type']}  ({row['package']})\n    {row['help']}\n" in out


def test_the_list_says_what_a_judge_can_do_and_the_docs_say_the_same(
    ufo: Callable[..., Any],
) -> None:
    rows = [row for row in ufo("judges", "--json").json if row["kind"] == "judge"]
    (llm,) = [row for row in rows if row["type"] == "llm"]
    assert {"formulation", "model"} <= set(llm["flags"])
    assert llm["options"] == {}
    out = ufo("judges").out
    assert "    extracts, verifies, abstains, needs an endpoint\n" in out
    assert "    flags: --verifier\n" in out
    columns = ("extracts", "verifies", "abstains", "needs_endpoint")
    docs = (Path(__file__).parents[3] / "docs/judging.md").read_text()
    for row in rows:
        if row["package"] == "ufo-factuality":
            said = " | ".join("yes" if row[name] else "no" for name in columns)
            assert f"| `{row['type']}` | {said} |\n" in docs
