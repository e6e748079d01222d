"""Examples: responses, an encyclopaedia to index, a configuration, your own source and judge."""
