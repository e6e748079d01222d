"""Say a score in words: with its interval and coverage, or why there is none.

Terminal, HTML, notebook and page take these words from here; tables have the numbers. A row is of
`scores` or one of its means, or a `Score` as a mapping.
"""

from collections.abc import Mapping
from typing import Any

from ufo.schemas.text import quantity

LEAST_COVERAGE = 0.5
"""The coverage below which a score is never shown without its coverage."""

_MANY = 10  # more than one unusable judgement in so many is mentioned with every score


_WORDS = {"refuted": "contradicted"}


def as_word(outcome: str) -> str:
    """Return the word that people see for a verdict or an outcome of the tables."""
    return _WORDS.get(outcome, outcome)


def why_no_score(row: Mapping[str, Any]) -> str:
    """Return the reason why no score is shown for a row, "" if one is shown."""
    if not row["n_units"]:
        return "there is no claim"
    if row["factuality_score"] is None:
        return "no judgement was usable"
    if not row["coverage"]:
        if row.get("n_unusable"):
            return "no source knew any claim that could be judged"
        n = row["n_units"]
        return "no source knew its only claim" if n == 1 else f"no source knew any of {n:,} claims"
    return ""


def score_in_words(row: Mapping[str, Any]) -> str:
    """Return the score with its interval and coverage, or "no score: " and the reason.

    Example:
        >>> score_in_words({"n_units": 9, "factuality_score": 0.0, "coverage": 0.0})
        'no score: no source knew any of 9 claims'
    """
    why = why_no_score(row)
    if why:
        return f"no score: {why}"
    score = f"{row['factuality_score']:.3f}{interval(row)}"
    return f"factuality score {score}, coverage {row['coverage']:.3f}"


def brief_score(row: Mapping[str, Any]) -> str:
    """Return the score for a label or a cell, with its coverage only where that is low."""
    why = why_no_score(row)
    if why:
        text = f"no score: {why}"
    elif row["coverage"] < LEAST_COVERAGE:
        text = f"{row['factuality_score']:.3f}, coverage {row['coverage']:.3f}"
    else:
        text = f"{row['factuality_score']:.3f}"
    return f"⚠ {text}" if beside(row) else text


def score_with_interval(row: Mapping[str, Any]) -> str:
    """Return the score for a line with a name: with its interval, or with a low coverage."""
    room = not why_no_score(row) and row["coverage"] >= LEAST_COVERAGE
    return brief_score(row) + (interval(row) if room else "")


def as_shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row for people, with "no score" in place of 0 where no source knew anything."""
    shown = dict(row)
    scores = [row.get(name, 1) for name in ("factuality_score", "coverage")]
    if not any(scores):
        nothing = {"factuality_score": "no score", "low": None, "high": None}
        shown |= {name: value for name, value in nothing.items() if name in row}
    return shown


def interval(row: Mapping[str, Any]) -> str:
    """Return the bounds of a row in brackets, "" if it has none."""
    low, high = row.get("low"), row.get("high")
    return "" if low is None or high is None else f" ({low:.3f} to {high:.3f})"


def is_many(n: int, of: int) -> bool:
    """Return whether the unusable judgements are so many that every score mentions them."""
    return n * _MANY > of


def in_numbers(n: int, of: int) -> str:
    """Return the number of unusable judgements in words."""
    return f"{n:,} of {quantity(of, 'judgement')} {'was' if n == 1 else 'were'} unusable"


def beside(row: Mapping[str, Any]) -> str:
    """Return the note to show beside the score of a row, "" for none."""
    n, of = row.get("n_unusable") or 0, row.get("n_judgements") or 0
    return in_numbers(n, of) if is_many(n, of) else ""


def without_score(row: Mapping[str, Any], n_abstained: int = 0) -> str:
    """Return the numbers of responses without a score and their reasons, "" for none."""
    reasons = {
        "n_without_units": f"without a claim{_abstaining(n_abstained)}",
        "n_unsupported": "in a language that the judge does not know",
        "n_unjudged": "without a usable judgement",
    }
    parts = [f"{row[name]:,} {why}" for name, why in reasons.items() if row[name]]
    if not parts:
        return ""
    scored, of = row["n_scored"], quantity(row["n_responses"], "response")
    has = "has" if row["n_responses"] == 1 else "have"
    return f"{scored:,} of {of} {has} a score; {', '.join(parts)}"


def _abstaining(n: int) -> str:
    return f" ({n:,} of them {'abstains' if n == 1 else 'abstain'})" if n else ""
