"""Clients for language models: `complete(request) → completion`. Imports no Beam."""
