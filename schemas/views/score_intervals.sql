-- Intervals of the mean factuality score
-- 95 % intervals of a run's mean factuality_score and of those of its models and data sets (level,
-- name), clustered by response: responses are drawn, not their fact units. bootstrap, up to 100,000
-- responses: percentiles of 1,000 replicates with Poisson weights, the same at each reading.
-- cluster-robust normal above that. One response alone has no interval.
-- needs: poisson_weight, scores
-- order: run, mode, source, list_position(['run', 'model', 'dataset'], level), name
-- shows: mode, source, level, name, n_responses, factuality_score, low, high, interval_method
WITH scored AS (
    SELECT
        run,
        mode,
        source,
        model,
        dataset,
        hash(response_id) AS seed,
        factuality_score
    FROM scores
    WHERE factuality_score IS NOT NULL
),

levels AS (
    SELECT
        run,
        mode,
        source,
        level,
        CASE level WHEN 'model' THEN model WHEN 'dataset' THEN dataset END AS name,
        count(*) AS n_responses,
        avg(factuality_score) AS mean,
        stddev_samp(factuality_score) AS deviation
    FROM scored
    CROSS JOIN (SELECT unnest(['run', 'model', 'dataset']) AS level)
    GROUP BY ALL
),

small AS (
    SELECT *
    FROM scored
    QUALIFY least(
        count(*) OVER (PARTITION BY run, mode, source),
        count(*) OVER (PARTITION BY run, mode, source, model),
        count(*) OVER (PARTITION BY run, mode, source, dataset)
    ) <= 100000
),

-- The 64 bits of a hash make the weights of four replicates.
weighted AS (
    SELECT
        run,
        mode,
        source,
        model,
        dataset,
        draw,
        [
            sum(poisson_weight(bits & 65535)),
            sum(poisson_weight((bits >> 16) & 65535)),
            sum(poisson_weight((bits >> 32) & 65535)),
            sum(poisson_weight(bits >> 48))
        ] AS weights,
        [
            sum(poisson_weight(bits & 65535) * factuality_score),
            sum(poisson_weight((bits >> 16) & 65535) * factuality_score),
            sum(poisson_weight((bits >> 32) & 65535) * factuality_score),
            sum(poisson_weight(bits >> 48) * factuality_score)
        ] AS totals
    FROM (
        SELECT
            s.*,
            d.draw,
            hash(xor(s.seed, hash(d.draw))) AS bits
        FROM small AS s
        CROSS JOIN (SELECT unnest(range(250)) AS draw) AS d
    )
    GROUP BY run, mode, source, model, dataset, draw
),

lanes AS (
    SELECT
        * EXCLUDE (weights, totals),
        unnest(range(4)) AS lane,
        unnest(weights) AS weight,
        unnest(totals) AS total
    FROM weighted
),

replicates AS (
    SELECT
        run,
        mode,
        source,
        level,
        CASE level WHEN 'model' THEN model WHEN 'dataset' THEN dataset END AS name,
        draw,
        lane,
        sum(total) / nullif(sum(weight), 0) AS mean
    FROM lanes
    CROSS JOIN (SELECT unnest(['run', 'model', 'dataset']) AS level)
    GROUP BY ALL
),

bootstrapped AS (
    SELECT
        run,
        mode,
        source,
        level,
        name,
        quantile_cont(mean, [0.025, 0.975]) AS bounds
    FROM replicates
    GROUP BY ALL
),

bounded AS (
    SELECT
        l.*,
        CASE
            WHEN l.n_responses < 2 THEN NULL
            WHEN l.n_responses <= 100000 THEN b.bounds
            ELSE [
                l.mean - 1.959963984540054 * l.deviation / sqrt(l.n_responses),
                l.mean + 1.959963984540054 * l.deviation / sqrt(l.n_responses)
            ]
        END AS bounds
    FROM levels AS l
    LEFT JOIN bootstrapped AS b
        ON
            b.run = l.run
            AND b.mode = l.mode
            AND b.source IS NOT DISTINCT FROM l.source
            AND b.level = l.level
            AND b.name IS NOT DISTINCT FROM l.name
)

SELECT
    run,
    mode,
    source,
    level,
    name,
    n_responses,
    mean AS factuality_score,
    bounds[1] AS low,
    bounds[2] AS high,
    CASE
        WHEN n_responses < 2 THEN NULL
        WHEN n_responses <= 100000 THEN 'bootstrap'
        ELSE 'cluster-robust normal'
    END AS interval_method
FROM bounded
