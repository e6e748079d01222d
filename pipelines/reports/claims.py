"""Gather the claims of a run or a text as one table, each with its verdict and evidence."""

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ufo.pipelines.reports.quotes import STRONGEST_FIRST, quote_of
from ufo.schemas.errors import UsageError
from ufo.transforms.scores import state_of
from ufo.transforms.votes import main_mode

if TYPE_CHECKING:
    import pandas

    from ufo.pipelines.reports.evaluation import Check
    from ufo.schemas.results import Results

COLUMNS = pa.schema(
    {
        "response_id": pa.string(),
        "model": pa.string(),
        "question": pa.string(),
        "sentence": pa.string(),
        "claim": pa.string(),
        "state": pa.string(),
        "label": pa.int64(),
        "source": pa.string(),
        "evidence": pa.string(),
        "url": pa.string(),
    }
)
# The claims, each decided one with its strongest passage.
_CLAIMS = f"""
WITH failed AS (
    SELECT DISTINCT response_id, unit_id
    FROM evidence
    WHERE run = $run AND (outcome = 'error' OR reason = 'unsupported_language')
),

strongest AS (
    SELECT v.response_id, v.unit_id, e.citation, e.text, e.url
    FROM verdicts AS v
    INNER JOIN evidence_full AS e
        ON e.run = v.run AND e.response_id = v.response_id AND e.unit_id = v.unit_id
        AND e.label = v.label AND (v.source = 'multi' OR e.source = v.source)
    WHERE v.run = $run AND v.mode = $mode
    QUALIFY row_number() OVER (
        PARTITION BY v.response_id, v.unit_id
        ORDER BY {STRONGEST_FIRST}
    ) = 1
)

SELECT v.response_id, r.model, r.question, s.text AS sentence, u.claim, v.label,
    nullif(v.source, 'none') AS source, e.citation, e.text, e.url, f.unit_id IS NOT NULL AS failed
FROM verdicts AS v
INNER JOIN responses AS r ON r.run = v.run AND r.response_id = v.response_id
INNER JOIN fact_units AS u
    ON u.run = v.run AND u.response_id = v.response_id AND u.unit_id = v.unit_id
LEFT JOIN sentences AS s
    ON s.run = v.run AND s.response_id = v.response_id AND s.sentence_index = u.sentence_index
LEFT JOIN strongest AS e ON e.response_id = v.response_id AND e.unit_id = v.unit_id
LEFT JOIN failed AS f ON f.response_id = v.response_id AND f.unit_id = v.unit_id
WHERE v.run = $run AND v.mode = $mode
ORDER BY v.response_id, u.sentence_index NULLS LAST, v.unit_id, v.source
"""  # noqa: S608


def claims_of(results: "Results") -> pa.Table:
    """Return the claims of the newest run, each with its verdict in the run's main mode."""
    run = results.runs[-1]
    rows = results.query(_CLAIMS, {"run": run.name, "mode": main_mode(run.mode)})
    labels, failed, *of_quotes = (
        rows[name].to_pylist() for name in ("label", "failed", "claim", "citation", "text")
    )
    states = [state_of([label], lost) for label, lost in zip(labels, failed, strict=True)]
    quotes = [quote_of(*one) or None for one in zip(*of_quotes, strict=True)]
    for name, values in (("state", states), ("evidence", quotes)):
        rows = rows.append_column(name, pa.array(values, pa.string()))
    return rows.select(COLUMNS.names).cast(COLUMNS)


def claims_of_text(check: "Check") -> pa.Table:
    """Return the claims of a checked text, with the columns that `claims_of` has."""
    sentences = {one.sentence_index: one.text for one in check.sentences}
    rows = []
    for unit, row in zip(check.fact_units, check.claims(), strict=True):
        is_decided = row["label"] is not None
        own = {
            "model": check.response.model,
            "question": check.response.question,
            "sentence": None,
            "source": row["source"] if is_decided else None,
            "evidence": (row["quote"] or None) if is_decided else None,
            "url": row["url"] if is_decided else None,
        }
        if unit.sentence_index is not None:
            own["sentence"] = sentences.get(unit.sentence_index)
        rows.append({name: (row | own)[name] for name in COLUMNS.names})
    return pa.Table.from_pylist(rows, schema=COLUMNS)


def as_pandas(table: pa.Table) -> "pandas.DataFrame":
    """Return a table of pandas, in which whole numbers stay whole where some are missing.

    Raises:
        UsageError: pandas is not installed.
    """
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise UsageError(
            "to_pandas() needs pandas, which is not installed: pip install 'ufo-factuality[pandas]'"
        ) from error
    kinds: dict[pa.DataType, Any] = {pa.int64(): pandas.Int64Dtype()}
    return table.to_pandas(types_mapper=kinds.get)
