"""The scores of a selection against the golden vectors of scoring."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from ufo.webapp.checking import score_selection
from ufo.webapp.request_models import ScoreRequest

CASES = json.loads(Path(__file__).with_name("scoring.json").read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_scores_follow_from_evidence(case: dict[str, Any]) -> None:
    result = asdict(score_selection(ScoreRequest(**case["input"])))
    for verdict in result["verdicts"]:
        assert verdict.pop("response_id") == ""
    assert result == case["expected"]
