"""All steps for one text, without Beam: what the Python interface and the web service call."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from schemas.records import (
    Evidence,
    FactUnit,
    Failure,
    InputRecord,
    OpenUnits,
    Passage,
    Response,
    Sentence,
    SourceVotes,
    Usage,
    Verdict,
)
from transforms.check import check, pooled_verdicts, settle, undecided
from transforms.extract import CLAIM, extract
from transforms.judges.base import Judge
from transforms.sources.base import FactSource
from transforms.votes import SEQ


@dataclass(slots=True)
class CheckedText:
    """The rows of one response, as the tables hold them."""

    response: Response
    sentences: list[Sentence]
    fact_units: list[FactUnit]
    evidence: list[Evidence] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    usage: list[Usage] = field(default_factory=list)


async def check_text(
    record: InputRecord,
    sources: Sequence[FactSource],
    judge: Judge,
    mode: str = SEQ,
    tie: str = "not_factual",
    units: str = CLAIM,
) -> CheckedText:
    """Return what the pipeline gives for this one record; sources and judge are open already."""
    extracted = await extract(record, judge, units)
    open_units = extracted.open_units
    rows = CheckedText(
        extracted.response,
        extracted.sentences,
        list(open_units.units),
        failures=extracted.failures,
        usage=extracted.usage,
    )
    remaining: OpenUnits | None = open_units if open_units.units else None
    votes: list[SourceVotes] = []
    for position, source in enumerate(sources):
        if remaining is None:
            break
        checked = await check(remaining, source, judge)
        rows.evidence += checked.evidence
        rows.failures += checked.failures
        rows.usage += checked.usage
        rows.passages += checked.passages
        if mode == SEQ:
            decided, remaining = settle(remaining, checked, tie)
            rows.verdicts += decided
        else:
            votes.append(SourceVotes(record.response_id, position, checked.tallies))
    if mode == SEQ and remaining is not None:
        rows.verdicts += undecided(remaining, tie)
    if mode != SEQ:
        tallies = [votes for source in votes for votes in source.tallies]
        rows.verdicts += pooled_verdicts(record.response_id, tallies, mode, tie)
    return rows
