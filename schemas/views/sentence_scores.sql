-- Credibility of each sentence
-- Facts&Evidence: supporting evidence / all evidence that has a passage, failed judgements apart.
-- band is red below .3, orange below .6, else green; grey where there is nothing to divide by.
-- order: run, response_id, sentence_index
WITH counted AS (
    SELECT
        e.run,
        e.response_id,
        u.sentence_index,
        count(*) FILTER (WHERE e.outcome = 'supported') AS n_supported,
        count(*) FILTER (WHERE e.outcome = 'refuted') AS n_refuted,
        count(*) FILTER (WHERE e.outcome = 'noans') AS n_noans,
        count(*) FILTER (WHERE e.outcome = 'error') AS n_error
    FROM evidence AS e
    INNER JOIN fact_units AS u
        ON u.run = e.run AND u.response_id = e.response_id AND u.unit_id = e.unit_id
    WHERE e.passage_id IS NOT NULL
    GROUP BY e.run, e.response_id, u.sentence_index
),

scored AS (
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
        s.n_units,
        s.human_label,
        s.text
    FROM sentences AS s
    INNER JOIN runs AS r ON r.run = s.run
    LEFT JOIN counted AS c
        ON
            c.run = s.run
            AND c.response_id = s.response_id
            AND c.sentence_index = s.sentence_index
)

SELECT
    run,
    mode,
    response_id,
    sentence_index,
    n_supported,
    n_refuted,
    n_noans,
    n_error,
    credibility,
    CASE
        WHEN credibility IS NULL THEN 'grey'
        WHEN credibility < 0.3 THEN 'red'
        WHEN credibility < 0.6 THEN 'orange'
        ELSE 'green'
    END AS band,
    n_units,
    human_label,
    text
FROM scored
