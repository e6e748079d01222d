"""Run the jobs `evaluate`, `recall` and `build_index`, and the command line.

The layers, from top to bottom; import-linter checks that each imports only lower ones:

- `commands`
- `estimates`, `importers`, `integrations`, `labels`, `streaming`
- `runs`
- `options`, `reports`
"""
