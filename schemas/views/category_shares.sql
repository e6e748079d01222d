-- Evidence by category of its source
-- The share of each source category in the evidence of a run: in all evidence with a passage, in
-- what supports, and in what refutes. A passage without a category counts as `other`.
-- group: sources
-- summary: News, encyclopaedias, blogs …: the share of each kind in the evidence
-- order: run, share DESC, source_category
-- empty: no evidence has a passage
WITH counted AS (
    SELECT
        e.run,
        r.mode,
        coalesce(p.source_category, 'other') AS source_category,
        count(*) AS n_evidence,
        count(*) FILTER (WHERE e.outcome = 'supported') AS n_supported,
        count(*) FILTER (WHERE e.outcome = 'refuted') AS n_refuted
    FROM evidence AS e
    INNER JOIN runs AS r USING (run)
    LEFT JOIN passages AS p USING (run, passage_id)
    WHERE e.passage_id IS NOT NULL
    GROUP BY ALL
)

SELECT
    *,
    n_evidence / sum(n_evidence) OVER whole AS share,
    n_supported / nullif(sum(n_supported) OVER whole, 0) AS share_of_supported,
    n_refuted / nullif(sum(n_refuted) OVER whole, 0) AS share_of_refuted
FROM counted
WINDOW whole AS (PARTITION BY run)
