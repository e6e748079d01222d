"""The jobs (`evaluate`, `recall`, `build_index`), the command line, and rooms for what they need.

Rooms build on those below them, as import-linter holds: `commands`; `estimates`, `importers`,
`labels` and `streaming`; `runs`; `options` and `reports`.
"""
