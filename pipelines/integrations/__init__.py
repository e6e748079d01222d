"""Use `ufo.check` in tools that people evaluate with: pytest, Inspect, DeepEval."""
