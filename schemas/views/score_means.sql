-- Means of the scores of each run, model or data set
-- `wanted` is the level: run, model or dataset. `name` is the run, model or data set. Intervals are
-- Wilson's at the effective number of independent responses, clustered by question, or by response
-- if it has no question (Korn and Graubard 1998). A single question has no interval.
-- needs: cluster_of, scores
-- parameters: wanted
WITH counted AS (
    SELECT
        run,
        mode,
        source,
        CASE wanted WHEN 'model' THEN model WHEN 'dataset' THEN dataset END AS name,
        count(*) AS n_responses,
        count(factuality_score) AS n_scored,
        count(*) FILTER (WHERE n_units = 0) AS n_without_units,
        count(*) FILTER (WHERE n_references = 0) AS n_without_references,
        CAST(sum(n_units) AS BIGINT) AS n_units,
        mean_interval(
            list({
                'value': factuality_score,
                'weight': 1,
                'cluster': cluster_of(dataset, question, response_id)
            }) FILTER (WHERE factuality_score IS NOT NULL)
        ) AS found,
        avg(factuality_score) AS factuality_score,
        avg(decided_score) AS decided_score,
        avg(coverage) AS coverage,
        avg(human_score) FILTER (WHERE factuality_score IS NOT NULL) AS human_score,
        count(human_score) FILTER (WHERE factuality_score IS NOT NULL) AS n_human_scores,
        count(*) FILTER (WHERE no_score = 'nothing usable') AS n_unjudged,
        CAST(sum(n_judgements) AS BIGINT) AS n_judgements,
        CAST(sum(n_unusable) AS BIGINT) AS n_unusable,
        count(*) FILTER (WHERE no_score = 'unsupported language') AS n_unsupported,
        CAST(sum(n_supported) AS BIGINT) AS n_supported,
        CAST(sum(n_refuted) AS BIGINT) AS n_refuted,
        CAST(sum(n_undecided) AS BIGINT) AS n_undecided
    FROM scores
    GROUP BY ALL
)

SELECT * EXCLUDE (value) RENAME (method AS interval_method)
FROM (SELECT * EXCLUDE (found), unnest(found) FROM counted)
