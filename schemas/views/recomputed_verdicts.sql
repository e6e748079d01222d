-- Verdicts recomputed from the evidence
-- The rows of `verdicts` as they follow from `evidence` alone, by each run's mode, order of sources
-- and rule for ties. A row that differs from `verdicts` says that evidence changed after the run.
-- needs: run_modes, tallies
-- order: run, response_id, unit_id, mode, source
WITH pooled AS (
    SELECT
        run,
        response_id,
        unit_id,
        CAST(sum(n_supported) AS BIGINT) AS n_supported,
        CAST(sum(n_refuted) AS BIGINT) AS n_refuted,
        CAST(sum(n_noans) AS BIGINT) AS n_noans,
        CAST(sum(n_error) AS BIGINT) AS n_error,
        -- Multi-Seq: the first source with a valid vote decides, and its votes alone count.
        min(position) FILTER (WHERE n_supported + n_refuted > 0) AS decided_at,
        arg_min(
            {
                'source': source,
                'n_supported': n_supported,
                'n_refuted': n_refuted,
                'n_noans': n_noans,
                'n_error': n_error
            },
            position
        ) FILTER (WHERE n_supported + n_refuted > 0) AS decider,
        min(position) FILTER (
            WHERE n_error > 0 AND n_noans = 0 AND n_supported + n_refuted = 0
        ) AS only_errors_at
    FROM tallies
    GROUP BY run, response_id, unit_id
),

counted AS (
    SELECT
        t.run,
        t.response_id,
        t.unit_id,
        m.mode,
        t.source,
        t.n_supported,
        t.n_refuted,
        t.n_noans,
        t.n_error,
        false AS past_error
    FROM tallies AS t
    INNER JOIN run_modes AS m ON m.run = t.run AND m.mode = 'single'
    UNION ALL
    SELECT
        p.run,
        p.response_id,
        p.unit_id,
        'mv' AS mode,
        'multi' AS source,
        p.n_supported,
        p.n_refuted,
        p.n_noans,
        p.n_error,
        false AS past_error
    FROM pooled AS p
    INNER JOIN run_modes AS m ON m.run = p.run AND m.mode = 'mv'
    UNION ALL
    SELECT
        p.run,
        p.response_id,
        p.unit_id,
        'seq' AS mode,
        coalesce(p.decider.source, 'none') AS source,
        coalesce(p.decider.n_supported, p.n_supported) AS n_supported,
        coalesce(p.decider.n_refuted, p.n_refuted) AS n_refuted,
        coalesce(p.decider.n_noans, p.n_noans) AS n_noans,
        coalesce(p.decider.n_error, p.n_error) AS n_error,
        p.only_errors_at IS NOT NULL
        AND (p.decided_at IS NULL OR p.only_errors_at < p.decided_at) AS past_error
    FROM pooled AS p
    INNER JOIN run_modes AS m ON m.run = p.run AND m.mode = 'seq'
)

SELECT
    c.run,
    c.response_id,
    c.unit_id,
    c.mode,
    c.source,
    CAST(
        CASE
            WHEN c.n_supported + c.n_refuted = 0 THEN NULL
            WHEN c.n_supported > c.n_refuted THEN 1
            WHEN c.n_supported < c.n_refuted THEN 0
            WHEN r.tie = 'factual' THEN 1
            ELSE 0
        END AS BIGINT
    ) AS label,
    c.n_supported,
    c.n_refuted,
    c.n_noans,
    c.n_error,
    c.n_supported > 0 AND c.n_supported = c.n_refuted AS tied,
    c.past_error
FROM counted AS c
INNER JOIN runs AS r ON r.run = c.run
