-- Not factual sentences that the judge finds
-- One row a run, as in the tables of Facts&Evidence (2025): F1, precision and recall of the class not
-- factual over the n sentences that people labelled. To the judge a sentence is not factual if its
-- credibility is below the threshold (--threshold), to people if it has an erroneous span. Of the n,
-- n_unscored have no credibility, and pass. retriever, pages and context (sentences beside each best
-- one) are how the run took evidence from the web; of other sources only the retriever is known. The
-- report agreement has the intervals.
-- group: agreement
-- summary: Sentences: F1, precision and recall of `not factual`, at the threshold
-- needs: agreement, sentence_threshold
-- order: run
-- shows: retriever, pages, context, n, f1, precision, recall, threshold
-- empty: the input has no labels of sentences; see `spans` and `sentence_labels`
WITH given AS (
    SELECT
        run,
        max(coalesce(options ->> 'web_retriever', options ->> 'retriever')) AS retriever,
        max(TRY_CAST(options ->> 'pages' AS BIGINT)) AS pages,
        max(TRY_CAST(options ->> 'context_sentences' AS BIGINT)) AS context
    FROM sources
    WHERE status = 'used'
    GROUP BY run
)

SELECT
    a.run,
    any_value(g.retriever) AS retriever,
    any_value(g.pages) AS pages,
    any_value(g.context) AS context,
    sentence_threshold() AS threshold,
    max(a.n) AS n,
    CAST(round(max(a.value * a.n) FILTER (WHERE a.metric = 'unscored')) AS BIGINT) AS n_unscored,
    max(a.value) FILTER (WHERE a.metric = 'f1_not_factual') AS f1,
    max(a.value) FILTER (WHERE a.metric = 'precision_not_factual') AS "precision",
    max(a.value) FILTER (WHERE a.metric = 'recall_not_factual') AS recall
FROM agreement AS a
LEFT JOIN given AS g USING (run)
WHERE a.level = 'sentence' AND a.part = 'all'
GROUP BY a.run
