-- Where sources, or the judge and people, differ
-- Units whose verdict is not the label of people (with human_label), then units that some sources
-- support and others refute (sources_for, sources_against); one whose own votes are tied is on the
-- side that --tie gives it. severity is the share of valid votes against people's label, or twice
-- the share of the votes of the smaller side: 1 is the worst. The verdict is that of the run's own
-- mode, of mode seq for one of mode all.
-- needs: tallies, human_labels
-- order: run, kind, severity DESC, n_supported + n_refuted DESC, response_id, unit_id
-- empty: no source says otherwise than another of the run, nor the judge than people
-- shows: kind, response_id, model, claim, label, human_label, severity, sources_for, sources_against
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
),

judged AS (
    SELECT v.*
    FROM verdicts AS v
    INNER JOIN runs AS r USING (run)
    WHERE v.mode = CASE r.mode WHEN 'all' THEN 'seq' ELSE r.mode END
),

differing AS (
    SELECT
        s.*,
        'sources' AS kind,
        v.label,
        v.source,
        2 * least(s.n_supported, s.n_refuted) / (s.n_supported + s.n_refuted) AS severity
    FROM sided AS s
    INNER JOIN judged AS v USING (run, response_id, unit_id)
    WHERE s.sources_for IS NOT NULL AND s.sources_against IS NOT NULL
    UNION ALL BY NAME
    SELECT
        v.run,
        'people' AS kind,
        v.response_id,
        v.unit_id,
        v.label,
        v.source,
        h.label AS human_label,
        CASE h.label WHEN 1 THEN v.n_refuted ELSE v.n_supported END
        / (v.n_supported + v.n_refuted) AS severity,
        s.sources_for,
        s.sources_against,
        v.n_supported,
        v.n_refuted
    FROM judged AS v
    INNER JOIN human_labels AS h USING (run, response_id, unit_id)
    LEFT JOIN sided AS s USING (run, response_id, unit_id)
    WHERE v.label != h.label
)

SELECT
    d.* REPLACE (
        array_to_string(d.sources_for, ',') AS sources_for,
        array_to_string(d.sources_against, ',') AS sources_against
    ),
    r.model,
    u.claim
FROM differing AS d
INNER JOIN responses AS r USING (run, response_id)
INNER JOIN fact_units AS u USING (run, response_id, unit_id)
