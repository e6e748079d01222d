"""The verifier `overlap`: shared words, names and numbers, and plain contradictions."""

from ufo.transforms.verifiers.overlap.verifier import OverlapVerifier

__all__ = ["OverlapVerifier"]
