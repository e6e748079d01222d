-- Scores corrected by what people said
-- judge_score is the judge's factuality score. corrected_score estimates the score that people
-- would have given, had they labelled every unit, with its 95 % interval. There are rows for the
-- run, and for each model and data set (`level`, `name`). Labels speak for the units that they
-- were drawn from (view label_cells): n_covered of the n_units, covered_share. Where these are
-- less than half, there is no corrected score of the whole. Where these are not all,
-- corrected_score counts the other units by their verdicts, low counts them all as false, and
-- high all as true. The row of level `sampled` is then of the covered units alone. The method is
-- prediction-powered inference (Angelopoulos et al. 2023): the judge's mean over all covered
-- units, times `power`, plus the mean of (label - power × verdict) over the labelled units.
-- `power` is tuned as in PPI++, for labelled units that are among the judged. In each part that
-- the same sheets were drawn from, the labels stand for all units, by the weights of their
-- strata. Labels of the input are used where no sheet was drawn, as if they were a random sample
-- of the run. The variance is that of the linearised estimate, within strata (Särndal et al.
-- 1992, two-phase sampling), and clustered by question, or by response if it has no question.
-- For it, two invented labels are added to each part, one of a unit that the judge wrongly
-- supports and one of a unit that it wrongly refutes, because few labels that agree with the
-- judge prove little. The interval is Student's t, with Satterthwaite's degrees of freedom, cut
-- to 0 to 1. strata_without_label lists first the units that were in no sample, then the
-- verdicts by source of which no unit was labelled, with their number of covered units; errors
-- there are unknown, and in no interval.
-- group: scores
-- summary: The scores that people would have given, estimated from their labels
-- needs: cluster_of, scores, label_cells
-- shows: concat_ws(' ', mode, source) AS mode_source, level, name, judge_score, corrected_score, low, high, n_labelled, covered_share
-- empty: it takes fact units that people labelled: 'ufo label sample DIR' writes a sheet
-- order: run, mode, source, list_position(['run', 'sampled', 'model', 'dataset'], level), name
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
        c.label AS y,
        c.cell,
        c.stratum,
        c.weight
    FROM verdicts AS v
    -- Runs without a label cost nothing.
    INNER JOIN label_cells AS c USING (run, response_id, unit_id)
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
        avg(score) AS judge_score
    FROM scored
    GROUP BY domain
),

units AS (
    SELECT
        s.domain,
        s.response_id,
        s.cluster,
        s.n_units,
        j.said,
        j.f,
        j.y,
        j.cell,
        j.stratum,
        -- A cell without a label says nothing of its units.
        j.cell IS NOT NULL AND count(j.y) OVER one > 0 AS covered,
        j.weight * count(*) OVER one / sum(j.weight) FILTER (WHERE j.y IS NOT NULL) OVER one
            AS stands_for
    FROM judged AS j
    INNER JOIN scored AS s
        ON
            s.run = j.run
            AND s.mode = j.mode
            AND s.response_id = j.response_id
            AND s.source IS NOT DISTINCT FROM j.source
    WINDOW one AS (PARTITION BY s.domain, j.cell)
),

unlabelled AS (
    SELECT
        domain,
        string_agg(said || ' (' || n || ')', ', ' ORDER BY n DESC, said) AS strata
    FROM (
        SELECT domain, said, count(*) AS n FROM units
        WHERE covered GROUP BY domain, said HAVING count(y) = 0
    )
    GROUP BY domain
),

-- In a mean over responses of means over units a unit counts one by its response's units.
responses AS (
    SELECT
        domain,
        response_id,
        any_value(cluster) AS cluster,
        count(*) FILTER (WHERE covered) AS n_covered,
        n_covered / any_value(n_units) AS share,
        avg(f) FILTER (WHERE covered) AS score,
        coalesce(sum(f) FILTER (WHERE NOT covered), 0) / any_value(n_units) AS elsewhere
    FROM units
    GROUP BY domain, response_id
),

judges AS (
    SELECT
        domain,
        CAST(sum(n_covered) AS BIGINT) AS n_covered,
        count(*) FILTER (WHERE n_covered > 0) AS n_responses_covered,
        avg(share) AS mass,
        sum(score * share) / sum(share) AS judge_score_covered,
        avg(elsewhere) AS elsewhere,
        list({'score': score, 'weight': share, 'cluster': cluster}) FILTER (WHERE n_covered > 0)
            AS responses
    FROM responses
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
            'stratum': hash(cell, stratum),
            'cell': hash(cell),
            'cluster': cluster
        }) AS labels
    FROM units
    WHERE y IS NOT NULL
    GROUP BY domain
),

corrected_parts AS (
    SELECT
        d.*,
        p.n_labelled,
        j.* EXCLUDE (domain, responses),
        j.n_covered / d.n_units AS covered_share,
        corrected_by_cell(j.responses, p.labels) AS part,
        u.strata
    FROM domains AS d
    INNER JOIN judges AS j USING (domain)
    INNER JOIN people AS p USING (domain)
    LEFT JOIN unlabelled AS u USING (domain)
),

shown AS (
    SELECT
        domain,
        n_responses,
        n_units,
        n_labelled,
        n_covered,
        covered_share,
        judge_score,
        CASE
            WHEN covered_share = 1 THEN part.corrected_score
            WHEN covered_share >= 0.5 THEN mass * part.corrected_score + elsewhere
        END AS corrected_score,
        CASE
            WHEN covered_share = 1 THEN part.low
            WHEN covered_share >= 0.5 THEN mass * part.low
        END AS low,
        CASE
            WHEN covered_share = 1 THEN part.high
            WHEN covered_share >= 0.5 THEN mass * part.high + 1 - mass
        END AS high,
        part.power AS power,
        CASE
            WHEN covered_share = 1 THEN part.method
            WHEN covered_share < 0.5 THEN 'none: labels speak for less than half of the claims'
            ELSE part.method || ', and any error elsewhere'
        END AS method,
        CASE
            WHEN covered_share = 1 THEN strata
            ELSE concat_ws(', ', 'in no sample (' || n_units - n_covered || ')', strata)
        END AS strata
    FROM corrected_parts
    UNION ALL
    SELECT
        struct_pack(
            run := domain.run,
            mode := domain.mode,
            source := domain.source,
            level := 'sampled',
            name := domain.name
        ) AS domain,
        n_responses_covered,
        n_covered,
        n_labelled,
        n_covered,
        1.0,
        judge_score_covered,
        part.corrected_score,
        part.low,
        part.high,
        part.power,
        part.method,
        strata
    FROM corrected_parts
    WHERE domain.level = 'run' AND covered_share < 1
)

SELECT
    unnest(domain),
    n_responses,
    n_units,
    n_labelled,
    n_covered,
    covered_share,
    judge_score,
    corrected_score,
    low,
    high,
    power,
    method,
    strata AS strata_without_label
FROM shown
