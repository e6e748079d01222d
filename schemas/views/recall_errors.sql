-- Errors of each formulation against people, by variant
-- Errors over the facts that people labelled. error_rate and f1_false are over the facts that were
-- answered, as in FaaF; f1_false is the F1 of the class false, beside its precision and recall.
-- Columns in _with_na count every unanswered fact (N/A) as a wrong verdict. The first reply left
-- n_na_before_repair facts unanswered, and n_na stayed so. F1 is NULL where there is no false fact.
-- Answers that only say that they do not know are left out.
-- group: agreement
-- summary: Each way of asking: how often it is wrong, by the labels of people
-- order: run, formulation, variant
-- shows: formulation, variant, error_rate, f1_false, error_rate_with_na, f1_false_with_na, n_labelled, n_false, n_na, n_na_before_repair
-- empty: it takes a run of 'ufo recall' whose facts people labelled
WITH compared AS (
    SELECT
        run,
        formulation,
        variant,
        any_value(model) AS model,
        count(*) AS n_labelled,
        count(*) FILTER (WHERE human_label = 0) AS n_false,
        count(*) FILTER (WHERE label IS NULL) AS n_na,
        count(*) FILTER (WHERE label IS NULL OR first_reason IS NOT NULL) AS n_na_before_repair,
        count(*) FILTER (WHERE label != human_label) AS n_wrong,
        count(*) FILTER (WHERE label = 0 AND human_label = 0) AS n_hits,
        count(*) FILTER (WHERE label = 0 AND human_label = 1) AS n_false_alarms,
        count(*) FILTER (WHERE label = 1 AND human_label = 0) AS n_missed
    FROM recall_verdicts
    WHERE
        human_label IS NOT NULL AND formulation != 'human' AND reason IS DISTINCT FROM 'abstained'
    GROUP BY run, formulation, variant
)

SELECT
    * EXCLUDE (n_hits, n_false_alarms, n_missed),
    n_wrong / nullif(n_labelled - n_na, 0) AS error_rate,
    n_hits / nullif(n_hits + n_false_alarms, 0) AS precision_false,
    n_hits / nullif(n_hits + n_missed, 0) AS recall_false,
    CASE
        WHEN n_hits + n_missed > 0
            THEN 2 * n_hits / (2 * n_hits + n_missed + n_false_alarms)
    END AS f1_false,
    (n_wrong + n_na) / n_labelled AS error_rate_with_na,
    CASE
        WHEN n_false > 0
            THEN 2 * n_hits / (2 * n_hits + n_missed + n_false_alarms + n_na)
    END AS f1_false_with_na
FROM compared
