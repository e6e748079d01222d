/** The selection as SQL for DuckDB: the same scores from the tables of a run, or from the rows. */

import { categoryOf } from "./scoring.js";

/** @import * as T from "./types.js" */

/**
 * Return a query that gives the scores of what is ticked. For a response of a run it reads the
 * run's tables (`ufo sql DIR` has them); else it brings its rows, and runs anywhere.
 *
 * @param {T.Checked} checked
 * @param {T.Selection} selection
 * @returns {string}
 */
export function selectionSql(checked, selection) {
  return `-- Scores of one response, of the evidence that is ticked.
WITH ${checked.run === null ? rowsOf(checked) : tablesOf(checked, checked.run)},

votes AS (
    SELECT
        u.unit_id,
        e.source,
        e.position,
        count(*) FILTER (WHERE e.outcome = 'supported' AND ${kept(selection)}) AS yes,
        count(*) FILTER (WHERE e.outcome = 'refuted' AND ${kept(selection)}) AS no
    FROM units AS u
    LEFT JOIN rows_of_evidence AS e USING (unit_id)
    GROUP BY u.unit_id, e.source, e.position
),

verdicts_now AS (
${VERDICTS[checked.mode](checked.tie)}
),

pooled AS (
    SELECT
        count(*) FILTER (WHERE outcome = 'supported') AS n_supported,
        count(*) FILTER (WHERE outcome != 'error') AS n_evidence
    FROM rows_of_evidence AS e
    WHERE e.passage_id IS NOT NULL AND ${kept(selection)}
)

SELECT
    v.source,
    sum(v.label) / nullif((SELECT count(*) FROM units), 0) AS factuality_score,
    avg(v.label) AS decided_score,
    count(v.label) / nullif((SELECT count(*) FROM units), 0) AS coverage,
    any_value(p.n_supported) AS n_supported,
    any_value(p.n_evidence) AS n_evidence,
    any_value(p.n_supported / nullif(p.n_evidence, 0)) AS credibility
FROM verdicts_now AS v, pooled AS p
GROUP BY v.source
ORDER BY v.source;
`;
}

/** @param {T.Tie} tie */
const LABEL = (tie) =>
  `CASE WHEN yes + no = 0 THEN NULL WHEN yes = no THEN ${Number(tie === "factual")} ` +
  "ELSE CAST(yes > no AS INTEGER) END";

/** @param {T.Tie} tie */
const inSequence = (tie) => `    SELECT
        unit_id,
        NULL AS source,
        arg_min(${LABEL(tie)}, position) FILTER (WHERE yes + no > 0) AS label
    FROM votes
    GROUP BY unit_id`;

/** @type {Record<T.Mode, (tie: T.Tie) => string>} */
const VERDICTS = {
  seq: inSequence,
  all: inSequence,
  mv: (tie) => `    SELECT unit_id, NULL AS source, ${LABEL(tie)} AS label
    FROM (SELECT unit_id, sum(yes) AS yes, sum(no) AS no FROM votes GROUP BY unit_id)`,
  single: (tie) => `    SELECT unit_id, source, ${LABEL(tie)} AS label
    FROM votes
    WHERE source IS NOT NULL`,
};

/**
 * @param {T.Checked} checked
 * @param {string} run
 */
function tablesOf({ response, sources }, run) {
  const where = `e.run = ${text(run)} AND e.response_id = ${text(response.response_id)}`;
  return `units AS (
    SELECT e.unit_id FROM fact_units AS e WHERE ${where}
),

rows_of_evidence AS (
    SELECT
        e.unit_id,
        e.source,
        list_position(${list(sources)}, e.source) AS position,
        e.passage_id,
        e.outcome,
        coalesce(nullif(e.source_category, ''), 'other') AS category
    FROM evidence_full AS e
    WHERE ${where} AND e.source IN ${values(sources)}
)`;
}

/** @param {T.Checked} checked */
function rowsOf({ units, evidence, passages, sources }) {
  const own = evidence.filter((row) => sources.includes(row.source));
  const rows = own.map((row) => {
    const category = row.passage_id === null ? null : categoryOf(passages[row.passage_id]);
    const at = sources.indexOf(row.source) + 1;
    const cells = [row.unit_id, row.source, at, row.passage_id, row.outcome, category];
    return `        (${cells.map((cell) => (typeof cell === "number" ? cell : text(cell))).join(", ")})`;
  });
  const columns = "unit_id, source, position, passage_id, outcome, category";
  const nothing = `        (NULL, NULL, NULL, NULL, NULL, NULL)`;
  return `units AS (
    SELECT unnest(${list(units.map((unit) => unit.unit_id))}) AS unit_id
),

rows_of_evidence AS (
    SELECT * FROM (VALUES
${rows.length > 0 ? rows.join(",\n") : nothing}
    ) AS given (${columns})
    WHERE unit_id IS NOT NULL
)`;
}

/** @param {T.Selection} selection */
function kept({ without_passages: passages = [], without_categories: categories = [] }) {
  const left = [
    ...(passages.length > 0 ? [`e.passage_id IN ${values(passages)}`] : []),
    ...(categories.length > 0 ? [`e.category IN ${values(categories)}`] : []),
  ];
  if (left.length === 0) return "true";
  // A source without a passage has no id and no category; it is not left out.
  return `(e.passage_id IS NULL OR NOT (${left.join(" OR ")}))`;
}

/** @param {readonly string[]} words */
const values = (words) => `(${words.map(text).join(", ")})`;

/** @param {readonly string[]} words */
const list = (words) => `CAST([${words.map(text).join(", ")}] AS VARCHAR[])`;

/**
 * Return a literal of SQL.
 *
 * @param {string | null} value
 */
const text = (value) => (value === null ? "NULL" : `'${value.replaceAll("'", "''")}'`);
