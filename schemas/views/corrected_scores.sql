-- Scores corrected by what people said
-- judge_score is the factuality score as the judge has it (NULL where it decided nothing), corrected_score what it would be had
-- people judged every unit, with its 95 % interval; of the run, of each model and data set (`level`,
-- `name`). Prediction-powered inference (Angelopoulos et al. 2023): the judge's mean over all
-- units, times `power`, plus the mean of (label - power × verdict) over the labelled ones; `power`
-- is tuned as in PPI++ (Angelopoulos et al. 2023), for labelled units that are among the judged.
-- Labels of sheets count by their strata's weights; those that came with the input are used where
-- no sheet was drawn, and taken for a random sample. The variance is that of the linearised
-- estimate, clustered by response, within strata (after Särndal et al. 1992, two-phase sampling),
-- the interval Student's t, cut to 0 to 1. With few labels, or none that differs, it is too narrow.
-- needs: scores, human_labels, t_bound
-- shows: mode, source, level, name, judge_score, corrected_score, low, high, n_labelled, n_units
-- empty: it takes fact units that people labelled: 'ufo label sample DIR' writes a sheet
-- order: run, mode, source, list_position(['run', 'model', 'dataset'], level), name
WITH labelled AS (
    SELECT
        v.run,
        v.mode,
        CASE WHEN v.mode = 'single' THEN v.source END AS source,
        v.response_id,
        v.unit_id,
        h.label AS y,
        coalesce(v.label, 0) AS f,
        coalesce(h.stratum, '') AS stratum,
        h.weight,
        h.origin,
        -- Where a sheet was drawn its labels alone are a known sample.
        h.weight IS NOT NULL OR NOT bool_or(h.weight IS NOT NULL) OVER (PARTITION BY v.run) AS used
    FROM verdicts AS v
    INNER JOIN human_labels AS h
        ON h.run = v.run AND h.response_id = v.response_id AND h.unit_id = v.unit_id
),

-- A domain is what has a score of its own. Within a STRUCT, as in IS NOT DISTINCT FROM, NULL equals
-- NULL.
scored AS (
    SELECT
        run,
        mode,
        source,
        response_id,
        n_units,
        n_supported + n_refuted AS n_decided,
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
        sum(n_decided) AS n_decided,
        avg(score) AS judge_score
    FROM scored
    GROUP BY domain
),

-- In a mean over responses of means over units a unit counts one by its response's units.
weighed AS (
    SELECT
        s.domain,
        l.response_id,
        l.stratum,
        l.y,
        l.f,
        coalesce(l.weight, d.n_units / count(*) OVER whole) AS weight,
        coalesce(l.weight, d.n_units / count(*) OVER whole) / s.n_units AS share
    FROM labelled AS l
    INNER JOIN scored AS s
        ON
            s.run = l.run
            AND s.mode = l.mode
            AND s.response_id = l.response_id
            AND s.source IS NOT DISTINCT FROM l.source
    INNER JOIN domains AS d ON d.domain = s.domain
    WHERE l.used
    WINDOW whole AS (PARTITION BY s.domain)
),

moments AS (
    SELECT
        domain,
        count(*) AS n_labelled,
        count(DISTINCT response_id) AS n_clusters,
        sum(share) AS total,
        sum(share * y) / sum(share) AS mean_y,
        sum(share * f) / sum(share) AS mean_f,
        sum(share * f * y) / sum(share) AS mean_fy
    FROM weighed
    GROUP BY domain
),

tuned AS (
    SELECT
        m.*,
        d.n_responses,
        d.n_units,
        d.n_decided,
        d.judge_score,
        -- f is 0 or 1, so the mean of its square is its mean.
        coalesce(
            greatest(
                0,
                least(
                    1,
                    (m.mean_fy - m.mean_f * m.mean_y) / nullif(m.mean_f - m.mean_f * m.mean_f, 0)
                )
            ),
            1
        ) AS power
    FROM moments AS m
    INNER JOIN domains AS d ON d.domain = m.domain
),

deviations AS (
    SELECT
        w.domain,
        w.response_id,
        w.stratum,
        w.weight,
        w.share * (w.y - t.power * w.f - (t.mean_y - t.power * t.mean_f)) / t.total AS deviation
    FROM weighed AS w
    INNER JOIN tuned AS t ON t.domain = w.domain
),

-- How many of each stratum are drawn is fixed, so what strata differ by counts only as far as the
-- responses themselves are a sample: by the share of the stratum that was labelled.
centred AS (
    SELECT
        *,
        CASE
            WHEN count(*) OVER stratum = 1 THEN deviation
            ELSE
                avg(deviation) OVER stratum / sqrt(greatest(weight, 1))
                + (deviation - avg(deviation) OVER stratum)
                * sqrt(count(*) OVER stratum / (count(*) OVER stratum - 1))
        END AS influence
    FROM deviations
    WINDOW stratum AS (PARTITION BY domain, stratum)
),

clusters AS (
    SELECT
        domain,
        response_id,
        sum(influence) AS influence
    FROM centred
    GROUP BY domain, response_id
),

variances AS (
    SELECT
        t.domain,
        CASE
            WHEN t.n_responses > 1 AND t.n_clusters > 1
                THEN
                    sum(
                        pow(
                            t.power * (s.score - t.judge_score) / t.n_responses
                            * sqrt(t.n_responses / (t.n_responses - 1))
                            + coalesce(c.influence, 0)
                            * sqrt(t.n_clusters / (t.n_clusters - 1)),
                            2
                        )
                    )
        END AS variance
    FROM tuned AS t
    INNER JOIN scored AS s ON s.domain = t.domain
    LEFT JOIN clusters AS c ON c.domain = t.domain AND c.response_id = s.response_id
    GROUP BY t.domain, t.n_responses, t.n_clusters
),

estimated AS (
    SELECT
        t.*,
        t.power * t.judge_score + t.mean_y - t.power * t.mean_f AS estimate,
        CASE WHEN v.variance IS NOT NULL THEN t_bound(t.n_clusters - 1) END
        * sqrt(v.variance) AS margin
    FROM tuned AS t
    INNER JOIN variances AS v ON v.domain = t.domain
)

SELECT
    domain.run AS run,
    domain.mode AS mode,
    domain.source AS source,
    domain.level AS level,
    domain.name AS name,
    n_responses,
    n_units,
    n_labelled,
    CASE WHEN n_decided > 0 THEN judge_score END AS judge_score,
    least(1, greatest(0, estimate)) AS corrected_score,
    CASE WHEN margin IS NOT NULL THEN greatest(0, estimate - margin) END AS low,
    CASE WHEN margin IS NOT NULL THEN least(1, estimate + margin) END AS high,
    power,
    'prediction-powered, clustered by response' AS method
FROM estimated
