-- Modes of each run
-- The modes in which a run has verdicts: its own mode, or all three if the run's mode is `all`.
-- order: run, mode
SELECT
    run,
    unnest(CASE mode WHEN 'all' THEN ['seq', 'mv', 'single'] ELSE [mode] END) AS mode
FROM runs
