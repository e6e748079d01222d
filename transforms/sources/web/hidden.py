"""Remove the text that a browser would not show from the source of a page.

Text that a reader never sees is not evidence, and may have instructions to a judge. The rules are
from the HTML standard (section 15.3.1, hidden elements), with the usual ways to hide text by a
style. Style sheets in other files are not fetched.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ufo.transforms.sources.web.lines import breaks, names, text_after, text_before

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_NO_TEXT = frozenset(  # not shown, or shown as something to use
    (
        *("script", "style", "template", "noscript", "head", "title", "svg", "object", "embed"),
        *("iframe", "canvas", "audio", "video", "datalist", "select", "option", "textarea"),
        *("button", "input", "dialog"),
    )
)
_STRUCK_OUT = frozenset(("del", "s", "strike"))
_KEPT = frozenset(("html", "body", "main", "article"))  # hidden until a script has run, then shown
_ZERO = r"(?:0*\.?0+)(?:px|em|rem|pt|%|v[wh])?(?![\d.])"
_AWAY = r"-\d{3,}(?:\.\d+)?(?:px|em|rem|pt|%)?"
_HIDING = re.compile(
    rf"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    rf"|content-visibility\s*:\s*hidden|opacity\s*:\s*{_ZERO}|font-size\s*:\s*{_ZERO}"
    rf"|(?:left|top|right|bottom|text-indent|margin-left|margin-top)\s*:\s*{_AWAY}"
    rf"|text-decoration(?:-line)?\s*:[^;]{{0,40}}line-through"
    rf"|color\s*:\s*transparent|clip\s*:\s*rect\(\s*[01](?:px)?[,\s]+[01](?:px)?\b"
    rf"|clip-path\s*:\s*inset\(\s*(?:50|100)%|transform\s*:\s*scale\(\s*0\s*\))",
    re.IGNORECASE,
)
_NO_SIZE = re.compile(rf"(?:^|;)\s*(?:max-)?(?:width|height)\s*:\s*(?:{_ZERO}|1px)", re.IGNORECASE)
_CUT_OFF = re.compile(r"(?:^|;)\s*overflow(?:-[xy])?\s*:\s*(?:hidden|clip)", re.IGNORECASE)
_COLOUR = re.compile(r"(?:^|;)\s*color\s*:\s*([^;!]+)", re.IGNORECASE)
_BACKGROUND = re.compile(
    r"(?:^|;)\s*background(?:-color)?\s*:\s*(#\w+|rgba?\([^)]*\)|[a-z]+)", re.IGNORECASE
)
# An unclosed comment ends with the sheet, as in a browser; this also keeps reading fast.
_NO_RULE = re.compile(r"/\*.*?(?:\*/|\Z)|@(?:import|charset|namespace)[^;{}]*;?", re.DOTALL)
_SIMPLE = re.compile(r"(?:[a-z][a-z0-9]*)?([.#])([\w-]+)$", re.IGNORECASE)
_MAX_SHEET = 200_000
_WHITE = ("#fff", "#ffffff", "white", "rgb(255,255,255)", "rgba(255,255,255,1)")


def drop_hidden(tree: "HtmlElement") -> None:
    """Remove all elements that a reader of the page does not see, and struck-out text."""
    classes, ids = _hidden_names(tree.iter("style"))
    for element in list(tree.iter("*")):
        parent = element.getparent()
        if parent is None or element.tag in ("head", "title"):
            continue  # a page's head has its title and dates, and no text
        named = element.get("id") in ids or not classes.isdisjoint(element.get("class", "").split())
        if _is_hidden(element) or (named and element.tag not in _KEPT):
            drop(element)


def drop(element: "HtmlElement") -> None:
    """Remove an element; the text after it stays."""
    if element.getparent() is not None:
        element.drop_tree()


def _is_hidden(element: "HtmlElement") -> bool:
    tag = element.tag
    if tag in ("meta", "link", "base") or (
        tag == "script" and "ld+json" in element.get("type", "")
    ):
        return False
    if tag in _NO_TEXT:
        open_dialog = tag == "dialog" and "open" in element.attrib
        return not (open_dialog or (tag == "button" and _is_in_sentence(element)))
    attributes = element.attrib
    if tag in _STRUCK_OUT or attributes.get("role") == "deletion":
        return True
    if not attributes:
        return False
    classes = attributes.get("class", "").lower().split()
    if not (names()["struck_out"] | names()["unseen"]).isdisjoint(classes):
        return True
    if "hidden" in attributes and attributes["hidden"].lower() != "until-found":
        return True
    if attributes.get("aria-hidden", "").strip().lower() == "true" and tag not in _KEPT:
        is_picture = not names()["pictures"].isdisjoint(classes) or "math" in tag
        if breaks(element) or is_picture or not _is_in_sentence(element):
            return True
    if tag == "font" and _shade(attributes.get("color", "")) == "white":
        return True
    style = attributes.get("style")
    return bool(style) and tag not in _KEPT and hides(style)


def _is_in_sentence(element: "HtmlElement") -> bool:
    """Return whether a sentence begins before an element and goes on after it."""
    before, after = text_before(element).strip(), text_after(element).strip()
    begun = bool(before) and before[-1] not in ".!?:;…。！？"
    return begun and bool(after) and not (after[0].isupper() and after[0].isascii())


def hides(style: str) -> bool:
    """Return whether the declarations of a style hide the element."""
    if _HIDING.search(style):
        return True
    if _NO_SIZE.search(style) and _CUT_OFF.search(style):
        return True
    colour, ground = _COLOUR.search(style), _BACKGROUND.search(style)
    if not colour:
        return False
    if ground:
        return _shade(colour[1]) == _shade(ground[1])
    return _shade(colour[1]) == "white" and "background" not in style.lower()


def _shade(colour: str) -> str:
    plain = re.sub(r"\s+", "", colour.lower())
    if plain in _WHITE:
        return "white"
    return "#" + "".join(c * 2 for c in plain[1:]) if re.fullmatch("#[0-9a-f]{3}", plain) else plain


def _hidden_names(sheets: Iterable["HtmlElement"]) -> tuple[set[str], set[str]]:
    """Return the classes and ids that a simple rule in the page's own style sheets hides.

    Rules inside `@media` and the like, and selectors with several parts, do not always apply: they
    are ignored.
    """
    names: dict[str, set[str]] = {".": set(), "#": set()}
    for sheet in sheets:
        if sheet.get("media", "all").strip().lower() not in ("", "all", "screen"):
            continue
        text = _NO_RULE.sub("", (sheet.text or "")[:_MAX_SHEET])
        for rule in _without_conditions(text).split("}"):
            selectors, _, body = rule.partition("{")
            if not hides(body):
                continue
            for selector in selectors.split(","):
                simple = _SIMPLE.match(selector.strip())
                if simple:
                    names[simple[1]].add(simple[2])
    return names["."], names["#"]


def _without_conditions(sheet: str) -> str:
    """Return a style sheet without its `@media {…}` and other nested blocks."""
    kept: list[str] = []
    depth = start = 0
    conditional = -1
    for match in re.finditer(r"[{}]", sheet):
        if match[0] == "{":
            if depth == 0 and "@" in sheet[start : match.start()]:
                conditional = sheet.index("@", start)
            depth += 1
            continue
        depth = max(0, depth - 1)
        if depth == 0:
            kept.append(sheet[start : conditional if conditional >= 0 else match.end()])
            start, conditional = match.end(), -1
    return "".join(kept)
