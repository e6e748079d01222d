"""Finished runs for people: text, tables, plots, the HTML report, comparisons."""
