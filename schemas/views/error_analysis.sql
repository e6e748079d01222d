-- Why verdicts are wrong
-- Of the wrong verdicts (a verdict that differs from people's label) that people tagged: the share
-- whose claim was wrong (not what the response says, or not checkable), whose evidence was wrong, and
-- whose judgement was, with a 95 % interval clustered as that of `judge_errors`. The page
-- takes such tags, and 'ufo label import' those of a sheet with a column `tag`.
-- group: agreement
-- summary: Wrong verdicts by what people named as the cause
-- needs: cluster_of, human_labels
-- empty: it takes verdicts that differ from a label that people gave
-- order: run, mode, share DESC, tag
-- A tag is of the run whose evidence was seen; of several sheets the last by name has it.
WITH tags AS (
    SELECT
        run,
        response_id,
        unit_id,
        arg_max(tag, sheet) AS tag
    FROM labels
    WHERE tag IS NOT NULL
    GROUP BY run, response_id, unit_id
),

asked AS (
    SELECT
        v.run,
        v.mode,
        cluster_of(r.dataset, r.question, r.response_id) AS cluster,
        t.tag AS given,
        unnest(['wrong_claim', 'wrong_evidence', 'wrong_judgement']) AS tag
    FROM verdicts AS v
    INNER JOIN responses AS r USING (run, response_id)
    INNER JOIN human_labels AS h USING (run, response_id, unit_id)
    LEFT JOIN tags AS t USING (run, response_id, unit_id)
    WHERE v.label != h.label
),

counted AS (
    SELECT
        run,
        mode,
        tag,
        count(*) FILTER (WHERE given = tag) AS n,
        count(given) AS n_tagged,
        count(*) AS n_wrong,
        mean_interval(
            list({
                'value': CAST(given = tag AS INTEGER), 'weight': 1, 'cluster': cluster
            }) FILTER (WHERE given IS NOT NULL)
        ) AS found
    FROM asked
    GROUP BY run, mode, tag
)

SELECT
    * EXCLUDE (found),
    n / nullif(n_tagged, 0) AS share,
    found.low AS low,
    found.high AS high,
    found.method AS method
FROM counted
