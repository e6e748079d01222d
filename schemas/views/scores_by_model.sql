-- Scores of each model
-- Means over the responses that have fact units (n_without_units have none). decided_score is over those with a decided
-- unit, human_score over those that people scored (n_human_scores).
-- needs: scores
-- order: run, mode, source, model
SELECT
    run,
    mode,
    source,
    model,
    count(*) AS n_responses,
    count(*) FILTER (WHERE n_units = 0) AS n_without_units,
    CAST(sum(n_units) AS BIGINT) AS n_units,
    avg(factuality_score) AS factuality_score,
    avg(decided_score) AS decided_score,
    avg(coverage) AS coverage,
    avg(human_score) FILTER (WHERE n_units > 0) AS human_score,
    count(human_score) FILTER (WHERE n_units > 0) AS n_human_scores
FROM scores
GROUP BY ALL
