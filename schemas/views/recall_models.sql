-- Formulations by model, with errors and cost
-- One row a model and a formulation of it, as in FaaF's tables, over all answers together: error_rate
-- and f1_false against people, of the n_labelled facts that were answered (recall_errors has each
-- variant, and figures with unanswered facts as errors); the calls and tokens of a run without a
-- cache, and what they cost (recall_cost). With --all_runs the models of all runs stand in one table.
-- group: agreement
-- summary: Each model and way of asking: errors, F1, calls, tokens, over all answers
-- needs: recall_cost
-- order: model, run, formulation
-- shows: model, formulation, error_rate, f1_false, n_na, n_calls, tokens, cold_usd
-- empty: it takes a run of 'ufo recall' whose facts people labelled
WITH compared AS (
    SELECT
        run,
        formulation,
        coalesce(any_value(model), any_value(judge)) AS model,
        count(*) AS n_labelled,
        count(*) FILTER (WHERE label IS NULL) AS n_na,
        count(*) FILTER (WHERE label != human_label) AS n_wrong,
        count(*) FILTER (WHERE label = 0 AND human_label = 0) AS n_hits,
        count(*) FILTER (WHERE label IS NOT NULL AND human_label = 0) AS n_false
    FROM recall_verdicts
    WHERE
        human_label IS NOT NULL AND formulation != 'human' AND reason IS DISTINCT FROM 'abstained'
    GROUP BY run, formulation
)

SELECT
    c.run,
    c.model,
    c.formulation,
    c.n_labelled,
    c.n_na,
    c.n_wrong / nullif(c.n_labelled - c.n_na, 0) AS error_rate,
    CASE WHEN c.n_false > 0 THEN 2 * c.n_hits / (2 * c.n_hits + c.n_wrong) END AS f1_false,
    s.n_calls,
    s.prompt_tokens + s.completion_tokens AS tokens,
    s.cold_usd
FROM compared AS c
LEFT JOIN recall_cost AS s USING (run, formulation)
