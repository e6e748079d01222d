"""`--verifier`: who judges is told, recorded, and part of what results depend on."""

import html
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ufo as python
from tests.pipelines.conftest import ufo, write_lines
from tests.pipelines.llm_runs import ENVIRONMENT, rows
from tests.transforms.judges.stated import STATED
from ufo.transforms.judges.offline import trust
from ufo.transforms.verifiers.by_name import shown

REFUTING = "0.2 0.7 0.1\n\nOslo was founded in 1801."
UNUSABLE = STATED.replace(":Stated", ":Unusable")


@pytest.fixture
def evaluate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """One response, and a reference that states its probabilities and a ground for them."""
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    record = {"response": "Oslo was founded in 1901.", "reference_answers": REFUTING}
    path = write_lines(tmp_path / "in.jsonl", [record])

    def run(*flags: object) -> Any:
        words = ("--input", path, "--output", tmp_path / "out", "--workers", 1)
        return ufo("evaluate", *words, "--sources", "reference", *flags)

    return run


def test_its_verdicts_its_name_and_its_accuracy_are_seen(evaluate: Any, tmp_path: Path) -> None:
    done = evaluate("--verifier", STATED)
    assert done.code == 0, done.err
    assert "Judging offline, without a language model. Verifier: stated." in done.err
    assert "Verifier stated (a first look; for findings use a language model): always" in done.out
    (row,) = rows(tmp_path / "out", "SELECT outcome, probability, judge, model FROM evidence")
    assert (row["outcome"], row["probability"], row["judge"]) == ("refuted", 0.2, "offline")
    assert row["model"].startswith("stated@")
    (manifest,) = (tmp_path / "out").glob("run=*/manifest.json")
    told = json.loads(manifest.read_text())["fingerprint"]["options"]["verifier"]
    assert told["name"] == "stated"
    assert row["model"] == f"stated@{told['content'][:12]}"
    # Another verifier is another run.
    (tmp_path / "ufo.yaml").write_text("verifier: overlap\n")
    assert evaluate("--config", tmp_path / "ufo.yaml").code == 0
    assert len(list((tmp_path / "out").glob("run=*"))) == 2


def test_every_place_that_shows_a_result_says_how_often_the_verifier_is_right(
    evaluate: Any, tmp_path: Path
) -> None:
    line = trust([shown("overlap")], ["reference"])
    done = evaluate("--verifier", "overlap")
    assert f"\n{line}\n" in done.out
    results = tmp_path / "out"
    assert line in " ".join(ufo("report", results).out.split())
    assert ufo("report", results, "--html", tmp_path / "page.html").code == 0
    assert line in html.unescape((tmp_path / "page.html").read_text())
    found = python.evaluate(["Oslo is big."], ["reference"], verifier="overlap", quiet=True)
    assert "Verifier overlap" not in found._repr_html_()  # nobody judged: there was no reference
    text = "Oslo was founded in 1901."
    checked = python.check_sync(text, references=["Oslo is old."], verifier="overlap")
    assert line in " ".join(repr(checked).split())
    assert checked.to_dict()["judged_by"] == line


def test_recall_and_one_text_ask_it_too(tmp_path: Path) -> None:
    text = "Oslo was founded in 1901."
    record = {"question": "When?", "ground_truth": text, "answers": {"one": "0.9 0.05 0.05 said."}}
    path = write_lines(tmp_path / "in.jsonl", [record])
    words = ("recall", "--input", path, "--output", tmp_path / "out", "--judge", "offline")
    done = ufo(*words, "--verifier", STATED)
    assert done.code == 0, done.err
    assert "Verifier stated (a first look; for findings use a language model): always" in done.out
    (row,) = rows(tmp_path / "out", "SELECT judge, model FROM recall_verdicts")
    assert (row["judge"], row["model"].partition("@")[0]) == ("offline", "stated")
    assert ufo(*words, "--verifier", STATED, "--facts_only").code == 2
    checked = python.check_sync(text, references=[REFUTING], judge="offline", verifier=STATED)
    assert [row.outcome for row in checked.evidence] == ["refuted"]
