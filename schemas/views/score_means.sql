-- Means of the scores of each run, model or data set
-- `wanted` is the level: run, model or dataset; `name` is whose scores these are.
-- needs: scores, score_intervals
-- parameters: wanted
WITH counted AS (
    SELECT
        run,
        mode,
        source,
        CASE wanted WHEN 'model' THEN model WHEN 'dataset' THEN dataset END AS name,
        count(*) AS n_responses,
        count(*) FILTER (WHERE n_units = 0) AS n_without_units,
        count(*) FILTER (WHERE no_score = 'nothing usable') AS n_unjudged,
        count(*) FILTER (WHERE no_score = 'unsupported language') AS n_unsupported,
        CAST(sum(n_units) AS BIGINT) AS n_units,
        -- Where nothing was decided, nothing was found.
        CASE WHEN count(decided_score) > 0 THEN avg(factuality_score) END AS factuality_score,
        avg(decided_score) AS decided_score,
        avg(coverage) AS coverage,
        avg(human_score) FILTER (WHERE factuality_score IS NOT NULL) AS human_score,
        count(human_score) FILTER (WHERE factuality_score IS NOT NULL) AS n_human_scores,
        CAST(sum(n_judgements) AS BIGINT) AS n_judgements,
        CAST(sum(n_unusable) AS BIGINT) AS n_unusable
    FROM scores
    GROUP BY ALL
)

SELECT
    c.*,
    CASE WHEN c.factuality_score IS NOT NULL THEN i.low END AS low,
    CASE WHEN c.factuality_score IS NOT NULL THEN i.high END AS high,
    CASE WHEN c.factuality_score IS NOT NULL THEN i.interval_method END AS interval_method
FROM counted AS c
LEFT JOIN score_intervals AS i
    ON
        i.run = c.run
        AND i.mode = c.mode
        AND i.source IS NOT DISTINCT FROM c.source
        AND i.level = wanted
        AND i.name IS NOT DISTINCT FROM c.name
