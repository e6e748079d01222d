-- Calls and tokens of each formulation
-- The requests of each formulation, and of the generation of facts (formulation NULL). n_calls
-- counts the answered calls of a run without a cache, each once, with their tokens; cold_usd is
-- what they cost. n_requests counts those that this run sent, and cost_usd is what they cost;
-- n_failed of them got no answer. A cost is NULL where a price is unknown. calls_per_answer leaves
-- out empty answers and those that only say that they do not know, since nothing is asked about
-- them. The offline judge sends none.
-- group: cost
-- summary: Requests and tokens of each way of asking
-- needs: cold_requests
-- order: run, formulation IS NOT NULL, formulation
-- shows: formulation, model, calls_per_answer, n_calls, prompt_tokens, completion_tokens, cold_usd, n_answers, n_requests, cost_usd
-- empty: it takes a run of 'ufo recall'
WITH asked AS (
    SELECT
        u.*,
        CASE u.step WHEN 'verify' THEN u.source END AS formulation,
        u.status = 'ok' AND NOT u.coalesced AS answered,
        NOT (u.cached OR u.coalesced) AS sent
    FROM usage AS u
    INNER JOIN runs AS r ON r.run = u.run AND r.mode = 'recall'
    WHERE u.step IN ('facts', 'verify')
),

spent AS (
    SELECT
        run,
        formulation,
        any_value(model) AS model,
        count(*) FILTER (WHERE sent) AS n_requests,
        count(*) FILTER (WHERE sent AND status != 'ok') AS n_failed,
        count(*) FILTER (WHERE cached) AS n_cached,
        count(*) FILTER (WHERE NOT answered AND NOT sent) AS n_shared,
        sum(seconds) FILTER (WHERE sent) AS seconds,
        CASE
            WHEN count(*) FILTER (WHERE sent AND status = 'ok' AND cost_usd IS NULL) = 0
                THEN coalesce(sum(cost_usd) FILTER (WHERE sent), 0)
        END AS cost_usd
    FROM asked
    GROUP BY run, formulation
),

cold AS (
    SELECT
        run,
        CASE step WHEN 'verify' THEN source END AS formulation,
        sum(n_calls) AS n_calls,
        sum(prompt_tokens) AS prompt_tokens,
        sum(completion_tokens) AS completion_tokens,
        CASE WHEN count(cost_usd) = count(*) THEN sum(cost_usd) END AS cold_usd
    FROM cold_requests
    WHERE step IN ('facts', 'verify')
    GROUP BY ALL
),

used AS (
    SELECT
        run,
        formulation,
        count(DISTINCT (record_id, variant)) AS n_answers,
        count(DISTINCT (record_id, variant)) FILTER (
            WHERE coalesce(reason NOT IN ('no_passages', 'abstained'), TRUE)
        ) AS n_asked,
        count(*) AS n_facts
    FROM recall_verdicts
    WHERE formulation != 'human'
    GROUP BY run, formulation
)

SELECT
    coalesce(v.run, s.run) AS run,
    coalesce(v.formulation, s.formulation) AS formulation,
    s.model,
    v.n_answers,
    v.n_facts,
    CAST(coalesce(c.n_calls, 0) AS BIGINT) AS n_calls,
    coalesce(COLUMNS('n_(?:requests|failed|cached|shared)'), 0) AS "\0",
    coalesce(c.n_calls, 0) / nullif(v.n_asked, 0) AS calls_per_answer,
    CAST(coalesce(c.prompt_tokens, 0) AS BIGINT) AS prompt_tokens,
    CAST(coalesce(c.completion_tokens, 0) AS BIGINT) AS completion_tokens,
    coalesce(s.seconds, 0) AS seconds,
    CASE WHEN s.run IS NULL THEN 0 ELSE s.cost_usd END AS cost_usd,
    CASE WHEN c.run IS NULL THEN 0 ELSE c.cold_usd END AS cold_usd
FROM used AS v
FULL JOIN spent AS s USING (run, formulation)
LEFT JOIN cold AS c
    ON c.run = s.run AND c.formulation IS NOT DISTINCT FROM s.formulation
