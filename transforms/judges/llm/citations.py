"""Whether a citation stands in its passage, as an exact quote up to white space."""

from transforms.prompts.data import read

_QUOTES = "\"'“”‘’«»"


def citation_found(citation: str, passage: str) -> bool:
    """Tell whether the passage has the citation, white space normalised and outer quotes aside.

    A quote of a passage as the prompt showed it, with escapes, is looked up as well.
    """
    text = _plain(passage)
    quotes = (citation, citation.strip().strip(_QUOTES), read(citation))
    return any(quote and quote in text for quote in map(_plain, quotes))


def _plain(text: str) -> str:
    return " ".join(text.split())
