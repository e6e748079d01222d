-- Agreement with people
-- By level, for all responses together (part `all`) and for each model that wrote them.
-- claim: verdicts against labels. accuracy, balanced_accuracy and the f1 of each class are over the
-- claims that were decided, whose share is `coverage`; those in _all are over every labelled claim,
-- with an undecided one as not factual. faaf_error_rate and faaf_f1_false are what FaaF (Katranidis
-- and Barany 2024) gives, over decided claims. response: correlation of scores, intervals by Fisher's
-- z. sentence: not factual is a credibility below --threshold (0.3), and to people a sentence with an
-- erroneous span, as in Facts&Evidence (2025); one without credibility is `unscored` and passes.
-- low and high are 95 % bounds, clustered by question, or by response where it has none: Wilson's at
-- the effective number of independent claims (Korn and Graubard 1998).
-- group: agreement
-- summary: Verdicts and scores against what people said
-- needs: agreement_ratios, cluster_of, scores
-- order: run, list_position(['response', 'claim', 'sentence'], level), mode, source, part, model, metric
-- shows: level, mode, source, CASE part WHEN 'all' THEN '(all)' ELSE model END AS model, metric, value, low, high, n, interval_method
-- empty: the input has no labels of people; see `label`, `claims`, `spans` and `sentence_labels`
WITH grouped AS (
    SELECT
        * EXCLUDE (model),
        unnest(['all', 'model']) AS part,
        unnest([NULL, model]) AS model
    FROM agreement_ratios
),

ratios AS (
    SELECT
        g.run,
        g.level,
        g.mode,
        g.source,
        g.part,
        g.model,
        g.metric,
        CAST(sum(g.n) AS BIGINT) AS n,
        ratio_interval(
            list({
                'above': g.above,
                'below': g.below,
                'above_2': coalesce(g.above_2, g.above),
                'below_2': coalesce(g.below_2, g.below),
                'cluster': cluster_of(r.dataset, r.question, r.response_id)
            }) FILTER (WHERE g.n > 0)
        ) AS found
    FROM grouped AS g
    INNER JOIN responses AS r USING (run, response_id)
    GROUP BY ALL
),

scored AS (
    SELECT
        run,
        mode,
        source,
        {
            'x': factuality_score,
            'y': human_score,
            'cluster': cluster_of(dataset, question, response_id)
        } AS response,
        unnest(['all', 'model']) AS part,
        unnest([NULL, model]) AS model
    FROM scores
    WHERE factuality_score IS NOT NULL AND human_score IS NOT NULL
),

correlated AS (
    SELECT
        run,
        mode,
        source,
        part,
        model,
        count(*) AS n,
        correlations(list(response)) AS found
    FROM scored
    GROUP BY ALL
)

SELECT
    * EXCLUDE (found),
    found.value AS value,
    found.low AS low,
    found.high AS high,
    found.method AS interval_method
FROM ratios
UNION ALL BY NAME
SELECT
    * EXCLUDE (found),
    'response' AS level,
    found.metric AS metric,
    found.value AS value,
    found.low AS low,
    found.high AS high,
    found.method AS interval_method
FROM (SELECT * REPLACE (unnest(found) AS found) FROM correlated)
