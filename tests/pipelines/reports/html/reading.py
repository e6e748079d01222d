"""Reading a page as a browser would: its elements, and what it would ask the network for."""

import re
from html.parser import HTMLParser

_VOID = {"meta", "input", "br"}
# In an <a> an address is a place to go to, not something that is loaded.
_LOADING = {"src", "srcset", "href", "xlink:href", "action", "data", "poster", "background"}


class Reader(HTMLParser):
    """Elements with their attributes, the text, and whether every element was closed in order."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.open, self.wrong = [], [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def loads(self):
        """Addresses outside the page that opening it would ask for."""
        found = [
            value
            for tag, attributes in self.elements
            for name, value in attributes.items()
            if name in _LOADING and tag != "a" and not (value or "").startswith("#")
        ]
        styles = [attributes.get("style") or "" for _, attributes in self.elements]
        for style in [*styles, *self.styles]:
            found += [url for url in re.findall(r"url\(([^)]*)\)", style) if url[:1] != "#"]
            found += re.findall(r"@import[^;]*", style)
        return found

    @property
    def styles(self):
        return [text for text in self.texts if "--paper" in text]
