-- Units that a response's score is over
-- n_units, NULL where judgements were asked for and none was usable.
-- parameters: n_units, n_judgements, n_unusable
CASE WHEN coalesce(n_judgements > n_unusable OR n_unusable = 0, true) THEN n_units END
