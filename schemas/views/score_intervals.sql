-- Intervals of the mean factuality score
-- 95 % intervals of a run's mean factuality_score and of those of its models and data sets (level,
-- name), clustered by question, or by response where it has none: Wilson's at the effective number
-- of independent responses (Korn and Graubard 1998). One question alone has no interval.
-- needs: cluster_of, scores
-- order: run, mode, source, list_position(['run', 'model', 'dataset'], level), name
-- shows: mode, source, level, name, n_responses, factuality_score, low, high, interval_method
WITH scored AS (
    SELECT
        run,
        mode,
        source,
        {
            'value': factuality_score,
            'weight': 1,
            'cluster': cluster_of(dataset, question, response_id)
        } AS response,
        unnest(['run', 'model', 'dataset']) AS level,
        unnest([NULL, model, dataset]) AS name
    FROM scores
    WHERE factuality_score IS NOT NULL
),

estimated AS (
    SELECT
        run,
        mode,
        source,
        level,
        name,
        count(*) AS n_responses,
        mean_interval(list(response)) AS found
    FROM scored
    GROUP BY ALL
)

SELECT
    * EXCLUDE (found),
    found.value AS factuality_score,
    found.low AS low,
    found.high AS high,
    found.method AS interval_method
FROM estimated
