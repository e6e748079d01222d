-- Correlation of scores with people, by source and mode
-- One row a source and mode, as in UFO's tables: how the factuality scores of the n responses that
-- people scored correlate with their scores, by Pearson, Spearman and Kendall. In mode single each
-- source is alone. The report agreement has the intervals, and each model.
-- group: agreement
-- summary: Each source and mode: Pearson, Spearman and Kendall against scores of people
-- needs: agreement
-- order: run, list_position(['single', 'mv', 'seq'], mode), source
-- empty: the input has no scores of responses by people; see `label`
SELECT
    run,
    mode,
    source,
    max(n) AS n,
    max(value) FILTER (WHERE metric = 'pearson') AS pearson,
    max(value) FILTER (WHERE metric = 'spearman') AS spearman,
    max(value) FILTER (WHERE metric = 'kendall') AS kendall
FROM agreement
WHERE level = 'response' AND part = 'all'
GROUP BY run, mode, source
