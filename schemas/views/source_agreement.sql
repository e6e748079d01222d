-- Agreement between sources
-- Cohen's kappa (1960) of what each two sources say alone, over the n units that both decide, with
-- the 95 % interval of cluster-robust linearisation by response; `agreement` is the share of equal
-- answers, n_units how many units both were asked about. kappa is NULL where both always say the
-- same one thing, the interval where fewer than two responses have such units or, as where one of
-- the two always says the same, nothing varies that it could be told from.
-- needs: source_patterns, source_places
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
    INNER JOIN source_places AS a ON a.run = p.run
    INNER JOIN source_places AS b ON b.run = p.run AND b.place > a.place
),

counted AS (
    SELECT
        run,
        source_a,
        source_b,
        response_id,
        CAST(sum(n_units) AS BIGINT) AS n_units,
        CAST(sum(n) AS BIGINT) AS n,
        coalesce(sum(n) FILTER (WHERE for_a = for_b), 0) AS n_equal,
        coalesce(sum(n) FILTER (WHERE for_a), 0) AS n_a,
        coalesce(sum(n) FILTER (WHERE for_b), 0) AS n_b
    FROM compared
    GROUP BY ALL
),

shares AS (
    SELECT
        run,
        source_a,
        source_b,
        CAST(sum(n_units) AS BIGINT) AS n_units,
        CAST(sum(n) AS BIGINT) AS n,
        count(*) FILTER (WHERE n > 0) AS n_responses,
        sum(n_equal) / nullif(sum(n), 0) AS agreement,
        sum(n_a) / nullif(sum(n), 0) AS share_a,
        sum(n_b) / nullif(sum(n), 0) AS share_b
    FROM counted
    GROUP BY run, source_a, source_b
),

expected AS (
    SELECT
        *,
        -- Of disagreeing by chance.
        nullif(share_a * (1 - share_b) + share_b * (1 - share_a), 0) AS chance
    FROM shares
),

-- What each response adds to kappa, to first order.
influences AS (
    SELECT
        c.run,
        c.source_a,
        c.source_b,
        (
            (c.n_equal - e.agreement * c.n) * e.chance
            - (1 - e.agreement) * (
                (2 * e.share_b - 1) * (c.n_a - e.share_a * c.n)
                + (2 * e.share_a - 1) * (c.n_b - e.share_b * c.n)
            )
        ) / (e.n * e.chance * e.chance) AS influence
    FROM counted AS c
    INNER JOIN expected AS e
        ON e.run = c.run AND e.source_a = c.source_a AND e.source_b = c.source_b
    WHERE c.n > 0
),

errors AS (
    SELECT
        run,
        source_a,
        source_b,
        sqrt(sum(influence * influence) * count(*) / nullif(count(*) - 1, 0)) AS error
    FROM influences
    GROUP BY run, source_a, source_b
)

SELECT
    e.run,
    e.source_a,
    e.source_b,
    e.n_units,
    e.n,
    e.agreement,
    1 - (1 - e.agreement) / e.chance AS kappa,
    CASE
        WHEN s.error > 1e-12
            THEN greatest(-1, 1 - (1 - e.agreement) / e.chance - 1.959963984540054 * s.error)
    END AS low,
    CASE
        WHEN s.error > 1e-12
            THEN least(1, 1 - (1 - e.agreement) / e.chance + 1.959963984540054 * s.error)
    END AS high,
    CASE WHEN s.error > 1e-12 THEN 'cluster-robust normal' END AS interval_method
FROM expected AS e
LEFT JOIN errors AS s
    ON s.run = e.run AND s.source_a = e.source_a AND s.source_b = e.source_b
