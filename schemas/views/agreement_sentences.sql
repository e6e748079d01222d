-- Credibility of sentences beside the labels of people, by response
-- Of a response's labelled sentences, how many are not factual to people and called so, which is to
-- have a credibility below --threshold (flagged_right), are called so wrongly (flagged_wrong), are missed
-- (missed), or are rightly let pass (passed). One without credibility is never called not factual:
-- n_unscored says how many of them there are.
-- needs: sentence_scores
-- order: run, model, response_id
SELECT
    s.run,
    r.model,
    s.response_id,
    count(*) FILTER (WHERE s.human_label = 0 AND s.credibility < threshold()) AS flagged_right,
    count(*) FILTER (WHERE s.human_label = 1 AND s.credibility < threshold()) AS flagged_wrong,
    count(*) FILTER (WHERE s.human_label = 0 AND NOT coalesce(s.credibility < threshold(), false))
        AS missed,
    count(*) FILTER (WHERE s.human_label = 1 AND NOT coalesce(s.credibility < threshold(), false))
        AS passed,
    count(*) FILTER (WHERE s.credibility IS NULL) AS n_unscored
FROM sentence_scores AS s
INNER JOIN responses AS r USING (run, response_id)
WHERE s.human_label IS NOT NULL
GROUP BY ALL
