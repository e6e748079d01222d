-- Every way to ask the sources one after another
-- Every source alone, and every order of all of them, as stages: at `stage`, the source with `bit`
-- is asked about what the sources before it (the sum of their bits) left open. `source_order` is the
-- sources' names in order, as --order takes them; the run's own is `given`. The vote of all (mv) is
-- the one stage of bit 62. Up to six sources have their orders counted.
-- group: sources
-- summary: Every order of the sources, and what it would have given
-- needs: source_places
-- order: run, mode, source_order, stage
-- empty: only a run of --mode all asks every source about every unit
WITH RECURSIVE used AS (
    SELECT
        p.run,
        p.source,
        p.bit,
        CASE
            WHEN p.n_sources > 6
                THEN
                    error(
                        'the orders of ' || p.n_sources || ' sources (run ' || p.run
                        || ') are too many to compare, 6 are allowed; '
                        || '''ufo benchmark DIR --order a,b,c'' recomputes one of any length.'
                    )
            ELSE p.n_sources
        END AS n_sources
    FROM source_places AS p
    INNER JOIN runs AS r ON r.run = p.run AND r.mode = 'all'
),

orders AS (
    SELECT
        run,
        n_sources,
        [source] AS names,
        [bit] AS bits,
        bit AS asked
    FROM used
    UNION ALL
    SELECT
        o.run,
        o.n_sources,
        list_append(o.names, u.source) AS names,
        list_append(o.bits, u.bit) AS bits,
        o.asked + u.bit AS asked
    FROM orders AS o
    INNER JOIN used AS u ON u.run = o.run AND (o.asked & u.bit) = 0
),

ways AS (
    SELECT
        run,
        names,
        bits,
        bits = list_sort(bits) AS given,
        unnest(['single', 'seq', 'mv']) AS mode,
        unnest([1, n_sources, n_sources]) AS n_asked,
        unnest([names, names, ['multi']]) AS stage_names,
        unnest([bits, bits, [1::BIGINT << 62]]) AS stage_bits
    FROM orders
)

SELECT
    run,
    mode,
    array_to_string(names, ',') AS source_order,
    given AND mode = 'seq' AS given,
    unnest(range(1, len(stage_bits) + 1)) AS stage,
    unnest(stage_names) AS source,
    unnest(stage_bits) AS bit,
    unnest(list_transform(
        range(len(stage_bits)), lambda i: coalesce(list_sum(bits[:i]), 0)::BIGINT
    )) AS before
FROM ways
WHERE len(names) = n_asked AND (given OR mode != 'mv')
