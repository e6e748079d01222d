-- Errors of the judge, by source and model
-- Errors against the labels of people, by the model that wrote the response and by source. In
-- mode seq the source is the one that decided, and `all` stands for any of them. In mv it is
-- `multi`, and in single each source alone. false_supported is the share of `supported` verdicts
-- that people found false. false_refuted is the share of `refuted` verdicts that they found
-- true. wrong is the share of all verdicts that differ from the label, and undecided the share
-- of labelled units without a verdict. A label between true and false is a part of an error:
-- 0.5, where as many annotators say true as false, is half an error of either verdict. value
-- counts sampled units by their weights. low and high are 95 % bounds: Wilson's at the effective
-- number of independent claims, clustered by question, or by response if it has no question
-- (Korn and Graubard 1998).
-- group: agreement
-- summary: How often the judge is wrong, by source and model
-- needs: cluster_of, human_labels
-- empty: it takes fact units that people labelled: 'ufo label sample DIR' writes a sheet
-- order: run, mode, source, model, error
-- shows: mode, source, model, error, value, low, high, n, n_errors
WITH labelled AS (
    SELECT
        v.run,
        v.mode,
        unnest(if(v.mode = 'seq', [v.source, 'all'], [v.source])) AS source,
        r.model,
        v.label AS verdict,
        h.label,
        coalesce(h.weight, 1) AS weight,
        cluster_of(r.dataset, r.question, r.response_id) AS cluster
    FROM verdicts AS v
    INNER JOIN human_labels AS h USING (run, response_id, unit_id)
    INNER JOIN responses AS r USING (run, response_id)
),

asked AS (
    SELECT
        *,
        unnest([
            ('false_supported', verdict = 1, 1 - label),
            ('false_refuted', verdict = 0, label),
            ('wrong', verdict IS NOT NULL, abs(verdict - label)),
            -- One of several that ask in turn decides what it decides.
            ('undecided', mode != 'seq' OR source = 'all', if(verdict IS NULL, 1, 0))
        ]::STRUCT(error VARCHAR, applies BOOLEAN, share DOUBLE)[]) AS question
    FROM labelled
),

counted AS (
    SELECT
        run,
        mode,
        source,
        model,
        question.error AS error,
        count(*) AS n,
        sum(question.share) AS n_errors,
        mean_interval(list({
            'value': question.share,
            'weight': weight,
            'cluster': cluster
        })) AS found
    FROM asked
    WHERE question.applies
    GROUP BY run, mode, source, model, question.error
)

SELECT
    * EXCLUDE (found),
    unnest(found)
FROM counted
