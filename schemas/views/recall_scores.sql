-- Factual recall of each variant, by people and by each formulation
-- How many facts of all records an answer states: by people (formulation `human`, over the facts
-- that they labelled) and by each formulation. accuracy is over the facts that were answered
-- (FaaF's human accuracy). recall is over all facts, with an unanswered one (N/A) as not recalled.
-- mean_recall is the mean over records. The first reply left n_na_before_repair facts unanswered,
-- and n_na stayed so after the repair. n_failed_calls of n_calls left a fact unanswered, which is
-- how FaaF counts failures; before_repair counts first calls only, as there. `prompt` makes one
-- call for each fact, the others one for each answer, or several if one call may not hold all
-- facts. Calls are counted by their requests. Repairs of `xml` ask for single facts, so only the
-- requests of facts without a repair count there. NULL where no fact was answered. An answer that
-- only says that it does not know has no recall: n_abstained of n_records, whose facts do not count.
-- group: scores
-- summary: Each variant: the share of facts that its answers contain
-- order: run, formulation != 'human', formulation, variant
-- shows: formulation, variant, accuracy, recall, mean_recall, n_facts, n_true, n_false, n_na, n_calls, n_abstained, n_na_before_repair, n_failed_calls_before_repair
-- empty: it takes a run of 'ufo recall'
WITH by_fact AS (
    SELECT
        *,
        coalesce(reason NOT IN ('no_passages', 'abstained'), TRUE) AS asked,
        label IS NULL OR first_reason IS NOT NULL AS na_at_first,
        CASE WHEN formulation = 'prompt' THEN fact_id ELSE coalesce(request_id, '') END AS call,
        first_reason IS NOT NULL AND formulation LIKE '%xml%' AS repaired_alone
    FROM recall_verdicts
),

by_record AS (
    SELECT
        run,
        variant,
        formulation,
        record_id,
        coalesce(bool_and(reason = 'abstained'), FALSE) AS abstained,
        count(*) AS n_facts,
        count(*) FILTER (WHERE label = 1) AS n_true,
        count(*) FILTER (WHERE label = 0) AS n_false,
        count(*) FILTER (WHERE label IS NULL) AS n_na,
        count(*) FILTER (WHERE na_at_first) AS n_na_before_repair,
        greatest(
            count(DISTINCT call) FILTER (WHERE asked AND NOT repaired_alone),
            CAST(bool_or(asked) AS BIGINT)
        ) AS calls,
        count(DISTINCT call) FILTER (WHERE label IS NULL) AS failed_calls,
        count(DISTINCT call) FILTER (WHERE na_at_first) AS failed_calls_before_repair
    FROM by_fact
    GROUP BY run, variant, formulation, record_id
)

SELECT
    run,
    formulation,
    variant,
    count(*) AS n_records,
    count(*) FILTER (WHERE abstained) AS n_abstained,
    CAST(coalesce(sum(COLUMNS('(n_.*)')) FILTER (WHERE NOT abstained), 0) AS BIGINT) AS "\1",
    CAST(sum(calls) FILTER (WHERE formulation != 'human') AS BIGINT) AS n_calls,
    CAST(sum(least(failed_calls, calls)) FILTER (WHERE formulation != 'human') AS BIGINT)
        AS n_failed_calls,
    CAST(
        sum(least(failed_calls_before_repair, calls)) FILTER (WHERE formulation != 'human')
        AS BIGINT
    ) AS n_failed_calls_before_repair,
    sum(n_true) / nullif(sum(n_true) + sum(n_false), 0) AS accuracy,
    CASE
        WHEN sum(n_true) + sum(n_false) > 0
            THEN sum(n_true) / sum(n_facts) FILTER (WHERE NOT abstained)
    END AS recall,
    CASE
        WHEN sum(n_true) + sum(n_false) > 0
            THEN avg(n_true / n_facts) FILTER (WHERE NOT abstained)
    END AS mean_recall
FROM by_record
GROUP BY run, formulation, variant
