-- Scores corrected by what people said
-- judge_score is the judge's factuality score. corrected_score estimates the score that people
-- would have given, had they labelled every unit, with its 95 % interval. There are rows for the
-- run, and for each model and data set (`level`, `name`). The method is prediction-powered
-- inference (Angelopoulos et al. 2023): the judge's mean over all units, times `power`, plus the
-- mean of (label - power × verdict) over the labelled units. `power` is tuned as in PPI++, for
-- labelled units that are among the judged. Labels of sheets count by the weights of their strata.
-- Labels of the input are used where no sheet was drawn, as if they were a random sample. The
-- variance is that of the linearised estimate, within strata (Särndal et al. 1992, two-phase
-- sampling), and clustered by question, or by response if it has no question. It counts two more
-- labels on which the judge is wrong, because few labels that agree with it prove little. The
-- interval is Student's t, cut to 0 to 1. strata_without_label lists the verdicts by source of
-- which no unit was labelled, with their number of units. Errors there are unknown, and in no
-- interval.
-- group: scores
-- summary: The scores that people would have given, estimated from their labels
-- needs: cluster_of, scores, human_labels
-- shows: mode, source, level, name, judge_score, corrected_score, low, high, n_labelled, n_units, strata_without_label
-- empty: it takes fact units that people labelled: 'ufo label sample DIR' writes a sheet
-- order: run, mode, source, list_position(['run', 'model', 'dataset'], level), name
WITH judged AS (
    SELECT
        v.run,
        v.mode,
        CASE WHEN v.mode = 'single' THEN v.source END AS source,
        v.response_id,
        concat_ws(
            ' ',
            nullif(v.source, 'none'),
            CASE v.label WHEN 1 THEN 'supported' WHEN 0 THEN 'refuted' ELSE 'undecided' END
        ) AS said,
        coalesce(v.label, 0) AS f,
        -- Where a sheet was drawn its labels alone are a known sample.
        CASE
            WHEN count(h.weight) OVER (PARTITION BY v.run) = 0 OR h.weight IS NOT NULL THEN h.label
        END AS y,
        h.stratum,
        h.weight
    FROM verdicts AS v
    LEFT JOIN human_labels AS h USING (run, response_id, unit_id)
    -- Runs without a label cost nothing.
    WHERE v.run IN (SELECT run FROM human_labels)
),

-- A domain is what has a score of its own. Within a STRUCT, as in IS NOT DISTINCT FROM, NULL equals
-- NULL.
scored AS (
    SELECT
        run,
        mode,
        source,
        response_id,
        cluster_of(dataset, question, response_id) AS cluster,
        n_units,
        factuality_score AS score,
        unnest([
            {'run': run, 'mode': mode, 'source': source, 'level': 'run', 'name': NULL},
            {'run': run, 'mode': mode, 'source': source, 'level': 'model', 'name': model},
            {'run': run, 'mode': mode, 'source': source, 'level': 'dataset', 'name': dataset}
        ]) AS domain
    FROM scores
    WHERE factuality_score IS NOT NULL
),

domains AS (
    SELECT
        domain,
        count(*) AS n_responses,
        CAST(sum(n_units) AS BIGINT) AS n_units,
        avg(score) AS judge_score,
        list({'score': score, 'cluster': cluster}) AS responses
    FROM scored
    GROUP BY domain
),

-- In a mean over responses of means over units a unit counts one by its response's units.
units AS (
    SELECT
        s.domain,
        s.cluster,
        s.n_units,
        j.said,
        j.f,
        j.y,
        coalesce(j.stratum, '') AS stratum,
        coalesce(j.weight, d.n_units / count(j.y) OVER (PARTITION BY s.domain)) AS stands_for
    FROM judged AS j
    INNER JOIN scored AS s
        ON
            s.run = j.run
            AND s.mode = j.mode
            AND s.response_id = j.response_id
            AND s.source IS NOT DISTINCT FROM j.source
    INNER JOIN domains AS d USING (domain)
),

unlabelled AS (
    SELECT
        domain,
        string_agg(said || ' (' || n || ')', ', ' ORDER BY n DESC, said) AS strata
    FROM (SELECT domain, said, count(*) AS n FROM units GROUP BY domain, said HAVING count(y) = 0)
    GROUP BY domain
),

people AS (
    SELECT
        domain,
        count(*) AS n_labelled,
        list({
            'label': y,
            'verdict': f,
            'share': stands_for / n_units,
            'weight': stands_for,
            'stratum': hash(stratum),
            'cluster': cluster
        }) AS labels
    FROM units
    WHERE y IS NOT NULL
    GROUP BY domain
)

SELECT
    unnest(d.domain),
    d.n_responses,
    d.n_units,
    p.n_labelled,
    d.judge_score,
    unnest(corrected(d.responses, p.labels)),
    u.strata AS strata_without_label
FROM domains AS d
INNER JOIN people AS p USING (domain)
LEFT JOIN unlabelled AS u USING (domain)
