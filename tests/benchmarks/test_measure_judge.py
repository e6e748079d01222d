"""measure_judge.py on a few invented records in the layout of the data."""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from benchmarks.judge_figures import Said, auc, balanced_accuracy, calibration_error, figures
from benchmarks.judge_sets import load
from ufo.transforms.verifiers.overlap import DENIALS
from ufo.transforms.verifiers.verifier import Probabilities

ROOT = Path(__file__).resolve().parents[2]


def _write(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "benchmarks/measure_judge.py", "--quick", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)


def test_every_set_and_verifier_is_measured(data: Path) -> None:
    run = _run("--data", data)
    result = json.loads(run.stdout.splitlines()[-1])
    assert list(result.pop("microseconds_per_pair")) == ["overlap"]
    assert list(result) == list(load(data))
    for name, verifiers in result.items():
        assert list(verifiers) == [
            "overlap",
            "overlap, out of fold",
            "overlap, out of domain",
            "overlap, out of domain, no rules",
            *[f"overlap, out of domain, {rule.__name__} alone" for rule in DENIALS],
            "shared words",
        ]
        for found in verifiers.values():
            assert found["n"] == (16 if name == "stance" else 8)
            low, high = found["auc"]["interval"]
            assert 0 <= low <= high <= 1
            assert ("refuted_f1" in found) == (name in ("stance", "claims"))
    assert result["stance"]["overlap"]["auc"]["value"] > 0.9
    assert "stance (16) overlap: auc" in run.stderr


def test_a_folder_without_training_pairs_is_measured_all_the_same(data: Path) -> None:
    for folder in ("verifier", "begin", "wice"):
        shutil.rmtree(data / folder)
    result = json.loads(_run("--data", data).stdout.splitlines()[-1])
    assert list(result) == ["stance", "claims", "microseconds_per_pair"]
    assert list(result["claims"]) == ["overlap", "overlap, out of fold", "shared words"]


def test_figures_of_known_scores() -> None:
    truth, even = np.array([True, True, False, False]), np.ones(4)
    score = np.array([0.9, 0.4, 0.4, 0.1])
    assert auc(score, truth, even) == 0.875
    assert auc(score, truth, np.array([1, 0, 1, 1])) == 1
    assert balanced_accuracy(score > 0.5, truth, even) == 0.75
    assert calibration_error(np.array([1.0, 1.0, 0.0, 0.0]), truth, even) == 0
    assert calibration_error(np.full(4, 0.5), truth, even) == 0.5


def test_a_claim_is_decided_by_most_passages() -> None:
    yes, no, neither = (Probabilities(*p) for p in ((0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0, 0, 1)))
    said = Said.of([[yes, no], [yes, neither], [no, neither], [neither]])
    assert said.supported.tolist() == [False, True, False, False]
    assert said.refuted.tolist() == [False, False, True, False]
    found = figures(said, ["refuted", "supported", "refuted", "refuted"], np.ones(4))
    assert found["refuted_recall"] == pytest.approx(1 / 3)
    assert found["unsupported_recall"] == 1
