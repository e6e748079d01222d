-- Sources, alone and in every order
-- Results of each source alone (single), of every order of all sources (seq) and of their pooled
-- votes (mv). Scores: mean factuality_score and coverage of the responses. Agreement with people
-- on the n_labelled units: accuracy and balanced_accuracy over the decided units; accuracy_all
-- and balanced_accuracy_all over all, with an undecided one as not factual. Cost without
-- extraction, which is the same for all: n_calls and cost_usd are the answered requests, and
-- their dollars, that it takes without a cache. n_requests and paid_usd are the requests that
-- this run sent and paid, failed ones included. A response's requests count in proportion to its
-- open units, rounded up. A request that several responses shared counts for one of them. A
-- response without a usable judgement is left out. rank_by_people is 1 for the best agreement
-- with people in its mode, by balanced_accuracy_all.
-- group: sources
-- summary: Every source, alone and in every order: scores, agreement, cost
-- needs: cold_requests, human_labels, scores
-- order: run, list_position(['single', 'mv', 'seq'], mode), rank_by_people, source_order
-- shows: mode, source_order, factuality_score, coverage, rank_by_people, n_calls, cost_usd, balanced_accuracy_all, accuracy, balanced_accuracy, n_labelled, paid_usd
-- empty: it takes a run of --mode all, which asks every source about every unit, with fact units
WITH asked AS (
    -- The sources in the user's order; a source's place in it is from 1, that of the vote of all is 0.
    SELECT
        s.run,
        list(s.source ORDER BY s.position) AS names
    FROM sources AS s
    INNER JOIN runs AS r ON r.run = s.run AND r.mode = 'all'
    WHERE s.status = 'used'
    GROUP BY s.run
),

-- What was decided and what supported, in bits by place.
units AS (
    SELECT
        run,
        response_id,
        unit_id,
        coalesce(bit_or(1 << place) FILTER (WHERE label IS NOT NULL), 0) AS decided,
        coalesce(bit_or(1 << place) FILTER (WHERE label = 1), 0) AS supported
    FROM (
        SELECT
            *,
            coalesce(list_position(names, source), 0) AS place
        FROM verdicts
        INNER JOIN asked USING (run)
        WHERE mode != 'seq'
    )
    GROUP BY run, response_id, unit_id
),

listed AS (
    SELECT
        u.run,
        list({
            'response': hash(u.response_id),
            'scored': CAST(s.factuality_score IS NOT NULL AS INTEGER),
            'decided': u.decided,
            'supported': u.supported,
            'label': h.label
        }) AS units
    FROM units AS u
    INNER JOIN scores AS s ON s.run = u.run AND s.response_id = u.response_id AND s.mode = 'mv'
    LEFT JOIN human_labels AS h
        ON h.run = u.run AND h.response_id = u.response_id AND h.unit_id = u.unit_id
    GROUP BY u.run
),

-- The answered requests of a run without a cache, and those that this run sent.
requests AS (
    SELECT
        c.run,
        {
            'response': hash(c.response_id),
            'place': list_position(a.names, c.source),
            'n_calls': CAST(sum(c.n_calls) AS BIGINT),
            'cost_usd': if(count(c.cost_usd) = count(*), sum(c.cost_usd), NULL),
            'n_requests': 0,
            'paid_usd': 0.0
        } AS request
    FROM cold_requests AS c
    INNER JOIN asked AS a USING (run)
    WHERE c.response_id IS NOT NULL AND list_contains(a.names, c.source)
    GROUP BY c.run, c.response_id, c.source, a.names
    UNION ALL
    SELECT
        u.run,
        {
            'response': hash(u.response_id),
            'place': list_position(a.names, u.source),
            'n_calls': 0,
            'cost_usd': 0.0,
            'n_requests': count(*),
            'paid_usd': CASE
                WHEN count(*) FILTER (WHERE status = 'ok' AND cost_usd IS NULL) = 0
                    THEN coalesce(sum(cost_usd), 0)
            END
        } AS request
    FROM usage AS u
    INNER JOIN asked AS a USING (run)
    WHERE
        NOT (u.cached OR u.coalesced)
        AND u.response_id IS NOT NULL
        AND list_contains(a.names, u.source)
    GROUP BY u.run, u.response_id, u.source, a.names
),

compared AS (
    SELECT
        a.run,
        unnest(source_orders(
            [{'source': name} FOR name IN a.names],
            l.units,
            (SELECT list(r.request) FROM requests AS r WHERE r.run = a.run)
        )) AS way
    FROM asked AS a
    INNER JOIN listed AS l USING (run)
)

SELECT
    run,
    unnest(way),
    CASE
        WHEN way.n_labelled > 0
            THEN
                rank() OVER (
                    PARTITION BY run, way.mode
                    ORDER BY
                        round(way.balanced_accuracy_all, 12) DESC NULLS LAST,
                        round(way.accuracy_all, 12) DESC,
                        way.n_calls
                )
    END AS rank_by_people
FROM compared
