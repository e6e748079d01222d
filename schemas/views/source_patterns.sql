-- What the sources said alone, counted by response
-- How many units of a response have the same answers: `decided` sums the bits (source_places) of the
-- sources with a valid vote, `supported` those of the sources whose majority is for the claim; bit 62
-- is the vote of all. Of n_units, people found n_true true and n_false false. Only runs of mode all
-- have it.
-- needs: source_places, human_labels
-- order: run, response_id, decided, supported
-- empty: only a run of --mode all asks every source about every unit
WITH patterns AS (
    SELECT
        v.run,
        v.response_id,
        v.unit_id,
        CAST(coalesce(sum(coalesce(p.bit, 1::BIGINT << 62)) FILTER (WHERE v.label IS NOT NULL), 0) AS BIGINT) AS decided,
        CAST(coalesce(sum(coalesce(p.bit, 1::BIGINT << 62)) FILTER (WHERE v.label = 1), 0) AS BIGINT) AS supported
    FROM verdicts AS v
    INNER JOIN runs AS r ON r.run = v.run AND r.mode = 'all'
    LEFT JOIN source_places AS p ON p.run = v.run AND p.source = v.source AND v.mode = 'single'
    WHERE v.mode = 'mv' OR p.bit IS NOT NULL
    GROUP BY v.run, v.response_id, v.unit_id
)

SELECT
    p.run,
    p.response_id,
    p.decided,
    p.supported,
    count(*) AS n_units,
    count(*) FILTER (WHERE h.label = 1) AS n_true,
    count(*) FILTER (WHERE h.label = 0) AS n_false
FROM patterns AS p
LEFT JOIN human_labels AS h USING (run, response_id, unit_id)
GROUP BY p.run, p.response_id, p.decided, p.supported
