"""Judges extract fact units from responses and verify them against passages."""
