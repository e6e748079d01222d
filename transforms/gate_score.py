"""The score that a gate looks at, where some responses have no claim.

Every gate on the score takes the option `no_claim`: `--fail_under`, `Check.gate_score`, and the
integrations with pytest, Inspect and DeepEval. It changes no score in tables or reports.
"""

from collections.abc import Mapping
from typing import Any, Final

from ufo.schemas.errors import UsageError, unknown_value
from ufo.transforms.score_words import why_no_score

LEFT_OUT: Final = "left_out"
NO_CLAIM: Final = {
    LEFT_OUT: "it is left out of the mean",
    "pass": "it counts as 1",
    "fail": "it counts as 0",
}
"""The ways to count a response without a claim in a gate, with their help."""
_COUNTS_AS: Final = {"pass": 1.0, "fail": 0.0}


BLANK: Final = {
    "factuality_score": None,
    "coverage": None,
    "n_units": 0,
    "n_scored": 0,
    "n_without_units": 1,
    "n_not_extracted": 0,
}
"""The row of a response without text."""


def gate_score(row: Mapping[str, Any], no_claim: str = LEFT_OUT) -> float | None:
    """Return the mean score that a gate looks at. Where it is None, nothing passes the gate.

    Args:
        row: the mean of a run, or of one response: `factuality_score` of `n_scored` responses,
            with `n_units` and `coverage`; `n_without_units` others have no claim.
            `n_not_extracted` of these may have one that could not be extracted: they are left out,
            like any response without a usable judgement.
        no_claim: what the others without a claim count as.

    Raises:
        UsageError: `no_claim` is none of NO_CLAIM.

    Example:
        >>> half = {"factuality_score": 0.5, "n_scored": 2, "n_without_units": 3}
        >>> more = {"n_not_extracted": 1, "n_units": 4, "coverage": 1.0}
        >>> gate_score(half | more, "pass")
        0.75
    """
    check_no_claim(no_claim)
    silent = n_silent(row)
    score: float | None = row["factuality_score"]
    if no_claim == LEFT_OUT or not silent:
        return None if why_no_score(row) else score
    total: float = (score or 0.0) * row["n_scored"]
    total += _COUNTS_AS[no_claim] * silent
    # A mean that equals the limit must not miss it by a rounding error.
    return round(total / (int(row["n_scored"]) + silent), 12)


def check_no_claim(word: str) -> None:
    """Raise a UsageError unless the word is one of NO_CLAIM."""
    if word not in NO_CLAIM:
        raise UsageError(unknown_value("no_claim", word, NO_CLAIM))


def n_silent(row: Mapping[str, Any]) -> int:
    """Return the number of responses without a claim, less those whose extraction failed."""
    return int(row["n_without_units"] - row["n_not_extracted"])
