-- Verdicts of claims beside the labels of people, by response
-- How many of a response's labelled units are true or false to people and supported (true_right,
-- false_wrong), refuted (true_wrong, false_right) or left open (true_open, false_open) by the verdict.
-- needs: human_labels
-- order: run, mode, source, model, response_id
SELECT
    h.run,
    v.mode,
    CASE WHEN v.mode = 'single' THEN v.source END AS source,
    r.model,
    h.response_id,
    count(*) FILTER (WHERE h.label = 1 AND v.label = 1) AS true_right,
    count(*) FILTER (WHERE h.label = 1 AND v.label = 0) AS true_wrong,
    count(*) FILTER (WHERE h.label = 1 AND v.label IS NULL) AS true_open,
    count(*) FILTER (WHERE h.label = 0 AND v.label = 0) AS false_right,
    count(*) FILTER (WHERE h.label = 0 AND v.label = 1) AS false_wrong,
    count(*) FILTER (WHERE h.label = 0 AND v.label IS NULL) AS false_open
FROM human_labels AS h
INNER JOIN verdicts AS v USING (run, response_id, unit_id)
INNER JOIN responses AS r USING (run, response_id)
GROUP BY ALL
