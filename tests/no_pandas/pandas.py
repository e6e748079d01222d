"""In PYTHONPATH, it has Python find no pandas."""

raise ModuleNotFoundError("No module named 'pandas'", name="pandas")
