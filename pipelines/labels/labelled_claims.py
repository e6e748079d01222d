"""Collect claims that people labelled, with the passages that a run found for them."""

from dataclasses import dataclass

from ufo.schemas.records import UNSUPPORTED_LANGUAGE
from ufo.schemas.results import Results
from ufo.transforms.verifiers.base import Pair

VIEWS = ("human_labels", "evidence_full")
"""What `labelled_claims` reads beside the tables."""
# The label of such a claim says nothing about reading: what was judged is another claim than the
# labelled one, or its passages are wrong about the world.
_LEFT_OUT = ("wrong_claim", "wrong_evidence")

_CLAIMS = """
SELECT
    h.response_id,
    h.unit_id,
    h.label,
    u.claim,
    h.origin = 'sheet' AS of_sheet,
    coalesce(list_has_any(t.tags, $left_out), false) AS tagged
FROM human_labels AS h
INNER JOIN fact_units AS u
    ON u.run = h.run AND u.response_id = h.response_id AND u.unit_id = h.unit_id
LEFT JOIN (
    SELECT response_id, unit_id, list(tag) AS tags FROM labels
    WHERE tag IS NOT NULL GROUP BY ALL
) AS t ON t.response_id = h.response_id AND t.unit_id = h.unit_id
ORDER BY h.response_id, h.unit_id
"""
# Passages that no verifier was to read are not learned from either.
_PASSAGES = """
SELECT DISTINCT response_id, unit_id, source, passage_id, coalesce(title, '') AS title, text
FROM evidence_full SEMI JOIN human_labels USING (response_id, unit_id)
WHERE text IS NOT NULL AND reason IS DISTINCT FROM $foreign
ORDER BY ALL
"""


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A claim that people found true (1) or false (0), with its passages; at least one."""

    response_id: str
    label: int
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class LabelledClaims:
    """The labelled claims of a run that can be learned from, and counts of all that are labelled.

    `of_sheets` is how many labels are those of sheets. Left out of `claims` are those without
    passages, those `tagged` wrong_claim or wrong_evidence, and those of which the verifier answers
    every passage without its last layer (`settled`).
    """

    claims: list[LabelledClaim]
    n_labelled: int
    of_sheets: int
    without_passages: int
    tagged: int
    settled: int = 0


def labelled_claims(results: Results) -> LabelledClaims:
    """Return the labelled claims of the one run in `results`, by response and unit."""
    rows = results.query(_CLAIMS, {"left_out": list(_LEFT_OUT)}).to_pylist()
    passages: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}
    for row in results.query(_PASSAGES, {"foreign": UNSUPPORTED_LANGUAGE}).to_pylist():
        unit = row["response_id"], row["unit_id"]
        passages.setdefault(unit, {})[row["passage_id"]] = (row["text"], row["title"])
    claims: list[LabelledClaim] = []
    without = tagged = 0
    for row in rows:
        found = passages.get((row["response_id"], row["unit_id"]))
        if row["tagged"]:
            tagged += 1
        elif not found:
            without += 1
        else:
            pairs = tuple(Pair(row["claim"], text, title) for text, title in found.values())
            claims.append(LabelledClaim(row["response_id"], int(row["label"]), pairs))
    n_of_sheets = sum(row["of_sheet"] for row in rows)
    return LabelledClaims(claims, len(rows), n_of_sheets, without, tagged)
