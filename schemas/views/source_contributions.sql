-- Contribution of each source
-- seq: the share of fact units that the source decided, with source `none` for those that nobody
-- did. mv: its share of the valid votes, and agreeing_share, its share of the valid votes that
-- agreed with the verdict. single: the share of fact units that it decides alone.
-- group: sources
-- summary: Each source: the share of claims that it decided
-- needs: source_contributions_by_model
-- order: run, mode, position
WITH counted AS (
    SELECT
        run,
        mode,
        source,
        position,
        CAST(sum(COLUMNS('(n_.*)')) AS BIGINT) AS "\1"
    FROM source_contributions_by_model
    GROUP BY run, mode, source, position
)

SELECT
    *,
    CASE
        WHEN mode = 'mv' THEN n_votes / nullif(sum(n_votes) OVER whole, 0)
        ELSE n_decided / nullif(n_units, 0)
    END AS share,
    n_agreeing / nullif(sum(n_agreeing) OVER whole, 0) AS agreeing_share
FROM counted
WINDOW whole AS (PARTITION BY run, mode)
