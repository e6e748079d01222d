-- Modes of each run
-- The modes that a run has verdicts in: its own, or all three for a run of mode `all`.
-- order: run, mode
SELECT
    run,
    unnest(CASE mode WHEN 'all' THEN ['seq', 'mv', 'single'] ELSE [mode] END) AS mode
FROM runs
