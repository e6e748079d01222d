"""The judge: extracts fact units from a response, and verifies them against passages.

Functions are coroutines because a language model is behind some judges; one that computes in this
process never suspends (`remote` is False) and is run without an event loop.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from schemas.records import Evidence, FactUnit, Failure, InputRecord, OpenUnits, Usage
from transforms.sentences import Span
from transforms.sources.base import Found


@dataclass(frozen=True, slots=True)
class Draft:
    """A claim before it is numbered: which sentence it is from, and the query that settles it.

    `label` is what people said of a given claim.
    """

    sentence_index: int | None
    claim: str
    query: str
    label: int | None = None


@dataclass(slots=True, kw_only=True)
class Work:
    """What went wrong while a judge worked, and what it cost; what it made is in the subclasses."""

    failures: list[Failure] = field(default_factory=list)
    usage: list[Usage] = field(default_factory=list)


@dataclass(slots=True)
class Drafts(Work):
    """What a judge extracted from one response."""

    drafts: list[Draft] = field(default_factory=list)


@dataclass(slots=True)
class Judged(Work):
    """The evidence of one response against one source."""

    evidence: list[Evidence] = field(default_factory=list)


@dataclass(slots=True)
class Queries(Work):
    """The queries of claims that came without, in their order."""

    queries: list[str] = field(default_factory=list)


class Judge:
    """What the steps `extract` and `check` ask of a judge."""

    name: str = ""
    remote: bool = False

    def open(self) -> None:
        """Open what the judge needs in this process. Called once before the first response."""

    def close(self) -> None:
        """Close what `open` opened; for whoever is not on the loop that the judge was used in."""

    async def aclose(self) -> None:
        """Close what `open` opened, on the loop that the judge was used in."""
        self.close()

    async def extract(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        """Return the checkable claims of the response, in the order of its sentences."""
        raise NotImplementedError

    async def extract_sentences(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        """Return one claim for each sentence that makes a checkable one (`--units sentence`)."""
        raise NotImplementedError

    async def queries(self, claims: Sequence[str], response_id: str | None = None) -> Queries:
        """Return the queries for claims that came without one, in the claims' order."""
        raise NotImplementedError

    async def verify(self, open_units: OpenUnits, source: str, found: Sequence[Found]) -> Judged:
        """Return the evidence rows: at least one for each unit, in the units' order.

        `found` holds, for each unit, the passages of the source of that name. A passage without a
        usable judgement is a row with outcome `error` and its reason, never a vote.
        """
        raise NotImplementedError

    def without_passages(self, unit: FactUnit, source: str, found: Found) -> Evidence:
        """Return the one evidence row of a unit for which the source had no passage."""
        return Evidence(
            unit.response_id,
            unit.unit_id,
            source,
            passage_id=None,
            rank=None,
            retrieval_score=None,
            answer=None,
            outcome=found.outcome,
            reason=found.reason,
            label=None,
            raw_verdict=None,
            probability=None,
            rationale=found.message or None,
            citation=None,
            citation_found=None,
            judge=self.name,
        )
