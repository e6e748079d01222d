"""Describe the score of a run as corrected by the labels of people, in words."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ufo.schemas.records import REFUTED
from ufo.schemas.text import quantity
from ufo.transforms.score_words import as_word, interval

Row = dict[str, Any]


def corrected_words(rows: Sequence[Mapping[str, Any]]) -> Row | None:
    """Return the description of the corrected score of a run, None without labels.

    `title` has the score, and `rest` the rest of that line. `notes` are further lines. `next` says
    what to label next with `ufo label sample`, `nobody` the kinds of verdicts without a label.

    Args:
        rows: the rows of `corrected_scores` of a run in one mode, levels `run` and `sampled`.
    """
    whole = next((row for row in rows if row["level"] == "run"), None)
    if whole is None:
        return None
    labels, n, of = quantity(whole["n_labelled"], "label"), whole["n_covered"], whole["n_units"]
    notes, following = [], None
    if whole["corrected_score"] is None:
        title = "Corrected by people: no score of the whole"
        rest = f", since {labels} speak for {n:,} of {of:,} claims, which is less than half"
    else:
        title = f"Corrected by people {whole['corrected_score']:.3f}"
        share = f"{n:,} of {of:,} claims" if n < of else f"all {quantity(of, 'claim')}"
        rest = f"{interval(whole)}, from {labels} that speak for {share}"
    sampled = next((row for row in rows if row["level"] == "sampled"), whole)
    if n < of:
        if sampled["corrected_score"] is not None:
            these = "this claim" if n == 1 else f"these {n:,} claims"
            notes.append(
                f"Of {these} {sampled['corrected_score']:.3f}{interval(sampled)}; the judge says "
                f"{sampled['judge_score']:.3f}"
            )
        if whole["corrected_score"] is not None:
            counted = "counts" if of - n == 1 else "count"
            notes.append(
                f"The other {of - n:,} {counted} as judged, and in the interval with any error"
            )
        following = f"To label next, drawn from the other {quantity(of - n, 'claim')}"
    return {
        "title": title,
        "rest": rest,
        "notes": notes,
        "next": following,
        "nobody": _kinds(sampled["strata_without_label"]),
    }


def _kinds(strata: str | None) -> str | None:
    """Return kinds of verdicts, as in `reference refuted (6)`, in the words of displays."""
    return strata and re.sub(rf"\b{REFUTED}(?= \(\d+\))", as_word(REFUTED), strata)
