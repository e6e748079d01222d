"""Define the records, tables, identifiers and errors that all other layers share."""
