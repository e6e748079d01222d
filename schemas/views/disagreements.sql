-- Where sources, or the judge and people, differ
-- First, units whose verdict differs from the label of people (human_label; above 0.5 it counts
-- as true, below as false). Then units that some sources support and others refute (sources_for,
-- sources_against). A source whose own votes are tied is on the side that --tie gives it.
-- severity is 1 at worst. Where people disagree it is the share of valid votes against their
-- label. Where sources disagree it is twice the share of votes on the smaller side. The verdict
-- is by the run's own mode, or by seq if the run's mode is all.
-- group: problems
-- summary: Claims on which sources, or the judge and people, differ
-- needs: tallies, human_labels
-- order: run, kind, severity DESC, n_supported + n_refuted DESC, response_id, unit_id
-- empty: the sources agree with each other, and the judge with people
-- shows: kind, response_id, claim, label, human_label, sources_for, sources_against, severity, model
WITH votes AS (
    SELECT
        t.*,
        CASE
            WHEN t.n_supported != t.n_refuted THEN t.n_supported > t.n_refuted
            WHEN t.n_supported > 0 THEN r.tie = 'factual'
        END AS supports
    FROM tallies AS t
    INNER JOIN runs AS r USING (run)
),

sided AS (
    SELECT
        run,
        response_id,
        unit_id,
        list(source ORDER BY position) FILTER (WHERE supports) AS sources_for,
        list(source ORDER BY position) FILTER (WHERE NOT supports) AS sources_against,
        CAST(sum(n_supported) AS BIGINT) AS n_supported,
        CAST(sum(n_refuted) AS BIGINT) AS n_refuted
    FROM votes
    GROUP BY run, response_id, unit_id
)

-- A claim may differ in both ways.
SELECT
    v.run,
    k.kind,
    v.response_id,
    v.unit_id,
    r.model,
    u.claim,
    v.label,
    v.source,
    if(k.kind = 'people', h.label, NULL) AS human_label,
    CASE
        WHEN k.kind = 'sources'
            THEN 2 * least(s.n_supported, s.n_refuted) / (s.n_supported + s.n_refuted)
        ELSE if(h.label > 0.5, v.n_refuted, v.n_supported) / (v.n_supported + v.n_refuted)
    END AS severity,
    array_to_string(s.sources_for, ',') AS sources_for,
    array_to_string(s.sources_against, ',') AS sources_against,
    if(k.kind = 'people', v.n_supported, s.n_supported) AS n_supported,
    if(k.kind = 'people', v.n_refuted, s.n_refuted) AS n_refuted
FROM verdicts AS v
INNER JOIN runs AS m USING (run)
INNER JOIN responses AS r USING (run, response_id)
INNER JOIN fact_units AS u USING (run, response_id, unit_id)
CROSS JOIN (VALUES ('sources'), ('people')) AS k (kind)
LEFT JOIN sided AS s USING (run, response_id, unit_id)
LEFT JOIN human_labels AS h USING (run, response_id, unit_id)
WHERE
    v.mode = CASE m.mode WHEN 'all' THEN 'seq' ELSE m.mode END
    AND if(
        k.kind = 'people',
        abs(v.label - h.label) > 0.5,
        s.sources_for IS NOT NULL AND s.sources_against IS NOT NULL
    )
