-- Scores of each model
-- Means over the n_scored responses that have a score. Of the others, n_without_units have no claim
-- and n_unjudged no usable judgement; n_unsupported are in a language that the judge does not know.
-- factuality_score has a 95 % interval (low, high, interval_method). Where nothing was decided it is
-- 0, as coverage is. decided_score is over the responses with a decided unit. human_score is over
-- those that people scored (n_human_scores). n_without_references responses brought no reference. Of the n_judgements asked for, n_unusable failed or are about a
-- language that the judge does not know.
-- group: scores
-- summary: Each model, with its interval
-- needs: score_means
-- order: run, mode, source, model
-- shows: concat_ws(' ', mode, source) AS mode_source, model, factuality_score, low, high, coverage, n_responses, n_units, decided_score, interval_method, n_judgements, n_unusable
SELECT * RENAME (name AS model)
FROM score_means('model')
