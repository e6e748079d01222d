-- Cost by response
-- The columns of `cost` for each response; a request that served several is with the first that
-- asked. What was sent for none of them, as the probes of an endpoint, has response_id NULL.
-- order: run, cost_usd DESC NULLS LAST, response_id
SELECT
    run,
    response_id,
    count(*) FILTER (WHERE sent) AS n_requests,
    count(*) FILTER (WHERE sent AND status != 'ok') AS n_failed,
    count(*) FILTER (WHERE cached) AS n_cached,
    count(*) FILTER (WHERE coalesced) AS n_coalesced,
    CAST(sum(prompt_tokens) FILTER (WHERE sent) AS BIGINT) AS prompt_tokens,
    CAST(sum(completion_tokens) FILTER (WHERE sent) AS BIGINT) AS completion_tokens,
    CAST(sum(prompt_tokens + completion_tokens) FILTER (WHERE NOT sent) AS BIGINT) AS saved_tokens,
    sum(seconds) FILTER (WHERE sent) AS seconds,
    sum(cost_usd) FILTER (WHERE sent) AS cost_usd,
    count(*) FILTER (WHERE sent AND status = 'ok' AND cost_usd IS NULL) AS n_unpriced
FROM (SELECT *, NOT (cached OR coalesced) AS sent FROM usage)
GROUP BY run, response_id
