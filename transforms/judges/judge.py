"""The base class of judges, which extract fact units and verify them against passages.

A judge implements `outcome`: the judgement on one claim by one passage. The base class builds the
evidence rows, turns an exception into an evidence row with outcome `error`, and extracts claims by
rules (`ufo.transforms.extraction`). A judge that extracts claims itself overrides `extract`; one
that judges all claims of a response at once overrides `verify`.

Methods are coroutines because some judges ask a language model. One that computes in this process
(`remote` is False) never suspends and is run without an event loop.
"""

import inspect
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from ufo.schemas.errors import NotYetAnswered
from ufo.schemas.records import (
    ERROR,
    OUTCOMES,
    REFUTED,
    SUPPORTED,
    UNPARSABLE,
    Evidence,
    FactUnit,
    Failure,
    InputRecord,
    OpenUnits,
    Passage,
    Usage,
)
from ufo.schemas.text import storable
from ufo.transforms.plugin_errors import failure_of, passes, reason_of
from ufo.transforms.sources.fact_source import Found, Retrieved

if TYPE_CHECKING:
    from ufo.transforms.sentences import Span

_LABELS = {SUPPORTED: 1, REFUTED: 0}
_QUOTES = " \"'“”‘’«»"
_EMPTY: Final = dict.fromkeys(column.name for column in fields(Evidence))


def evidence_row(
    unit: FactUnit,
    source: str,
    outcome: str,
    rank: int | None = None,
    hit: Retrieved | None = None,
    **columns: Any,
) -> Evidence:
    """Return the evidence row of a judgement on `unit`, by the passage of `hit` with its `rank`.

    `columns` are further columns by name, such as `judge`. The citation is searched in the passage.
    `request_id` defaults to the id of the request that wrote the passage.
    """
    columns |= {"response_id": unit.response_id, "unit_id": unit.unit_id, "source": source}
    columns |= {"outcome": outcome, "label": _LABELS.get(outcome), "rank": rank}
    if hit is not None:
        columns |= {"passage_id": hit.passage.passage_id, "retrieval_score": hit.score}
        columns["sample_index"] = hit.sample_index
        columns["request_id"] = columns.get("request_id") or hit.request_id
        if (citation := columns.get("citation")) is not None:
            columns["citation_found"] = citation_found(citation, hit.passage.text)
    return Evidence(**{**_EMPTY, **columns})


def citation_found(citation: str, passage: str) -> bool:
    """Return whether the passage contains the citation, ignoring outer quotes and white space."""
    if citation in passage and citation.strip():
        return True  # fast path, for most citations
    text = _normalised(passage)
    candidates = (citation, citation.strip(_QUOTES))
    return any(quote and quote in text for quote in map(_normalised, candidates))


def _normalised(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class Draft:
    """A claim without an id, with the index of its sentence and its query.

    `label` is the human label of a claim given in the input.
    """

    sentence_index: int | None
    claim: str
    query: str
    label: float | None = None


@dataclass(slots=True, kw_only=True)
class Work:
    """The failures and usage rows of a call to a judge; subclasses add its result."""

    failures: list[Failure] = field(default_factory=list)
    usage: list[Usage] = field(default_factory=list)


@dataclass(slots=True)
class Drafts(Work):
    """The claims extracted from one response."""

    drafts: list[Draft] = field(default_factory=list)


@dataclass(slots=True)
class Judged(Work):
    """The evidence of one response against one source.

    `first_reasons` says of each row why the first reply had no usable judgement, even if a repair
    then had one; it is empty where that is not known.
    """

    evidence: list[Evidence] = field(default_factory=list)
    first_reasons: list[str | None] = field(default_factory=list)


@dataclass(slots=True)
class Queries(Work):
    """The queries written for claims, in the claims' order."""

    queries: list[str] = field(default_factory=list)


class Judgement(NamedTuple):
    """The judgement on a claim by a passage.

    `outcome` is `supported`, `refuted`, `noans` (the passage does not answer) or `error` (there is
    no usable judgement). `probability` is the probability of `supported`, `rationale` an
    explanation, and `citation` the deciding sentence of the passage.
    """

    outcome: str
    probability: float | None = None
    rationale: str | None = None
    citation: str | None = None


class Judge:
    """Base class of judges, which extract claims and verify them.

    A subclass implements `outcome` (plain or `async`), or overrides `verify`. The constructor's
    keyword parameters are the judge's options. An option named like a flag for judges or models
    (`verifier`, `model`, …) defaults to that flag's value. A judge that sets `needs_endpoint` may
    take `context`, the run's `ufo.JudgeContext`. An instance is created on every worker; open
    connections and files in `open`.

    `extracts` and `verifies` are set automatically by the methods that the class defines.
    """

    name: str = ""
    """The value of the column `judge`; set by the registry."""

    model: str | None = None
    """The value of the column `model`: the name of the model or verifier, if there is one."""

    prompt_version: str | None = None
    """The version of the prompts that the judge's verdicts depend on, if there are any."""

    extracts: ClassVar[bool] = False
    """Whether the judge extracts claims itself; otherwise the offline judge's rules do."""

    verifies: ClassVar[bool] = False
    """Whether the judge verifies claims against passages, which every judge must."""

    needs_endpoint: ClassVar[bool] = False
    """Whether the judge asks a language model at the endpoint of `--model` and `--base_url`."""

    asks_llm_judge: ClassVar[bool] = False
    """Whether this is the LLM judge or calls it (`context.llm_judge`), and so uses its flags."""

    abstains: ClassVar[bool] = True
    """Whether the judge's outcomes include `noans`: the passage does not answer."""

    remote: bool = False
    """Whether the judge waits for anything outside this process. It is set automatically if
    `outcome` is a coroutine function or the judge needs an endpoint. Set it yourself if you
    override `verify`."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = cls.__dict__
        cls.extracts = own.get("extracts", cls.extracts or "extract" in own)
        cls.verifies = own.get("verifies", cls.verifies or bool({"outcome", "verify"} & own.keys()))
        if "remote" not in own:
            waits = inspect.iscoroutinefunction(own.get("outcome"))
            cls.remote = cls.remote or cls.needs_endpoint or waits

    def unavailable(self) -> str | None:
        """Return an error message with the remedy if the judge cannot be used here, else None.

        Called once, before the input is read.
        """
        return None

    def fingerprint(self) -> str:
        """Return a text that changes whenever results may change, such as a model's checksum.

        The options are compared beside it.
        """
        return ""

    def open(self) -> None:
        """Open connections and files in this process. Called once before the first response."""

    def close(self) -> None:
        """Close what `open` opened."""

    async def extract(self, record: InputRecord, sentences: "Sequence[Span]") -> Drafts:
        """Return the checkable claims of the response, in the order of its sentences."""
        from ufo.transforms.extraction.by_rules import extract_record  # its lists take a moment

        return Drafts([Draft(*unit) for unit in extract_record(record, sentences)])

    async def extract_sentences(self, record: InputRecord, sentences: "Sequence[Span]") -> Drafts:
        """Return one claim for each sentence with a checkable claim (`--units sentence`)."""
        from ufo.transforms.extraction.by_rules import extract_record  # as above

        return Drafts([Draft(*unit) for unit in extract_record(record, sentences, whole=True)])

    async def queries(self, claims: Sequence[str], response_id: str | None = None) -> Queries:
        """Return a query for each claim, in order."""
        from ufo.transforms.extraction.by_rules import query_of  # as above

        return Queries([query_of(claim) for claim in claims])

    def outcome(self, unit: FactUnit, passage: Passage) -> Judgement | Awaitable[Judgement]:
        """Return the judgement on `unit.claim` by `passage`."""
        raise NotImplementedError(f"{type(self).__name__} implements neither outcome nor verify")

    async def verify(self, open_units: OpenUnits, source: str, found: Sequence[Found]) -> Judged:
        """Return the evidence rows: at least one for each unit, in the units' order.

        `found` holds, for each unit, the passages of the source named `source`. A passage without a
        usable judgement gets a row with outcome `error` and a reason, which is not a vote.
        """
        judged, waits = Judged(), None
        for unit, answer in zip(open_units.units, found, strict=True):
            if not answer.passages:
                judged.evidence.append(self.without_passages(unit, source, answer))
            for rank, hit in enumerate(answer.passages, 1):
                try:
                    result = self.outcome(unit, hit.passage)
                    judgement = await result if inspect.isawaitable(result) else result
                    row = self.row(unit, source, rank, hit, judgement)
                except NotYetAnswered as error:
                    waits = error  # the others are asked in the same round
                    continue
                except BaseException as error:
                    if passes(error):
                        raise
                    row = self.row(unit, source, rank, hit, Judgement(ERROR))
                    row = replace(row, reason=reason_of(error))
                    judged.failures.append(
                        failure_of("verify", unit.unit_id, f"judge {self.name}", error)
                    )
                judged.evidence.append(row)
        if waits is not None:
            raise waits
        return judged

    def row(
        self, unit: FactUnit, source: str, rank: int, hit: Retrieved, judgement: Judgement
    ) -> Evidence:
        """Return the evidence row of a judgement on `unit` by the passage of `hit`.

        Raises:
            TypeError, ValueError: the judgement is not a valid `Judgement`.
        """
        if not isinstance(judgement, tuple):
            raise TypeError(f"outcome must return a ufo.Judgement, not {type(judgement).__name__}")
        outcome, probability, rationale, citation = Judgement(*judgement)
        if outcome not in OUTCOMES:
            raise ValueError(f"unknown outcome {outcome!r}; allowed: {', '.join(OUTCOMES)}")
        citation = citation and storable(citation)
        return evidence_row(
            unit,
            source,
            outcome,
            rank,
            hit,
            judge=self.name,
            model=self.model,
            reason=UNPARSABLE if outcome == ERROR else None,
            answer=citation,
            citation=citation,
            rationale=rationale and storable(rationale),
            probability=None if probability is None else float(probability),
        )

    def without_passages(self, unit: FactUnit, source: str, found: Found) -> Evidence:
        """Return the single evidence row of a unit for which the source found no passage."""
        return evidence_row(
            unit,
            source,
            found.outcome,
            reason=found.reason,
            raw_verdict=found.raw_verdict,
            rationale=found.message or None,
            judge=self.name,
        )
