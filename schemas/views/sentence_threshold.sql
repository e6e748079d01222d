-- Credibility below which a sentence is not factual
-- Facts&Evidence's, which --threshold replaces.
-- parameters:
CAST(0.3 AS DOUBLE)
