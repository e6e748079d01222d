-- Scores of each response
-- factuality_score is the share of a response's fact units that are supported: an undecided one
-- counts as 0, also where no unit is decided. decided_score is the share of the decided units, and
-- coverage says how many those are. A response without fact units or without a usable judgement has
-- no scores. Of the n_judgements asked for, n_unusable
-- failed or are about a language that the judge does not know. `no_score` gives the reason: no
-- claim, unsupported language, nothing usable. `source` is NULL, except in mode single, which
-- scores every source. low and high are Wilson's 95 % interval (1927) of factuality_score. It takes
-- the units of a response as a sample of what the model could have said.
-- group: scores
-- summary: Each response: score, coverage and counts of claims
-- needs: run_modes
-- order: run, mode, source, response_id
-- shows: concat_ws(' ', mode, source) AS mode_source, response_id, model, factuality_score, low, high, coverage, n_units, interval_method, n_judgements, n_unusable
WITH counted AS (
    SELECT
        run,
        mode,
        CASE WHEN mode = 'single' THEN source END AS source,
        response_id,
        count(*) AS n_units,
        count(*) FILTER (WHERE label = 1) AS n_supported,
        count(*) FILTER (WHERE label = 0) AS n_refuted
    FROM verdicts
    GROUP BY ALL
),

judged AS (
    SELECT
        run,
        response_id,
        source,
        count(*) FILTER (
            WHERE passage_id IS NOT NULL OR outcome = 'error' OR reason = 'unsupported_language'
        ) AS n_judgements,
        count(*) FILTER (WHERE outcome = 'error' OR reason = 'unsupported_language') AS n_unusable,
        count(*) FILTER (WHERE reason = 'unsupported_language') AS n_unsupported
    FROM evidence
    GROUP BY GROUPING SETS ((run, response_id), (run, response_id, source))
),

joined AS (
    SELECT
        r.run,
        m.mode,
        s.source,
        r.response_id,
        r.model,
        r.dataset,
        r.question,
        r.human_score,
        r.n_references,
        c.n_units,
        c.n_supported,
        c.n_refuted,
        coalesce(j.n_judgements, 0) AS n_judgements,
        coalesce(j.n_unusable, 0) AS n_unusable,
        coalesce(j.n_unsupported, 0) AS n_unsupported,
        -- None where judgements were asked for and none was usable.
        CASE
            WHEN coalesce(j.n_judgements > j.n_unusable OR j.n_unusable = 0, true) THEN c.n_units
        END AS n_scored
    FROM responses AS r
    INNER JOIN run_modes AS m USING (run)
    LEFT JOIN sources AS s ON s.run = r.run AND s.status = 'used' AND m.mode = 'single'
    LEFT JOIN counted AS c
        ON
            c.run = r.run
            AND c.mode = m.mode
            AND c.response_id = r.response_id
            AND c.source IS NOT DISTINCT FROM s.source
    LEFT JOIN judged AS j
        ON
            j.run = r.run
            AND j.response_id = r.response_id
            AND j.source IS NOT DISTINCT FROM s.source
)

SELECT
    * EXCLUDE (n_unsupported, n_scored) REPLACE (
        coalesce(n_units, 0) AS n_units,
        coalesce(n_supported, 0) AS n_supported,
        coalesce(n_refuted, 0) AS n_refuted
    ),
    coalesce(n_units - n_supported - n_refuted, 0) AS n_undecided,
    n_supported / n_scored AS factuality_score,
    wilson(n_supported, n_scored).low AS low,
    wilson(n_supported, n_scored).high AS high,
    CASE WHEN n_scored > 0 THEN 'Wilson' END AS interval_method,
    n_supported / nullif(n_supported + n_refuted, 0) AS decided_score,
    (n_supported + n_refuted) / n_scored AS coverage,
    CASE
        WHEN n_scored > 0 THEN NULL
        WHEN coalesce(n_units, 0) = 0 THEN 'no claim'
        WHEN n_unsupported = n_unusable THEN 'unsupported language'
        ELSE 'nothing usable'
    END AS no_score
FROM joined
