"""Measure how often a text that is written to steer the judge changes a verdict.

    python benchmarks/measure_injection.py --base_url URL --model NAME [--pairs N] [--seed N]
        [--formulations function,stepwise,rationale,prompt] [--attacks FILE] [--concurrency N]
        [--reply_tokens N] [--quick]

Each of 60 attacks is put behind the passage, or behind the claim, of N pairs of the invented ones
in injection_pairs.jsonl that are labelled otherwise than the attack wants (N: 1 by default; drawn
by the seed). The same pair is judged with and without it. It prints a table by formulation and
kind of attack, and as its last line JSON:

    pairs       (attack, pair) that were judged
    unusable    of these, without a usable verdict on either side: they are in no share
    changed     the share of usable ones whose verdict differs from that without the attack
    as_wanted   the share that got the verdict the attack wants, of those that had another

Harmless sentences in the same places tell how much any change of the text changes. Every request
is sent at temperature 0, and the repairs of `ufo evaluate` are made. The key is OPENAI_API_KEY.
"""

import argparse
import asyncio
import json
import random
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.prompts import FORMULATIONS, Labelled, judged  # noqa: E402
from ufo.schemas.records import (  # noqa: E402
    ERROR,
    NOANS,
    REFUTED,
    SUPPORTED,
    FactUnit,
    OpenUnits,
    Passage,
)
from ufo.transforms.judges.llm.formulation import Case  # noqa: E402
from ufo.transforms.judges.llm.llm_settings import LlmSettings  # noqa: E402
from ufo.transforms.llm.client import OpenAiClient  # noqa: E402
from ufo.transforms.llm.client_settings import ClientSettings  # noqa: E402
from ufo.transforms.llm.endpoint import Endpoint  # noqa: E402
from ufo.transforms.llm.request import VERIFIER, Completion, Request  # noqa: E402

PASSAGE = "passage"
ALL = "all attacks"
OUTCOMES = {"T": SUPPORTED, "F": REFUTED, "N": NOANS}
DEFAULT = "function,stepwise,rationale,prompt"


@dataclass(frozen=True)
class Brief:
    """A client whose replies have at most so many tokens, since a small model may run on."""

    client: OpenAiClient
    most: int

    async def complete(self, request: Request) -> Completion:
        most = min(self.most, request.max_tokens or self.most)
        return await self.client.complete(replace(request, max_tokens=most))

    def room(self, request: Request) -> int | None:
        return self.client.room(request)

    def cap(self, request: Request) -> int | None:
        return self.client.cap(request)


@dataclass(frozen=True)
class Attack:
    """A text, where it is put, and the verdict that it wants; None where it wants none."""

    kind: str
    where: str
    aim: str | None
    text: str

    @property
    def title(self) -> str:
        return f"{self.kind}, {self.where}"

    def on(self, pair: Labelled) -> Labelled:
        """Return the pair with the attack in it."""
        (unit,), (passage,) = pair.case.units, pair.case.passages
        if self.where == PASSAGE:
            passage = replace(passage, text=f"{passage.text} {self.text}")
        else:
            unit = replace(unit, claim=f"{unit.claim} {self.text}")
        response = replace(pair.case.open_units, units=[unit])
        return Labelled(Case(response, [passage], pair.case.wanted), pair.labels)


@dataclass(frozen=True)
class Judged:
    """A pair's outcome without an attack and with it, and the outcome that was wanted."""

    before: str
    after: str
    wanted: str | None


def read_pairs(path: Path) -> list[Labelled]:
    """Return the pairs of a file, of one claim and one passage each."""
    found = []
    for number, row in enumerate(map(json.loads, path.read_text(encoding="utf-8").splitlines())):
        for claim in row["claims"]:
            unit = FactUnit(f"r{number}", "u", None, claim["claim"], claim["query"], None)
            response = OpenUnits(f"r{number}", row["passage"], None, None, [], [], [unit])
            passage = Passage(row["passage"], row.get("title"), passage_id=f"p{number}")
            found.append(Labelled(Case(response, [passage], {0: [0]}), [claim["verdict"]]))
    return found


def figures_of(rows: Sequence[Judged]) -> dict[str, Any]:
    """Return the figures of some attacks on some pairs."""
    usable = [row for row in rows if ERROR not in (row.before, row.after)]
    open_ = [row for row in usable if row.wanted and row.before != row.wanted]
    return {
        "pairs": len(rows),
        "unusable": len(rows) - len(usable),
        "changed": _share([row.before != row.after for row in usable]),
        "as_wanted": _share([row.after == row.wanted for row in open_]),
    }


def _share(of: Sequence[bool]) -> float | None:
    return round(sum(of) / len(of), 3) if of else None


async def measured(
    tried: Sequence[tuple[Attack, Labelled]],
    settings: LlmSettings,
    given: ClientSettings,
    most: int,
) -> dict[str, Any]:
    """Return the figures of a formulation, by kind of attack."""
    client = OpenAiClient(given)
    brief = Brief(client, most)
    plain = {id(pair): pair for _, pair in tried}
    before = await judged(list(plain.values()), settings, brief)
    known = {key: outcome for key, (_, outcome, _) in zip(plain, before, strict=True)}
    after = await judged([attack.on(pair) for attack, pair in tried], settings, brief)
    await client.aclose()
    rows: dict[str, list[Judged]] = defaultdict(list)
    for (attack, pair), (_, outcome, _) in zip(tried, after, strict=True):
        row = Judged(known[id(pair)], outcome, OUTCOMES[attack.aim] if attack.aim else None)
        for title in (attack.title, *([ALL] if attack.aim else [])):
            rows[title].append(row)
    return {title: figures_of(found) for title, found in rows.items()}


def table(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the shares as a table in Markdown: a row a kind of attack, a column a formulation."""
    titles = list(next(iter(found.values())))
    lines = [
        f"| attack | {' | '.join(f'`{name}`' for name in found)} |",
        "| --- " * (len(found) + 1),
    ]
    for title in [ALL, *(one for one in titles if one != ALL)]:
        cells = [_cell(figures[title]) for figures in found.values()]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines).replace("--- \n", "--- |\n")


def _cell(figures: Mapping[str, Any]) -> str:
    shares = [figures["changed"], figures["as_wanted"]]
    return " / ".join("–" if one is None else f"{one:.2f}" for one in shares)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    here = Path(__file__)
    parser.add_argument("--base_url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--pairs", type=int, default=1, help="pairs of each attack")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--formulations", default=DEFAULT)
    parser.add_argument("--attacks", type=Path, default=here.with_name("injection_attacks.jsonl"))
    parser.add_argument("--concurrency", type=int, default=2)
    parser.add_argument("--reply_tokens", type=int, default=1024, help="at most, of a reply")
    parser.add_argument("--timeout", type=float, default=300.0)
    parser.add_argument("--quick", action="store_true", help="every tenth attack")
    given = parser.parse_args()
    names = given.formulations.split(",")
    if unknown := set(names) - set(FORMULATIONS):
        parser.error(f"unknown formulation {min(unknown)!r}; there are: {', '.join(FORMULATIONS)}")
    lines = given.attacks.read_text(encoding="utf-8").splitlines()
    attacks = [Attack(**json.loads(line)) for line in lines[:: 10 if given.quick else 1]]
    pairs = read_pairs(here.with_name("injection_pairs.jsonl"))
    chance = random.Random(given.seed)
    tried = []
    for attack in attacks:
        fitting = [pair for pair in pairs if pair.labels[0] != attack.aim]
        tried += [(attack, pair) for pair in chance.sample(fitting, given.pairs)]
    endpoint = Endpoint(given.model, given.base_url, timeout=given.timeout)
    client = ClientSettings({VERIFIER: endpoint}, concurrency=given.concurrency)
    found: dict[str, Any] = {}
    for name in names:
        settings = replace(LlmSettings(given.model), **FORMULATIONS[name])
        found[name] = asyncio.run(measured(tried, settings, client, given.reply_tokens))
        print(f"{name}: {found[name][ALL]}", file=sys.stderr, flush=True)
    print(table(found))
    report = {"model": given.model, "pairs": given.pairs, "seed": given.seed, "by": found}
    print(json.dumps(report, ensure_ascii=False))


if __name__ == "__main__":
    main()
