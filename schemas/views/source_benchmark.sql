-- Sources, alone and in every order
-- What each source alone (single), every order of all of them (seq) and their pooled votes (mv) give:
-- mean factuality_score and coverage of the responses, agreement with people on the n_labelled units
-- (accuracy and balanced_accuracy over those decided; accuracy_all and balanced_accuracy_all over all,
-- with an undecided one as not factual), and the requests and cost it would have taken: those of a
-- response in proportion to its units that are open, requests rounded up; extraction is the same for
-- all and left out. A request that several responses shared counts for the first that asked. A response without a usable judgement is left out, and what decides
-- nothing has no score. rank_by_people is 1 for what
-- agrees best with people in its mode, by balanced_accuracy_all.
-- group: sources
-- summary: Every source, alone and in every order: scores, agreement, cost
-- needs: scores, source_patterns, source_orders
-- order: run, list_position(['single', 'mv', 'seq'], mode), rank_by_people, source_order
-- shows: mode, source_order, factuality_score, coverage, n_labelled, accuracy, balanced_accuracy, balanced_accuracy_all, n_calls, cost_usd, rank_by_people
-- empty: it takes a run of --mode all, which asks every source about every unit, with fact units
WITH judged AS (
    SELECT
        run,
        response_id
    FROM scores
    WHERE mode = 'mv' AND factuality_score IS NOT NULL
),

weighted AS (
    SELECT
        *,
        n_units / sum(n_units) OVER (PARTITION BY run, response_id) AS weight
    FROM source_patterns
    SEMI JOIN judged USING (run, response_id)
),

patterns AS (
    SELECT
        run,
        decided,
        supported,
        sum(weight) AS weight,
        sum(n_true) AS n_true,
        sum(n_false) AS n_false
    FROM weighted
    GROUP BY run, decided, supported
),

totals AS (
    SELECT
        run,
        sum(weight) AS n_responses,
        sum(n_true) AS n_true,
        sum(n_false) AS n_false
    FROM patterns
    GROUP BY run
),

-- At each stage, what its source decides of what is open.
in_order AS (
    SELECT
        o.run,
        o.mode,
        o.source_order,
        o.given,
        sum(p.weight) AS decided,
        sum(p.weight) FILTER (WHERE (p.supported & o.bit) != 0) AS supported,
        sum(p.n_true) AS n_true,
        sum(p.n_false) AS n_false,
        sum(p.n_true) FILTER (WHERE (p.supported & o.bit) != 0) AS true_right,
        sum(p.n_false) FILTER (WHERE (p.supported & o.bit) = 0) AS false_right
    FROM source_orders AS o
    LEFT JOIN patterns AS p
        ON p.run = o.run AND (p.decided & o.before) = 0 AND (p.decided & o.bit) != 0
    GROUP BY o.run, o.mode, o.source_order, o.given
),

requests AS (
    SELECT
        run,
        response_id,
        source,
        count(*) AS n_calls,
        CASE
            WHEN count(*) FILTER (WHERE status = 'ok' AND NOT cached AND cost_usd IS NULL) = 0
                THEN coalesce(sum(cost_usd), 0)
        END AS cost_usd
    FROM usage
    WHERE NOT coalesced AND source IS NOT NULL AND response_id IS NOT NULL
    GROUP BY run, response_id, source
),

-- The share of a response's units that the sources before leave open.
open_units AS (
    SELECT
        o.run,
        o.source,
        o.before,
        q.response_id,
        q.n_calls,
        q.cost_usd,
        coalesce(sum(p.n_units) FILTER (WHERE (p.decided & o.before) = 0), 0) / sum(p.n_units)
            AS share
    FROM (SELECT DISTINCT run, source, before FROM source_orders) AS o
    INNER JOIN requests AS q ON q.run = o.run AND q.source = o.source
    INNER JOIN source_patterns AS p ON p.run = q.run AND p.response_id = q.response_id
    GROUP BY ALL
),

calls AS (
    SELECT
        o.run,
        o.mode,
        o.source_order,
        -- A request that holds several facts is needed while one of them is open.
        coalesce(sum(ceil(u.n_calls * u.share)), 0) AS n_calls,
        -- What is not asked costs nothing, whatever its price.
        CASE
            WHEN count(*) FILTER (WHERE u.share > 0 AND u.cost_usd IS NULL) = 0
                THEN coalesce(sum(u.cost_usd * u.share), 0)
        END AS cost_usd
    FROM source_orders AS o
    LEFT JOIN open_units AS u
        ON u.run = o.run AND u.before = o.before AND (u.source = o.source OR o.mode = 'mv')
    GROUP BY o.run, o.mode, o.source_order
),

scored AS (
    SELECT
        e.run,
        e.mode,
        e.source_order,
        e.given,
        CASE WHEN e.decided > 0 THEN coalesce(e.supported, 0) / t.n_responses END
            AS factuality_score,
        coalesce(e.decided, 0) / t.n_responses AS coverage,
        CAST(t.n_true + t.n_false AS BIGINT) AS n_labelled,
        (coalesce(e.true_right, 0) + coalesce(e.false_right, 0))
        / nullif(e.n_true + e.n_false, 0) AS accuracy,
        (
            coalesce(e.true_right, 0) / nullif(e.n_true, 0)
            + coalesce(e.false_right, 0) / nullif(e.n_false, 0)
        ) / 2 AS balanced_accuracy,
        -- Of false claims those that are not taken for true.
        coalesce(e.false_right, 0) + t.n_false - coalesce(e.n_false, 0) AS false_kept,
        (coalesce(e.true_right, 0) + false_kept) / nullif(t.n_true + t.n_false, 0)
            AS accuracy_all,
        (
            coalesce(e.true_right, 0) / nullif(t.n_true, 0)
            + false_kept / nullif(t.n_false, 0)
        ) / 2 AS balanced_accuracy_all
    FROM in_order AS e
    INNER JOIN totals AS t USING (run)
)

SELECT
    s.* EXCLUDE (false_kept),
    CAST(c.n_calls AS BIGINT) AS n_calls,
    c.cost_usd,
    CASE
        WHEN s.n_labelled > 0
            THEN
                rank() OVER (
                    PARTITION BY s.run, s.mode
                    ORDER BY
                        round(s.balanced_accuracy_all, 12) DESC NULLS LAST,
                        round(s.accuracy_all, 12) DESC,
                        c.n_calls
                )
    END AS rank_by_people
FROM scored AS s
INNER JOIN calls AS c USING (run, mode, source_order)
