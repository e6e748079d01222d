-- How far annotators agree
-- Labels that two or more annotators gave to the same fact units of a run: of all annotators
-- (part `all`), and of every two of them (part `pair`). n_units have labels of two or more
-- annotators. These make n_pairs pairs of labels, of which n_equal are equal, a share of
-- share_equal. kappa is Cohen's (1960), for two annotators: 1 is full agreement, and 0 is the
-- agreement by chance of two annotators who give each label as often as these do. alpha is
-- Krippendorff's for nominal labels (2011), for any number of annotators with gaps: 1 is full
-- agreement, and 0 is the agreement by chance where each label is given as often as here. If
-- everybody gave one and the same label, chance would agree as often; both are then NULL, and
-- `note` says so. With more than 60 annotators there are no rows of pairs. The annotator is
-- named by the column `annotator` of a sheet; without this column the sheet counts as one
-- annotator. The report label_conflicts has the claims.
-- group: agreement
-- summary: How far annotators agree with each other, overall and by pair
-- order: run, part, annotator_a, annotator_b
-- empty: no claim has labels of two annotators; give each a sheet of the same claims
WITH given AS (
    SELECT
        u.run,
        hash(u.response_id, u.unit_id) AS unit,
        l.annotator,
        median(l.label) AS label
    FROM fact_units AS u
    INNER JOIN labels AS l USING (response_id, unit_id)
    WHERE l.label IS NOT NULL
    GROUP BY u.run, u.response_id, u.unit_id, l.annotator
),

compared AS (
    SELECT
        run,
        unnest(annotators_agreement(
            list({'unit': unit, 'annotator': annotator, 'label': label})
        )) AS found
    FROM given
    GROUP BY run
    HAVING count(DISTINCT annotator) > 1
)

SELECT
    run,
    if(found.annotator_a IS NULL, 'all', 'pair') AS part,
    unnest(found),
    if(
        found.alpha IS NULL,
        'kappa and alpha are undefined: all gave one label, so chance would agree as often',
        NULL
    ) AS note
FROM compared
WHERE found.n_units > 0
