-- One run against another, question by question
-- The mean factuality score of both runs over the questions of a data set that both have; responses
-- without a question are matched by their ids. If a run has several responses to a question, their
-- mean counts; the coverage is of the same rows. difference is run - baseline, with its 95 % interval. p is the one-sided probability
-- of such a drop if run were no worse: a paired t test (Student 1908). If all differences are
-- equal, p is 1/2 to the power of their number, as in a sign test. A single pair has neither p nor
-- interval. Questions of one run only are left out; only_baseline and only_run count them.
-- needs: scores
-- parameters: of_baseline, of_run
WITH scored AS (
    SELECT
        s.run = of_run AS newer,
        s.dataset,
        nullif(trim(s.question), '') AS question,
        CASE WHEN nullif(trim(s.question), '') IS NULL THEN s.response_id END AS response_id,
        avg(s.factuality_score) AS score,
        avg(s.coverage) AS coverage
    FROM scores AS s
    INNER JOIN runs AS r USING (run)
    WHERE
        s.run IN (of_baseline, of_run)
        AND s.factuality_score IS NOT NULL
        AND s.mode = CASE r.mode WHEN 'all' THEN 'seq' ELSE r.mode END
    GROUP BY ALL
),

pairs AS (
    SELECT
        question,
        max(score) FILTER (WHERE NOT newer) AS before,
        max(score) FILTER (WHERE newer) AS after,
        max(coverage) FILTER (WHERE NOT newer) AS coverage_before,
        max(coverage) FILTER (WHERE newer) AS coverage_after
    FROM scored
    GROUP BY dataset, question, response_id
),

counted AS (
    SELECT
        count(after - before) AS n_pairs,
        count(*) FILTER (WHERE after - before IS NOT NULL AND question IS NOT NULL) AS n_questions,
        count(*) FILTER (WHERE after - before IS NOT NULL AND question IS NULL) AS n_responses,
        count(*) FILTER (WHERE after IS NULL) AS only_baseline,
        count(*) FILTER (WHERE before IS NULL) AS only_run,
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
    coalesce(found.low, CASE WHEN n_pairs > 1 THEN difference END) AS low,
    coalesce(found.high, CASE WHEN n_pairs > 1 THEN difference END) AS high,
    found.p_drop AS p,
    'paired t test, one-sided' AS method
FROM counted
