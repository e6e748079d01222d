-- Scores of each model
-- Means over the responses that have fact units (n_without_units have none), factuality_score with
-- the 95 % interval of score_intervals (low, high, interval_method). decided_score is over those
-- with a decided unit, human_score over those that people scored (n_human_scores).
-- needs: score_means
-- order: run, mode, source, model
-- shows: mode, source, model, n_responses, n_units, factuality_score, low, high, interval_method, decided_score, coverage
SELECT
    run,
    mode,
    source,
    name AS model,
    * EXCLUDE (run, mode, source, name)
FROM score_means('model')
