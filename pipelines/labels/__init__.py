"""Sheets of fact units for people, and what they said, read back."""
