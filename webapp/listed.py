"""Define the SQL of lists of a run's responses and questions, with named parameters."""

LISTED = """
WITH by_unit AS (
    SELECT
        response_id,
        unit_id,
        count(*) FILTER (WHERE outcome = 'error') AS n_errors,
        bool_or(outcome = 'supported') AND bool_or(outcome = 'refuted') AS disagree
    FROM evidence
    GROUP BY response_id, unit_id
),
by_response AS (
    SELECT
        response_id,
        CAST(sum(n_errors) AS BIGINT) AS n_errors,
        count(*) FILTER (WHERE disagree) AS n_disagreements
    FROM by_unit
    GROUP BY response_id
),
failed AS (
    SELECT key AS response_id FROM failures
    UNION
    SELECT u.response_id FROM failures AS f INNER JOIN fact_units AS u ON u.unit_id = f.key
)
SELECT
    s.response_id, s.model, s.dataset, s.question, left(r.text, 200) AS excerpt, s.n_units,
    s.n_supported, s.n_refuted, s.n_undecided, s.factuality_score, s.decided_score, s.coverage,
    c.credibility, c.band, coalesce(b.n_disagreements, 0) AS n_disagreements,
    coalesce(b.n_errors, 0) AS n_errors, s.human_score
FROM scores AS s
INNER JOIN responses AS r ON r.response_id = s.response_id
INNER JOIN passage_credibility AS c ON c.response_id = s.response_id
LEFT JOIN by_response AS b ON b.response_id = s.response_id
WHERE
    s.mode = $mode
    AND (
        $text IS NULL
        OR contains(lower(r.text), lower($text))
        OR contains(lower(coalesce(s.question, '')), lower($text))
        OR contains(lower(s.response_id), lower($text))
    )
    AND ($model IS NULL OR s.model = $model)
    AND ($dataset IS NULL OR s.dataset = $dataset)
    AND ($question IS NULL OR s.question = $question)
    AND ($low IS NULL OR s.factuality_score >= $low)
    AND ($high IS NULL OR s.factuality_score <= $high)
    AND (NOT $disagreement OR b.n_disagreements > 0)
    AND (NOT $undecided OR s.n_undecided > 0)
    AND (
        NOT $failures OR b.n_errors > 0 OR s.response_id IN (SELECT response_id FROM failed)
    )
"""

QUESTIONS = """
SELECT
    question,
    count(*) AS n_responses,
    list_sort(list_distinct(list(model) FILTER (WHERE model IS NOT NULL))) AS models,
    avg(factuality_score) AS mean_score,
    max(factuality_score) - min(factuality_score) AS spread
FROM scores
WHERE
    mode = $mode
    AND question IS NOT NULL
    AND ($text IS NULL OR contains(lower(question), lower($text)))
GROUP BY question
HAVING count(*) > 1
"""
