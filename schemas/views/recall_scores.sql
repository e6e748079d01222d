-- Factual recall of each variant, by people and by each formulation
-- Of the facts of all records, how many an answer says: as people found (formulation `human`, over
-- the facts that they labelled) and as each formulation found. accuracy is over the facts that were
-- answered (FaaF's human accuracy), recall over all, an unanswered one (N/A) not being recalled;
-- mean_recall is the mean over records. n_na_before_repair of them the first reply left
-- unanswered, n_na a repair too. n_failed_calls of n_calls left a fact unanswered (FaaF counts its
-- failures so; before_repair: the first call, as there); `prompt` makes a call a fact, the others
-- one an answer. NULL where no fact was answered.
-- order: run, formulation != 'human', formulation, variant
-- empty: it takes a run of 'ufo recall'
WITH by_record AS (
    SELECT
        run,
        variant,
        formulation,
        record_id,
        count(*) AS n_facts,
        count(*) FILTER (WHERE label = 1) AS n_true,
        count(*) FILTER (WHERE label = 0) AS n_false,
        count(*) FILTER (WHERE label IS NULL) AS n_na,
        count(*) FILTER (WHERE label IS NULL OR first_reason IS NOT NULL) AS n_na_before_repair,
        count(*) FILTER (WHERE reason IS DISTINCT FROM 'no_passages') AS n_asked,
        CASE WHEN formulation = 'prompt' THEN count(*) ELSE 1 END AS most_calls
    FROM recall_verdicts
    GROUP BY run, variant, formulation, record_id
)

SELECT
    run,
    formulation,
    variant,
    count(*) AS n_records,
    CAST(sum(n_facts) AS BIGINT) AS n_facts,
    CAST(sum(n_true) AS BIGINT) AS n_true,
    CAST(sum(n_false) AS BIGINT) AS n_false,
    CAST(sum(n_na) AS BIGINT) AS n_na,
    CAST(sum(n_na_before_repair) AS BIGINT) AS n_na_before_repair,
    CAST(sum(least(n_asked, most_calls)) FILTER (WHERE formulation != 'human') AS BIGINT) AS n_calls,
    CAST(sum(least(n_na, most_calls)) FILTER (WHERE formulation != 'human') AS BIGINT)
        AS n_failed_calls,
    CAST(sum(least(n_na_before_repair, most_calls)) FILTER (WHERE formulation != 'human') AS BIGINT)
        AS n_failed_calls_before_repair,
    sum(n_true) / nullif(sum(n_true) + sum(n_false), 0) AS accuracy,
    CASE WHEN sum(n_true) + sum(n_false) > 0 THEN sum(n_true) / sum(n_facts) END AS recall,
    CASE WHEN sum(n_true) + sum(n_false) > 0 THEN avg(n_true / n_facts) END AS mean_recall
FROM by_record
GROUP BY run, formulation, variant
