-- Comparison of models
-- For every two models, the difference of their mean factuality_score (a minus b) with its 95 %
-- interval and two-sided p. The comparison is paired if both models answered two or more of the
-- same questions of a data set: Student's paired t over these n questions. Otherwise it is
-- unpaired: Welch's t (1947) over the n responses of both models, clustered by question. n_a and
-- n_b are the questions, or the responses, that each model has with a score. If all differences
-- are equal there is neither interval nor p. p is not corrected for many comparisons. score_a,
-- score_b and their coverage are taken over the same questions or responses as the difference.
-- group: scores
-- summary: Every two models: the difference of their scores, and whether it may be chance
-- needs: cluster_of, scores
-- order: run, mode, source, model_a, model_b
-- shows: concat_ws(' ', mode, source) AS mode_source, model_a, model_b, difference, low, high, p, n, comparison
-- empty: it takes responses of two models at least (`model` in the input)
WITH scored AS (
    -- The mode and the source are one value, in which NULL equals NULL.
    SELECT
        run,
        {'mode': mode, 'source': source} AS way,
        model,
        trim(question) != '' AS asked,
        cluster_of(dataset, question, response_id) AS cluster,
        factuality_score AS score,
        coverage
    FROM scores
    WHERE factuality_score IS NOT NULL AND model IS NOT NULL
),

models AS (
    SELECT
        run,
        way,
        model,
        count(*) AS n,
        avg(score) AS mean,
        avg(coverage) AS coverage,
        list({'score': score, 'cluster': cluster}) AS responses
    FROM scored
    GROUP BY run, way, model
),

questions AS (
    SELECT
        run,
        way,
        model,
        cluster,
        avg(score) AS score,
        avg(coverage) AS coverage,
        count(*) OVER (PARTITION BY run, way, model) AS n_of_model
    FROM scored
    WHERE asked
    GROUP BY run, way, model, cluster
),

paired AS (
    SELECT
        a.run,
        a.way,
        a.model AS model_a,
        b.model AS model_b,
        'paired' AS comparison,
        count(*) AS n,
        any_value(a.n_of_model) AS n_a,
        any_value(b.n_of_model) AS n_b,
        avg(a.score) AS score_a,
        avg(b.score) AS score_b,
        avg(a.coverage) AS coverage_a,
        avg(b.coverage) AS coverage_b,
        paired_t(list({'difference': a.score - b.score})) AS found
    FROM questions AS a
    INNER JOIN questions AS b
        ON b.run = a.run AND b.way = a.way AND b.cluster = a.cluster AND b.model > a.model
    GROUP BY ALL
    HAVING count(*) >= 2
),

compared AS (
    SELECT * FROM paired
    UNION ALL
    SELECT
        a.run,
        a.way,
        a.model AS model_a,
        b.model AS model_b,
        'unpaired' AS comparison,
        a.n + b.n AS n,
        a.n AS n_a,
        b.n AS n_b,
        a.mean AS score_a,
        b.mean AS score_b,
        a.coverage AS coverage_a,
        b.coverage AS coverage_b,
        unpaired_t(a.responses, b.responses) AS found
    FROM models AS a
    INNER JOIN models AS b ON b.run = a.run AND b.way = a.way AND b.model > a.model
    ANTI JOIN paired AS p
        ON p.run = a.run AND p.way = a.way AND p.model_a = a.model AND p.model_b = b.model
)

SELECT * EXCLUDE (p_drop) RENAME (method AS interval_method)
FROM (SELECT run, unnest(way), * EXCLUDE (run, way, found), unnest(found) FROM compared)
