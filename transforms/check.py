"""Step `check`: verify the open units of one response against one source."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from ufo.schemas.errors import PluginError
from ufo.schemas.records import (
    ERROR,
    Evidence,
    Failure,
    OpenUnits,
    Passage,
    Tally,
    Usage,
    Verdict,
)
from ufo.schemas.text import quantity
from ufo.transforms.judges.judge import Judge, Judged
from ufo.transforms.plugin_errors import failure_of, named_errors, passes, reason_of
from ufo.transforms.sources.fact_source import FactSource, Found, failed_result
from ufo.transforms.votes import SEQ, by_unit, decides, tally, verdicts

_LOG = logging.getLogger("ufo")


@dataclass(slots=True)
class Checked:
    """The rows of one response and one source, and one tally for each unit, in order."""

    tallies: list[Tally]
    evidence: list[Evidence]
    passages: list[Passage] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    usage: list[Usage] = field(default_factory=list)


@contextmanager
def in_use(plugin: FactSource | Judge) -> Iterator[None]:
    """Open a source or judge, and close it after the block; an error of closing is a warning.

    Raises:
        PluginError: it cannot be opened.
    """
    named = f"{'judge' if isinstance(plugin, Judge) else 'source'} {plugin.name}"
    with named_errors(f"{named}, open()"):
        plugin.open()
    try:
        yield
    finally:
        try:
            with named_errors(f"{named}, close()"):
                plugin.close()
        except PluginError as error:
            _LOG.warning(error.message)


async def check(open_units: OpenUnits, source: FactSource, judge: Judge) -> Checked:
    """Retrieve passages for each open unit from `source`, and verify them by `judge`.

    Raises only errors that end the run (`ufo.schemas.errors.ends_run`).
    """
    return await _verify(open_units, source, judge, await look_up(open_units, source))


async def check_parts(
    open_units: OpenUnits, source: FactSource, judge: Judge
) -> AsyncIterator[tuple[OpenUnits, Checked]]:
    """Check the open units like `check`, but yield results as soon as their units are judged.

    A judge that computes in this process verifies unit by unit. A remote judge verifies all units
    together, to need few calls, and yields once.
    """
    answers = await look_up(open_units, source)
    if judge.remote:
        yield open_units, await _verify(open_units, source, judge, answers)
        return
    tallies = by_unit(open_units.tallies)
    for unit, answer in zip(open_units.units, answers, strict=True):
        part = replace(open_units, units=[unit], tallies=tallies.get(unit.unit_id, []))
        yield part, await _verify(part, source, judge, [answer])
        # Lets other coroutines show this result before the next unit is judged.
        await asyncio.sleep(0)


async def _verify(
    open_units: OpenUnits, source: FactSource, judge: Judge, answers: Sequence[Found]
) -> Checked:
    failures = [
        Failure(f"source:{source.name}", unit.unit_id, answer.error_type, answer.message)
        for unit, answer in zip(open_units.units, answers, strict=True)
        if answer.error_type
    ]
    failures += [failure for answer in answers for failure in answer.failures]
    try:
        judged = await judge.verify(open_units, source.name, answers)
        _check_whole(judged, open_units, judge)
    except BaseException as error:
        if passes(error):
            raise
        judged = _error_rows(open_units, source, judge, error)
    passages = {
        hit.passage.passage_id: hit.passage for answer in answers for hit in answer.passages
    }
    rows_of: dict[str, list[Evidence]] = {unit.unit_id: [] for unit in open_units.units}
    for row in judged.evidence:
        rows_of[row.unit_id].append(row)
    for unit, answer in zip(open_units.units, answers, strict=True):
        if answer.passages and answer.outcome == ERROR:
            # A part of the search failed. With the error row `retry_errors` repeats it.
            rows_of[unit.unit_id].append(judge.without_passages(unit, source.name, answer))
    return Checked(
        [tally(unit_id, source.name, rows) for unit_id, rows in rows_of.items()],
        [row for rows in rows_of.values() for row in rows],
        list(passages.values()),
        failures + judged.failures,
        [request for answer in answers for request in answer.usage] + judged.usage,
    )


def _check_storable(plugin: object, table: str, rows: Sequence[object]) -> None:
    """Raise an error for a row of a user's plug-in that a table cannot store."""
    if not type(plugin).__module__.startswith("ufo."):
        from ufo.schemas.tables import to_arrow  # pyarrow.parquet is slow to import

        to_arrow(table, rows)


def _check_whole(judged: Judged, open_units: OpenUnits, judge: Judge) -> None:
    _check_storable(judge, "evidence", judged.evidence)
    asked = {unit.unit_id for unit in open_units.units}
    judged_ids = {row.unit_id for row in judged.evidence}
    if judged_ids != asked:
        raise ValueError(
            f"verify gave evidence of {quantity(len(judged_ids), 'claim')}, "
            f"{len(judged_ids & asked):,} of them among the {len(asked):,} asked for"
        )


async def look_up(open_units: OpenUnits, source: FactSource) -> Sequence[Found]:
    """Return the source's results; if its `look_up` fails, an error for each unit."""
    asked = len(open_units.units)
    try:
        answers = await source.look_up(open_units)
        if len(answers) != asked:
            raise ValueError(
                f"look_up gave {quantity(len(answers), 'answer')} for {quantity(asked, 'claim')}"
            )
        others = {type(answer).__name__ for answer in answers if not isinstance(answer, Found)}
        if others:
            raise TypeError(f"look_up must return ufo.Found objects, not {min(others)}")
        passages = [hit.passage for answer in answers for hit in answer.passages]
        _check_storable(source, "passages", passages)
        return answers
    except BaseException as error:
        if passes(error):
            raise
        return [failed_result(error, source.name)] * asked


def _error_rows(
    open_units: OpenUnits, source: FactSource, judge: Judge, error: BaseException
) -> Judged:
    """Return one error row for each unit, after an exception of the judge."""
    answer = Found((), ERROR, reason_of(error))
    return Judged(
        [judge.without_passages(unit, source.name, answer) for unit in open_units.units],
        failures=[failure_of("verify", open_units.response_id, f"judge {judge.name}", error)],
    )


def settle(
    open_units: OpenUnits, checked: Checked, tie: str
) -> tuple[list[Verdict], OpenUnits | None]:
    """Return the verdicts of Multi-Seq after one source, and the units that are still open."""
    before = by_unit(open_units.tallies)
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
    """Return the verdicts of Multi-Seq on units without an answer, after the last source."""
    return pooled_verdicts(open_units.response_id, open_units.tallies, SEQ, tie)


def pooled_verdicts(
    response_id: str, tallies: Iterable[Tally], mode: str, tie: str
) -> list[Verdict]:
    """Return the verdicts of a response's units from tallies in the order of the sources."""
    units = by_unit(tallies).values()
    return [row for votes in units for row in verdicts(response_id, votes, mode, tie)]
