-- Contribution of each source
-- In mode seq: the share of fact units that the source decided; source `none` has the undecided
-- units. In mv: the source's share of the valid votes, and agreeing_share is its share of the
-- valid votes that agreed with the verdict. In single: the share of fact units that the source
-- decides alone.
-- group: sources
-- summary: Each source: the share of claims that it decided
-- needs: contributions
-- order: run, mode, position
SELECT * EXCLUDE (model)
FROM contributions('run')
