-- What people said of fact units
-- label is what the majority of the annotators said: 1 where they found the claim true, 0 where
-- they found it false, 0.5 where as many say true as false. (It is the median, so a label
-- between 0 and 1 is kept as it is.) An annotator counts once, however many sheets they filled.
-- If a sheet and the input both have a label, that of the sheet counts (`origin`). A unit
-- without a label has no row. `n_labels` is the number of annotators. `weight` is how many units
-- of its stratum a sampled unit stands for. If several sheets were drawn, the weight is scaled
-- to the share that its sheet has of all sheets.
-- order: run, response_id, unit_id
WITH given AS (
    SELECT * FROM labels
    WHERE label IS NOT NULL
),

sheets AS (
    SELECT
        sheet,
        count(*) / sum(count(*)) OVER (PARTITION BY count(weight) > 0) AS share
    FROM (SELECT sheet, response_id, unit_id, max(weight) AS weight FROM given GROUP BY ALL)
    GROUP BY sheet
),

voted AS (
    SELECT
        response_id,
        unit_id,
        median(label) AS label,
        count(*) AS n_labels
    FROM (
        SELECT
            response_id,
            unit_id,
            annotator,
            median(label) AS label
        FROM given
        GROUP BY response_id, unit_id, annotator
    )
    GROUP BY response_id, unit_id
),

sampled AS (
    SELECT
        g.response_id,
        g.unit_id,
        -- Equal stratum names of two sheets are two strata.
        min(g.sheet || ' ' || g.stratum) AS stratum,
        sum(g.weight * s.share) AS weight
    FROM (
        SELECT
            response_id,
            unit_id,
            sheet,
            max(stratum) AS stratum,
            max(weight) AS weight
        FROM given
        GROUP BY response_id, unit_id, sheet
    ) AS g
    INNER JOIN sheets AS s USING (sheet)
    GROUP BY g.response_id, g.unit_id
)

SELECT
    u.run,
    u.response_id,
    u.unit_id,
    CAST(coalesce(v.label, u.human_label) AS DOUBLE) AS label,
    CASE WHEN v.label IS NULL THEN 'input' ELSE 'sheet' END AS origin,
    coalesce(v.n_labels, 1) AS n_labels,
    s.stratum,
    s.weight
FROM fact_units AS u
LEFT JOIN voted AS v USING (response_id, unit_id)
LEFT JOIN sampled AS s USING (response_id, unit_id)
WHERE v.label IS NOT NULL OR u.human_label IS NOT NULL
