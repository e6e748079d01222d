-- Claims on which annotators differ
-- Fact units on which labels differ, of two or more annotators or of one annotator on several
-- sheets. First are those on which as many say true as false (tied). label is that of the
-- majority, and 0.5 for a tie. said has who said what. An annotator who said different things on
-- several sheets counts by the mean of them. share_equal is the share of the pairs of labels of
-- two annotators that are equal. A sheet of one more annotator decides a tie.
-- group: agreement
-- summary: Claims on which annotators differ, those without a majority first
-- needs: human_labels
-- order: run, tied DESC, share_equal, response_id, unit_id
-- shows: response_id, unit_id, claim, label, tied, said, notes
-- empty: nobody differs on a claim that was labelled twice
WITH given AS (
    SELECT
        u.run,
        u.response_id,
        u.unit_id,
        u.claim,
        l.annotator,
        median(l.label) AS label,
        count(DISTINCT l.label) > 1 AS differs,
        list(
            CASE l.label WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE CAST(l.label AS VARCHAR) END
        ) AS words,
        array_to_string(list_sort(list_distinct(words)), ' and ') AS said,
        string_agg(DISTINCT l.note, '; ' ORDER BY l.note) AS note
    FROM fact_units AS u
    INNER JOIN labels AS l USING (response_id, unit_id)
    WHERE l.label IS NOT NULL
    GROUP BY u.run, u.response_id, u.unit_id, u.claim, l.annotator
),

counted AS (
    SELECT
        run,
        response_id,
        unit_id,
        claim,
        label,
        count(*) AS n,
        bool_or(differs) AS differs,
        sum(count(*)) OVER one AS n_annotators
    FROM given
    GROUP BY run, response_id, unit_id, claim, label
    WINDOW one AS (PARTITION BY run, response_id, unit_id)
),

shares AS (
    SELECT
        run,
        response_id,
        unit_id,
        sum(n * (n - 1)) / nullif(any_value(n_annotators * (n_annotators - 1)), 0) AS share_equal
    FROM counted
    GROUP BY run, response_id, unit_id
    HAVING count(*) > 1 OR bool_or(differs)
),

told AS (
    SELECT
        run,
        response_id,
        unit_id,
        claim,
        count(*) AS n_annotators,
        count(*) FILTER (WHERE label > 0.5) AS n_true,
        count(*) FILTER (WHERE label < 0.5) AS n_false,
        string_agg(annotator || ': ' || said, ', ' ORDER BY annotator) AS said,
        string_agg(annotator || ': ' || note, ', ' ORDER BY annotator) AS notes
    FROM given
    GROUP BY run, response_id, unit_id, claim
)

SELECT
    t.run,
    t.response_id,
    t.unit_id,
    t.claim,
    h.label,
    t.n_true = t.n_false AS tied,
    t.n_annotators,
    t.n_true,
    t.n_false,
    s.share_equal,
    t.said,
    t.notes
FROM told AS t
INNER JOIN shares AS s USING (run, response_id, unit_id)
INNER JOIN human_labels AS h USING (run, response_id, unit_id)
