-- Scores of each response if the sources, their order, the passages or the rules were others
-- The columns of `scores` for the rows of verdicts_if, one mode of which is asked for; n_unknown
-- are the units whose verdict is not known (answerable).
-- needs: scored_units, tallies_if, verdicts_if
-- parameters: wanted, source_order := NULL, without_passages := NULL, without_categories := NULL, only_categories := NULL, without_domains := NULL, only_domains := NULL, min_sources := 1, tie_rule := NULL
WITH counted AS (
    SELECT
        run,
        response_id,
        CASE WHEN wanted = 'single' THEN source END AS source,
        count(*) AS n_verdicts,
        count(*) FILTER (WHERE label = 1) AS n_supported,
        count(*) FILTER (WHERE label = 0) AS n_refuted,
        count(*) FILTER (WHERE NOT answerable) AS n_unanswerable
    FROM verdicts_if(
        source_order := source_order,
        without_passages := without_passages,
        without_categories := without_categories,
        only_categories := only_categories,
        without_domains := without_domains,
        only_domains := only_domains,
        min_sources := min_sources,
        tie_rule := tie_rule
    )
    WHERE mode = wanted
    GROUP BY ALL
),

judged AS (
    SELECT
        run,
        response_id,
        CASE WHEN wanted = 'single' THEN source END AS source,
        CAST(sum(n_judgements) AS BIGINT) AS n_judgements,
        CAST(sum(n_unusable) AS BIGINT) AS n_unusable
    FROM tallies_if(
        without_passages, without_categories, only_categories, without_domains, only_domains
    )
    WHERE coalesce(list_contains(source_order, source), true)
    GROUP BY ALL
),

units AS (
    SELECT
        run,
        response_id,
        count(*) AS n_units
    FROM fact_units
    GROUP BY run, response_id
),

asked AS (
    SELECT DISTINCT
        run,
        CASE WHEN wanted = 'single' THEN source END AS source
    FROM sources
    WHERE status = 'used' AND coalesce(list_contains(source_order, source), true)
),

joined AS (
    SELECT
        r.run,
        a.source,
        r.response_id,
        r.model,
        r.dataset,
        coalesce(u.n_units, 0) AS n_units,
        coalesce(c.n_supported, 0) AS n_supported,
        coalesce(c.n_refuted, 0) AS n_refuted,
        coalesce(u.n_units, 0) - coalesce(c.n_verdicts, 0) + coalesce(c.n_unanswerable, 0)
            AS n_unknown,
        coalesce(j.n_judgements, 0) AS n_judgements,
        coalesce(j.n_unusable, 0) AS n_unusable,
        scored_units(u.n_units, j.n_judgements, j.n_unusable) AS n_scored
    FROM responses AS r
    INNER JOIN asked AS a ON a.run = r.run
    LEFT JOIN units AS u ON u.run = r.run AND u.response_id = r.response_id
    LEFT JOIN counted AS c
        ON
            c.run = r.run
            AND c.response_id = r.response_id
            AND c.source IS NOT DISTINCT FROM a.source
    LEFT JOIN judged AS j
        ON
            j.run = r.run
            AND j.response_id = r.response_id
            AND j.source IS NOT DISTINCT FROM a.source
)

SELECT
    run,
    wanted AS mode,
    source,
    response_id,
    model,
    dataset,
    n_units,
    n_supported,
    n_refuted,
    n_unknown,
    n_supported / n_scored AS factuality_score,
    n_supported / nullif(n_supported + n_refuted, 0) AS decided_score,
    (n_supported + n_refuted) / n_scored AS coverage,
    n_judgements,
    n_unusable
FROM joined
