"""Step `check`: the open units of one response against one source, and what that settles."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace

from schemas.errors import ends_run
from schemas.records import (
    ERROR,
    UNPARSABLE,
    Evidence,
    Failure,
    OpenUnits,
    Passage,
    Tally,
    Usage,
    Verdict,
)
from transforms.judges.base import Judge, Judged
from transforms.sources.base import FactSource, Found, failed, message_of
from transforms.votes import SEQ, decides, tally, verdicts


@dataclass(slots=True)
class Checked:
    """What one source said of one response: rows, and one tally for each unit, in order."""

    tallies: list[Tally]
    evidence: list[Evidence]
    passages: list[Passage] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    usage: list[Usage] = field(default_factory=list)


async def check(open_units: OpenUnits, source: FactSource, judge: Judge) -> Checked:
    """Ask `source` about each open unit and let `judge` verify what it found.

    Raises nothing but what ends the run (`schemas.errors.ends_run`).
    """
    return await _verified(open_units, source, judge, await _look_up(open_units, source))


async def check_parts(
    open_units: OpenUnits, source: FactSource, judge: Judge
) -> AsyncIterator[tuple[OpenUnits, Checked]]:
    """Do what `check` does, and yield the units that are judged with what was found, as they are.

    A judge that needs no call judges unit by unit; another one judges all in as few calls as it
    can, which is one part.
    """
    found = await _look_up(open_units, source)
    if judge.remote:
        yield open_units, await _verified(open_units, source, judge, found)
        return
    tallies: dict[str, list[Tally]] = {}
    for votes in open_units.tallies:
        tallies.setdefault(votes.unit_id, []).append(votes)
    for unit, answer in zip(open_units.units, found, strict=True):
        part = replace(open_units, units=[unit], tallies=tallies.get(unit.unit_id, []))
        yield part, await _verified(part, source, judge, [answer])
        # Whoever shows what is judged has its turn before the next unit.
        await asyncio.sleep(0)


async def _verified(
    open_units: OpenUnits, source: FactSource, judge: Judge, found: Sequence[Found]
) -> Checked:
    failures = [
        Failure(f"source:{source.name}", unit.unit_id, answer.error_type, answer.message)
        for unit, answer in zip(open_units.units, found, strict=True)
        if answer.error_type
    ]
    failures += [failure for answer in found for failure in answer.failures]
    try:
        judged = await judge.verify(open_units, source.name, found)
        _check_whole(judged, open_units)
    except Exception as error:
        if ends_run(error):
            raise
        judged = _unjudged(open_units, source, judge, found, error)
    passages = {hit.passage.passage_id: hit.passage for answer in found for hit in answer.passages}
    by_unit: dict[str, list[Evidence]] = {unit.unit_id: [] for unit in open_units.units}
    for row in judged.evidence:
        by_unit[row.unit_id].append(row)
    for unit, answer in zip(open_units.units, found, strict=True):
        if answer.passages and answer.outcome == ERROR:
            # What a part of the question failed for is asked again, as other errors are.
            by_unit[unit.unit_id].append(judge.without_passages(unit, source.name, answer))
    return Checked(
        [tally(unit_id, source.name, rows) for unit_id, rows in by_unit.items()],
        [row for rows in by_unit.values() for row in rows],
        list(passages.values()),
        failures + judged.failures,
        [request for answer in found for request in answer.usage] + judged.usage,
    )


def _check_whole(judged: Judged, open_units: OpenUnits) -> None:
    asked = {unit.unit_id for unit in open_units.units}
    given = {row.unit_id for row in judged.evidence}
    if given != asked:
        raise ValueError(
            f"verify gave evidence of {len(given):,} fact units, {len(given & asked):,} of them "
            f"among the {len(asked):,} asked for"
        )


async def _look_up(open_units: OpenUnits, source: FactSource) -> Sequence[Found]:
    """Return the source's answers. One that breaks the rules of `look_up` could not be asked."""
    asked = len(open_units.units)
    try:
        found = await source.look_up(open_units)
        if len(found) != asked:
            raise ValueError(f"look_up gave {len(found)} answers for {asked} fact units")
        return found
    except Exception as error:
        if ends_run(error):
            raise
        return [failed(error)] * asked


def _unjudged(
    open_units: OpenUnits,
    source: FactSource,
    judge: Judge,
    found: Sequence[Found],
    error: Exception,
) -> Judged:
    """Return one error row for each unit: the judge broke, so nothing it might have said counts."""
    answer = Found((), ERROR, UNPARSABLE)
    return Judged(
        [judge.without_passages(unit, source.name, answer) for unit in open_units.units],
        failures=[
            Failure("verify", open_units.response_id, type(error).__name__, message_of(error))
        ],
    )


def settle(
    open_units: OpenUnits, checked: Checked, tie: str
) -> tuple[list[Verdict], OpenUnits | None]:
    """Multi-Seq after one source: the verdicts it decided, and the record of what stays open."""
    before: dict[str, list[Tally]] = {}
    for votes in open_units.tallies:
        before.setdefault(votes.unit_id, []).append(votes)
    decided: list[Verdict] = []
    units = []
    tallies: list[Tally] = []
    for unit, votes in zip(open_units.units, checked.tallies, strict=True):
        asked = [*before.get(unit.unit_id, ()), votes]
        if decides(votes):
            decided += verdicts(open_units.response_id, asked, SEQ, tie)
        else:
            units.append(unit)
            tallies += asked
    return decided, replace(open_units, units=units, tallies=tallies) if units else None


def undecided(open_units: OpenUnits, tie: str) -> list[Verdict]:
    """Multi-Seq after the last source: the verdicts of the units that nobody answered."""
    return pooled_verdicts(open_units.response_id, open_units.tallies, SEQ, tie)


def pooled_verdicts(
    response_id: str, tallies: Sequence[Tally], mode: str, tie: str
) -> list[Verdict]:
    """Return the verdicts of a response's units from tallies that stand in the sources' order."""
    by_unit: dict[str, list[Tally]] = {}
    for votes in tallies:
        by_unit.setdefault(votes.unit_id, []).append(votes)
    return [row for votes in by_unit.values() for row in verdicts(response_id, votes, mode, tie)]
