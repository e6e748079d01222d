-- What the judge's numbers mean to people
-- In tenths of what was measured (`bin` 0 to 9): its mean (`measured`) beside what people say
-- (`people`). measure `score`: the factuality score of a response and that of people. `credibility`:
-- the share of a unit's evidence that supports it, and the share that people found true; the same
-- for `probability`, the highest probability of its evidence to support it, where the judge gives one.
-- low and high are 95 % bounds, clustered by question, or by response where it has none: Wilson's at
-- the effective number of independent values (Korn and Graubard 1998); a bin of one question has none.
-- The score is of the run's own mode, seq for all.
-- needs: cluster_of, scores, human_labels
-- order: run, measure, bin
-- empty: the input has no labels of people of responses or claims; see `label` and `claims`
WITH counted AS (
    SELECT
        e.run,
        e.response_id,
        e.unit_id,
        count(*) FILTER (WHERE e.outcome = 'supported')
        / nullif(count(*) FILTER (WHERE e.outcome != 'error'), 0) AS credibility,
        max(e.probability) AS probability
    FROM evidence AS e
    WHERE e.passage_id IS NOT NULL
    GROUP BY ALL
),

measures AS (
    SELECT
        s.run,
        'score' AS measure,
        s.factuality_score AS measured,
        s.human_score AS people,
        cluster_of(s.dataset, s.question, s.response_id) AS cluster
    FROM scores AS s
    INNER JOIN runs AS r ON r.run = s.run
    WHERE s.mode = CASE r.mode WHEN 'all' THEN 'seq' ELSE r.mode END
    UNION ALL
    SELECT
        c.run,
        unnest(['credibility', 'probability']) AS measure,
        unnest([c.credibility, c.probability]) AS measured,
        h.label AS people,
        cluster_of(r.dataset, r.question, r.response_id) AS cluster
    FROM counted AS c
    INNER JOIN responses AS r ON r.run = c.run AND r.response_id = c.response_id
    INNER JOIN human_labels AS h
        ON h.run = c.run AND h.response_id = c.response_id AND h.unit_id = c.unit_id
),

binned AS (
    SELECT
        run,
        measure,
        least(CAST(floor(measured * 10) AS BIGINT), 9) AS bin,
        count(*) AS n,
        avg(measured) AS measured,
        mean_interval(list({'value': people, 'weight': 1, 'cluster': cluster})) AS found
    FROM measures
    WHERE measured IS NOT NULL AND people IS NOT NULL
    GROUP BY ALL
)

SELECT
    * EXCLUDE (found),
    found.value AS people,
    found.low AS low,
    found.high AS high
FROM binned
