-- One run against another, question by question
-- The mean factuality score of both runs over the questions of a data set that have a score in both;
-- responses without a question are matched by their ids. If a run has several responses to a
-- question, their mean counts, and each question counts once; the coverage is of the same rows.
-- difference is run - baseline, with its 95 % interval. p is the one-sided probability of such a drop
-- if run were no worse: a paired t test (Student 1908). If all differences are equal there is no
-- interval, and p is 1/2 to the power of their number, as in a sign test. A single pair has neither p
-- nor interval. n_baseline and n_run are the questions of each run, also those without a score, and
-- n_asked of the n_places of both together are questions. n_scored_baseline and n_scored_run are the
-- responses of the pairs. only_baseline and only_run count the questions with a score in one run
-- only.
-- needs: scores
-- parameters: of_baseline, of_run
WITH placed AS (
    SELECT
        s.run = of_run AS newer,
        s.dataset,
        nullif(trim(s.question), '') AS question,
        CASE WHEN nullif(trim(s.question), '') IS NULL THEN s.response_id END AS response_id,
        avg(s.factuality_score) AS score,
        avg(s.coverage) AS coverage,
        count(DISTINCT s.response_id) FILTER (WHERE s.factuality_score IS NOT NULL) AS n_scored
    FROM scores AS s
    INNER JOIN runs AS r USING (run)
    WHERE
        s.run IN (of_baseline, of_run)
        AND s.mode = CASE r.mode WHEN 'all' THEN 'seq' ELSE r.mode END
    GROUP BY ALL
),

pairs AS (
    SELECT
        question,
        bool_or(NOT newer) AS in_baseline,
        bool_or(newer) AS in_run,
        max(score) FILTER (WHERE NOT newer) AS before,
        max(score) FILTER (WHERE newer) AS after,
        max(coverage) FILTER (WHERE NOT newer) AS coverage_before,
        max(coverage) FILTER (WHERE newer) AS coverage_after,
        max(n_scored) FILTER (WHERE NOT newer) AS scored_before,
        max(n_scored) FILTER (WHERE newer) AS scored_after
    FROM placed
    GROUP BY dataset, question, response_id
),

counted AS (
    SELECT
        count(after - before) AS n_pairs,
        count(*) FILTER (WHERE after - before IS NOT NULL AND question IS NOT NULL) AS n_questions,
        count(*) FILTER (WHERE after - before IS NOT NULL AND question IS NULL) AS n_responses,
        count(*) FILTER (WHERE before IS NOT NULL AND after IS NULL) AS only_baseline,
        count(*) FILTER (WHERE after IS NOT NULL AND before IS NULL) AS only_run,
        count(*) FILTER (WHERE in_baseline) AS n_baseline,
        count(*) FILTER (WHERE in_run) AS n_run,
        count(*) AS n_places,
        count(question) AS n_asked,
        CAST(coalesce(sum(scored_before) FILTER (WHERE after - before IS NOT NULL), 0) AS BIGINT)
            AS n_scored_baseline,
        CAST(coalesce(sum(scored_after) FILTER (WHERE after - before IS NOT NULL), 0) AS BIGINT)
            AS n_scored_run,
        avg(before) FILTER (WHERE after IS NOT NULL) AS baseline_score,
        avg(after) FILTER (WHERE before IS NOT NULL) AS run_score,
        avg(coverage_before) FILTER (WHERE after IS NOT NULL) AS baseline_coverage,
        avg(coverage_after) FILTER (WHERE before IS NOT NULL) AS run_coverage,
        paired_t(list({'difference': after - before}) FILTER (WHERE after - before IS NOT NULL))
            AS found
    FROM pairs
)

SELECT
    of_baseline AS baseline,
    of_run AS run,
    * EXCLUDE (found),
    found.difference AS difference,
    found.low AS low,
    found.high AS high,
    found.p_drop AS p,
    CASE found.method
        WHEN 'paired t' THEN 'paired t test, one-sided'
        WHEN 'none: all differences are equal' THEN 'sign test, one-sided'
    END AS method
FROM counted
