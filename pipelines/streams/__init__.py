"""Evaluate files as they arrive (`--streaming`), in windows that are runs of their own."""
