"""Integrate `ufo.check` into other tools: pytest, Inspect, DeepEval and MCP agents."""
