"""Compute verdicts from evidence: the majority within a source, and three modes over sources.

The modes are those of UFO (Huang et al., AAAI 2026 demo): Single, Multi-MV (majority voting) and
Multi-Seq (sequential). Verdicts depend only on the counts of outcomes for each source, and on the
user's order of sources.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from ufo.schemas.records import MULTI, NO_SOURCE, OUTCOMES, Tally, Verdict

SEQ = "seq"
MV = "mv"
SINGLE = "single"
ALL = "all"
MODES = (SEQ, MV, SINGLE, ALL)
TIES = ("not_factual", "factual")


def main_mode(mode: str) -> str:
    """Return the mode of a run's main scores: its own mode, or `seq` for mode `all`."""
    return SEQ if mode == ALL else mode


class HasOutcome(Protocol):
    """A row of evidence, or any object with its field `outcome`."""

    @property
    def outcome(self) -> str: ...


def tally(unit_id: str, source: str, evidence: Iterable[HasOutcome]) -> Tally:
    """Count the outcomes of one source's passages for one unit."""
    outcomes = [row.outcome for row in evidence]
    return Tally(unit_id, source, *(outcomes.count(outcome) for outcome in OUTCOMES))


def decides(votes: Tally) -> bool:
    """Return whether the source has a valid vote: a passage that supports or refutes."""
    return votes.n_supported + votes.n_refuted > 0


def only_errors(votes: Tally) -> bool:
    """Return whether the source has only errors, so that a retry may change its vote."""
    return votes.n_error > 0 and not decides(votes) and votes.n_noans == 0


def majority(votes: Tally, tie: str) -> tuple[int | None, bool]:
    """Return the label (1, 0, or None without a valid vote), and whether `tie` decided it."""
    if not decides(votes):
        return None, False
    if votes.n_supported == votes.n_refuted:
        return int(tie == "factual"), True
    return int(votes.n_supported > votes.n_refuted), False


def pool(unit_id: str, source: str, tallies: Iterable[Tally]) -> Tally:
    """Return the sum of several sources' votes on one unit, under the name `source`."""
    counts = [(one.n_supported, one.n_refuted, one.n_noans, one.n_error) for one in tallies]
    return Tally(unit_id, source, *map(sum, zip(*counts, strict=True)))


def by_unit(tallies: Iterable[Tally]) -> dict[str, list[Tally]]:
    """Return the tallies of each unit by its id, in their order."""
    grouped: dict[str, list[Tally]] = {}
    for votes in tallies:
        grouped.setdefault(votes.unit_id, []).append(votes)
    return grouped


def verdicts(response_id: str, tallies: Sequence[Tally], mode: str, tie: str) -> list[Verdict]:
    """Return the verdict rows of one unit.

    Args:
        response_id: the response the unit belongs to.
        tallies: the unit's votes, one for each source asked, in the user's order; at least one.
        mode: one of MODES; `all` returns the rows of all three modes.
        tie: one of TIES.
    """
    rows = []
    if mode in (SEQ, ALL):
        rows.append(_in_sequence(response_id, tallies, tie))
    if mode in (MV, ALL):
        rows.append(_verdict(response_id, MV, pool(tallies[0].unit_id, MULTI, tallies), tie))
    if mode in (SINGLE, ALL):
        rows += [_verdict(response_id, SINGLE, votes, tie) for votes in tallies]
    return rows


def _in_sequence(response_id: str, tallies: Sequence[Tally], tie: str) -> Verdict:
    past_error = False
    n_error = 0
    for votes in tallies:
        n_error += votes.n_error
        if decides(votes):
            if n_error > votes.n_error:
                votes = replace(votes, n_error=n_error)
            return _verdict(response_id, SEQ, votes, tie, past_error)
        past_error = past_error or only_errors(votes)
    undecided = pool(tallies[0].unit_id, NO_SOURCE, tallies)
    return _verdict(response_id, SEQ, undecided, tie, past_error)


def _verdict(
    response_id: str, mode: str, votes: Tally, tie: str, past_error: bool = False
) -> Verdict:
    label, tied = majority(votes, tie)
    return Verdict(
        response_id,
        votes.unit_id,
        mode,
        votes.source,
        label,
        votes.n_supported,
        votes.n_refuted,
        votes.n_noans,
        votes.n_error,
        tied,
        past_error,
    )
