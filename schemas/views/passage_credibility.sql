-- Credibility of each response as a whole
-- Facts&Evidence's score of a whole text: the credibility of all evidence of a response together.
-- It is not the mean of its sentences, and includes claims that no sentence has. Bands as in
-- sentence_scores.
-- group: scores
-- summary: Each response: the share of all its evidence that supports it
-- needs: band_of
-- order: run, response_id
SELECT
    r.run,
    r.response_id,
    r.model,
    r.dataset,
    count(*) FILTER (WHERE e.outcome = 'supported') AS n_supported,
    count(*) FILTER (WHERE e.outcome = 'refuted') AS n_refuted,
    count(*) FILTER (WHERE e.outcome = 'noans') AS n_noans,
    count(*) FILTER (WHERE e.outcome = 'error') AS n_error,
    n_supported / nullif(n_supported + n_refuted + n_noans, 0) AS credibility,
    band_of(credibility) AS band
FROM responses AS r
LEFT JOIN evidence AS e
    ON e.run = r.run AND e.response_id = r.response_id AND e.passage_id IS NOT NULL
GROUP BY ALL
