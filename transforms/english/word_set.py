"""Read word lists that are written as plain text."""


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text, separated by white space."""
    return frozenset(words.split())
