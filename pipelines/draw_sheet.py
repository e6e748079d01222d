"""Draw a sheet of fact units for people to label.

A unit is drawn by the rank of a hash of the seed and its ids: a simple random sample without
replacement that is the same on every machine. Where earlier sheets were drawn from a part of the
run, a sheet is drawn from the rest. Rows are ordered by response.
"""

from ufo.schemas.errors import UsageError
from ufo.schemas.results import Results
from ufo.schemas.text import quantity

ALL_UNITS = "all"
REST_OF = "not in "
"""The name of a stratum of all units of a run, and the beginning of the name of a stratum of those
that no earlier sheet has."""


_COVERED = """
SELECT p.response_id, p.unit_id, list(DISTINCT p.sheet ORDER BY p.sheet) AS sheets
FROM sheet_populations AS p
WHERE p.drawn
  AND p.sheet IN (
    SELECT l.sheet FROM labels AS l SEMI JOIN fact_units AS u
      ON u.run = $run AND u.response_id = l.response_id AND u.unit_id = l.unit_id
    WHERE l.label IS NOT NULL
  )
GROUP BY ALL
"""
_DRAWN = f"""
WITH covered AS ({_COVERED}),

rest AS (
    SELECT u.*, c.sheets
    FROM fact_units AS u
    LEFT JOIN covered AS c USING (response_id, unit_id)
    WHERE u.run = $run
),

-- Where every unit is covered, a further sheet is drawn from all.
stratum AS (
    SELECT
        count(*) AS n_units,
        count(sheets) AS n_covered,
        count(sheets) BETWEEN 1 AND count(*) - 1 AS of_rest,
        array_to_string(list_sort(list_distinct(flatten(list(sheets)))), ', ') AS sheets
    FROM rest
),

drawn AS (
    SELECT r.* EXCLUDE (sheets), s.* EXCLUDE (sheets), s.sheets, count(*) OVER () AS stratum_size
    FROM rest AS r
    CROSS JOIN stratum AS s
    WHERE r.sheets IS NULL OR NOT s.of_rest
    QUALIFY
        row_number() OVER (ORDER BY sha256(concat_ws('|', $seed, response_id, unit_id))) <= $n
)

SELECT
    d.run, d.response_id, d.unit_id,
    if(d.of_rest, '{REST_OF}' || d.sheets, '{ALL_UNITS}') AS stratum, d.stratum_size,
    r.question, r.text AS response, s.text AS sentence, d.claim, NULL AS label, NULL AS note,
    d.n_units, d.of_rest
FROM drawn AS d
INNER JOIN responses AS r ON r.run = d.run AND r.response_id = d.response_id
LEFT JOIN sentences AS s
    ON s.run = d.run AND s.response_id = d.response_id AND s.sentence_index = d.sentence_index
ORDER BY
    sha256(concat_ws('|', $seed, d.response_id)), d.response_id, d.sentence_index, d.unit_id
"""  # noqa: S608


def sample(results: Results, n: int, seed: int = 0) -> tuple[list[list[object]], str]:
    """Return the lines of a sheet of `n` random units for people to label, and its description.

    The units are drawn from those that no earlier sheet covers, where there are some. The lines
    have no verdicts and no evidence.
    Raises:
        UsageError: the run has no fact unit.
    """
    run = results.runs[-1].name
    rows = results.query(_DRAWN, {"run": run, "seed": str(seed), "n": n}).to_pylist()
    if not rows:
        raise UsageError(f"run {run!r} has no claim to label.")
    sizes = [(row.pop("n_units"), row.pop("of_rest")) for row in rows]
    n_units, of_rest = sizes[0]
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    size = rows[0]["stratum_size"]
    if not of_rest:
        return lines, f"{len(rows):,} of {quantity(size, 'claim')} at random"
    return lines, (
        f"{len(rows):,} of {quantity(size, 'claim')} that no sheet covers, at random; the other "
        f"{n_units - size:,} of {n_units:,} are those of {rows[0]['stratum'].removeprefix(REST_OF)}"
    )
