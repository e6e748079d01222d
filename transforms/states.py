"""Compute the states of sentences and claims, and the headline of page, reports and terminal.

The view `sentence_scores` computes the same `state`; both are tested by
`tests/golden/scoring.json`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ufo.transforms.votes import main_mode

if TYPE_CHECKING:
    from ufo.schemas.results import Results

CONTRADICTED = "contradicted"
SUPPORTED = "supported"
PARTLY = "partly supported"
NOT_FOUND = "not found"
NO_CLAIM = "no claim"
ERROR = "error"
STATES = (SUPPORTED, CONTRADICTED, PARTLY, NOT_FOUND, NO_CLAIM, ERROR)
SYMBOLS = dict(zip(STATES, "✓✗≈?·⚠", strict=True))

_CLAIM_STATES = """
SELECT
    CASE
        WHEN v.label = 0 THEN 'contradicted'
        WHEN v.label = 1 THEN 'supported'
        WHEN e.failed THEN 'error'
        ELSE 'not found'
    END AS state,
    count(*) AS n
FROM verdicts AS v
LEFT JOIN (
    SELECT DISTINCT response_id, unit_id, true AS failed
    FROM evidence
    WHERE run = $run AND (outcome = 'error' OR reason = 'unsupported_language')
) AS e ON e.response_id = v.response_id AND e.unit_id = v.unit_id
WHERE v.run = $run AND v.mode = $mode
GROUP BY state
"""
_EXTRACTION_FAILED = "SELECT 1 FROM failures WHERE run = $run AND step = 'extract' LIMIT 1"

_PHRASES = ((CONTRADICTED, "contradicted"), (PARTLY, "partly supported"), (NOT_FOUND, "not found"))


def state_of(labels: Sequence[int | None], failed: bool = False) -> str:
    """Return the state of a sentence, or of one claim.

    Args:
        labels: the labels of its claims' verdicts: 1, 0, or None for undecided.
        failed: without claims, whether the extraction failed; else whether a judgement failed or
            the language is not supported. It matters only where no claim is decided.
    """
    if 0 in labels:
        return CONTRADICTED
    if 1 in labels:
        return PARTLY if None in labels else SUPPORTED
    if failed:
        return ERROR
    return NOT_FOUND if labels else NO_CLAIM


def headline(states: Iterable[str] | Mapping[str, int], failed: bool = False) -> str:
    """Summarise the result of a text in a sentence, from the states of its claims or their counts.

    `failed` says whether the extraction failed.

    Example:
        >>> headline(["supported"] * 7 + ["contradicted", "not found"])
        '7 of 9 claims supported, 1 contradicted, 1 not found'
    """
    counts = Counter(states)
    n = counts.total()
    claims = "claim" if n == 1 else "claims"
    if not n:
        return "Not scored: the claims could not be extracted" if failed else "No claim to check"
    if counts[ERROR] == n:
        return f"Not scored: none of {n:,} {claims} could be judged"
    parts = [f"{counts[SUPPORTED]:,} of {n:,} {claims} supported"]
    parts += [f"{counts[state]:,} {words}" for state, words in _PHRASES if counts[state]]
    parts += [f"{counts[ERROR]:,} not judged"] if counts[ERROR] else []
    return ", ".join(parts)


def run_headline(results: "Results") -> str:
    """Return the headline of the newest of the runs, over the claims of all its responses."""
    run = results.runs[-1]
    name: dict[str, object] = {"run": run.name}
    states = results.query(_CLAIM_STATES, name | {"mode": main_mode(run.mode)}).to_pylist()
    failed = results.query(_EXTRACTION_FAILED, name).num_rows > 0
    return headline({row["state"]: row["n"] for row in states}, failed)
