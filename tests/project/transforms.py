"""A project's own module, called like a package of ufo."""


def cleaned(text: str) -> str:
    """Return the text without spaces around it."""
    return text.strip()
