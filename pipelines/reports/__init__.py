"""Present finished runs to people: text, tables, plots, the HTML report, comparisons."""
