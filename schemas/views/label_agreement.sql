-- How far annotators agree
-- Labels that two or more annotators gave to the same fact units of a run: of all annotators (part
-- `all`), and of every two of them (part `pair`). n_units have labels of two or more, which make
-- n_pairs of labels; n_equal of these are equal, share_equal. kappa is Cohen's (1960), for two
-- annotators: 1 is full agreement, 0 that of chance by how often each gives a label. alpha is
-- Krippendorff's for nominal labels (2011), for any number of annotators with gaps: 1 is full
-- agreement, 0 that of chance by how often a label is given. Where everybody gave one and the same
-- label, chance would agree as often; then both are NULL, and `note` says so. Of more than 60
-- annotators there are no pairs. An annotator is who a sheet's column `annotator` names, else the
-- sheet. The report label_conflicts has the claims.
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
