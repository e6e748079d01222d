"""Measure how right the offline judge is where the cascade keeps its judgement (`--sure`).

Each claim is judged by each passage that the reference source would give for its text. For each
threshold the last line, JSON, has by set of human labels: the share of judgements that stay, and
the share of these that people agree to (for a set whose label is of a text as a whole, that text
is one passage). `refuted` is how often a refutation was right, whatever its probability: what the
cascade takes that for is in `transforms/judges/cascade.py`.

    python scripts/measure_cascade.py [--data ../shared/data] [--quick]

`--quick` reads a third of the cases.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from schemas.records import (  # noqa: E402
    REFUTED,
    SUPPORTED,
    Evidence,
    FactUnit,
    OpenUnits,
    Passage,
)
from scripts.measure_judge import SOURCE, Case, load  # noqa: E402
from transforms.judges.cascade import SURE, sureness  # noqa: E402
from transforms.judges.offline.judge import OfflineJudge  # noqa: E402
from transforms.loop import run_now  # noqa: E402
from transforms.sources.base import Found, Retrieved  # noqa: E402

SETS = ("stance", "wice_whole")
THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, SURE, 0.95)
Judgement = tuple[Evidence, bool]
"""A row, and whether people call the claim supported."""


def judgements(judge: OfflineJudge, cases: Sequence[Case]) -> Iterator[Judgement]:
    """Yield every judgement on these cases."""
    for case in cases:
        unit = FactUnit("response", "unit", 0, case.claim, case.query, None)
        units = OpenUnits("response", case.claim, None, None, (), (), (unit,))
        found = Found([Retrieved(Passage(text)) for text in case.passages])
        for row in run_now(judge.verify(units, SOURCE, [found])).evidence:
            yield row, case.supported


def agreement(found: Sequence[Judgement]) -> dict[str, Any]:
    """How many of these judgements there are, and the share that people agree to."""
    right = sum((row.outcome == SUPPORTED) == supported for row, supported in found)
    return {"n": len(found), "right": round(right / len(found), 4) if found else None}


def main() -> None:
    """Print a line for each set and threshold, then everything as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--quick", action="store_true", help="a third of the cases")
    arguments = parser.parse_args()
    judge = OfflineJudge()
    sets = load(arguments.data, judge)
    report: dict[str, Any] = {"default": SURE}
    refuted: list[Judgement] = []
    for name in SETS:
        found = list(judgements(judge, sets[name][:: 3 if arguments.quick else 1]))
        refuted += [one for one in found if one[0].outcome == REFUTED]
        report[name] = {"judgements": len(found)}
        for sure in THRESHOLDS:
            kept = [one for one in found if sureness(one[0]) >= sure]
            row = {**agreement(kept), "share": round(len(kept) / len(found), 4)}
            report[name][str(sure)] = row
            print(
                f"{name}: at {sure:.2f} {row['share']:.1%} stay, {row['right']} of them right",
                file=sys.stderr,
            )
    report["refuted"] = agreement(refuted)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
