"""Run the steps of `transforms` on Beam: life cycle, keys, side outputs."""
