"""Serve the page and the steps of ufo over HTTP, without Beam."""
