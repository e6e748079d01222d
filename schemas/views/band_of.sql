-- Colour of a share of supporting evidence (Facts&Evidence, 2025)
-- Red below .3, orange below .6, else green; grey where there is none.
-- parameters: credibility
CASE
    WHEN credibility IS NULL THEN 'grey'
    WHEN credibility < 0.3 THEN 'red'
    WHEN credibility < 0.6 THEN 'orange'
    ELSE 'green'
END
