-- What was decided and what was not
-- By model, how many fact units got a verdict, how many of these in a tie or past a source that gave
-- nothing but errors, and why others did not: unanswered (no passage answers) or failed (a judgement
-- without a usable answer was among them, so that a retry may decide them).
-- group: sources
-- summary: Each model: which claims were decided, and why others were not
-- order: run, mode, source, model
-- empty: no response has a fact unit
SELECT
    v.run,
    v.mode,
    CASE WHEN v.mode = 'single' THEN v.source END AS source,
    r.model,
    count(*) AS n_units,
    count(v.label) AS n_decided,
    count(*) FILTER (WHERE v.label IS NULL AND v.n_error = 0) AS n_unanswered,
    count(*) FILTER (WHERE v.label IS NULL AND v.n_error > 0) AS n_failed,
    count(*) FILTER (WHERE v.tied) AS n_tied,
    count(*) FILTER (WHERE v.label IS NOT NULL AND v.past_error) AS n_past_error,
    count(v.label) / count(*) AS coverage
FROM verdicts AS v
INNER JOIN responses AS r USING (run, response_id)
GROUP BY ALL
