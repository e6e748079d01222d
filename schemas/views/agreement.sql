-- Agreement with people
-- Measures by level, for all responses together (part `all`) and for each model that wrote them.
-- Level claim compares verdicts with labels. accuracy, balanced_accuracy and the F1 of each
-- class are over the decided claims, whose share is `coverage`. Those that end in _all are over
-- every labelled claim, with an undecided one as not factual. A label between true and false,
-- such as 0.5 where as many annotators say true as false, counts in this share as true and in
-- the rest as false. faaf_error_rate and faaf_f1_false are FaaF's measures over decided claims
-- (Katranidis and Barany 2024). Level response correlates the scores, with intervals by Fisher's
-- z. Level sentence follows Facts&Evidence (2025): to the judge a sentence is not factual if its
-- credibility is below a threshold (0.3; --threshold sets another), to people if it has an
-- erroneous span. A sentence without credibility passes, and is counted as `unscored`. low and
-- high are 95 % bounds: Wilson's at the effective number of independent claims, clustered by
-- question, or by response if it has no question (Korn and Graubard 1998).
-- group: agreement
-- summary: Verdicts and scores against what people said
-- needs: cluster_of, human_labels, scores, sentence_scores, sentence_threshold
-- order: run, list_position(['response', 'claim', 'sentence'], level), mode, source, part, model, metric
-- shows: concat_ws(' ', mode, source) AS mode_source, CASE part WHEN 'all' THEN '(all)' ELSE model END AS model, metric, value, low, high, n, level, interval_method
-- empty: the input has no labels of people; see `label`, `claims`, `spans` and `sentence_labels`
WITH labelled AS (
    SELECT
        v.run,
        'claim' AS level,
        v.mode,
        CASE WHEN v.mode = 'single' THEN v.source END AS source,
        v.response_id,
        h.label,
        v.label AS said
    FROM human_labels AS h
    INNER JOIN verdicts AS v USING (run, response_id, unit_id)
    UNION ALL BY NAME
    SELECT
        run,
        'sentence' AS level,
        response_id,
        human_label AS label,
        if(credibility < sentence_threshold(), 0, 1) AS said,
        credibility IS NULL AS unscored
    FROM sentence_scores
    WHERE human_label IS NOT NULL
),

counted AS (
    SELECT
        l.* EXCLUDE (response_id),
        r.model,
        cluster_of(r.dataset, r.question, r.response_id) AS cluster,
        count(*) AS n
    FROM labelled AS l
    INNER JOIN responses AS r USING (run, response_id)
    GROUP BY ALL
),

-- Undecided claims are left out, or called false.
taken AS (
    SELECT
        * EXCLUDE (label, said),
        label AS l,
        unnest(['', '_all']) AS suffix,
        unnest([said, coalesce(said, 0)]) AS s
    FROM counted
),

-- What a claim or sentence adds to the numerator and the denominator of each measure.
measured AS (
    SELECT
        *,
        unnest([
            ('accuracy', 'claim', true, 1 - abs(s - l), 1),
            ('balanced_accuracy', 'claim', true, l * s, l),
            ('f1_true', 'claim', true, 2 * l * s, l + s),
            ('f1_false', 'claim', true, 2 * (1 - l) * (1 - s), 2 - l - s),
            ('faaf_error_rate', 'claim', false, abs(s - l), 1),
            ('faaf_f1_false', 'claim', false, 2 * (1 - l) * (1 - s), 2 - l - s),
            ('coverage', 'claim', false, if(s IS NULL, 0, 1), 1),
            ('f1_not_factual', 'sentence', false, 2 * (1 - l) * (1 - s), 2 - l - s),
            ('precision_not_factual', 'sentence', false, (1 - l) * (1 - s), 1 - s),
            ('recall_not_factual', 'sentence', false, (1 - l) * (1 - s), 1 - l),
            ('unscored', 'sentence', false, CAST(unscored AS INTEGER), 1)
        ]::STRUCT(
            metric VARCHAR, level VARCHAR, also_all BOOLEAN, above DOUBLE, below DOUBLE
        )[]) AS measure
    FROM taken
),

grouped AS (
    SELECT
        * EXCLUDE (model),
        n * measure.above AS above,
        n * measure.below AS below,
        measure.metric = 'balanced_accuracy' AS of_both,
        unnest(['all', 'model']) AS part,
        unnest([NULL, model]) AS model
    FROM measured
    WHERE measure.level = level AND (measure.also_all OR suffix = '')
),

ratios AS (
    SELECT
        run,
        level,
        mode,
        source,
        part,
        model,
        measure.metric || suffix AS metric,
        CAST(coalesce(sum(n) FILTER (WHERE above IS NOT NULL), 0) AS BIGINT) AS n,
        ratio_interval(
            list({
                'above': above,
                'below': below,
                'above_2': if(of_both, n * (1 - l) * (1 - s), above),
                'below_2': if(of_both, n * (1 - l), below),
                'cluster': cluster
            }) FILTER (WHERE above IS NOT NULL)
        ) AS found
    FROM grouped
    GROUP BY ALL
),

scored AS (
    SELECT
        * EXCLUDE (model),
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
        'response' AS level,
        ['pearson', 'spearman', 'kendall'] AS metric,
        count(*) AS n,
        correlations(list({
            'x': factuality_score,
            'y': human_score,
            'cluster': cluster_of(dataset, question, response_id)
        })) AS found
    FROM scored
    GROUP BY ALL
)

SELECT * RENAME (method AS interval_method)
FROM (
    SELECT * EXCLUDE (found), unnest(found) FROM ratios
    UNION ALL BY NAME
    SELECT * EXCLUDE (found) REPLACE (unnest(metric) AS metric), unnest(found, recursive := true)
    FROM correlated
)
