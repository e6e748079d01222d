-- What label sheets were drawn from
-- The fact units that a sheet of labels was drawn from, and the run in which they were. A sheet that
-- was not drawn as a sample (drawn is false), as that of the page, counts as one of the whole run.
-- A sheet that was kept without the units that it was drawn from has those of its run, where this
-- run is opened, and otherwise only those that it labels; import it again to keep them.
-- order: run, sheet, response_id, unit_id
WITH sheets AS (
    SELECT
        sheet,
        count(weight) > 0 AS drawn
    FROM labels
    WHERE label IS NOT NULL
    GROUP BY sheet
),

units AS (
    SELECT run, sheet, response_id, unit_id FROM label_populations
    UNION
    SELECT u.run, l.sheet, u.response_id, u.unit_id
    FROM fact_units AS u
    INNER JOIN (SELECT DISTINCT run, sheet FROM labels WHERE label IS NOT NULL) AS l USING (run)
    ANTI JOIN label_populations AS p ON p.run = l.run AND p.sheet = l.sheet
    UNION
    SELECT run, sheet, response_id, unit_id FROM labels WHERE label IS NOT NULL
)

SELECT
    u.run,
    u.sheet,
    s.drawn,
    u.response_id,
    u.unit_id
FROM units AS u
INNER JOIN sheets AS s USING (sheet)
