-- Comparison of models
-- For every two models, the difference of their mean factuality_score (a minus b) with its 95 %
-- interval and two-sided p. paired: over the n questions (with their data set) that both answered,
-- each a difference of means, where there are two or more: Student's paired t. unpaired: over all
-- responses (n of both models): Welch's t (1947). p is not corrected for many comparisons.
-- needs: scores, t_probability, t_bound
-- order: run, mode, source, model_a, model_b
-- shows: mode, source, model_a, model_b, comparison, n, difference, low, high, p
-- empty: it takes responses of two models at least (`model` in the input)
WITH scored AS (
    SELECT
        run,
        mode,
        source,
        model,
        dataset,
        nullif(trim(question), '') AS question,
        factuality_score
    FROM scores
    WHERE factuality_score IS NOT NULL AND model IS NOT NULL
),

models AS (
    SELECT
        run,
        mode,
        source,
        model,
        count(*) AS n,
        avg(factuality_score) AS mean,
        coalesce(var_samp(factuality_score), 0) AS variance
    FROM scored
    GROUP BY run, mode, source, model
),

questions AS (
    SELECT
        run,
        mode,
        source,
        model,
        dataset,
        question,
        avg(factuality_score) AS score
    FROM scored
    WHERE question IS NOT NULL
    GROUP BY run, mode, source, model, dataset, question
),

paired AS (
    SELECT
        a.run,
        a.mode,
        a.source,
        a.model AS model_a,
        b.model AS model_b,
        count(*) AS n,
        avg(a.score) AS mean_a,
        avg(b.score) AS mean_b,
        avg(a.score - b.score) AS difference,
        stddev_samp(a.score - b.score) / sqrt(count(*)) AS error
    FROM questions AS a
    INNER JOIN questions AS b
        ON
            b.run = a.run
            AND b.mode = a.mode
            AND b.source IS NOT DISTINCT FROM a.source
            AND b.dataset IS NOT DISTINCT FROM a.dataset
            AND b.question = a.question
            AND b.model > a.model
    GROUP BY ALL
    HAVING count(*) >= 2
),

compared AS (
    SELECT
        a.run,
        a.mode,
        a.source,
        a.model AS model_a,
        b.model AS model_b,
        CASE WHEN p.n IS NOT NULL THEN 'paired' ELSE 'unpaired' END AS comparison,
        coalesce(p.n, a.n + b.n) AS n,
        coalesce(p.mean_a, a.mean) AS score_a,
        coalesce(p.mean_b, b.mean) AS score_b,
        coalesce(p.difference, a.mean - b.mean) AS difference,
        CASE
            WHEN p.n IS NOT NULL THEN p.error
            WHEN a.n >= 2 AND b.n >= 2 THEN sqrt(a.variance / a.n + b.variance / b.n)
        END AS error,
        CASE
            WHEN p.n IS NOT NULL THEN p.n - 1
            WHEN a.n >= 2 AND b.n >= 2
                THEN
                    power(a.variance / a.n + b.variance / b.n, 2)
                    / nullif(
                        power(a.variance / a.n, 2) / (a.n - 1)
                        + power(b.variance / b.n, 2) / (b.n - 1),
                        0
                    )
        END AS df
    FROM models AS a
    INNER JOIN models AS b
        ON
            b.run = a.run
            AND b.mode = a.mode
            AND b.source IS NOT DISTINCT FROM a.source
            AND b.model > a.model
    LEFT JOIN paired AS p
        ON
            p.run = a.run
            AND p.mode = a.mode
            AND p.source IS NOT DISTINCT FROM a.source
            AND p.model_a = a.model
            AND p.model_b = b.model
),

bounded AS (
    SELECT
        *,
        CASE WHEN error > 1e-12 THEN error * t_bound(CAST(df AS DOUBLE)) END AS half
    FROM compared
)

SELECT
    run,
    mode,
    source,
    model_a,
    model_b,
    comparison,
    n,
    score_a,
    score_b,
    difference,
    difference - half AS low,
    difference + half AS high,
    CASE
        WHEN error > 1e-12 THEN t_probability(CAST(difference / error AS DOUBLE), CAST(df AS DOUBLE))
    END AS p,
    CASE
        WHEN error IS NULL THEN 'none: a model has one response'
        WHEN error <= 1e-12 THEN 'none: all differences are equal'
        WHEN comparison = 'paired' THEN 'paired t'
        ELSE 'Welch t'
    END AS interval_method
FROM bounded
