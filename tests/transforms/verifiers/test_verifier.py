"""What the probabilities of a verifier decide."""

import pytest

from ufo.transforms.verifiers.verifier import Probabilities


@pytest.mark.parametrize(
    ("three", "outcome"),
    [
        ((0.6, 0.3, 0.1), "supported"),
        ((0.5, 0.5, 0.0), "supported"),
        ((0.45, 0.3, 0.25), "refuted"),
        ((0.45, 0.2, 0.35), "noans"),
        ((0.4, 0.3, 0.3), "noans"),
    ],
)
def test_supported_needs_a_half_and_equal_ones_claim_less(
    three: tuple[float, float, float], outcome: str
) -> None:
    assert Probabilities(*three).outcome == outcome
