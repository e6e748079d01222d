"""The verifier `bundled`: a small cross-encoder trained by this project, see MODEL_CARD.md."""

from ufo.transforms.verifiers.bundled.classifier import BundledVerifier

__all__ = ["BundledVerifier"]
