-- Votes of each source on each fact unit
-- How many passages of a source support, refute or do not answer a fact unit, and how many of its
-- judgements failed. `position` is the source's place in the user's order.
-- order: run, response_id, unit_id, position
WITH counted AS (
    SELECT
        run,
        response_id,
        unit_id,
        source,
        count(*) FILTER (WHERE outcome = 'supported') AS n_supported,
        count(*) FILTER (WHERE outcome = 'refuted') AS n_refuted,
        count(*) FILTER (WHERE outcome = 'noans') AS n_noans,
        count(*) FILTER (WHERE outcome = 'error') AS n_error
    FROM evidence
    GROUP BY run, response_id, unit_id, source
)

SELECT
    c.run,
    c.response_id,
    c.unit_id,
    c.source,
    s.position,
    c.n_supported,
    c.n_refuted,
    c.n_noans,
    c.n_error
FROM counted AS c
LEFT JOIN sources AS s USING (run, source)
