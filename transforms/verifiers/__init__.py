"""Predict whether a passage supports a claim, refutes it, or does not answer: the verifiers."""
