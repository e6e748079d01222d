-- State and evidence support of each sentence
-- state is contradicted if a claim of the sentence is refuted, and supported if all are
-- supported. It is partly supported if some are and the others are undecided. If no claim is
-- decided, it is error if a judgement was unusable, and otherwise not found. If the sentence has
-- no claim, it is error if the extraction failed, and otherwise no claim. credibility is the
-- evidence support of Facts&Evidence: supporting evidence / all evidence with a passage, without
-- failed judgements. band is red below .3, orange below .6, and green from .6; it is grey if
-- nothing was judged.
-- group: scores
-- summary: Each sentence: its state, and the share of its evidence that supports it
-- needs: band_of
-- order: run, response_id, sentence_index
-- shows: response_id, sentence_index, state, credibility, text, n_units, n_supported, n_refuted, n_noans, n_error, human_label, mode, band
WITH counted AS (
    SELECT
        e.run,
        e.response_id,
        u.sentence_index,
        count(*) FILTER (WHERE e.passage_id IS NOT NULL AND e.outcome = 'supported') AS n_supported,
        count(*) FILTER (WHERE e.passage_id IS NOT NULL AND e.outcome = 'refuted') AS n_refuted,
        count(*) FILTER (WHERE e.passage_id IS NOT NULL AND e.outcome = 'noans') AS n_noans,
        count(*) FILTER (WHERE e.passage_id IS NOT NULL AND e.outcome = 'error') AS n_error,
        bool_or(e.outcome = 'error' OR e.reason IS NOT DISTINCT FROM 'unsupported_language')
            AS failed
    FROM evidence AS e
    INNER JOIN fact_units AS u USING (run, response_id, unit_id)
    GROUP BY e.run, e.response_id, u.sentence_index
),

decided AS (
    SELECT
        v.run,
        v.response_id,
        u.sentence_index,
        bool_or(v.label IS NOT DISTINCT FROM 0) AS contradicted,
        bool_or(v.label IS NOT DISTINCT FROM 1) AS supported,
        bool_and(v.label IS NOT DISTINCT FROM 1) AS all_supported
    FROM verdicts AS v
    INNER JOIN runs AS r USING (run)
    INNER JOIN fact_units AS u USING (run, response_id, unit_id)
    WHERE v.mode = CASE r.mode WHEN 'all' THEN 'seq' ELSE r.mode END
    GROUP BY v.run, v.response_id, u.sentence_index
),

not_extracted AS (
    SELECT DISTINCT run, key AS response_id FROM failures WHERE step = 'extract'
)

SELECT
    s.run,
    r.mode,
    s.response_id,
    s.sentence_index,
    coalesce(c.n_supported, 0) AS n_supported,
    coalesce(c.n_refuted, 0) AS n_refuted,
    coalesce(c.n_noans, 0) AS n_noans,
    coalesce(c.n_error, 0) AS n_error,
    c.n_supported / nullif(c.n_supported + c.n_refuted + c.n_noans, 0) AS credibility,
    band_of(credibility) AS band,
    CASE
        WHEN d.run IS NULL THEN if(x.run IS NULL, 'no claim', 'error')
        WHEN d.contradicted THEN 'contradicted'
        WHEN d.all_supported THEN 'supported'
        WHEN d.supported THEN 'partly supported'
        WHEN c.failed THEN 'error'
        ELSE 'not found'
    END AS state,
    s.n_units,
    s.human_label,
    s.text
FROM sentences AS s
INNER JOIN runs AS r USING (run)
LEFT JOIN not_extracted AS x USING (run, response_id)
LEFT JOIN decided AS d USING (run, response_id, sentence_index)
LEFT JOIN counted AS c USING (run, response_id, sentence_index)
