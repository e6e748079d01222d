-- Contribution of each source
-- seq: the share of fact units that the source decided, with source `none` for undecided units. mv:
-- the source's share of the valid votes. agreeing_share is its share of the valid votes that agreed
-- with the verdict. single: the share of fact units that it decides alone.
-- group: sources
-- summary: Each source: the share of claims that it decided
-- needs: contributions
-- order: run, mode, position
SELECT * EXCLUDE (model)
FROM contributions('run')
