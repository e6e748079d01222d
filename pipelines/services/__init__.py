"""Test the endpoints and search engines of a run."""
