"""Write CSV sheets of fact units for people to label: a sample, or wrong verdicts.

The sample is drawn within strata (the source that decided × verdict × model that wrote), in
proportion to their sizes but at least two of each, to estimate every stratum's variance. A
unit is drawn by the rank of a hash of the seed and its ids: a simple random sample without
replacement that is the same on every machine. A stratum's name on the sheet is only a number, and
rows are ordered by response, which does not reveal the verdicts.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ufo.schemas.errors import UsageError
from ufo.schemas.exports import without_formula
from ufo.schemas.results import Results
from ufo.transforms.votes import main_mode

Row = dict[str, Any]

_LEAST = 2
# What strata are made by; where they would be too many for the sheet, by less.
_STRATA = (("source", "verdict", "model"), ("source", "verdict"), ("verdict",), ())

_UNITS = """
SELECT
    u.run, u.response_id, u.unit_id, v.source, r.model,
    CASE v.label WHEN 1 THEN 'supported' WHEN 0 THEN 'refuted' ELSE 'undecided' END AS verdict
FROM verdicts AS v
INNER JOIN fact_units AS u
    ON u.run = v.run AND u.response_id = v.response_id AND u.unit_id = v.unit_id
INNER JOIN responses AS r ON r.run = v.run AND r.response_id = v.response_id
WHERE v.run = $run AND v.mode = $mode
"""
_WRONG = """
SELECT units.*, CAST(h.label AS VARCHAR) AS human_label
FROM units
INNER JOIN human_labels AS h
    ON h.run = units.run AND h.response_id = units.response_id AND h.unit_id = units.unit_id
WHERE units.verdict = CASE h.label WHEN 1 THEN 'refuted' ELSE 'supported' END
"""
_DRAWN = """
SELECT *, row_number() OVER (
    PARTITION BY stratum ORDER BY sha256(concat_ws('|', $seed, response_id, unit_id))
) AS place
"""
_SHOWN = """
SELECT
    d.run, d.response_id, d.unit_id, {columns}, r.question, r.text AS response,
    s.text AS sentence, u.claim {evidence}
FROM drawn AS d
INNER JOIN responses AS r ON r.run = d.run AND r.response_id = d.response_id
INNER JOIN fact_units AS u
    ON u.run = d.run AND u.response_id = d.response_id AND u.unit_id = d.unit_id
LEFT JOIN sentences AS s
    ON s.run = d.run AND s.response_id = d.response_id AND s.sentence_index = u.sentence_index
ORDER BY
    sha256(concat_ws('|', $seed, d.response_id)), d.response_id, u.sentence_index, d.unit_id
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


def allocate(sizes: Sequence[int], n: int) -> list[int]:
    """Return how many of each stratum are drawn: at least two (or all), the rest in proportion.

    Args:
        sizes: how many units each stratum has.
        n: how many are drawn in all; fewer where there are not so many.

    Each further unit goes to the stratum that has the largest size for what it has already
    (Sainte-Laguë's divisors 1, 3, 5, …), which rounds proportions without bias.
    """
    taken = [min(_LEAST, size, n) for size in sizes]
    left = min(n, sum(sizes)) - sum(taken)
    queue = [
        (-size / (2 * take + 1), at)
        for at, (size, take) in enumerate(zip(sizes, taken, strict=True))
        if take < size
    ]
    heapq.heapify(queue)
    for _ in range(left):
        _, at = heapq.heappop(queue)
        taken[at] += 1
        if taken[at] < sizes[at]:
            heapq.heappush(queue, (-sizes[at] / (2 * taken[at] + 1), at))
    return taken


def sample(results: Results, n: int, seed: int = 0, evidence: bool = False) -> Sheet:
    """Sample `n` units of the run in strata for people to label, with `evidence` showing it.

    Raises:
        UsageError: the run has no fact unit.
    """
    strata, by = _strata(results, n)
    sizes = [stratum["size"] for stratum in strata]
    taken = allocate(sizes, n)
    codes = [f"s{number:03d}" for number in range(1, len(strata) + 1)]
    matched = " AND ".join(f"units.{name} IS NOT DISTINCT FROM strata.{name}" for name in by)
    unnested = "".join(f", unnest(CAST(${name} AS VARCHAR[])) AS {name}" for name in by)
    # Only our own words are put into the SQL; values are parameters.
    query = f"""
        WITH units AS ({_UNITS}),
        strata AS (
            SELECT
                unnest($codes) AS stratum, unnest($sizes) AS stratum_size, unnest($taken) AS take
                {unnested}
        ),
        ranked AS ({_DRAWN} FROM units INNER JOIN strata ON {matched or "true"}),
        drawn AS (SELECT * FROM ranked WHERE place <= take)
        {_SHOWN.format(columns="d.stratum, d.stratum_size", evidence=_shown(evidence, ""))}
    """  # noqa: S608
    found = results.query(
        query,
        {
            **_of(results),
            "seed": str(seed),
            "codes": codes,
            "sizes": sizes,
            "taken": taken,
            **{name: [stratum[name] for stratum in strata] for name in by},
        },
    )
    columns = (
        *("run", "response_id", "unit_id", "stratum", "stratum_size", "question", "response"),
        *("sentence", "claim", *(["evidence"] if evidence else []), "label", "note"),
    )
    among = f"{len(strata)} strata ({' × '.join(by)})" if by else "one stratum"
    share = f"in proportion, at least {_LEAST} of each"
    drawn = f"{sum(taken):,} of {sum(sizes):,} units in {among}, {share}"
    return Sheet(columns, found.to_pylist(), drawn)


def sample_errors(results: Results, n: int, seed: int = 0) -> Sheet:
    """Sample `n` verdicts that differ from people's labels, with their evidence, to be tagged.

    Raises:
        UsageError: no unit of the run has a label, or no verdict is wrong.
    """
    query = f"""
        WITH units AS ({_UNITS}),
        wrong AS (SELECT *, '' AS stratum FROM ({_WRONG})),
        ranked AS ({_DRAWN}, count(*) OVER () AS n_wrong FROM wrong),
        drawn AS (SELECT * FROM ranked WHERE place <= $n)
        {
        _SHOWN.format(
            columns="d.source, d.verdict, d.human_label, d.n_wrong", evidence=_shown(True, _SAID)
        )
    }
    """  # noqa: S608
    rows = results.query(query, {**_of(results), "seed": str(seed), "n": n}).to_pylist()
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
    return Sheet(columns, rows, f"{len(rows):,} of {rows[0]['n_wrong']:,} wrong verdicts")


def _of(results: Results) -> dict[str, object]:
    run = results.runs[-1]
    return {"run": run.name, "mode": main_mode(run.mode)}


def _strata(results: Results, n: int) -> tuple[list[Row], tuple[str, ...]]:
    """Return the strata of the run's units with their sizes, and what defines them."""
    for by in _STRATA:
        columns = "".join(f"{name}, " for name in by)
        counted = f"SELECT {columns} count(*) AS size FROM ({_UNITS})"  # noqa: S608
        found = results.query(f"{counted} GROUP BY ALL ORDER BY ALL", _of(results)).to_pylist()
        if sum(min(_LEAST, stratum["size"]) for stratum in found) <= n:
            break
    if not sum(stratum["size"] for stratum in found):
        raise UsageError(f"run {results.runs[-1].name!r} has no fact unit to label.")
    return found, by


def _shown(evidence: bool, said: str) -> str:
    return _EVIDENCE.format(said=said) if evidence else ""


def cells(sheet: Sheet) -> Iterator[list[str]]:
    """Yield the header and the rows of a sheet as texts.

    A text that a spreadsheet would take for a formula gets an apostrophe in front: what a model or
    a page wrote must not be run by the spreadsheet of the person who labels it.
    """
    for row in sheet.rows:
        values = [row.get(name) for name in sheet.columns]
        yield [without_formula("" if value is None else str(value)) for value in values]
