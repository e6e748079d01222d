-- Contribution of each source, by the model that wrote the responses
-- The columns of source_contributions, for the responses of each model.
-- group: sources
-- summary: The same for each model whose responses were evaluated
-- needs: contributions
-- order: run, mode, model, position
SELECT *
FROM contributions('model')
