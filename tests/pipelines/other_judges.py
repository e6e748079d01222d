"""Judges as other people write them: ones that work, and ones that do not."""

from typing import Any, Never

from ufo import Judge, Judged, Judgement
from ufo.transforms.llm.request import VERIFIER, Message, Request


def judge(name: Any) -> str:
    """Return what `--judge` is given."""
    return f"{__file__}:{name}"


class Says(Judge):
    """Takes a passage at its first word."""

    def __init__(self, word: Any = "", api_key: Any = "") -> None:
        self.word = word

    def outcome(self, unit: Any, passage: Any) -> Judgement:
        return Judgement(self.word or passage.text.split()[0], rationale="it says so")


class Sided(Says):
    abstains = False


class Broken(Says):
    def unavailable(self) -> str:
        return "it is broken; mend it"


class Extracts(Judge):
    async def extract(self, record: Any, sentences: Any) -> Never:
        raise AssertionError


class Plain(Judge):
    """Asks a model about each passage, in words of its own."""

    needs_endpoint = True

    def __init__(self, context: Any, model: Any = None) -> None:
        self.client, self.model = context.client, model

    async def outcome(self, unit: Any, passage: Any) -> Judgement:
        asked = [Message("system", "Task: own"), Message("user", unit.claim + passage.text)]
        reply = await self.client().complete(
            Request(VERIFIER, self.model or "", asked, step="verify")
        )
        return Judgement("supported", rationale=reply.choices[0].text)


class Catching(Judge):
    """Takes whatever is raised for an answer."""

    needs_endpoint = asks_llm_judge = True

    def __init__(self, context: Any) -> None:
        self.llm = context.llm_judge()

    def open(self) -> None:
        self.llm.open()

    async def verify(self, open_units: Any, source: Any, found: Any) -> Judged:
        try:
            return await self.llm.verify(open_units, source, found)
        except Exception:
            pairs = zip(open_units.units, found, strict=True)
            return Judged([self.llm.without_passages(one, source, at) for one, at in pairs])


class Far(Judge):
    """Asks a service that is none of a model."""

    async def outcome(self, unit: Any, passage: Any) -> Never:
        raise AssertionError("it was asked")


class Sloppy(Judge):
    async def verify(self, open_units: Any, source: Any, found: Any) -> Judged:
        return Judged()
