"""Write CSV sheets of fact units for people to label: a random sample, or wrong verdicts.

A unit is drawn by the rank of a hash of the seed and its ids: a simple random sample without
replacement that is the same on every machine. Rows are ordered by response.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ufo.schemas.errors import UsageError
from ufo.schemas.results import Results
from ufo.schemas.text import without_formula
from ufo.transforms.votes import main_mode

Row = dict[str, Any]

_DRAWN = """
WITH units AS (
    SELECT
        u.run, u.response_id, u.unit_id, v.source,
        CASE v.label WHEN 1 THEN 'supported' WHEN 0 THEN 'refuted' ELSE 'undecided' END AS verdict
    FROM verdicts AS v
    INNER JOIN fact_units AS u
        ON u.run = v.run AND u.response_id = v.response_id AND u.unit_id = v.unit_id
    WHERE v.run = $run AND v.mode = $mode
),

wanted AS ({wanted}),

drawn AS (
    SELECT *, count(*) OVER () AS stratum_size
    FROM wanted
    QUALIFY
        row_number() OVER (ORDER BY sha256(concat_ws('|', $seed, response_id, unit_id))) <= $n
)

SELECT
    d.*, 'all' AS stratum, r.question, r.text AS response, s.text AS sentence, u.claim {evidence}
FROM drawn AS d
INNER JOIN responses AS r ON r.run = d.run AND r.response_id = d.response_id
INNER JOIN fact_units AS u
    ON u.run = d.run AND u.response_id = d.response_id AND u.unit_id = d.unit_id
LEFT JOIN sentences AS s
    ON s.run = d.run AND s.response_id = d.response_id AND s.sentence_index = u.sentence_index
ORDER BY
    sha256(concat_ws('|', $seed, d.response_id)), d.response_id, u.sentence_index, d.unit_id
"""
_WRONG = """
    SELECT units.*, CAST(h.label AS VARCHAR) AS human_label
    FROM units
    INNER JOIN human_labels AS h
        ON h.run = units.run AND h.response_id = units.response_id AND h.unit_id = units.unit_id
    WHERE units.verdict = CASE h.label WHEN 1 THEN 'refuted' ELSE 'supported' END
"""
_EVIDENCE = """, (
    SELECT string_agg(
        concat('[', e.source, '] ', {said} concat_ws(', ', e.title, e.url), ': ', e.text),
        chr(10) ORDER BY e.source, e.rank
    )
    FROM evidence_full AS e
    WHERE
        e.run = d.run AND e.response_id = d.response_id AND e.unit_id = d.unit_id
        AND e.passage_id IS NOT NULL
) AS evidence
"""
_SAID = "e.outcome, coalesce(concat(' (', e.rationale, ')'), ''), '; ',"


@dataclass(frozen=True, slots=True)
class Sheet:
    """The content of a sheet: its columns in order, its rows by name, and how they were sampled."""

    columns: tuple[str, ...]
    rows: list[Row]
    drawn: str


def sample(results: Results, n: int, seed: int = 0, evidence: bool = False) -> Sheet:
    """Sample `n` units of the run for people to label, with `evidence` showing it.

    Raises:
        UsageError: the run has no fact unit.
    """
    rows = _drawn(results, n, seed, "FROM units", _EVIDENCE.format(said="") if evidence else "")
    if not rows:
        raise UsageError(f"run {results.runs[-1].name!r} has no fact unit to label.")
    columns = (
        *("run", "response_id", "unit_id", "stratum", "stratum_size", "question", "response"),
        *("sentence", "claim", *(["evidence"] if evidence else []), "label", "note"),
    )
    return Sheet(columns, rows, f"{len(rows):,} of {rows[0]['stratum_size']:,} units at random")


def sample_errors(results: Results, n: int, seed: int = 0) -> Sheet:
    """Sample `n` verdicts that differ from people's labels, with their evidence, to be tagged.

    Raises:
        UsageError: no unit of the run has a label, or no verdict is wrong.
    """
    rows = _drawn(results, n, seed, _WRONG, _EVIDENCE.format(said=_SAID))
    if not rows:
        labelled = results.query("SELECT count(*) AS n FROM human_labels")["n"][0].as_py()
        raise UsageError(
            f"run {results.runs[-1].name!r} has no wrong verdict: {labelled:,} of its units have a "
            "human label, and no verdict differs. Labels come with the input (claims[].label) or "
            "from a sheet: 'ufo label sample DIR', then 'ufo label import DIR SHEET'."
        )
    columns = (
        *("run", "response_id", "unit_id", "question", "response", "sentence", "claim"),
        *("evidence", "source", "verdict", "human_label", "tag", "note"),
    )
    return Sheet(columns, rows, f"{len(rows):,} of {rows[0]['stratum_size']:,} wrong verdicts")


def _drawn(results: Results, n: int, seed: int, wanted: str, evidence: str) -> list[Row]:
    """Return a sample of what the SELECT `wanted` gives."""
    run = results.runs[-1]
    given = {"run": run.name, "mode": main_mode(run.mode), "seed": str(seed), "n": n}
    found: list[Row] = results.query(
        _DRAWN.format(wanted=wanted, evidence=evidence), given
    ).to_pylist()
    return found


def cells(sheet: Sheet) -> Iterator[list[str]]:
    """Yield the header and the rows of a sheet as texts.

    A text that a spreadsheet would take for a formula gets an apostrophe in front: what a model or
    a page wrote must not be run by the spreadsheet of the person who labels it.
    """
    for row in sheet.rows:
        values = [row.get(name) for name in sheet.columns]
        yield [without_formula("" if value is None else str(value)) for value in values]
