-- Cost by step, source and model
-- Requests that were sent, their tokens and US dollars. n_failed of them got no answer. n_cached
-- were answered from the cache, and n_coalesced by an equal request under way. These were not sent,
-- and saved_tokens counts the tokens that they saved. cost_usd is NULL if no price of the model is
-- known. n_unpriced counts answered requests whose price is unknown; cost_usd leaves them out.
-- group: cost
-- summary: Requests, tokens and US dollars by step, source and model
-- order: run, step, source, model
-- empty: nothing was asked of a model or a search engine
SELECT
    run,
    mode,
    step,
    source,
    model,
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
INNER JOIN runs USING (run)
GROUP BY run, mode, step, source, model
