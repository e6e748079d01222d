-- Parts of a run that labels were drawn from
-- Each fact unit of a run with labels, with the cell that it belongs to. A cell has the units
-- that the same sheets were drawn from. Its labels are a random sample of it, so they say
-- something about all its units, and nothing about units of other cells. Labels of sheets that
-- `ufo label sample` drew are used first. For units without such a sheet, other sheets and the
-- labels of the page count as samples of their runs, and labels of the input as a sample of the
-- whole run. cell names the sheets, and is NULL where there is none. label is that of the cell's
-- sample. weight says how much the label counts within the cell: all sheets count evenly, and
-- within a sheet a label counts by the size of its stratum.
-- needs: human_labels, sheet_populations
-- order: run, response_id, unit_id
WITH runs_with_labels AS (
    SELECT
        run,
        bool_or(origin = 'input') AS by_input
    FROM human_labels
    GROUP BY run
),

units AS (
    SELECT
        u.run,
        u.response_id,
        u.unit_id,
        l.by_input
    FROM fact_units AS u
    INNER JOIN runs_with_labels AS l USING (run)
),

populations AS (
    SELECT
        response_id,
        unit_id,
        bool_or(drawn) AS drawn,
        -- Of one sheet, the units of different runs are different samples.
        string_agg(sheet || ' of ' || run, ', ' ORDER BY sheet, run) FILTER (WHERE drawn)
            AS drawn_from,
        string_agg(sheet || ' of ' || run, ', ' ORDER BY sheet, run) FILTER (WHERE NOT drawn)
            AS others
    FROM sheet_populations
    GROUP BY response_id, unit_id
),

cells AS (
    SELECT
        u.run,
        u.response_id,
        u.unit_id,
        coalesce(p.drawn, false) AS drawn,
        coalesce(p.drawn_from, p.others, CASE WHEN u.by_input THEN 'input' END) AS cell
    FROM units AS u
    LEFT JOIN populations AS p USING (response_id, unit_id)
),

-- What each sheet that was drawn says of a unit.
samples AS (
    SELECT
        response_id,
        unit_id,
        sheet,
        run AS drawn_from,
        max(stratum) AS stratum,
        max(weight) AS weight
    FROM labels
    WHERE label IS NOT NULL AND weight IS NOT NULL
    GROUP BY ALL
),

weighed AS (
    SELECT
        c.run,
        c.response_id,
        c.unit_id,
        -- Equal stratum names of two sheets are two strata.
        s.sheet || ' ' || coalesce(s.stratum, '') AS stratum,
        s.weight * count(*) OVER one / sum(s.weight) OVER one AS weight
    FROM cells AS c
    INNER JOIN samples AS s USING (response_id, unit_id)
    WHERE c.drawn
    WINDOW one AS (PARTITION BY c.run, c.cell, s.sheet, s.drawn_from)
),

sampled AS (
    SELECT
        run,
        response_id,
        unit_id,
        min(stratum) AS stratum,
        sum(weight) AS weight
    FROM weighed
    GROUP BY run, response_id, unit_id
)

SELECT
    c.run,
    c.response_id,
    c.unit_id,
    c.cell,
    c.drawn,
    CASE WHEN c.cell IS NOT NULL AND (s.weight IS NOT NULL OR NOT c.drawn) THEN h.label END AS label,
    coalesce(s.stratum, '') AS stratum,
    CASE WHEN c.drawn THEN s.weight ELSE 1 END AS weight
FROM cells AS c
LEFT JOIN sampled AS s USING (run, response_id, unit_id)
LEFT JOIN human_labels AS h USING (run, response_id, unit_id)
