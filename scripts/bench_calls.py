"""Count what one response costs: LLM calls and tokens of every formulation, beside UFO's.

Responses of 5, 10 and 20 facts, one reference, 5 passages a fact, 5 samples a query, judged over
HTTP by the test server, which counts; extraction is included. Cases: `reference` (it settles every
fact), and all three sources (reference, wikipedia, llm) needed for every fact, with passages of
each fact's own (`distinct`) or of pages that all facts share (`shared`); `voting` is `distinct`
with an answer in every source and Multi-MV. The texts are in bench_calls_fixture.json.

Tokens are the test server's (a run of word characters or one other sign) for all of them. UFO's
calls are modelled from its code: 1 + 2N + 2N(10 + R) with these three sources, no early exit; the
fixed part of each of its five prompts as counted in its repository (WaldenRUC/UFOSys), and as data
the claims, queries, passages and samples of our own run, with replies as short as our rationales.
UFO's own prompt wants passages of 100 words from the model, so the model is on the low side. Its
published form has one source more: 1 + 2N + 2N(11 + R), about 190k + 45k tokens at N = 20, R = 1.

    python scripts/bench_calls.py [--quick]
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from schemas.records import Evidence, FactUnit, InputRecord, Passage  # noqa: E402
from tests.llm_server import LlmServer  # noqa: E402
from tests.llm_server.tokens import count  # noqa: E402
from transforms.check_text import CheckedText, check_text  # noqa: E402
from transforms.judges.llm.judge import LlmJudge  # noqa: E402
from transforms.judges.llm.settings import LlmSettings  # noqa: E402
from transforms.llm.client import ClientSettings, OpenAiClient  # noqa: E402
from transforms.llm.endpoint import endpoints  # noqa: E402
from transforms.sources.base import FactSource  # noqa: E402
from transforms.sources.llm import BUNDLED, PER_QUERY, SAMPLINGS, LlmSource  # noqa: E402
from transforms.sources.reference import ReferenceSource  # noqa: E402

SIZES = (5, 10, 20)
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
# Tokens of the fixed parts of UFO's prompts, system message included.
UFO_PROMPTS = {"decompose": 543, "queries": 265, "knowledge": 206, "extract": 224, "verify": 193}
UFO_PUBLISHED = {"calls": 521, "prompt_tokens": 190_000, "completion_tokens": 45_000}

Case = dict[str, Any]


class Wikipedia(FactSource):
    """Has the fixture's passages for each claim, as an index would find them."""

    name = "wikipedia"

    def __init__(self, passages: Mapping[str, Sequence[Passage]]) -> None:
        self._passages = passages

    def find(self, unit: FactUnit) -> Sequence[Passage]:
        return self._passages[unit.claim]


def build(fixture: Mapping[str, Any], case: str, size: int) -> Case:
    """Return the response, its reference, the passages by claim and the samples by claim."""
    shared = case == "shared"
    facts = fixture["shared" if shared else "distinct"][:size]
    says = " ".join(f"{fact['says']}." for fact in facts)
    passages = {}
    for number, fact in enumerate(facts):
        subject = fact["subject"]
        found = []
        for rank in range(PASSAGES):
            at = (number + rank) % SHARED_PASSAGES if shared else number * PASSAGES + rank
            lines = fixture["fillers"]
            chosen = [lines[(7 * at + 3 * k) % len(lines)] for k in range(SENTENCES)]
            told = [line.format(subject=subject) for line in chosen]
            if case == "voting":
                told[0] = f"{fact['says']}."
            title = subject.removeprefix("the ")
            text = " ".join(line[0].upper() + line[1:] for line in told)
            found.append(Passage(text, title=title, section=str(at)))
        passages[fact["claim"]] = found
    settles = case in ("reference", "voting")
    return {
        "text": " ".join(fact["claim"] for fact in facts),
        "reference": says if settles else fixture["unrelated_reference"],
        "passages": passages,
        "samples": {fact["claim"]: [aside.format(**fact) for aside in fixture["asides"]]
                    for fact in facts},
    }  # fmt: skip


async def run(
    server: LlmServer, case: Case, mode: str, sampling: str, settings: Mapping[str, Any]
) -> CheckedText:
    """Judge the case's response over HTTP."""
    client = OpenAiClient(ClientSettings(endpoints(MODEL, server.base_url)))
    judge = LlmJudge(LlmSettings(MODEL, **settings), lambda: client)
    reference = ReferenceSource(PASSAGES)
    reference.name = "reference"
    knowledge = LlmSource(SAMPLES, sampling=sampling, model=MODEL, client=lambda: client)
    knowledge.name = "llm"
    knowledge.open()
    record = InputRecord("bench:1", "bench", case["text"], references=[case["reference"]])
    sources = [reference, Wikipedia(case["passages"]), knowledge]
    try:
        return await check_text(record, sources, judge, mode)
    finally:
        await client.aclose()


def measure(case_name: str, case: Case, sampling: str, settings: Mapping[str, Any]) -> Case:
    """Return what the server counted, by step and together, and the rows of the run."""
    mode = "mv" if case_name == "voting" else "seq"
    with LlmServer(keys=None) as server:
        # The queries are the extractor's, and it is the offline judge: one fact a sentence.
        queries = server.judge
        rows = asyncio.run(_told(server, case, mode, sampling, settings))
        steps = server.by_step()
        assert not [entry for entry in server.chats if entry.status != 200]
    assert queries is server.judge
    probe = steps.pop("probe", {"calls": 0})
    total = {key: sum(step[key] for step in steps.values()) for key in UFO_PUBLISHED}
    return {"total": total, "steps": steps, "probe": probe["calls"], "rows": rows}


async def _told(
    server: LlmServer, case: Case, mode: str, sampling: str, settings: Mapping[str, Any]
) -> CheckedText:
    from transforms.judges.offline.judge import OfflineJudge

    claims = list(case["samples"])
    for claim, query in zip(claims, (await OfflineJudge().queries(claims)).queries, strict=True):
        server.knowledge.texts[query] = case["samples"][claim]
    rows = await run(server, case, mode, sampling, settings)
    assert [unit.claim for unit in rows.fact_units] == claims
    assert not rows.failures, rows.failures
    return rows


def ufo(case: Case, rows: CheckedText) -> dict[str, int]:
    """Return the calls and tokens that UFO's code would need for this response."""
    units = rows.fact_units
    judged = {(row.unit_id, row.passage_id): row for row in rows.evidence}
    prompts = UFO_PROMPTS["decompose"] + count(case["text"])
    replies = count(json.dumps([{"claim": unit.claim} for unit in units]))
    calls = 1
    rationale = _typical(rows.evidence)
    for unit in units:
        query, claim = count(unit.query), count(unit.claim)
        samples = case["samples"][unit.claim]
        prompts += UFO_PROMPTS["queries"] + claim + UFO_PROMPTS["knowledge"] + query
        replies += count(json.dumps([unit.query, unit.query])) + sum(map(count, samples))
        calls += 2
        texts = [case["reference"], *(p.text for p in case["passages"][unit.claim]), *samples]
        settles = [_answers(case, unit, text) for text in texts]
        for text, answer in zip(texts, settles, strict=True):
            prompts += UFO_PROMPTS["extract"] + query + count(text)
            replies += count(json.dumps({"reasoning": "", "answer": answer})) + rationale
            prompts += UFO_PROMPTS["verify"] + claim + count(answer)
            replies += count(json.dumps({"reasoning": "", "factuality": True})) + rationale
            calls += 2
    assert judged
    return {"calls": calls, "prompt_tokens": prompts, "completion_tokens": replies}
