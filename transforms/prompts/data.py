"""Escape data in prompts, so that it can neither open nor close the tags around it.

Only text that looks like a tag or an escape is escaped. "a < b" and "AT&T" stay unchanged, so that
a model can quote texts exactly.
"""

import re

from ufo.schemas.text import storable

_UNSAFE = re.compile(r"<(?=[A-Za-z/!?])|&(?=(?:lt|amp|quot);)")
_ESCAPED = re.compile(r"&(lt|amp|quot);")
_ESCAPES = {"<": "&lt;", "&": "&amp;"}
_CHARACTERS = {"lt": "<", "amp": "&", "quot": '"'}


def escape(text: str) -> str:
    """Return the text with all tags escaped."""
    return _UNSAFE.sub(lambda match: _ESCAPES[match[0]], storable(text))


def read(text: str) -> str:
    """Return a model's text without escapes copied from the prompt, fit to be stored in a table."""
    return _ESCAPED.sub(lambda match: _CHARACTERS[match[1]], storable(text))


def element(tag: str, text: str, **attributes: str | None) -> str:
    """Return `<tag name="value">text</tag>`; an attribute that is None or empty is left out."""
    return wrapped(tag, escape(text), **attributes)


def block(tag: str, text: str, **attributes: str | None) -> str:
    """Return an element with line breaks before and after its text."""
    return wrapped(tag, f"\n{escape(text)}\n", **attributes)


def wrapped(tag: str, content: str, **attributes: str | None) -> str:
    """Return an element around content that is escaped already."""
    head = [tag]
    for name, value in attributes.items():
        if value:
            head.append(f'{name}="{escape(value).replace(chr(34), "&quot;")}"')
    return f"<{' '.join(head)}>{content}</{tag}>"
