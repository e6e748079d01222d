"""Measure the prompts of the LLM judge: their tokens, and what a model makes of them.

    python benchmarks/prompts.py [--base_url URL --model NAME] [--claims N] [--prompts DIR]
        [--formulations function,xml,…] [--data DIR] [--timeout S] [--quick]

The last line is JSON. `tokens` has for each step the mean tokens of the `prefix`, the same in each
call but for its numbers (system message and function), and of the `data`; counted without a
model's vocabulary (`ufo.transforms.llm.window`), and nothing is sent for it.

With an endpoint, `replies` has for each formulation how many pairs (claim, passage) have no usable
judgement in the first reply (`unusable_first`) and after the repair (`unusable`), how many are
decided, and how many of these say what people do of the claim (`as_labelled`, of `labelled`),
beside calls and seconds; of `extract_facts` how many sentences were lost. The key is
OPENAI_API_KEY.

The claims are the first N (default 1) of each record of examples/responses.jsonl that brings its
claims, six of them, and the passages the two that BM25 finds for each in
examples/encyclopaedia.xml: 12 pairs. `--data` is a folder with other files of these names.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ufo.pipelines.build_index import build  # noqa: E402
from ufo.schemas.records import (  # noqa: E402  # noqa: E402
    ERROR,
    NOANS,
    REFUTED,
    SUPPORTED,
    FactUnit,
    InputRecord,
    OpenUnits,
    RecallAnswer,
    RecallInput,
)
from ufo.transforms.judges.judge import JudgeContext  # noqa: E402
from ufo.transforms.judges.llm.asking import Askers  # noqa: E402
from ufo.transforms.judges.llm.formulation import Case  # noqa: E402
from ufo.transforms.judges.llm.llm_judge import LlmJudge, case_of, formulation  # noqa: E402
from ufo.transforms.judges.llm.llm_settings import LlmSettings  # noqa: E402
from ufo.transforms.llm.capabilities import Capabilities  # noqa: E402
from ufo.transforms.llm.client import OpenAiClient  # noqa: E402
from ufo.transforms.llm.client_settings import ClientSettings  # noqa: E402
from ufo.transforms.llm.endpoint import Endpoint  # noqa: E402
from ufo.transforms.llm.request import (  # noqa: E402
    EXTRACTOR,
    VERIFIER,
    Choice,
    Client,
    Completion,
    Request,
)
from ufo.transforms.llm.window import count  # noqa: E402
from ufo.transforms.llm.wire import body  # noqa: E402
from ufo.transforms.prompts import load_prompts  # noqa: E402
from ufo.transforms.recall.formulations import DEFAULT  # noqa: E402
from ufo.transforms.recall.recallers import LlmRecaller  # noqa: E402
from ufo.transforms.sentences import segment  # noqa: E402
from ufo.transforms.sources.wikipedia import WikipediaSource  # noqa: E402

FORMULATIONS: Mapping[str, Mapping[str, Any]] = {
    "function": {},
    "xml": {"format": "xml"},
    "stepwise": {"formulation": "stepwise"},
    "rationale": {"formulation": "rationale"},
    "prompt": {"formulation": "prompt"},
}
PASSAGES = 2
OUTCOMES = {1: SUPPORTED, 0: REFUTED}


@dataclass(frozen=True)
class Labelled:
    """Claims, passages, and what people say of each claim."""

    case: Case
    labels: Sequence[Any]


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


async def examples(data: Path, claims: int) -> list[Labelled]:
    """Return the records that bring their claims, each with the passages of the first of them."""
    lines = (data / "responses.jsonl").read_text(encoding="utf-8").splitlines()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        build([data / "encyclopaedia.xml"], Path(folder, "index"))
        source = WikipediaSource(str(Path(folder, "index")), PASSAGES)
        source.name = "wikipedia"
        source.open()
        for row in map(json.loads, lines):
            given = (row.get("claims") or [])[:claims]
            units = [
                FactUnit(
                    row["id"], f"u{at}", one.get("sentence_index"), one["claim"], one["claim"], None
                )
                for at, one in enumerate(given)
            ]
            spans = [at for span in segment(row["response"]) for at in (span.start, span.end)]
            asked = OpenUnits(row["id"], row["response"], None, "en", spans, [], units)
            if units:
                case = case_of(asked, await source.look_up(asked))
                found.append(Labelled(case, [one.get("label") for one in given]))
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
) -> list[tuple[Any, str, bool]]:
    """Return (label, outcome, whether the first reply was usable) of each pair."""
    prompts = load_prompts(settings.prompts_dir)
    by = formulation(settings, prompts)
    askers = Askers(settings, prompts, lambda: client)

    async def of(one: Labelled) -> list[tuple[Any, str, bool]]:
        found = await by.judge(one.case, askers.asker(VERIFIER, "verify"))
        return [
            (one.labels[unit], finding.outcome, finding.first_reason is None)
            for (unit, _), finding in sorted(found.items())
        ]

    return [row for rows in await asyncio.gather(*map(of, pairs)) for row in rows]


async def settled(
    pairs: Sequence[Labelled], settings: LlmSettings, client: Client
) -> dict[str, int]:
    """Return of how many sentences the first reply, and any, did not say what they claim."""
    found = {}
    for name, repairs in (("unusable_first", 0), ("unusable", settings.repairs)):
        judge = LlmJudge(JudgeContext(replace(settings, repairs=repairs), lambda: client))
        texts = [pair.case.passages[0].text for pair in pairs]
        spans = list(map(segment, texts))
        found["sentences"], found[name] = sum(map(len, spans)), 0
        for text, its in zip(texts, spans, strict=True):
            drafts = await judge.extract(InputRecord("k", "r", text), its)
            known = {draft.sentence_index for draft in drafts.drafts}
            # All sentences of an encyclopaedia state facts: one without a claim was lost.
            found[name] += len(set(range(len(its))) - known)
    return found


async def replies_of(
    pairs: Sequence[Labelled], settings: LlmSettings, names: Sequence[str], endpoint: Endpoint
) -> dict[str, Any]:
    """Return what the model of an endpoint makes of each formulation."""
    found: dict[str, Any] = {}
    roles = {VERIFIER: endpoint, EXTRACTOR: endpoint}
    for name in names:
        client = Counting(OpenAiClient(ClientSettings(roles, concurrency=2)))
        begun = perf_counter()
        if name == "extract_facts":
            figures: dict[str, Any] = await settled(pairs, settings, client)
        else:
            options = FORMULATIONS[name]
            rows = await judged(pairs, replace(settings, **options), client)
            decided = [row for row in rows if row[1] not in (ERROR, NOANS)]
            labelled = [row for row in decided if row[0] in OUTCOMES]
            figures = {
                "pairs": len(rows),
                "unusable_first": sum(not first for _, _, first in rows),
                "unusable": sum(outcome == ERROR for _, outcome, _ in rows),
                "decided": len(decided),
                "labelled": len(labelled),
                "as_labelled": sum(OUTCOMES[label] == outcome for label, outcome, _ in labelled),
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
    parser.add_argument("--data", type=Path, default=ROOT / "examples")
    parser.add_argument("--claims", type=int, default=1, help="of each record")
    parser.add_argument("--prompts", help="a folder of prompts in place of the shipped ones")
    parser.add_argument("--formulations", default=",".join([*FORMULATIONS, "extract_facts"]))
    parser.add_argument("--timeout", type=float, default=300.0)
    parser.add_argument("--quick", action="store_true", help="function and xml only")
    given = parser.parse_args()
    names = given.formulations.split(",")
    if given.quick:
        names = names[:2]
    unknown = set(names) - {*FORMULATIONS, "extract_facts"}
    if unknown:
        parser.error(f"unknown formulation {min(unknown)!r}; there are: {', '.join(FORMULATIONS)}")
    pairs = asyncio.run(examples(given.data, given.claims))
    settings = LlmSettings(given.model, prompts_dir=given.prompts)
    figures: dict[str, Any] = {"tokens": asyncio.run(tokens_of(pairs, settings))}
    if given.base_url:
        endpoint = Endpoint(given.model, given.base_url, timeout=given.timeout)
        figures["model"] = given.model
        figures["replies"] = asyncio.run(replies_of(pairs, settings, names, endpoint))
    print(json.dumps(figures, ensure_ascii=False))


if __name__ == "__main__":
    main()
