"""What a verifier does that says nothing of its own."""

import pytest

from ufo.transforms.verifiers.verifier import Pair, Verifier


def test_one_without_a_word_of_its_own_is_available_and_has_no_content() -> None:
    assert Verifier().unavailable() is None
    assert Verifier().fingerprint() == ""
    assert Verifier().accuracy() == ""


def test_one_has_to_predict() -> None:
    with pytest.raises(NotImplementedError, match="Verifier does not implement predict"):
        Verifier().predict([Pair("Ada was.", "Ada was.")])
