"""Fact sources, one a file. Each is declared by an entry point in the group `ufo.fact_sources`."""
