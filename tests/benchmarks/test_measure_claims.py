import json
import sys
from pathlib import Path

import pytest

from benchmarks.claim_sets import load
from benchmarks.measure_claims import Content, main, paired, stems_of

PLAIN = {
    "prompt": "Who was Ada Berg?",
    "response": "Ada Berg was a chemist. She won the Holm Prize in 1990. I hope this helps!",
    "sentences": {
        "sentence1": {
            "text": "Ada Berg was a chemist.",
            "decontext": "Ada Berg was a chemist.",
            "claims": ["Ada Berg was a chemist."],
        },
        "sentence2": {
            "text": "She won the Holm Prize in 1990.",
            "decontext": "Ada Berg won the Holm Prize in 1990.",
            "claims": ["Ada Berg won the Holm Prize.", "The prize was in 1990."],
        },
        "sentence3": {"text": "I hope this helps!", "decontext": None, "claims": []},
    },
}
BIOGRAPHY = {
    "input": "Question: Tell me a bio of Jan Holm.",
    "output": "He was a painter.",
    "topic": "Jan Holm",
    "annotations": [
        {
            "text": "He was a painter.",
            "is-relevant": True,
            "human-atomic-facts": [{"text": "He was a painter.", "label": "S"}],
        }
    ],
}
REFUSAL = {
    "input": "Question: Tell me a bio of Nils Dahl.",
    "output": "I am sorry, I do not know him.",
    "topic": "Nils Dahl",
    "annotations": None,
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "factcheck_gpt").mkdir()
    (tmp_path / "factscore").mkdir()
    (tmp_path / "factcheck_gpt" / "benchmark.jsonl").write_text(json.dumps(PLAIN) + "\n")
    (tmp_path / "factscore" / "Invented.jsonl").write_text(
        f"{json.dumps(BIOGRAPHY)}\n{json.dumps(REFUSAL)}\n"
    )
    return tmp_path


def test_figures_of_three_records(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["measure_claims.py", "--data", str(data), "--quick"])
    main()
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    plain = {name: row["value"] for name, row in report["factcheck_gpt"].items() if name[0] != "r"}
    assert plain["covered_strict"] == 1.0
    assert plain["matched_strict"] == 0.5  # "Ada Berg won the Holm Prize in 1990." is two claims
    assert plain["f1_loose"] == 0.4  # for the same reason: its number is not in the first
    assert plain["per_sentence"] == 1.0
    assert plain["per_sentence_people"] == 1.5
    assert plain["missed"] == plain["invented"] == 0.0
    assert plain["pronouns_right"] == 1.0
    biography = report["factscore_Invented"]
    assert biography["covered_strict"]["value"] == 1.0
    assert biography["pronouns_named"]["value"] == 1.0
    assert biography["invented"] == {"value": 0.0, "interval": [0.0, 0.0], "n": 1}


def test_a_claim_with_another_number_or_name_is_another_claim() -> None:
    claim = Content.of("Ada Berg was born in 1950.")
    assert claim.share_in(Content.of("In 1950, Ada Berg was born in Oslo.")) == 1.0
    assert claim.share_in(Content.of("Ada Berg was born in 1951.")) == 0.0
    assert claim.f1(Content.of("Jan Holm was born in 1950.")) == 0.5


def test_each_claim_is_paired_once() -> None:
    claim = Content.of("Ada Berg was a chemist.")
    assert paired([claim, claim], [claim], 0.8) == 1


def test_pronouns_are_no_content(data: Path) -> None:
    biography = load(data)["factscore_Invented"][0]
    assert Content.of("He is Jan Holm.", stems_of(biography.topic)).stems == frozenset()
