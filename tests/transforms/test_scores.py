import pytest

from ufo.transforms.scores import headline, state_of


@pytest.mark.parametrize(
    ("labels", "failed", "state"),
    [
        ([1, 1], False, "supported"),
        ([1, 0, None], True, "contradicted"),
        ([1, None], True, "partly supported"),
        ([None, None], False, "not found"),
        ([None], True, "error"),
        ([], False, "no claim"),
        ([], True, "error"),
    ],
)
def test_a_sentence_has_the_state_of_its_claims(
    labels: list[int | None], failed: bool, state: str
) -> None:
    assert state_of(labels, failed) == state


@pytest.mark.parametrize(
    ("states", "failed", "words"),
    [
        (["supported"], False, "1 of 1 claim supported"),
        (["not found", "error"], False, "0 of 2 claims supported, 1 not found, 1 not judged"),
        (["error", "error"], False, "Not scored: none of 2 claims could be judged"),
        ([], False, "No claim to check"),
        ([], True, "Not scored: the claims could not be extracted"),
    ],
)
def test_a_headline_tells_what_became_of_the_claims(
    states: list[str], failed: bool, words: str
) -> None:
    assert headline(states, failed) == words
