"""What a small context costs: calls and tokens of 24 facts with 5 passages each, by n_ctx.

The claims, queries and passages of a response are given, so that every call is one that verifies.
Each profile of `tests/llm_server` refuses, or silently cuts, what its context does not hold. A row
is `calls` (answered), `refused` (by the endpoint, free), tokens, and what came of the 120
judgements: `truncated` where not even one fact with one passage fits.

    python benchmarks/bench_context.py [--profiles openai,ollama] [--contexts 512,2048,8192]
        [--quick]
"""

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.calls_cases import PASSAGES, build  # noqa: E402
from tests.llm_server import PROFILES, LlmServer  # noqa: E402
from ufo.schemas.records import FactUnit, OpenUnits  # noqa: E402
from ufo.transforms.judges.judge import JudgeContext, Judged  # noqa: E402
from ufo.transforms.judges.llm.llm_judge import LlmJudge  # noqa: E402
from ufo.transforms.judges.llm.llm_settings import LlmSettings  # noqa: E402
from ufo.transforms.judges.offline.offline_judge import OfflineJudge  # noqa: E402
from ufo.transforms.llm.client import OpenAiClient  # noqa: E402
from ufo.transforms.llm.client_settings import ClientSettings  # noqa: E402
from ufo.transforms.llm.endpoint import endpoints  # noqa: E402
from ufo.transforms.sentences import segment  # noqa: E402
from ufo.transforms.sources.fact_source import Found, Retrieved  # noqa: E402

FACTS = 24
CONTEXTS = (512, 2_048, 8_192)
FORMULATIONS: Mapping[str, Mapping[str, Any]] = {
    "function": {},
    "xml": {"format": "xml"},
    "stepwise": {"formulation": "stepwise"},
    "rationale": {"formulation": "rationale"},
    "prompt": {"formulation": "prompt"},
}
MODEL = "offline-judge"


async def judged(
    server: LlmServer, settings: Mapping[str, Any], given: int | None = None, times: int = 1
) -> list[Judged]:
    """Return what a judge makes of the facts, `times` over; `given` is --context."""
    fixture = json.loads((ROOT / "benchmarks" / "bench_calls_fixture.json").read_text("utf-8"))
    case = build(fixture, "distinct", FACTS)
    # The fixture has 20 facts: the first ones stand again, in another sentence.
    claims = list(case.says)
    claims += [f"It is said that {claim}" for claim in claims[: FACTS - len(claims)]]
    passages = [case.passages[claim.removeprefix("It is said that ")] for claim in claims]
    queries = (await OfflineJudge().queries(claims)).queries
    text = " ".join(claims)
    units = [
        FactUnit("r", f"u{at}", at, claim, query, None)
        for at, (claim, query) in enumerate(zip(claims, queries, strict=True))
    ]
    spans = [at for span in segment(text) for at in span]
    found = [Found([Retrieved(passage) for passage in some]) for some in passages]
    client = OpenAiClient(ClientSettings(endpoints(MODEL, server.base_url), context=given))
    judge = LlmJudge(JudgeContext(LlmSettings(MODEL, **settings), lambda: client))
    try:
        return [
            await judge.verify(OpenUnits("r", text, None, None, spans, [], units), "s", found)
            for _ in range(times)
        ]
    finally:
        await client.aclose()


def measure(profile: str, context: int, settings: Mapping[str, Any]) -> dict[str, int]:
    """Return the calls and tokens that the server counted, and the rows by their reason."""
    with LlmServer(keys=None) as server:
        server.switches = replace(PROFILES[profile], context=context)
        (found,) = asyncio.run(judged(server, settings))
    rows = found.evidence
    sent = [row for row in found.usage if row.step != "probe"]
    answered = [entry for entry in server.chats if entry.status == 200 and entry.step != "probe"]
    reasons = Counter(row.reason for row in rows if row.outcome == "error")
    return {
        "calls": len(answered),
        "refused": sum(row.status != "ok" for row in sent),
        "prompt_tokens": sum(entry.prompt_tokens for entry in answered),
        "completion_tokens": sum(entry.completion_tokens for entry in answered),
        "judged": len(rows) - reasons.total(),
        "truncated": reasons["truncated"],
        "other_errors": reasons.total() - reasons["truncated"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profiles", default=",".join(PROFILES))
    parser.add_argument("--contexts", default=",".join(map(str, CONTEXTS)))
    parser.add_argument("--formulations", default=",".join(FORMULATIONS))
    parser.add_argument("--quick", action="store_true", help="one profile and one context")
    options = parser.parse_args()
    if options.quick:
        options.profiles, options.contexts = options.profiles.split(",")[0], "2048"
    report: dict[str, Any] = {"facts": FACTS, "passages": PASSAGES}
    for profile in options.profiles.split(","):
        for context in map(int, options.contexts.split(",")):
            for name in options.formulations.split(","):
                found = measure(profile, context, FORMULATIONS[name])
                report.setdefault(profile, {}).setdefault(str(context), {})[name] = found
                print(f"{profile:<9}{context:>6} {name:<10}", found, file=sys.stderr)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
