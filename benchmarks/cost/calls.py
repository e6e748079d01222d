"""Count what one response costs: LLM calls and tokens of every formulation, beside UFO's.

Responses of 5, 10 and 20 facts, one reference, 5 passages a fact, 5 samples a query, judged over
HTTP by the test server, which counts; extraction is included. Cases: `reference` (it settles every
fact), all three sources (reference, wikipedia, llm) needed for every fact, with passages of each
fact's own (`distinct`) or of pages that all facts share (`shared`), and `voting`: `distinct` with
an answer in every passage, and Multi-MV. The texts are in cases.json.

The server says what the offline judge does, as short as the prompts ask for: answers of a few
words, rationales of 12. Tokens are the server's (a run of word characters or one other sign) for
everything. What a process asks once, to learn what the endpoint can do, is apart: `probes`.

UFO is modelled from its code (WaldenRUC/UFOSys) for the same response, without early exit as there:
the fixed part of each of its five prompts as counted in that repository, and as data our run's
claims, queries and passages. `ufo_as_asked` is its published form: 1 + 2N + 2N(11 + R) calls, for
it has a fourth source, ten search snippets in one; samples of the 100 words that its prompt asks
for, and reasoning of the about 50 tokens that follow from its published completions. `ufo_as_short`
is a lower bound: our three sources, our samples, and reasoning as short as our rationales, which
its prompts do not ask for.

Aims are ceilings: the calls and tokens of the default formulation at 20 facts, as they were when
they were set. How many times fewer tokens than UFO's those are is no aim: it depends on which of
the three counts of UFO is taken.

    python benchmarks/cost/calls.py [--quick]
"""

import argparse
import asyncio
import json
import re
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.cost.cases import CASES, PASSAGES, SAMPLES, Case, build  # noqa: E402
from tests.llm_server import Chat, LlmServer, Reply, prompts  # noqa: E402
from tests.llm_server.offline import OfflineAnswers  # noqa: E402
from tests.llm_server.tokens import count  # noqa: E402
from ufo.schemas.records import FactUnit, InputRecord, Passage  # noqa: E402
from ufo.transforms.check_text import CheckedText, check_text  # noqa: E402
from ufo.transforms.job import Job  # noqa: E402
from ufo.transforms.judges.judge_context import JudgeContext  # noqa: E402
from ufo.transforms.judges.llm.llm_judge import LlmJudge  # noqa: E402
from ufo.transforms.judges.llm.llm_settings import LlmSettings  # noqa: E402
from ufo.transforms.judges.offline.offline_judge import OfflineJudge  # noqa: E402
from ufo.transforms.llm.client import OpenAiClient  # noqa: E402
from ufo.transforms.llm.client_settings import ClientSettings  # noqa: E402
from ufo.transforms.llm.endpoint import endpoints  # noqa: E402
from ufo.transforms.sources.defaults import BUNDLED, PER_QUERY  # noqa: E402
from ufo.transforms.sources.fact_source import (  # noqa: E402
    FactSource,
    SourceContext,
)
from ufo.transforms.sources.llm import SAMPLINGS, LlmSource  # noqa: E402
from ufo.transforms.sources.reference import ReferenceSource  # noqa: E402

SIZES = (5, 10, 20)
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
UFO_SAMPLE, UFO_REASONING, UFO_SNIPPETS = 115, 50, 300
# Of `function` at 20 facts: (case, sampling, calls, tokens), at most.
CEILINGS = (
    ("reference", "none", 2, 5_500),
    ("distinct", PER_QUERY, 25, 31_200),
    ("distinct", BUNDLED, 6, 32_600),
    ("shared", PER_QUERY, 25, 18_800),
    ("shared", BUNDLED, 6, 20_200),
)
RATIONALE_WORDS = 12  # prompts/argument_rationale.txt

Counts = dict[str, int]


class AsAsked(OfflineAnswers):
    """The offline judge's answers to `function`, in the brevity that its prompts ask for."""

    def __init__(self, answers: Mapping[str, str]) -> None:
        super().__init__()
        self._short = answers

    def answer(self, chat: Chat) -> Reply:
        reply = super().answer(chat)
        if not reply.step.startswith("verify"):
            return reply
        short = {f"f{fact.number}": self._short[fact.claim] for fact in prompts.facts(chat.user)}
        if reply.arguments is None:
            return Reply(
                FACT_TAG.sub(lambda m: _tags(m[0], short[m[1]]), reply.text), None, "verify"
            )
        facts = {name: _fact(value, short[name]) for name, value in reply.arguments.items()}
        return Reply("", facts, "verify")


FACT_TAG = re.compile(r"<(f\d+)>.*?</\1>", re.DOTALL)


def _tags(text: str, answer: str) -> str:
    text = re.sub("<answer>(?!NOANS).*?</answer>", f"<answer>{answer}</answer>", text)
    return re.sub(
        "(?<=<rationale>)(.*?)(?=</rationale>)",
        lambda found: " ".join(found[0].split()[:RATIONALE_WORDS]),
        text,
    )


def _fact(value: Mapping[str, Any], answer: str) -> dict[str, Any]:
    if "checks" not in value:
        return _check(value, answer)
    checks: list[dict[str, Any]] = []
    for entry in value["checks"]:
        check = _check(entry, answer)
        same = [known for known in checks if known["verdict"] == check["verdict"]]
        if same:
            same[0]["passages"] += check["passages"]
        else:
            checks.append(check)
    return {**value, "checks": checks}


def _check(check: Mapping[str, Any], answer: str) -> dict[str, Any]:
    if check["answer"] == "NOANS":
        return {**check, "rationale": ""}
    words = check["rationale"].split()[:RATIONALE_WORDS]
    return {**check, "answer": answer, "rationale": " ".join(words)}


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
    judge = LlmJudge(JudgeContext(LlmSettings(MODEL, **settings), lambda: client))
    reference = ReferenceSource(PASSAGES)
    knowledge = LlmSource(
        SAMPLES,
        sampling=sampling,
        model=MODEL,
        context=SourceContext(client=lambda: client),
    )
    reference.name, knowledge.name = "reference", "llm"
    knowledge.open()
    record = InputRecord("bench:1", "bench", " ".join(claims), references=[case.reference])
    sources = [reference, Wikipedia(case.passages), knowledge]
    try:
        rows = await check_text(record, sources, judge, Job((), mode=case.mode))
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
    with LlmServer([AsAsked(case.answers)], keys=None) as server:
        rows = asyncio.run(judged(server, case, sampling, settings))
    # The server notes a status after its reply is on the way: it has when it has ended.
    assert all(entry.status == 200 for entry in server.chats)
    steps = server.by_step()
    probes = steps.pop("probe")["calls"]
    return {key: sum(step[key] for step in steps.values()) for key in COUNTED}, probes, rows


def ufo(case: Case, rows: CheckedText, as_short: bool) -> Counts:
    """Return the calls and tokens that UFO's code needs for this response."""
    reasoning = UFO_REASONING
    if as_short:
        reasoning = round(statistics.mean(count(row.rationale or "") for row in rows.evidence))
    calls = 1
    asked = UFO_PROMPTS["decompose"] + count(" ".join(case.says))
    written = count(json.dumps([{"claim": claim} for claim in case.says]))
    for unit in rows.fact_units:
        claim, query = count(unit.claim), count(unit.query)
        samples = [count(text) if as_short else UFO_SAMPLE for text in case.samples[unit.claim]]
        calls += 2
        asked += UFO_PROMPTS["queries"] + claim + UFO_PROMPTS["knowledge"] + query
        written += count(json.dumps([unit.query])) + sum(samples)
        texts = [case.reference, *(passage.text for passage in case.passages[unit.claim])]
        pairs = [(count(text), case.says[unit.claim] in text) for text in texts]
        pairs += [(size, True) for size in samples]
        if not as_short:
            pairs.append((UFO_SNIPPETS, False))
        for size, has_answer in pairs:
            answer = case.answers[unit.claim] if has_answer else "NOANS"
            calls += 2
            asked += UFO_PROMPTS["extract"] + query + size
            written += count(json.dumps({"reasoning": "", "answer": answer})) + reasoning
            asked += UFO_PROMPTS["verify"] + claim + count(answer)
            written += count(json.dumps({"reasoning": "", "factuality": True})) + reasoning
    return dict(zip(COUNTED, (calls, asked, written), strict=True))


def tokens(counts: Mapping[str, int]) -> int:
    return counts["prompt_tokens"] + counts["completion_tokens"]


def aims(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was measured at 20 facts, the most that it may be, and whether that is met."""
    met = {}
    for name, sampling, calls, most in CEILINGS:
        ours = results[name]["function_json"][sampling]
        met[f"calls, {name}, {sampling}"] = [ours["calls"], calls, ours["calls"] <= calls]
        met[f"tokens, {name}, {sampling}"] = [tokens(ours), most, tokens(ours) <= most]
    return met


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20 facts, function only")
    options = parser.parse_args()
    fixture = json.loads(Path(__file__).with_name("cases.json").read_text("utf-8"))
    started = time.monotonic()
    report: dict[str, Any] = {"ufo_published_20_facts": UFO_PUBLISHED}
    formulations = list(FORMULATIONS.items())[: 1 if options.quick else None]
    for size in SIZES[-1:] if options.quick else SIZES:
        results: dict[str, Any] = {}
        report[str(size)] = results
        for name in CASES:
            case = build(fixture, name, size)
            results[name] = {}
            for formulation, settings in formulations:
                figures = results[name][formulation] = {}
                # Where the reference settles everything, nothing is sampled.
                for sampling in ("none",) if name == "reference" else SAMPLINGS:
                    chosen = PER_QUERY if sampling == "none" else sampling
                    figures[sampling], report["probes"], rows = measure(case, chosen, settings)
                    line = f"{size:>3} {name:<10} {formulation:<14} {sampling:<10}"
                    print(line, figures[sampling], file=sys.stderr)
            for label, as_short in (("ufo_as_asked", False), ("ufo_as_short", True)):
                results[name][label] = ufo(case, rows, as_short)
                print(f"{size:>3} {name:<10} {label:<25}", results[name][label], file=sys.stderr)
    report["aims"] = aims(report[str(SIZES[-1])])
    for aim, figures in report["aims"].items():
        print(f"{aim:<50} {figures}", file=sys.stderr)
    report["seconds"] = round(time.monotonic() - started, 1)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
