-- Requests and cost of asking a source after others
-- What it takes to ask a source about the units that the sources in `before` (the sum of their
-- bits) leave open. A response's requests for a source, whether sent or answered from the cache, are
-- needed in proportion to its units that are open, rounded up, since a request that holds several
-- facts is needed while one of them is open; cost_usd is in proportion, NULL where a price is not
-- known. A request that several responses shared counts for the first that asked.
-- needs: source_patterns, source_places
-- order: run, source, before
-- empty: only a run of --mode all that sent requests has it
WITH requests AS (
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

befores AS (
    SELECT
        run,
        unnest(range(1 << n_sources)) AS before
    FROM (SELECT DISTINCT run, n_sources FROM source_places WHERE n_sources <= 6)
),

open_units AS (
    SELECT
        p.run,
        p.response_id,
        b.before,
        sum(p.n_units) AS n_units,
        sum(p.n_units) FILTER (WHERE (p.decided & b.before) = 0) AS n_open
    FROM source_patterns AS p
    INNER JOIN befores AS b USING (run)
    WHERE (p.run, p.response_id) IN (SELECT (run, response_id) FROM requests)
    GROUP BY p.run, p.response_id, b.before
)

SELECT
    run,
    source,
    before,
    CAST(sum(ceil(n_calls * share)) AS BIGINT) AS n_calls,
    -- What is not asked costs nothing, whatever its price.
    CASE
        WHEN count(*) FILTER (WHERE share > 0 AND cost_usd IS NULL) = 0
            THEN coalesce(sum(cost_usd * share), 0)
    END AS cost_usd
FROM (
    SELECT
        o.run,
        q.source,
        o.before,
        q.n_calls,
        q.cost_usd,
        coalesce(o.n_open, 0) / o.n_units AS share
    FROM open_units AS o
    INNER JOIN requests AS q USING (run, response_id)
    INNER JOIN source_places AS p USING (run, source)
    WHERE (o.before & p.bit) = 0
)
GROUP BY run, source, before
