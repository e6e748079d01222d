-- Contribution of each source, to all responses or to those of each model
-- `wanted` is the level: run or model.
-- needs: run_modes, tallies
-- parameters: wanted
-- A source that contributed nothing is a row too, and so are undecided units.
WITH slots AS (
    SELECT
        m.run,
        m.mode,
        s.source,
        s.position
    FROM run_modes AS m
    INNER JOIN sources AS s ON s.run = m.run AND s.status = 'used'
    UNION ALL
    SELECT
        run,
        mode,
        'none' AS source,
        NULL AS position
    FROM run_modes
    WHERE mode = 'seq'
),

counted AS (
    SELECT
        s.run,
        s.mode,
        CASE wanted WHEN 'model' THEN r.model END AS model,
        s.source,
        s.position,
        count(v.unit_id) AS n_units,
        count(*) FILTER (
            WHERE v.source = s.source AND (v.label IS NOT NULL OR v.source = 'none')
        ) AS n_decided,
        coalesce(sum(t.n_supported + t.n_refuted), 0) AS n_votes,
        coalesce(sum(CASE v.label WHEN 1 THEN t.n_supported WHEN 0 THEN t.n_refuted END), 0)
            AS n_agreeing
    FROM slots AS s
    INNER JOIN responses AS r USING (run)
    -- The verdicts of a vote are of no one source, and those of an order of all that were asked.
    LEFT JOIN verdicts AS v
        ON
            v.run = s.run
            AND v.mode = s.mode
            AND v.response_id = r.response_id
            AND (s.mode != 'single' OR v.source = s.source)
    LEFT JOIN tallies AS t
        ON
            s.mode = 'mv'
            AND t.run = s.run
            AND t.response_id = v.response_id
            AND t.unit_id = v.unit_id
            AND t.source = s.source
    GROUP BY ALL
)

SELECT
    * REPLACE (
        CASE WHEN mode != 'mv' THEN n_decided END AS n_decided,
        CASE WHEN mode = 'mv' THEN CAST(n_votes AS BIGINT) END AS n_votes,
        CASE WHEN mode = 'mv' THEN CAST(n_agreeing AS BIGINT) END AS n_agreeing
    ),
    CASE
        WHEN mode = 'mv' THEN n_votes / nullif(sum(n_votes) OVER whole, 0)
        ELSE n_decided / nullif(n_units, 0)
    END AS share,
    n_agreeing / nullif(sum(n_agreeing) OVER whole, 0) AS agreeing_share
FROM counted
WINDOW whole AS (PARTITION BY run, mode, model)
