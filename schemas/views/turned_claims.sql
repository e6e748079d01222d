-- Claims whose verdict turned between two runs
-- Fact units of both runs that only one of them found supported. Units that the baseline found
-- supported come first. A response that was written anew has other units.
-- parameters: of_baseline, of_run
WITH verdict AS (
    SELECT
        v.run = of_run AS newer,
        v.response_id,
        v.unit_id,
        v.source,
        CASE v.label WHEN 1 THEN 'supported' WHEN 0 THEN 'refuted' ELSE 'undecided' END AS verdict
    FROM verdicts AS v
    INNER JOIN runs AS r USING (run)
    WHERE
        v.run IN (of_baseline, of_run)
        AND v.mode = CASE r.mode WHEN 'all' THEN 'seq' ELSE r.mode END
)

SELECT
    of_run AS run,
    u.response_id,
    u.unit_id,
    b.verdict AS before,
    a.verdict AS after,
    b.source AS source_before,
    a.source AS source_after,
    u.claim
FROM verdict AS b
INNER JOIN verdict AS a
    ON a.response_id = b.response_id AND a.unit_id = b.unit_id AND a.newer AND NOT b.newer
INNER JOIN fact_units AS u
    ON u.run = of_run AND u.response_id = b.response_id AND u.unit_id = b.unit_id
WHERE (a.verdict = 'supported') != (b.verdict = 'supported')
ORDER BY a.verdict = 'supported', u.response_id, u.sentence_index, u.unit_id
