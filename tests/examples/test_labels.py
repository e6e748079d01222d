"""People's labels of the bundled examples, which show what a judge gets wrong."""

from pathlib import Path

import ufo
from ufo.pipelines.labels import import_sheet

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_every_claim_of_the_examples_has_a_label(tmp_path: Path) -> None:
    result = ufo.evaluate(
        EXAMPLES / "responses.jsonl",
        sources=["reference"],
        output=tmp_path,
        judge="offline",
        verifier="overlap",
        quiet=True,
    )
    sheet = import_sheet(str(tmp_path), str(EXAMPLES / "labels.csv"))
    assert sheet["rows"] == len(result.verdicts)
    assert sheet["rows"] == sheet["true"] + sheet["false"] + sheet["unsure"]
    assert sheet["false"] > 30
