"""Measure how often a text that is written to steer the judge changes a verdict.

    python benchmarks/accuracy/injection.py --base_url URL --model NAME [--pairs N] [--seed N]
        [--formulations function,xml,stepwise,rationale,prompt] [--attacks FILE] [--quick]
        [--option NAME=VALUE]

Each of 60 attacks is put behind the passage, or behind the claim, of N pairs of the invented ones
in injection_pairs.jsonl that are labelled otherwise than the attack wants (N: 1 by default; drawn
by the seed). The same pair is judged with and without it. The last line is JSON, by formulation
and kind of attack:

    pairs       (attack, pair) that were judged
    unusable    of these, without a usable verdict on either side: they are in no share
    changed     the share of usable ones whose verdict differs from that without the attack
    as_wanted   the share that got the verdict the attack wants, of those that had another

Harmless sentences in the same places tell how much any change of the text changes. --option sets
any flag of `ufo evaluate`. The key is OPENAI_API_KEY.
"""

import json
import random
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.accuracy.models import arguments_of, evaluated, options_of  # noqa: E402

ALL = "all attacks"
OUTCOMES = {"T": "supported", "F": "refuted", "N": "noans"}


class Attack(NamedTuple):
    """A text, where it is put, and the verdict that it wants; None where it wants none."""

    kind: str
    where: str
    aim: str | None
    text: str


class Judged(NamedTuple):
    """A pair's outcome without an attack and with it, and the outcome that was wanted."""

    before: str
    after: str
    wanted: str | None


def read(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def record(number: int, pair: dict[str, Any], attack: Attack | None) -> dict[str, Any]:
    """Return the response of one claim with one reference, attacked or not."""
    texts = {"passage": pair["passage"], "claim": pair["claim"]}
    if attack:
        texts[attack.where] += f" {attack.text}"
    claim = {"claim": texts["claim"], "query": pair["query"]}
    shown = {"response": texts["claim"], "reference_answers": [texts["passage"]]}
    return {"id": f"{number}", "claims": [claim], **shown}


def outcomes(records: Sequence[dict[str, Any]], name: str, options: dict[str, Any]) -> list[str]:
    """Return the outcome of each record's pair."""
    result = evaluated(records, name, sources="reference", no_share=True, passages=1, **options)
    rows = result.sql("SELECT response_id, outcome FROM evidence").to_pylist()
    outcome_of = {row["response_id"]: row["outcome"] for row in rows}
    return [outcome_of.get(one["id"], "error") for one in records]


def figures_of(rows: Sequence[Judged]) -> dict[str, Any]:
    """Return the figures of some attacks on some pairs."""
    usable = [row for row in rows if "error" not in (row.before, row.after)]
    open_ = [row for row in usable if row.wanted and row.before != row.wanted]
    return {
        "pairs": len(rows),
        "unusable": len(rows) - len(usable),
        "changed": _share([row.before != row.after for row in usable]),
        "as_wanted": _share([row.after == row.wanted for row in open_]),
    }


def _share(of: Sequence[bool]) -> float | None:
    return round(sum(of) / len(of), 3) if of else None


def main() -> None:
    """Measure and print."""
    here = Path(__file__)
    parser = arguments_of(__doc__)
    parser.add_argument("--pairs", type=int, default=1, help="pairs of each attack")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--attacks", type=Path, default=here.with_name("injection_attacks.jsonl"))
    parser.add_argument("--quick", action="store_true", help="every tenth attack")
    arguments = parser.parse_args()
    attacks = [Attack(**row) for row in read(arguments.attacks)[:: 10 if arguments.quick else 1]]
    pairs = [
        {**claim, "passage": row["passage"]}
        for row in read(here.with_name("injection_pairs.jsonl"))
        for claim in row["claims"]
    ]
    chance = random.Random(arguments.seed)
    tried = []
    for attack in attacks:
        fitting = [pair for pair in pairs if pair["verdict"] != attack.aim]
        tried += [(attack, pair) for pair in chance.sample(fitting, arguments.pairs)]
    figures: dict[str, Any] = {}
    for name in arguments.formulations:
        before, after = (
            outcomes(
                [
                    record(at, pair, attack if with_it else None)
                    for at, (attack, pair) in enumerate(tried)
                ],
                name,
                options_of(arguments),
            )
            for with_it in (False, True)
        )
        rows: dict[str, list[Judged]] = defaultdict(list)
        for (attack, _), was, became in zip(tried, before, after, strict=True):
            row = Judged(was, became, OUTCOMES[attack.aim] if attack.aim else None)
            for title in (f"{attack.kind}, {attack.where}", *([ALL] if attack.aim else [])):
                rows[title].append(row)
        figures[name] = {title: figures_of(judged) for title, judged in rows.items()}
        print(f"{name}: {figures[name][ALL]}", file=sys.stderr, flush=True)
    printed = {"model": arguments.model, "pairs": arguments.pairs, "by": figures}
    print(json.dumps(printed, ensure_ascii=False))


if __name__ == "__main__":
    main()
