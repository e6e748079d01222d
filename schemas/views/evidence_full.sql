-- Evidence with its passages
-- What each passage says to each fact unit, with the passage's title, address and text. Where a
-- source had no passage, the passage's columns are NULL.
-- order: run, response_id, unit_id, source, rank
SELECT
    e.*,
    p.* EXCLUDE (run, source, passage_id)
FROM evidence AS e
LEFT JOIN passages AS p USING (run, passage_id)
