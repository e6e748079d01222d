"""Records, tables, identifiers and errors: what every other layer agrees on; imports none."""
