"""The judge: extracts fact units from a response, and verifies them against passages.

A judge writes one method, `outcome`: what one passage says to one claim. The base builds the rows
of evidence and turns an exception into an error that is counted and never a vote; claims are
extracted by rules (`transforms.extraction`), as the offline judge does. A judge that extracts
claims itself overrides `extract`; one that judges all claims of a response at once, `verify`.

Functions are coroutines because a language model is behind some judges; one that computes in this
process never suspends (`remote` is False) and is run without an event loop.
"""

import inspect
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from schemas.errors import ends_run
from schemas.records import (
    ERROR,
    OUTCOMES,
    UNPARSABLE,
    Evidence,
    FactUnit,
    Failure,
    InputRecord,
    OpenUnits,
    Passage,
    Usage,
)
from transforms.judges.rows import evidence_row
from transforms.prompts.data import storable
from transforms.sources.base import Found, Retrieved, message_of

# Whoever imports `ufo` need not wait for what finds sentences.
if TYPE_CHECKING:
    from transforms.sentences import Span


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


class Judgement(NamedTuple):
    """What a passage says to a claim.

    `outcome` is `supported`, `refuted`, `noans` (the passage does not answer) or `error` (there is
    no usable judgement). `probability` is that of `supported`, `rationale` says why, and `citation`
    is the sentence of the passage that decides.
    """

    outcome: str
    probability: float | None = None
    rationale: str | None = None
    citation: str | None = None


class Judge:
    """Who extracts claims and verifies them.

    A subclass implements `outcome` (plain or `async`), or overrides `verify`. Its constructor takes
    the keyword options that a user may set; one that is named like a flag of judging or of models
    (`verifier`, `model`, …) gets that flag's value where the configuration does not set it, and for
    judges that need an endpoint `context` is the `ufo.JudgeContext` of the run: its client, and the
    judge that the flags of `--judge llm` describe. Instances are created on every worker, so what
    cannot be pickled is opened in `open`.

    What a judge can do is read from its class: `extracts` and `verifies` are set by themselves
    where the methods are there.
    """

    name: str = ""
    """What the column `judge` says; set by the registry."""

    model: str | None = None
    """What the column `model` says: what it judges by, where that has a name of its own."""

    extracts: ClassVar[bool] = False
    """Whether it extracts claims itself; else they are the offline judge's."""

    verifies: ClassVar[bool] = False
    """Whether it holds claims against passages, which a judge must."""

    needs_endpoint: ClassVar[bool] = False
    """Whether it asks a language model at the endpoint of `--model` and `--base_url`."""

    asks_llm_judge: ClassVar[bool] = False
    """Whether it is the LLM judge or asks it (`context.llm_judge`): the flags of `--judge llm` are
    its own then."""

    abstains: ClassVar[bool] = True
    """Whether it can say that a passage does not answer (`noans`)."""

    remote: bool = False
    """Whether it waits for something outside this process. It is set by itself where `outcome` is a
    coroutine function or the judge needs an endpoint; who overrides `verify` says it."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = cls.__dict__
        cls.extracts = own.get("extracts", cls.extracts or "extract" in own)
        cls.verifies = own.get("verifies", cls.verifies or bool({"outcome", "verify"} & own.keys()))
        if "remote" not in own:
            waits = inspect.iscoroutinefunction(own.get("outcome"))
            cls.remote = cls.remote or cls.needs_endpoint or waits

    def unavailable(self) -> str | None:
        """Return why the judge cannot judge, with the remedy, or None where it can.

        Asked once, before the input is read.
        """
        return None

    def fingerprint(self) -> str:
        """Return what results depend on beside the options: a model's checksum, say."""
        return ""

    def open(self) -> None:
        """Open what the judge needs in this process. Called once before the first response."""

    def close(self) -> None:
        """Close what `open` opened."""

    async def extract(self, record: InputRecord, sentences: "Sequence[Span]") -> Drafts:
        """Return the checkable claims of the response, in the order of its sentences."""
        from transforms.extraction.drafts import claims

        return Drafts([Draft(*unit) for unit in claims(record, sentences)])

    async def extract_sentences(self, record: InputRecord, sentences: "Sequence[Span]") -> Drafts:
        """Return one claim for each sentence that makes a checkable one (`--units sentence`)."""
        from transforms.extraction.drafts import sentence_claims

        return Drafts([Draft(*unit) for unit in sentence_claims(record, sentences)])

    async def queries(self, claims: Sequence[str], response_id: str | None = None) -> Queries:
        """Return the queries for claims that came without one, in the claims' order."""
        from transforms.extraction import query_of

        return Queries([query_of(claim) for claim in claims])

    def outcome(self, unit: FactUnit, passage: Passage) -> Judgement | Awaitable[Judgement]:
        """Return what `passage` says to `unit.claim`."""
        raise NotImplementedError(f"{type(self).__name__} implements neither outcome nor verify")

    async def verify(self, open_units: OpenUnits, source: str, found: Sequence[Found]) -> Judged:
        """Return the evidence rows: at least one for each unit, in the units' order.

        `found` holds, for each unit, the passages of the source of that name. A passage without a
        usable judgement is a row with outcome `error` and its reason, never a vote.
        """
        judged = Judged()
        for unit, answer in zip(open_units.units, found, strict=True):
            if not answer.passages:
                judged.evidence.append(self.without_passages(unit, source, answer))
            for rank, hit in enumerate(answer.passages, 1):
                try:
                    said = self.outcome(unit, hit.passage)
                    judgement = await said if inspect.isawaitable(said) else said
                    row = self.row(unit, source, rank, hit, judgement)
                except Exception as error:
                    if ends_run(error):
                        raise
                    row = self.row(unit, source, rank, hit, Judgement(ERROR))
                    judged.failures.append(
                        Failure("verify", unit.unit_id, type(error).__name__, message_of(error))
                    )
                judged.evidence.append(row)
        return judged

    def row(
        self, unit: FactUnit, source: str, rank: int, hit: Retrieved, judgement: Judgement
    ) -> Evidence:
        """Return the evidence row of a unit and the passage that the source ranked so.

        Raises:
            TypeError, ValueError: the judgement is none.
        """
        if not isinstance(judgement, tuple):
            raise TypeError(f"outcome gives a ufo.Judgement, not {type(judgement).__name__}")
        outcome, probability, rationale, citation = Judgement(*judgement)
        if outcome not in OUTCOMES:
            raise ValueError(f"{outcome!r} is no outcome; there are {', '.join(OUTCOMES)}")
        citation = storable(citation)
        return evidence_row(
            unit,
            source,
            rank,
            hit,
            outcome,
            judge=self.name,
            model=self.model,
            reason=UNPARSABLE if outcome == ERROR else None,
            answer=citation,
            citation=citation,
            rationale=storable(rationale),
            probability=None if probability is None else float(probability),
        )

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
