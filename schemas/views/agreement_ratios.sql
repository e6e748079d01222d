-- Measures of agreement as ratios, by response
-- What each response adds to the numerator and the denominator of every measure of `agreement` that
-- is a ratio of counts, or the mean of two (the second has above_2 and below_2, else NULL); n is how
-- many claims or sentences it rests on. Measures in _all take an undecided claim as not factual. A
-- sentence is called not factual where its credibility is below --threshold; one without any never.
-- needs: human_labels, sentence_scores
-- order: run, level, mode, source, model, response_id, metric
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
        if(credibility < threshold(), 0, 1) AS said,
        credibility IS NULL AS unscored
    FROM sentence_scores
    WHERE human_label IS NOT NULL
),

-- Undecided claims are left out, or called false.
taken AS (
    SELECT
        *,
        unnest(['', '_all']) AS suffix,
        unnest([said, coalesce(said, 0)]) AS taken
    FROM labelled
),

counted AS (
    SELECT
        t.run,
        t.level,
        t.mode,
        t.source,
        r.model,
        t.response_id,
        t.suffix,
        count(*) AS n_labelled,
        count(*) FILTER (WHERE t.label = 1 AND t.taken = 1) AS true_right,
        count(*) FILTER (WHERE t.label = 1 AND t.taken = 0) AS true_wrong,
        count(*) FILTER (WHERE t.label = 0 AND t.taken = 0) AS false_right,
        count(*) FILTER (WHERE t.label = 0 AND t.taken = 1) AS false_wrong,
        count(*) FILTER (WHERE t.unscored) AS n_unscored,
        true_right + true_wrong AS n_true,
        false_right + false_wrong AS n_false,
        n_true + n_false AS n
    FROM taken AS t
    INNER JOIN responses AS r USING (run, response_id)
    GROUP BY ALL
),

measured AS (
    SELECT
        *,
        true_right + false_right AS n_right,
        true_wrong + false_wrong AS n_wrong,
        n_false + false_right + true_wrong AS called_false,
        unnest([
            ('accuracy', 'claim', true, n_right, n, n),
            ('balanced_accuracy', 'claim', true, true_right, n_true, n),
            ('f1_true', 'claim', true, 2 * true_right, n_true + true_right + false_wrong, n),
            ('f1_false', 'claim', true, 2 * false_right, called_false, n),
            ('faaf_error_rate', 'claim', false, n_wrong, n, n),
            ('faaf_f1_false', 'claim', false, 2 * false_right, called_false, n),
            ('coverage', 'claim', false, n, n_labelled, n_labelled),
            ('f1_not_factual', 'sentence', false, 2 * false_right, called_false, n),
            ('precision_not_factual', 'sentence', false, false_right, false_right + true_wrong, n),
            ('recall_not_factual', 'sentence', false, false_right, n_false, n),
            ('unscored', 'sentence', false, n_unscored, n, n)
        ]::STRUCT(
            metric VARCHAR, level VARCHAR, also_all BOOLEAN, above BIGINT, below BIGINT, n BIGINT
        )[]) AS measure
    FROM counted
)

SELECT
    run,
    level,
    mode,
    source,
    model,
    response_id,
    measure.metric || suffix AS metric,
    measure.above AS above,
    measure.below AS below,
    CASE WHEN measure.metric = 'balanced_accuracy' THEN false_right END AS above_2,
    CASE WHEN measure.metric = 'balanced_accuracy' THEN n_false END AS below_2,
    measure.n AS n
FROM measured
WHERE measure.level = level AND (measure.also_all OR suffix = '')
