"""Apply the styles of a page to its tree: hidden, raised and lowered text.

Text that a reader never sees is not evidence, and may have instructions to a judge. The rules are
from the HTML standard (section 15.3.1, hidden elements), with the usual ways to hide, strike out,
raise or lower text by a style. Style sheets in other files are not fetched.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lxml.html import Element

from ufo.transforms.sources.web.lines import breaks, names, text_after, text_before

if TYPE_CHECKING:
    from lxml.html import HtmlElement

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
# A condition such as `@media` with the rules in it, if there is no other condition in it.
_CONDITION = re.compile(r"@[^@{};]*\{(?:[^@{}]|\{[^{}]*\})*+(?:\}|\Z)")
_SIMPLE = re.compile(r"(?:[a-z][a-z0-9]*)?([.#][\w-]+)$", re.IGNORECASE)
_DEPTH = 4  # of conditions in conditions
_MAX_SHEET = 200_000
_WHITE = ("#fff", "#ffffff", "white", "rgb(255,255,255)", "rgba(255,255,255,1)")
_OWN_LINE = re.compile(
    r"(?<![-\w])display\s*:\s*(?:block|flex|grid|table|list-item)", re.IGNORECASE
)
# Not by a pixel or two, as is done to icons and labels.
_FAR = r"(?:0?\.[2-9]\d*r?em|[2-9]\d%|[3-9]px)"
_RELATIVE = r"(?<![-\w])position\s*:\s*relative\b.{0,200}?(?<![-\w])"
_RAISED, _LOWERED = (
    re.compile(
        rf"(?<![-\w])vertical-align\s*:\s*(?:{name}|{up}{_FAR})"
        rf"|{_RELATIVE}(?:top\s*:\s*{down}|bottom\s*:\s*{up}){_FAR}",
        re.IGNORECASE | re.DOTALL,
    )
    for name, up, down in (("super", "", "-"), ("sub", "-", ""))
)

HIDDEN, SUP, SUB, LINE = "hidden", "sup", "sub", "line"


def apply_styles(tree: "HtmlElement") -> None:
    """Remove hidden and struck-out text; mark raised, lowered and separate parts by elements.

    Raised and lowered parts of a line become `sup` and `sub`; one that has a line of its own gets
    `br` around it.
    """
    known = names()
    rules = _rules_of(tree.iter("style"))
    for element in list(tree.iter("*")):
        if element.getparent() is None or element.tag in ("head", "title"):
            continue  # a page's head has its title and dates, and no text
        classes = element.get("class", "").split()
        selectors = (f"#{element.get('id')}", *(f".{name}" for name in classes))
        looks = looks_of(element.get("style", "")).union(*(rules.get(one, ()) for one in selectors))
        if _is_hidden(element) or (HIDDEN in looks and element.tag not in known["always_shown"]):
            drop(element)
            continue
        for tag in (SUP, SUB):
            if element.tag in known["raisable"] and (
                tag in looks or not known[tag].isdisjoint(classes)
            ):
                element.tag = tag
        if LINE in looks and not breaks(element):
            after = Element("br")
            after.tail, element.tail = element.tail, None
            element.addprevious(Element("br"))
            element.addnext(after)


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
    if tag in names()["no_text"]:
        open_dialog = tag == "dialog" and "open" in element.attrib
        return not (open_dialog or (tag == "button" and _is_in_sentence(element)))
    attributes = element.attrib
    if tag in ("del", "s", "strike") or attributes.get("role") == "deletion":
        return True
    if not attributes:
        return False
    classes = attributes.get("class", "").lower().split()
    if not (names()["struck_out"] | names()["unseen"]).isdisjoint(classes):
        return True
    if "hidden" in attributes and attributes["hidden"].lower() != "until-found":
        return True
    kept = tag in names()["always_shown"]
    if not kept and attributes.get("aria-hidden", "").strip().lower() == "true":
        is_picture = not names()["pictures"].isdisjoint(classes) or "math" in tag
        if breaks(element) or is_picture or not _is_in_sentence(element):
            return True
    return tag == "font" and _shade(attributes.get("color", "")) == "white"


def _is_in_sentence(element: "HtmlElement") -> bool:
    """Return whether a sentence begins before an element and goes on after it."""
    before, after = text_before(element).strip(), text_after(element).strip()
    begun = bool(before) and before[-1] not in ".!?:;…。！？"
    return begun and bool(after) and not (after[0].isupper() and after[0].isascii())


def looks_of(style: str) -> frozenset[str]:
    """Return the effects of a style's declarations on an element: HIDDEN, SUP, SUB, LINE."""
    if not style:
        return frozenset()
    patterns = (LINE, _OWN_LINE), (SUP, _RAISED), (SUB, _LOWERED)
    looks = {look for look, pattern in patterns if pattern.search(style)}
    return frozenset(looks | {HIDDEN} if hides(style) else looks)


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


def _rules_of(sheets: Iterable["HtmlElement"]) -> defaultdict[str, frozenset[str]]:
    """Return the effects of the page's own style sheets, by the selectors of classes and ids.

    Rules inside `@media` and the like, and selectors with several parts, do not always apply: they
    are ignored.
    """
    rules: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for sheet in sheets:
        if sheet.get("media", "all").strip().lower() not in ("", "all", "screen"):
            continue
        text = _NO_RULE.sub("", (sheet.text or "")[:_MAX_SHEET])
        for _ in range(_DEPTH):
            text = _CONDITION.sub("", text)
        for rule in text.split("}")[:-1]:
            selectors, _, body = rule.partition("{")
            looks = looks_of(body)
            for selector in selectors.split(",") if looks else ():
                if simple := _SIMPLE.match(selector.strip()):
                    rules[simple[1]] |= looks
    return rules
