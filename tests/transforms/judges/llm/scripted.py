"""A judge before a scripted model, and small responses for it."""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ufo.schemas.records import FactUnit, InputRecord, OpenUnits, Passage
from ufo.transforms.judges.judge_context import JudgeContext
from ufo.transforms.judges.llm.llm_judge import LlmJudge
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.request import Request
from ufo.transforms.prompts.data import read
from ufo.transforms.sentences import segment
from ufo.transforms.sources.fact_source import Found, Retrieved

TEXT = "Ada was born in 1815. She wrote notes.\n\nIs that not nice?"


@dataclass
class Asked:
    """What a judge made of a script, and what it asked."""

    result: Any
    client: FakeClient
    judge: LlmJudge

    @property
    def users(self) -> list[str]:
        return [request.messages[1].content for request in self.client.requests]

    @property
    def systems(self) -> list[str]:
        return [request.messages[0].content for request in self.client.requests]


def record(text: str = TEXT, **fields: Any) -> InputRecord:
    return InputRecord("file:1", "r1", text, **fields)


def open_units(
    claims: Sequence[str], text: str = TEXT, places: Sequence[int | None] = ()
) -> OpenUnits:
    spans = segment(text)
    units = [
        FactUnit("r1", f"u{n}", places[n] if places else n % len(spans), claim, f"Q{n}?", None)
        for n, claim in enumerate(claims)
    ]
    return OpenUnits("r1", text, None, None, [at for span in spans for at in span], [], units)


def passages(*texts: str, title: str | None = None) -> Found:
    """What a source has on one unit: a passage for each text, the same text being the same one."""
    return Found([Retrieved(Passage(text, title, passage_id=f"s:{text}"), 0.5) for text in texts])


def _run(settings: dict[str, Any], script: Any, ask: Callable[[LlmJudge], Any]) -> Asked:
    client = FakeClient(script)
    judge = LlmJudge(JudgeContext(LlmSettings("m", **settings), lambda: client))
    return Asked(asyncio.run(ask(judge)), client, judge)


def verify(script: Any, units: OpenUnits, answers: Sequence[Found], **settings: Any) -> Asked:
    """Verify; `result` is a Judged."""
    return _run(settings, script, lambda judge: judge.verify(units, "s", answers))


def extract(
    script: Any, input_record: InputRecord | None = None, units: str = "claim", **settings: Any
) -> Asked:
    """Extract; `result` is Drafts."""
    input_record = input_record or record()
    spans = segment(input_record.text)

    def ask(judge: LlmJudge) -> Any:
        by = judge.extract_sentences if units == "sentence" else judge.extract
        return by(input_record, spans)

    return _run(settings, script, ask)


def queries(script: Any, claims: Sequence[str], **settings: Any) -> Asked:
    """Write queries; `result` is Queries."""
    return _run(settings, script, lambda judge: judge.queries(claims, "r1"))


def asked_for(request: Request) -> tuple[Any, ...]:
    """What a program reads out of the request: {fact: (claim, query, passages)} and passages."""
    user = request.messages[1].content
    passages = {
        int(n): (read(title), read(text))
        for n, title, text in re.findall(
            r'<p(\d+)(?: title="([^"]*)")?>\n(.*?)\n</p\d+>', user, re.S
        )
    }
    facts = {}
    for n, query, listed, claim in re.findall(
        r'<f(\d+)(?: query="([^"]*)")?(?: passages="([^"]*)")?>(.*?)</f\d+>', user, re.S
    ):
        numbers: list[int] = []
        for item in (listed or "1").split():
            first, _, last = item.partition("-")
            numbers += range(int(first), int(last or first) + 1)
        facts[f"f{n}"] = (read(claim), read(query), numbers)
    return facts, passages


def answers(judge_of: Callable[..., Any]) -> Callable[..., Any]:
    """A model that judges each pair by `judge_of(claim, passage)`."""

    def reply(request: Request) -> dict[str, Any]:
        facts, passages = asked_for(request)
        single = len(passages) == 1
        arguments = {}
        for name, (claim, _, numbers) in facts.items():
            checks = [
                ({} if single else {"passage": n}) | judge_of(claim, passages[n][1])
                for n in numbers
            ]
            arguments[name] = checks[0] if single else {"checks": checks, "noans": []}
        return arguments

    return reply
