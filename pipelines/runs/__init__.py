"""A run from its settings to its finished folder: input, plan, attempt, progress, manifest."""
