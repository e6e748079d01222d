"""Examples: responses, an encyclopaedia to index, a configuration, a source of one's own."""
