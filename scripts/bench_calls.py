"""Count what one response costs: LLM calls and tokens of every formulation, beside UFO's.

Responses of 5, 10 and 20 facts, one reference, 5 passages a fact, 5 samples a query, judged over
HTTP by the test server, which counts; extraction is included. Cases: `reference` (it settles every
fact), all three sources (reference, wikipedia, llm) needed for every fact, with passages of each
fact's own (`distinct`) or of pages that all facts share (`shared`), and `voting`: `distinct` with
an answer in every passage, and Multi-MV. The texts are in bench_calls_fixture.json.

Tokens are the test server's (a run of word characters or one other sign) for all of them. UFO's
calls are modelled from its code: 1 + 2N + 2N(10 + R) with these three sources, no early exit; the
fixed part of each of its five prompts as counted in its repository (WaldenRUC/UFOSys), and as data
the claims, queries, passages and samples of our own run, with reasoning as long as our rationales.
It asks for samples of 100 words where ours are about 30, so the model errs on the low side. With
all its sources it is 1 + 2N + 2N(11 + R): at N = 20, R = 1 about 190k and 45k tokens.

What a process asks once, to learn what the endpoint can do, is apart: `probes`.

    python scripts/bench_calls.py [--quick]
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from schemas.records import FactUnit, InputRecord, Passage  # noqa: E402
from tests.llm_server import LlmServer  # noqa: E402
from tests.llm_server.tokens import count  # noqa: E402
from transforms.check_text import CheckedText, check_text  # noqa: E402
from transforms.judges.llm.judge import LlmJudge  # noqa: E402
from transforms.judges.llm.settings import LlmSettings  # noqa: E402
from transforms.judges.offline.judge import OfflineJudge  # noqa: E402
from transforms.llm.client import ClientSettings, OpenAiClient  # noqa: E402
from transforms.llm.endpoint import endpoints  # noqa: E402
from transforms.sources.base import FactSource  # noqa: E402
from transforms.sources.llm import BUNDLED, PER_QUERY, SAMPLINGS, LlmSource  # noqa: E402
from transforms.sources.reference import ReferenceSource  # noqa: E402

SIZES = (5, 10, 20)
CASES = ("reference", "distinct", "shared", "voting")
PASSAGES = SAMPLES = 5
SHARED_PASSAGES = 12  # of the pages that all facts share: two of six passages
SENTENCES = 6  # of a passage, which makes about 100 words
MODEL = "offline-judge"
FORMULATIONS: Mapping[str, Mapping[str, Any]] = {
    "function_json": {},
    "function_xml": {"format": "xml"},
    "stepwise": {"formulation": "stepwise"},
    "rationale": {"formulation": "rationale"},
    "prompt": {"formulation": "prompt"},
}
COUNTED = ("calls", "prompt_tokens", "completion_tokens")
UFO_PUBLISHED = {"calls": 521, "prompt_tokens": 190_000, "completion_tokens": 45_000}
# Tokens of the fixed part of each of UFO's prompts, system message included.
UFO_PROMPTS = {"decompose": 543, "queries": 265, "knowledge": 206, "extract": 224, "verify": 193}

Counts = dict[str, int]


@dataclass(frozen=True, slots=True)
class Case:
    """A response, its reference, and for each claim what states it, its passages, its samples."""

    mode: str
    reference: str
    says: Mapping[str, str]
    passages: Mapping[str, Sequence[Passage]]
    samples: Mapping[str, Sequence[str]]


def build(fixture: Mapping[str, Any], name: str, size: int) -> Case:
    facts = fixture["shared" if name == "shared" else "distinct"][:size]
    passages = {}
    for number, fact in enumerate(facts):
        places = [number * PASSAGES + rank for rank in range(PASSAGES)]
        if name == "shared":
            places = [(number + rank) % SHARED_PASSAGES for rank in range(PASSAGES)]
        told = f"{fact['says']}." if name == "voting" else ""
        passages[fact["claim"]] = [
            _passage(fixture["fillers"], fact["subject"], place, told) for place in places
        ]
    stated = " ".join(f"{fact['says']}." for fact in facts)
    return Case(
        "mv" if name == "voting" else "seq",
        stated if name in ("reference", "voting") else fixture["unrelated_reference"],
        {fact["claim"]: fact["says"] for fact in facts},
        passages,
        {fact["claim"]: [text.format(**fact) for text in fixture["asides"]] for fact in facts},
    )


def _passage(fillers: Sequence[str], subject: str, place: int, told: str) -> Passage:
    chosen = [fillers[(7 * place + 3 * k) % len(fillers)] for k in range(SENTENCES)]
    lines = [told or chosen[0], *chosen[1:]]
    text = " ".join(line[0].upper() + line[1:] for line in (x.format(subject=subject) for x in lines))
    return Passage(text, title=subject.removeprefix("the "), section=str(place))


class Wikipedia(FactSource):
    """Has the fixture's passages for each claim, as an index would find them."""

    name = "wikipedia"

    def __init__(self, passages: Mapping[str, Sequence[Passage]]) -> None:
        self._passages = passages

    def find(self, unit: FactUnit) -> Sequence[Passage]:
        return self._passages[unit.claim]


async def judged(
    server: LlmServer, case: Case, sampling: str, settings: Mapping[str, Any]
) -> CheckedText:
    """Return the rows of the case's response, judged over HTTP."""
    claims = list(case.says)
    for claim, query in zip(claims, (await OfflineJudge().queries(claims)).queries, strict=True):
        server.knowledge.texts[query] = case.samples[claim]
    client = OpenAiClient(ClientSettings(endpoints(MODEL, server.base_url)))
    judge = LlmJudge(LlmSettings(MODEL, **settings), lambda: client)
    reference = ReferenceSource(PASSAGES)
    knowledge = LlmSource(SAMPLES, sampling=sampling, model=MODEL, client=lambda: client)
    reference.name, knowledge.name = "reference", "llm"
    knowledge.open()
    record = InputRecord("bench:1", "bench", " ".join(claims), references=[case.reference])
    sources = [reference, Wikipedia(case.passages), knowledge]
    try:
        rows = await check_text(record, sources, judge, case.mode)
    finally:
        await client.aclose()
    # What is compared has to be whole: every fact extracted, asked about and decided.
    assert [unit.claim for unit in rows.fact_units] == claims
    assert all(row.label == 1 for row in rows.verdicts)
    assert not rows.failures
    return rows


def measure(
    case: Case, sampling: str, settings: Mapping[str, Any]
) -> tuple[Counts, int, CheckedText]:
    """Return what the server counted, how many of it were probes' (apart), and the rows."""
    with LlmServer(keys=None) as server:
        rows = asyncio.run(judged(server, case, sampling, settings))
        assert all(entry.status == 200 for entry in server.chats)
        steps = server.by_step()
    probes = steps.pop("probe")["calls"]
    return {key: sum(step[key] for step in steps.values()) for key in COUNTED}, probes, rows


def ufo(case: Case, rows: CheckedText) -> Counts:
    """Return the calls and tokens that UFO's code needs for this response."""
    reasoning = round(statistics.mean(count(row.rationale or "") for row in rows.evidence))
    calls = 1
    prompts = UFO_PROMPTS["decompose"] + count(" ".join(case.says))
    replies = count(json.dumps([{"claim": claim} for claim in case.says]))
    for unit in rows.fact_units:
        claim, query = count(unit.claim), count(unit.query)
        samples = case.samples[unit.claim]
        calls += 2
        prompts += UFO_PROMPTS["queries"] + claim + UFO_PROMPTS["knowledge"] + query
        replies += count(json.dumps([unit.query])) + sum(map(count, samples))
        passages = [passage.text for passage in case.passages[unit.claim]]
        for text in (case.reference, *passages, *samples):
            said = case.says[unit.claim]
            answer = said if said in text else "NOANS"
            calls += 2
            prompts += UFO_PROMPTS["extract"] + query + count(text)
            replies += count(json.dumps({"reasoning": "", "answer": answer})) + reasoning
            prompts += UFO_PROMPTS["verify"] + claim + count(answer)
            replies += count(json.dumps({"reasoning": "", "factuality": True})) + reasoning
    return dict(zip(COUNTED, (calls, prompts, replies), strict=True))


def tokens(counts: Mapping[str, int]) -> int:
    return counts["prompt_tokens"] + counts["completion_tokens"]


def aims(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return the issue's aims at 20 facts, as [measured, aim, met]."""
    found: dict[str, Any] = {}

    def aim(name: str, value: float, limit: float, at_least: bool = False) -> None:
        met = value >= limit if at_least else value <= limit
        found[name] = [round(value, 2), limit, met]

    settled = results["reference"]["function_json"]["none"]
    aim("calls, reference settles all", settled["calls"], 2)
    for name, times in (("distinct", 6), ("shared", 12)):
        theirs = results[name]["ufo_modelled"]
        for sampling, calls in ((PER_QUERY, 30), (BUNDLED, 7)):
            ours = results[name]["function_json"][sampling]
            aim(f"calls, {name}, {sampling}", ours["calls"], calls)
            aim(f"tokens, {name}, {sampling}", tokens(theirs) / tokens(ours), times, True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20 facts only")
    options = parser.parse_args()
    fixture = json.loads((ROOT / "scripts" / "bench_calls_fixture.json").read_text("utf-8"))
    started = time.monotonic()
    report: dict[str, Any] = {"ufo_published_20_facts": UFO_PUBLISHED}
    for size in SIZES[-1:] if options.quick else SIZES:
        report[str(size)] = results = {}
        for name in CASES:
            case = build(fixture, name, size)
            results[name] = {}
            for formulation, settings in FORMULATIONS.items():
                found = results[name][formulation] = {}
                # Where the reference settles everything, nothing is sampled.
                for sampling in ("none",) if name == "reference" else SAMPLINGS:
                    chosen = PER_QUERY if sampling == "none" else sampling
                    found[sampling], report["probes"], rows = measure(case, chosen, settings)
                    line = f"{size:>3} {name:<10} {formulation:<14} {sampling:<10}"
                    print(line, found[sampling], file=sys.stderr)
            results[name]["ufo_modelled"] = ufo(case, rows)
            print(f"{size:>3} {name:<10} ufo (modelled)", results[name]["ufo_modelled"], file=sys.stderr)
    report["aims"] = aims(report[str(SIZES[-1])])
    report["seconds"] = round(time.monotonic() - started, 1)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
