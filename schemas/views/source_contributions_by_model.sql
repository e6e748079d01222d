-- Contribution of each source, by the model that wrote the responses
-- The columns of source_contributions, for the responses of one model.
-- group: sources
-- summary: The same for each model that wrote responses
-- needs: run_modes, tallies
-- order: run, mode, model, position
WITH models AS (
    SELECT DISTINCT
        run,
        model
    FROM responses
),

-- A source that contributed nothing is a row too, and so are undecided units.
slots AS (
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

verdict_counts AS (
    SELECT
        v.run,
        v.mode,
        r.model,
        v.source,
        count(*) AS n_verdicts,
        count(*) FILTER (WHERE v.label IS NOT NULL OR v.source = 'none') AS n_decided
    FROM verdicts AS v
    INNER JOIN responses AS r USING (run, response_id)
    GROUP BY ALL
),

vote_counts AS (
    SELECT
        v.run,
        v.mode,
        r.model,
        t.source,
        CAST(sum(t.n_supported + t.n_refuted) AS BIGINT) AS n_votes,
        CAST(
            sum(CASE v.label WHEN 1 THEN t.n_supported WHEN 0 THEN t.n_refuted ELSE 0 END) AS BIGINT
        ) AS n_agreeing
    FROM verdicts AS v
    INNER JOIN tallies AS t USING (run, response_id, unit_id)
    INNER JOIN responses AS r USING (run, response_id)
    WHERE v.mode = 'mv'
    GROUP BY ALL
),

counted AS (
    SELECT
        s.run,
        s.mode,
        m.model,
        s.source,
        s.position,
        CAST(coalesce(
            if(
                s.mode = 'seq',
                sum(d.n_verdicts) OVER (PARTITION BY s.run, s.mode, m.model),
                d.n_verdicts
            ),
            0
        ) AS BIGINT) AS n_units,
        CASE WHEN s.mode != 'mv' THEN coalesce(d.n_decided, 0) END AS n_decided,
        CASE WHEN s.mode = 'mv' THEN coalesce(v.n_votes, 0) END AS n_votes,
        CASE WHEN s.mode = 'mv' THEN coalesce(v.n_agreeing, 0) END AS n_agreeing
    FROM slots AS s
    INNER JOIN models AS m ON m.run = s.run
    -- The verdicts of a vote are of no one source.
    LEFT JOIN verdict_counts AS d
        ON
            d.run = s.run
            AND d.mode = s.mode
            AND d.model IS NOT DISTINCT FROM m.model
            AND d.source = if(s.mode = 'mv', 'multi', s.source)
    LEFT JOIN vote_counts AS v
        ON
            v.run = s.run
            AND v.mode = s.mode
            AND v.model IS NOT DISTINCT FROM m.model
            AND v.source = s.source
)

SELECT
    *,
    CASE
        WHEN mode = 'mv' THEN n_votes / nullif(sum(n_votes) OVER whole, 0)
        ELSE n_decided / nullif(n_units, 0)
    END AS share,
    n_agreeing / nullif(sum(n_agreeing) OVER whole, 0) AS agreeing_share
FROM counted
WINDOW whole AS (PARTITION BY run, mode, model)
