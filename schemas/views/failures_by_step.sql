-- Failures by step
-- How many inputs, sources and judgements failed at each step, and how. The table `failures` has
-- every one.
-- group: problems
-- summary: What failed, at which step, and how often
-- order: run, step, n DESC, error_type
SELECT
    run,
    step,
    error_type,
    count(*) AS n
FROM failures
GROUP BY run, step, error_type
