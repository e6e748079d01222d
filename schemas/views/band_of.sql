-- Band of a credibility
-- Facts&Evidence's colours; grey where there is nothing to divide by.
-- parameters: credibility
CASE
    WHEN credibility IS NULL THEN 'grey'
    WHEN credibility < 0.3 THEN 'red'
    WHEN credibility < 0.6 THEN 'orange'
    ELSE 'green'
END
