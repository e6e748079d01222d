-- Cost by step, source and model
-- Requests that were sent, their tokens and US dollars. n_failed of them got no answer. n_cached
-- were answered from the cache, and n_coalesced by an equal request under way. These were not sent,
-- and saved_tokens counts the tokens that they saved. cost_usd is NULL if no price of the model is
-- known. n_unpriced counts answered requests whose price is unknown; cost_usd leaves them out.
-- cold_requests, cold_tokens and cold_usd are what a run without a cache takes: the answered
-- requests with those that the cache saved, each once for a source. cold_usd is NULL where a price
-- is unknown.
-- group: cost
-- summary: Requests, tokens and US dollars by step, source and model
-- needs: cold_requests
-- order: run, step, source, model
-- shows: step, source, model, n_requests, n_cached, prompt_tokens + completion_tokens AS tokens, cost_usd, cold_usd, n_failed, seconds
-- empty: nothing was asked of a model or a search engine
WITH cold AS (
    SELECT
        run,
        step,
        source,
        model,
        sum(n_calls) AS n_calls,
        sum(prompt_tokens + completion_tokens) AS tokens,
        CASE WHEN count(cost_usd) = count(*) THEN sum(cost_usd) END AS cost_usd
    FROM cold_requests
    GROUP BY run, step, source, model
)

SELECT
    u.run,
    r.mode,
    u.step,
    u.source,
    u.model,
    count(*) FILTER (WHERE sent) AS n_requests,
    count(*) FILTER (WHERE sent AND status != 'ok') AS n_failed,
    count(*) FILTER (WHERE cached) AS n_cached,
    count(*) FILTER (WHERE coalesced) AS n_coalesced,
    CAST(sum(u.prompt_tokens) FILTER (WHERE sent) AS BIGINT) AS prompt_tokens,
    CAST(sum(u.completion_tokens) FILTER (WHERE sent) AS BIGINT) AS completion_tokens,
    CAST(sum(u.prompt_tokens + u.completion_tokens) FILTER (WHERE NOT sent) AS BIGINT)
        AS saved_tokens,
    sum(seconds) FILTER (WHERE sent) AS seconds,
    sum(u.cost_usd) FILTER (WHERE sent) AS cost_usd,
    count(*) FILTER (WHERE sent AND status = 'ok' AND u.cost_usd IS NULL) AS n_unpriced,
    CAST(coalesce(any_value(c.n_calls), 0) AS BIGINT) AS cold_requests,
    CAST(any_value(c.tokens) AS BIGINT) AS cold_tokens,
    CASE WHEN count(c.run) = 0 THEN 0 ELSE any_value(c.cost_usd) END AS cold_usd
FROM (SELECT *, NOT (cached OR coalesced) AS sent FROM usage) AS u
INNER JOIN runs AS r ON r.run = u.run
LEFT JOIN cold AS c
    ON
        c.run = u.run
        AND c.step = u.step
        AND c.source IS NOT DISTINCT FROM u.source
        AND c.model IS NOT DISTINCT FROM u.model
GROUP BY u.run, r.mode, u.step, u.source, u.model
