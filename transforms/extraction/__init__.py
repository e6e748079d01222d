"""Extract fact units by rules: claims that can be checked, and a query for each."""
