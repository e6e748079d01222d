"""Reading a page as a browser would: its elements, and what it would ask the network for."""

import re
from html.parser import HTMLParser
from typing import Any

_VOID = {"meta", "input", "br"}
# In an <a> an address is a place to go to, not something that is loaded.
_LOADING = {"src", "srcset", "href", "xlink:href", "action", "data", "poster", "background"}


class Reader(HTMLParser):
    """Elements with their attributes, the text, and whether every element was closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Any] = []
        self.texts: list[Any] = []
        self.open: list[Any] = []
        self.wrong: list[Any] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[Any]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[Any]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def all(self, tag: str) -> list[Any]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def loads(self) -> list[Any]:
        """Addresses outside the page that opening it would ask for."""
        addresses = [
            value
            for tag, attributes in self.elements
            for name, value in attributes.items()
            if name in _LOADING and tag != "a" and not (value or "").startswith("#")
        ]
        styles = [attributes.get("style") or "" for _, attributes in self.elements]
        for style in [*styles, *self.styles]:
            addresses += [url for url in re.findall(r"url\(([^)]*)\)", style) if url[:1] != "#"]
            addresses += re.findall(r"@import[^;]*", style)
        return addresses

    @property
    def styles(self) -> list[str]:
        return [text for text in self.texts if "--ground" in text]
