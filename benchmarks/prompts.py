"""Measure the prompts of the LLM judge: their tokens, and what a model makes of them.

    python benchmarks/prompts.py [--base_url URL --model NAME] [--pairs FILE] [--prompts DIR]
        [--formulations function,xml,…] [--limit N] [--timeout S] [--quick]

The last line is JSON. `tokens` has for each step the mean tokens of the `prefix`, the same in each
call but for its numbers (system message and function), and of the `data`; counted without a
model's vocabulary (`ufo.transforms.llm.window`), and nothing is sent for it.

With an endpoint, `replies` has for each formulation the shares of pairs (fact, passage) with a
usable judgement in the first reply (`usable_first`) and after the repair (`usable`), and with the
verdict that the pair is labelled with (`correct`, of all pairs; `correct_of_usable`), beside calls
and seconds; of `extract_facts` the shares of sentences that are settled. The key is OPENAI_API_KEY.

`--pairs` is JSON Lines: `passage`, `title` (optional), and `claims`, each with `claim`, `query` and
`verdict` (T, F or N). The claims of a line are asked about together where the formulation does so.
The shipped ones are invented, so that no model knows them.
"""

import argparse
import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ufo.schemas.recall import RecallAnswer, RecallInput  # noqa: E402
from ufo.schemas.records import (  # noqa: E402
    ERROR,
    NOANS,
    REFUTED,
    SUPPORTED,
    FactUnit,
    InputRecord,
    OpenUnits,
    Passage,
)
from ufo.transforms.judges.context import JudgeContext  # noqa: E402
from ufo.transforms.judges.llm.asking import Askers  # noqa: E402
from ufo.transforms.judges.llm.formulation import Case  # noqa: E402
from ufo.transforms.judges.llm.judge import LlmJudge, formulation  # noqa: E402
from ufo.transforms.judges.llm.settings import LlmSettings  # noqa: E402
from ufo.transforms.llm.base import (  # noqa: E402
    EXTRACTOR,
    VERIFIER,
    Choice,
    Client,
    Completion,
    Request,
)
from ufo.transforms.llm.capabilities import Capabilities  # noqa: E402
from ufo.transforms.llm.client import OpenAiClient  # noqa: E402
from ufo.transforms.llm.endpoint import Endpoint  # noqa: E402
from ufo.transforms.llm.settings import ClientSettings  # noqa: E402
from ufo.transforms.llm.window import count  # noqa: E402
from ufo.transforms.llm.wire import body  # noqa: E402
from ufo.transforms.prompts import load_prompts  # noqa: E402
from ufo.transforms.recall.formulations import DEFAULT  # noqa: E402
from ufo.transforms.recall.recallers import LlmRecaller  # noqa: E402
from ufo.transforms.sentences import segment  # noqa: E402

FORMULATIONS: Mapping[str, Mapping[str, Any]] = {
    "function": {},
    "xml": {"format": "xml"},
    "stepwise": {"formulation": "stepwise"},
    "rationale": {"formulation": "rationale"},
    "prompt": {"formulation": "prompt"},
}
OUTCOMES = {"T": SUPPORTED, "F": REFUTED, "N": NOANS}


@dataclass(frozen=True)
class Labelled:
    """Facts, one passage, and the verdict of each fact by it."""

    case: Case
    verdicts: Sequence[str]


@dataclass
class Recording:
    """A client that sends nothing and says a word to everything."""

    requests: list[Request] = field(default_factory=list)

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        return Completion([Choice("1932")], "none")

    def room(self, request: Request) -> int | None:
        """Return None: there is no context."""
        return None

    def cap(self, request: Request) -> int | None:
        """Return None: there is no limit."""
        return None


@dataclass
class Counting:
    """Another client whose requests are counted."""

    client: OpenAiClient
    calls: int = 0

    async def complete(self, request: Request) -> Completion:
        self.calls += 1
        return await self.client.complete(request)

    def room(self, request: Request) -> int | None:
        return self.client.room(request)

    def cap(self, request: Request) -> int | None:
        return self.client.cap(request)


def read_pairs(path: Path) -> list[Labelled]:
    """Return the labelled pairs of a file."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        row = json.loads(line)
        for claim in row["claims"]:
            if claim["verdict"] not in OUTCOMES:
                raise SystemExit(f"{path}:{number}: verdict {claim['verdict']!r} is not T, F or N")
        units = [
            FactUnit(f"r{number}", f"u{at}", None, claim["claim"], claim.get("query", ""), None)
            for at, claim in enumerate(row["claims"])
        ]
        response = OpenUnits(f"r{number}", row["passage"], None, None, [], [], units)
        passage = Passage(row["passage"], row.get("title"), passage_id=f"p{number}")
        case = Case(response, [passage], {at: [0] for at in range(len(units))})
        found.append(Labelled(case, [claim["verdict"] for claim in row["claims"]]))
    return found


async def tokens_of(pairs: Sequence[Labelled], settings: LlmSettings) -> dict[str, Any]:
    """Return the mean tokens of prefix and data of each step."""
    recording = Recording()
    once = replace(settings, repairs=0)
    for options in FORMULATIONS.values():
        await judged(pairs, replace(once, **options), recording)
    judge = LlmJudge(JudgeContext(once, lambda: recording))
    recaller = LlmRecaller(once, DEFAULT, lambda: recording)
    for pair in pairs:
        text = pair.case.passages[0].text
        facts = [unit.claim for unit in pair.case.units]
        record = InputRecord("k", "r", text)
        await judge.extract(record, segment(text))
        await judge.extract_sentences(record, segment(text))
        await judge.queries(facts)
        asked = RecallInput("k", "r", "What is said?", text, [], False, [], [])
        await recaller.generate(asked)
        for name in DEFAULT[1:]:
            await recaller.verify(asked, RecallAnswer("r", "a", text), facts, name)
    sizes: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for request in recording.requests:
        sent = body(request, "m", Capabilities(), 1)
        *system, user = (message["content"] for message in sent["messages"])
        tools = json.dumps(sent["tools"], ensure_ascii=False) if "tools" in sent else ""
        prefix = sum(map(count, system)) + count(tools)
        sizes[step_of(request)].append((prefix, count(user)))
    return {
        step: {
            "prefix": round(fmean(prefix for prefix, _ in found)),
            "data": round(fmean(data for _, data in found)),
        }
        for step, found in sizes.items()
    }


def step_of(request: Request) -> str:
    """Return the name of a request's task; of recall's function object with its formulation."""
    head = request.messages[0].content.partition("\n")[0]
    if head.startswith("Task: "):
        return head.removeprefix("Task: ")
    name = request.function.name if request.function else request.step
    return f"{name} {request.source}"


async def judged(
    pairs: Sequence[Labelled], settings: LlmSettings, client: Client
) -> list[tuple[str, str, bool]]:
    """Return (label, outcome, whether the first reply was usable) of each pair."""
    prompts = load_prompts(settings.prompts_dir)
    by = formulation(settings, prompts)
    askers = Askers(settings, prompts, lambda: client)

    async def of(pair: Labelled) -> list[tuple[str, str, bool]]:
        found = await by.judge(pair.case, askers.asker(VERIFIER, "verify"))
        return [
            (verdict, found[at, 0].outcome, found[at, 0].first_reason is None)
            for at, verdict in enumerate(pair.verdicts)
        ]

    return [row for rows in await asyncio.gather(*map(of, pairs)) for row in rows]


async def settled(
    pairs: Sequence[Labelled], settings: LlmSettings, client: Client
) -> dict[str, float]:
    """Return the shares of sentences of which the first reply, and any, said what they claim."""
    shares = {}
    for name, repairs in (("usable_first", 0), ("usable", settings.repairs)):
        lost = total = 0
        judge = LlmJudge(JudgeContext(replace(settings, repairs=repairs), lambda: client))
        for pair in pairs:
            text = pair.case.passages[0].text
            spans = segment(text)
            drafts = await judge.extract(InputRecord("k", "r", text), spans)
            known = {draft.sentence_index for draft in drafts.drafts}
            # All shipped sentences state facts: one without a claim was lost or passed over.
            lost += len(set(range(len(spans))) - known)
            total += len(spans)
        shares[name] = round(1 - lost / total, 3)
    return shares


async def replies_of(
    pairs: Sequence[Labelled], settings: LlmSettings, names: Sequence[str], endpoint: Endpoint
) -> dict[str, Any]:
    """Return what the model of an endpoint makes of each formulation."""
    found: dict[str, Any] = {}
    roles = {VERIFIER: endpoint, EXTRACTOR: endpoint}
    for name in names:
        client = Counting(OpenAiClient(ClientSettings(roles, concurrency=4)))
        begun = perf_counter()
        if name == "extract_facts":
            figures: dict[str, Any] = await settled(pairs, settings, client)
        else:
            options = FORMULATIONS[name]
            rows = await judged(pairs, replace(settings, **options), client)
            usable = [row for row in rows if row[1] != ERROR]
            right = sum(OUTCOMES[label] == outcome for label, outcome, _ in usable)
            figures = {
                "pairs": len(rows),
                "usable_first": round(fmean(first for _, _, first in rows), 3),
                "usable": round(len(usable) / len(rows), 3),
                "correct": round(right / len(rows), 3),
                "correct_of_usable": round(right / len(usable), 3) if usable else None,
            }
        await client.client.aclose()
        seconds = round(perf_counter() - begun, 1)
        found[name] = {**figures, "calls": client.calls, "seconds": seconds}
        print(f"{name}: {found[name]}", file=sys.stderr)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--base_url")
    parser.add_argument("--model", default="")
    parser.add_argument(
        "--pairs", type=Path, default=Path(__file__).with_name("prompt_pairs.jsonl")
    )
    parser.add_argument("--prompts", help="a folder of prompts in place of the shipped ones")
    parser.add_argument("--formulations", default=",".join([*FORMULATIONS, "extract_facts"]))
    parser.add_argument("--limit", type=int, help="so many lines of --pairs")
    parser.add_argument("--timeout", type=float, default=300.0)
    parser.add_argument("--quick", action="store_true", help="two lines of --pairs")
    given = parser.parse_args()
    if given.quick:
        given.limit = 2
    names = given.formulations.split(",")
    unknown = set(names) - {*FORMULATIONS, "extract_facts"}
    if unknown:
        parser.error(f"unknown formulation {min(unknown)!r}; there are: {', '.join(FORMULATIONS)}")
    pairs = read_pairs(given.pairs)[: given.limit]
    settings = LlmSettings(given.model, prompts_dir=given.prompts)
    figures: dict[str, Any] = {"tokens": asyncio.run(tokens_of(pairs, settings))}
    if given.base_url:
        endpoint = Endpoint(given.model, given.base_url, timeout=given.timeout)
        figures["model"] = given.model
        figures["replies"] = asyncio.run(replies_of(pairs, settings, names, endpoint))
    print(json.dumps(figures, ensure_ascii=False))


if __name__ == "__main__":
    main()
