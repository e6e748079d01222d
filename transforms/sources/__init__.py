"""Fact sources, one file each. They are entry points in the group `ufo.fact_sources`."""
