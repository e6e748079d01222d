"""Build and search the local index."""
