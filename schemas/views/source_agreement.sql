-- Agreement between sources
-- Cohen's kappa (1960) of what each two sources say alone, over the n units that both decide, with
-- the 95 % interval of cluster-robust linearisation (Student's t) by question, or by response where it has none;
-- `agreement` is the share of equal answers, n_units how many units both were asked about. kappa is
-- NULL where both always say the same one thing, the interval where fewer than two questions have
-- such units or, as where one of the two always says the same, nothing varies that it could be told
-- from.
-- needs: cluster_of, source_patterns, source_places
-- order: run, source_a, source_b
-- empty: only a run of --mode all, of two sources or more, asks every source about every unit
WITH compared AS (
    SELECT
        p.run,
        p.response_id,
        a.source AS source_a,
        b.source AS source_b,
        p.n_units,
        CASE WHEN (p.decided & (a.bit | b.bit)) = (a.bit | b.bit) THEN p.n_units ELSE 0 END AS n,
        (p.supported & a.bit) != 0 AS for_a,
        (p.supported & b.bit) != 0 AS for_b
    FROM source_patterns AS p
    INNER JOIN source_places AS a USING (run)
    INNER JOIN source_places AS b ON b.run = p.run AND b.place > a.place
),

counted AS (
    SELECT
        run,
        source_a,
        source_b,
        response_id,
        sum(n_units) AS n_units,
        sum(n) AS n,
        coalesce(sum(n) FILTER (WHERE for_a = for_b), 0) AS n_equal,
        coalesce(sum(n) FILTER (WHERE for_a), 0) AS n_a,
        coalesce(sum(n) FILTER (WHERE for_b), 0) AS n_b
    FROM compared
    GROUP BY ALL
),

estimated AS (
    SELECT
        c.run,
        c.source_a,
        c.source_b,
        CAST(sum(c.n_units) AS BIGINT) AS n_units,
        CAST(sum(c.n) AS BIGINT) AS n,
        kappa(
            list({
                'n': c.n,
                'n_equal': c.n_equal,
                'n_a': c.n_a,
                'n_b': c.n_b,
                'cluster': cluster_of(r.dataset, r.question, r.response_id)
            }) FILTER (WHERE c.n > 0)
        ) AS found
    FROM counted AS c
    INNER JOIN responses AS r USING (run, response_id)
    GROUP BY c.run, c.source_a, c.source_b
)

SELECT
    run,
    source_a,
    source_b,
    n_units,
    n,
    found.agreement AS agreement,
    found.kappa AS kappa,
    found.low AS low,
    found.high AS high,
    found.method AS interval_method
FROM estimated
