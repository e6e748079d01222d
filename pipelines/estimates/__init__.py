"""Estimate the requests of a run (`--dry_run`) from its own requests, without sending them."""
