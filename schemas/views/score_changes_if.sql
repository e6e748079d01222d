-- Scores under other rules beside those of the run
-- The rows of scores_if as means by level (run, model, dataset, response) and name; `before` is the
-- mean factuality_score of the run's own verdicts in that mode, where it has them.
-- needs: scores, scores_if
-- parameters: wanted, source_order := NULL, without_passages := NULL, without_categories := NULL, only_categories := NULL, without_domains := NULL, only_domains := NULL, min_sources := 1, tie_rule := NULL
WITH compared AS (
    SELECT
        s.*,
        o.factuality_score AS before
    FROM scores_if(
        wanted,
        source_order := source_order,
        without_passages := without_passages,
        without_categories := without_categories,
        only_categories := only_categories,
        without_domains := without_domains,
        only_domains := only_domains,
        min_sources := min_sources,
        tie_rule := tie_rule
    ) AS s
    LEFT JOIN scores AS o
        ON
            o.run = s.run
            AND o.mode = s.mode
            AND o.response_id = s.response_id
            AND o.source IS NOT DISTINCT FROM s.source
),

levels AS (
    SELECT
        *,
        unnest(['run', 'model', 'dataset', 'response']) AS level,
        unnest([run, model, dataset, response_id]) AS name
    FROM compared
)

SELECT
    level,
    name,
    mode,
    source,
    count(*) AS n_responses,
    CAST(sum(n_units) AS BIGINT) AS n_units,
    CAST(sum(n_supported) AS BIGINT) AS n_supported,
    CAST(sum(n_refuted) AS BIGINT) AS n_refuted,
    CAST(sum(n_unknown) AS BIGINT) AS n_unknown,
    CASE WHEN count(decided_score) > 0 THEN avg(factuality_score) END AS factuality_score,
    avg(before) AS before,
    avg(factuality_score) - avg(before) AS difference,
    avg(decided_score) AS decided_score,
    avg(coverage) AS coverage,
    CAST(sum(n_judgements) AS BIGINT) AS n_judgements,
    CAST(sum(n_unusable) AS BIGINT) AS n_unusable
FROM levels
GROUP BY run, level, name, mode, source
