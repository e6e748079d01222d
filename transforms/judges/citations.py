"""Whether a citation stands in its passage, as an exact quote up to white space."""

_QUOTES = " \"'“”‘’«»"


def citation_found(citation: str, passage: str) -> bool:
    """Tell whether the passage has the citation, white space normalised and outer quotes aside."""
    text = _normalised(passage)
    quotes = (citation, citation.strip(_QUOTES))
    return any(quote and quote in text for quote in map(_normalised, quotes))


def _normalised(text: str) -> str:
    return " ".join(text.split())
