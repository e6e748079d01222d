-- Scores of each data set
-- Means over the responses that have fact units (n_without_units have none) and a usable judgement
-- (n_unjudged have none), factuality_score with the 95 % interval of score_intervals (low, high,
-- interval_method); NULL where nothing was decided. decided_score is over those with a decided unit,
-- human_score over those that people scored (n_human_scores). n_unusable of the n_judgements asked
-- for failed or are about a text in a language that the judge does not know.
-- needs: score_means
-- order: run, mode, source, dataset
-- shows: mode, source, dataset, n_responses, n_units, factuality_score, low, high, interval_method, decided_score, coverage, n_judgements, n_unusable
SELECT
    run,
    mode,
    source,
    name AS dataset,
    * EXCLUDE (run, mode, source, name)
FROM score_means('dataset')
