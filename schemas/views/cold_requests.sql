-- Requests that a run without a cache takes
-- The answered requests to each source, also those that the cache answered. A request that
-- several responses shared counts once, for one of them. A request that several sources shared
-- counts for each source. cost_usd is NULL where a price is unknown.
-- order: run, step, source, request_id, model
WITH answered AS (
    SELECT
        *,
        NOT (cached OR coalesced) AS sent,
        if(sent, cost_usd, saved_usd) AS usd,
        bool_or(sent) OVER request AS was_sent,
        min(response_id) OVER request AS asker
    FROM usage
    WHERE status = 'ok'
    WINDOW request AS (PARTITION BY run, step, source, model, request_id)
),

-- The answers that a response took from the cache may be a part of the request's. Another's may be
-- the same.
by_response AS (
    SELECT
        run,
        step,
        source,
        model,
        request_id,
        asker,
        response_id,
        count(*) FILTER (WHERE NOT coalesced) AS n_charged,
        count(*) FILTER (WHERE sent) AS n_sent,
        sum(prompt_tokens) FILTER (WHERE NOT coalesced) AS prompt_tokens,
        sum(completion_tokens) FILTER (WHERE NOT coalesced) AS completion_tokens,
        CASE WHEN count(usd) = count(*) THEN sum(usd) END AS usd
    FROM answered
    WHERE sent = was_sent
    GROUP BY ALL
)

SELECT
    run,
    step,
    source,
    model,
    request_id,
    asker AS response_id,
    CAST(greatest(sum(n_sent), 1) AS BIGINT) AS n_calls,
    CAST(max(prompt_tokens) AS BIGINT) AS prompt_tokens,
    CAST(max(completion_tokens) AS BIGINT) AS completion_tokens,
    CASE WHEN count(usd) = count(*) THEN max(usd) END AS cost_usd
FROM by_response
GROUP BY run, step, source, model, request_id, asker
HAVING sum(n_charged) > 0
