-- Credibility of each response as a whole
-- Facts&Evidence's score of a passage of text: all evidence of a response pooled, which is not the
-- mean of its sentences; unplaced claims count. Bands as in sentence_scores.
-- needs: band_of
-- order: run, response_id
WITH counted AS (
    SELECT
        run,
        response_id,
        count(*) FILTER (WHERE outcome = 'supported') AS n_supported,
        count(*) FILTER (WHERE outcome = 'refuted') AS n_refuted,
        count(*) FILTER (WHERE outcome = 'noans') AS n_noans,
        count(*) FILTER (WHERE outcome = 'error') AS n_error
    FROM evidence
    WHERE passage_id IS NOT NULL
    GROUP BY run, response_id
),

scored AS (
    SELECT
        r.run,
        r.response_id,
        r.model,
        r.dataset,
        coalesce(c.n_supported, 0) AS n_supported,
        coalesce(c.n_refuted, 0) AS n_refuted,
        coalesce(c.n_noans, 0) AS n_noans,
        coalesce(c.n_error, 0) AS n_error,
        c.n_supported / nullif(c.n_supported + c.n_refuted + c.n_noans, 0) AS credibility
    FROM responses AS r
    LEFT JOIN counted AS c USING (run, response_id)
)

SELECT
    *,
    band_of(credibility) AS band
FROM scored
