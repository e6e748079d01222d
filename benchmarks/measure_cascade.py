"""Measure what the cascade asks a language model for, and how right what it keeps is.

Each claim is judged offline by each passage of its record (`judge_sets.py` reads them). For each
threshold of `--confidence` the last line, JSON, has by set: `asked`, the share of judgements that
go to the model; `right`, the share of those kept that people agree to; and `at_best`, the share of
all that would be right if the model were right in all that it is asked. `offline` is the share that
is right without a model. A judgement is right where it says supported just where people do.

    python benchmarks/measure_cascade.py [--data FOLDER] [--quick] [--verifier overlap]

`--quick` reads a third of the records. A verifier that was fitted on these very records looks
better here than it is.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.judge_sets import DATA, SUPPORTED, Record, load  # noqa: E402
from ufo.schemas.records import FactUnit, OpenUnits, Passage  # noqa: E402
from ufo.transforms.judges.cascade import CONFIDENCE, stays  # noqa: E402
from ufo.transforms.judges.offline.judge import OfflineJudge, Weighed  # noqa: E402
from ufo.transforms.sources.base import Found, Retrieved  # noqa: E402
from ufo.transforms.verifiers.registry import DEFAULT, usable  # noqa: E402

SETS = ("stance", "wice_whole")  # whose labels are of a claim and one text
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.85, CONFIDENCE, 0.95, 0.99)
Judgement = tuple[Weighed, bool]
"""What the offline judge said, and whether people agree."""


def judgements(judge: OfflineJudge, records: Sequence[Record]) -> Iterator[Judgement]:
    """Yield every judgement on these records."""
    for record in records:
        unit = FactUnit("response", "unit", 0, record.claim, "", None)
        units = OpenUnits("response", record.claim, None, "en", (), (), (unit,))
        found = Found([Retrieved(Passage(text)) for text in record.passages])
        for weighed in judge.weigh(units, "measured", [found]):
            said = weighed.row.outcome == SUPPORTED
            yield weighed, said == (record.label == SUPPORTED)


def at_threshold(found: Sequence[Judgement], confidence: float) -> dict[str, Any]:
    """Return what is asked at this threshold, and how right what is kept is."""
    kept = [right for weighed, right in found if stays(weighed, confidence)]
    asked = len(found) - len(kept)
    return {
        "asked": round(asked / len(found), 4),
        "kept": len(kept),
        "right": round(sum(kept) / len(kept), 4) if kept else None,
        "at_best": round((sum(kept) + asked) / len(found), 4),
    }


def main() -> None:
    """Print a line for each set and threshold, then everything as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--quick", action="store_true", help="a third of the records")
    parser.add_argument("--verifier", default=DEFAULT)
    arguments = parser.parse_args()
    judge = OfflineJudge(usable(arguments.verifier))
    sets = load(arguments.data)
    report: dict[str, Any] = {"verifier": arguments.verifier, "default": CONFIDENCE, "sets": {}}
    for name in SETS:
        found = list(judgements(judge, sets.get(name, [])[:: 3 if arguments.quick else 1]))
        if not found:
            continue
        rows = {str(threshold): at_threshold(found, threshold) for threshold in THRESHOLDS}
        offline = round(sum(right for _, right in found) / len(found), 4)
        report["sets"][name] = {"judgements": len(found), "offline": offline, "at": rows}
        for threshold, row in rows.items():
            print(
                f"{name}: at {threshold} {row['asked']:.1%} are asked; of the {row['kept']} kept "
                f"{row['right']} are right",
                file=sys.stderr,
            )
    if not report["sets"]:
        parser.error(f"{arguments.data} has none of the sets {', '.join(SETS)}")
    print(json.dumps(report))


if __name__ == "__main__":
    main()
