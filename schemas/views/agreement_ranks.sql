-- Scores of responses beside those of people, with their ranks
-- One row a response that people scored and that has fact units, by mode, source and model; `model`
-- NULL is all models together (group_model tells that from a response of no model). Equal values
-- share the mean of their ranks.
-- needs: scores
-- order: run, mode, source, group_model, model, response_id
WITH scored AS (
    SELECT
        run,
        mode,
        source,
        unnest([false, true]) AS group_model,
        unnest([NULL, model]) AS model,
        response_id,
        factuality_score AS x,
        human_score AS y
    FROM scores
    WHERE factuality_score IS NOT NULL AND human_score IS NOT NULL
)

SELECT
    *,
    rank() OVER (PARTITION BY run, mode, source, group_model, model ORDER BY x)
    + (count(*) OVER (PARTITION BY run, mode, source, group_model, model, x) - 1) / 2 AS rank_x,
    rank() OVER (PARTITION BY run, mode, source, group_model, model ORDER BY y)
    + (count(*) OVER (PARTITION BY run, mode, source, group_model, model, y) - 1) / 2 AS rank_y
FROM scored
