-- What people said of fact units
-- label is 1 where people found the claim true, 0 where they found it false. A sheet that was read
-- back wins over the input's label (`origin`). Where sheets differ, the majority holds, and the
-- input's label if they are even. A unit without a label has no row. `weight` is how many units of
-- its stratum a sampled unit stands for. If several sheets were drawn, it is scaled to the share of
-- its sheet.
-- order: run, response_id, unit_id
WITH sheets AS (
    SELECT
        sheet,
        count(*) / sum(count(*)) OVER (PARTITION BY count(weight) > 0) AS share
    FROM labels
    WHERE label IS NOT NULL
    GROUP BY sheet
),

sampled AS (
    SELECT
        l.response_id,
        l.unit_id,
        CAST(round(avg(l.label)) AS BIGINT) AS label,
        count(*) AS n_labels,
        -- Equal stratum names of two sheets are two strata.
        min(l.sheet || ' ' || l.stratum) AS stratum,
        sum(l.weight * s.share) AS weight
    FROM labels AS l
    INNER JOIN sheets AS s USING (sheet)
    WHERE l.label IS NOT NULL
    GROUP BY l.response_id, l.unit_id
    HAVING avg(l.label) != 0.5
)

SELECT
    u.run,
    u.response_id,
    u.unit_id,
    coalesce(s.label, u.human_label) AS label,
    CASE WHEN s.label IS NULL THEN 'input' ELSE 'sheet' END AS origin,
    coalesce(s.n_labels, 1) AS n_labels,
    s.stratum,
    s.weight
FROM fact_units AS u
LEFT JOIN sampled AS s USING (response_id, unit_id)
WHERE s.label IS NOT NULL OR u.human_label IS NOT NULL
