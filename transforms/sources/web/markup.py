"""Simplify the markup of a page: inline markup to plain text, bare text to paragraphs.

The search for the main text drops elements by their name and class. Within a sentence that would
lose a date or a number, so before it starts each sentence is made one piece of text. Raised text is
read by `superscripts`. `elements.yaml` has the names.
"""

import re
from functools import reduce
from typing import TYPE_CHECKING

from lxml.etree import strip_tags
from lxml.html import Element

from ufo.transforms.sources.web.lines import (
    SENTENCE_END,
    breaks,
    lines_of,
    names,
    phrases,
    text_after,
    text_before,
)
from ufo.transforms.sources.web.styles import drop
from ufo.transforms.sources.web.superscripts import (
    UNREADABLE,
    Superscripts,
    read_lowered,
    separate_digits,
)

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_LONG_CELL = 400  # characters; a longer cell is a part of the page, not of a table
_NOTE = phrases("note")
_MARK = re.compile(r"[\[(]?(?:[0-9]{1,3}|[a-z]|[*†‡§¶‖#]+)[\])]?")
_OVER = re.compile(r"\s?[/⁄∕]\s?(?=[0-9]|$)")
_BETWEEN_MARKS = re.compile(r"\s*[,;–-]?\s*")
_MATH_IMAGE = re.compile(r"math|latex|katex|\btex\b|formula|equation", re.IGNORECASE)
_FEW_WORDS = 4  # of the shortest sentence that is kept in a caption or a footer
_SOME_WORDS = 3  # of the shortest text between blocks that is kept
_ASIDE = phrases("aside")
_COMMENTS = re.compile("comment", re.IGNORECASE)
_CLOCK = re.compile(r"\b\d{1,2}:\d\d\b")
_ASIDES = frozenset(("aside", "li", "nav"))
_HOLDS_LINES = frozenset(("table", "pre", "blockquote"))
_NUMBERED = re.compile(r"\d")
_CREDIT = phrases("credit", r"[\[(|]?\s?")
_ENDED = re.compile(r"[.!?:;,…。！？]$")


def read_marks(tree: "HtmlElement") -> None:
    """Write formulas, fractions, raised text and short quotations as running text."""
    for element in list(tree.iter(*names()["beside"])):
        drop(element)
    for formula in list(tree.iter("math")):
        _set_apart(formula, _formula(formula).strip() or UNREADABLE)
    for image in list(tree.iter("img")):
        if _MATH_IMAGE.search(image.get("class", "")):
            image.tag, image.text = "span", UNREADABLE
        else:
            drop(image)
    for box in list(tree.iter("button", "output", "meter", "progress")):
        _set_apart(box, box.text_content())
    _separate_lines(tree)
    _read_fractions(tree)
    _read_raised(tree)
    for quote in list(tree.iter("q")):
        _set_text(quote, f"“{quote.text_content()}”")


def to_paragraphs(tree: "HtmlElement") -> None:
    """Leave blocks, links and line breaks in a tree, with each line of text in a block."""
    known = names()
    for holder in list(tree.iter(*known["holders"])):
        if holder.getparent() is None:
            continue  # in a cell that is one line now
        if holder.tag in ("td", "th") and _join_lines(holder):
            continue
        _wrap_text(holder)
    for line in list(tree.iter("p", "li")):
        _name_line(line)
    for line in list(tree.iter("p")):
        if _named_caption(line):
            _read_caption(line)
        elif _is_note_text(line):
            strip_tags(line, "a")  # a short part of a page with a link would be taken for a menu
    _keep_notes(tree)
    _leave_blocks(tree)


def _leave_blocks(tree: "HtmlElement") -> None:
    """Leave nothing but blocks, links and line breaks."""
    known = names()
    kept = known["blocks"] | known["kept"]
    strip_tags(tree, *({str(element.tag) for element in tree.iter("*")} - kept))
    for element in tree.iter("*"):
        # Lines may be joined later. Setting a text also joins its many pieces, which is faster.
        space = " " if breaks(element) else ""
        if element.text or len(element):
            element.text = space + (element.text or "")
        element.tail = space + (element.tail or "")
    for name, other in known["renamed"].items():
        for element in tree.iter(name):
            element.tag = other


def _separate_lines(tree: "HtmlElement") -> None:
    """Make blocks of paragraphs and of elements of a line that hold blocks."""
    blocks = names()["blocks"]
    for element in list(tree.iter(*(blocks - {"meta", "script"}))):
        for outer in element.iterancestors():
            if outer.tag == "a" or (outer.tag in blocks and outer.tag != "p"):
                break
            outer.tag = "div"


# --- raised and lowered text ---------------------------------------------------------------------


def _read_raised(tree: "HtmlElement") -> None:
    reader = Superscripts(tree.get("lang", ""))
    for element in list(tree.iter("sup", "sub", "a", "small")):
        if element.getparent() is None:
            continue
        if element.tag == "a":
            if _is_mark(element):
                _set_text(element, "")
        elif element.tag != "small" or _is_small_number(element):
            _set_text(element, _read(element, reader))
    for link in tree.iter("a"):
        if not link.text_content().strip():
            link.tag = "span"  # a paragraph with an empty link would be taken for a menu


def _read(element: "HtmlElement", reader: Superscripts) -> str:
    """Return a raised or lowered element as running text."""
    is_note = element.tag != "sub" and _is_note(element)
    if element.tag != "sub":
        _merge_marks(element, is_note)
    following = element.getnext()
    stacked = not element.tail and following is not None and following.tag == "sup"
    text = _raised_text(element)
    space = " " if text[-1:].isspace() else ""
    before, after = text_before(element), "" if stacked else space + text_after(element)
    if element.tag == "sub":
        return read_lowered(before, text, after) + space
    return reader.read(before, text, after, is_note=is_note) + space


def _raised_text(raised: "HtmlElement") -> str:
    """Return the text of a raised or lowered element; UNREADABLE if a part of it is so again."""
    text: str = raised.text_content()
    again = (part.text_content().strip() for part in raised.iterdescendants("sup", "sub"))
    return text if next(filter(None, again), text.strip()) == text.strip() else UNREADABLE


def _is_small_number(element: "HtmlElement") -> bool:
    """Return whether an element is small digits right after others of another number."""
    is_number = element.text_content().strip().isdigit()
    return is_number and text_before(element)[-1:].isdigit()


def _is_mark(link: "HtmlElement") -> bool:
    """Return whether a link on the line is the mark of a note, without brackets around it."""
    text = link.text_content().strip()
    before = text_before(link)
    if not _MARK.fullmatch(text) or before.endswith(("[", "(")):
        return False
    joined = not before[-1:].isspace() and bool(before)
    return _says_note(link) or (_leads_within(link) and (joined or text.startswith(("[", "("))))


def _merge_marks(raised: "HtmlElement", is_note: bool) -> None:
    """Join raised text with the raised text right after it: the marks of several notes."""
    texts = [_raised_text(raised)]
    following = raised.getnext()
    while (
        following is not None
        and following.tag == "sup"
        and _BETWEEN_MARKS.fullmatch(raised.tail or "")
        and not following.text_content().strip().startswith(("[", "("))
        and _is_note(following) == is_note
    ):
        texts += [raised.tail or "", _raised_text(following)]
        raised.tail = following.tail
        raised.getparent().remove(following)
        following = raised.getnext()
    if len(texts) > 1:
        _set_text(raised, "".join(texts))


def _is_note(raised: "HtmlElement") -> bool:
    """Return whether the markup of raised text makes it the mark of a note."""
    links = [*raised.iter("a"), *raised.iterancestors("a")]
    return any(_says_note(part) or _leads_within(part) for part in (raised, *links))


def _says_note(element: "HtmlElement") -> bool:
    values = (element.get(name, "") for name in ("class", "role", "epub:type", "id", "rel"))
    return bool(_NOTE.search(" ".join(values)))


def _leads_within(link: "HtmlElement") -> bool:
    page, _, place = link.get("href", "").partition("#")
    return bool(place) and (not page or bool(_NOTE.search(place)))


def _read_fractions(tree: "HtmlElement") -> None:
    known = names()
    for raised in tree.iter("sup"):
        following = raised.getnext()
        if raised.tail and following is not None and following.tag == "sub":
            raised.tail = _OVER.sub("/", raised.tail, count=1)
    for element in list(tree.iter("span")):
        if known["fractions"].isdisjoint(element.get("class", "").split()):
            continue
        above, below = _part(element, "numerators"), _part(element, "denominators")
        if above is not None and below is not None:
            over = f"{above.text_content().strip()}/{below.text_content().strip()}"
            _set_apart(element, f"{element.text or ''} {over}".strip())
        elif not len(element):
            _set_apart(element, element.text or "")


def _part(fraction: "HtmlElement", kind: str) -> "HtmlElement | None":
    known = names()[kind]
    parts = (e for e in fraction.iter("*") if not known.isdisjoint(e.get("class", "").split()))
    return next(parts, None)


def _formula(element: "HtmlElement") -> str:
    """Return MathML as text; UNREADABLE for a part that one line cannot show."""
    parts = [_formula(child).strip() for child in element]
    if element.tag in ("mi", "mn", "mo", "mtext", "ms"):
        return str(element.text_content())
    if element.tag == "mspace":
        return " "
    if element.tag in ("math", "mrow", "mstyle", "semantics", "mpadded"):
        return reduce(lambda text, part: text + separate_digits(text, part, ""), parts, "")
    if element.tag in ("msup", "msub", "mfrac") and len(parts) == 2:
        sign = {"msup": "^", "msub": "_", "mfrac": "/"}[element.tag]
        first, second = (p if re.fullmatch(r"[-−]?\w*", p) else f"({p})" for p in parts)
        return f"{first}{sign}{second}".replace("−", "-")
    return UNREADABLE


def _set_apart(element: "HtmlElement", text: str) -> None:
    _set_text(element, separate_digits(text_before(element), text, text_after(element)))


def _set_text(element: "HtmlElement", text: str) -> None:
    del element[:]
    element.text = text


# --- blocks --------------------------------------------------------------------------------------


def _join_lines(cell: "HtmlElement") -> bool:
    """Make one line of a cell with several; return whether the cell is a small one of a table."""
    if cell.find(".//table") is not None or len(cell.text_content()) > _LONG_CELL:
        return False
    if any(breaks(element) for element in cell.iterdescendants()):
        lines = (line + (" " if _ENDED.search(line) else "; ") for line in lines_of(cell))
        _set_text(cell, "".join(lines).rstrip("; "))
    return True


def _wrap_text(holder: "HtmlElement") -> None:
    """Make paragraphs of the text that stands between the blocks of an element."""
    known = names()
    outer = holder.getparent()
    in_item = not known["items"].isdisjoint((holder.tag, outer.tag))
    if holder.tag in ("div", *known["items"]) and not any(map(_is_block, holder)):
        aside = _ASIDE.search(f"{holder.get('class', '')} {outer.get('class', '')}")
        if holder.tag == "div" and (in_item or (_is_fact(holder) and not aside)):
            holder.tag = "p"
        return
    parts = [_line(holder.text)]
    holder.text = None
    for child in list(holder):
        if _is_block(child):
            parts += [child, _line(child.tail)]
            child.tail = None
        else:
            parts[-1].append(child)
    for part in parts:
        if part.tag != "span":
            holder.append(part)
        elif text := part.text_content().strip():
            is_text = len(text.split()) >= _SOME_WORDS and not text.startswith("http")
            part.tag = "p" if in_item or is_text else "div"
            holder.append(part)


def _is_block(element: "HtmlElement") -> bool:
    return element.tag in names()["blocks"]


def _line(text: str | None) -> "HtmlElement":
    line = Element("span")
    line.text = text
    return line


def _name_line(line: "HtmlElement") -> None:
    """Give a line the class of a `span` that has all of its text, which may be a caption."""
    inner = line
    while len(inner) == 1 and not f"{inner.text or ''}{inner[0].tail or ''}".strip():
        inner = inner[0]
        if inner.tag != "span":
            break
        line.set("class", f"{line.get('class', '')} {inner.get('class', '')}".strip().lower())


def _keep_notes(tree: "HtmlElement") -> None:
    """Keep the sentences of captions, and the corrections in the head or foot of an article."""
    marked = next(tree.iter("article", "main"), None) is not None
    for part in list(tree.iter("header", "footer", "figure")):
        outer = {str(element.tag) for element in part.iterancestors()}
        within = not outer.isdisjoint(("article", "main"))
        if not (within or (not marked and _is_beside_text(part))) or outer & _ASIDES:
            continue
        if any(_COMMENTS.search(f"{e.get('class')} {e.get('id')}") for e in part.iter("*")):
            continue
        lines = [
            line
            for line in part.iter("p", "figcaption", "table", "pre", "blockquote")
            if not _HOLDS_LINES.intersection(e.tag for e in line.iterancestors())
            if line.tag in _HOLDS_LINES or _is_note_text(line)
        ]
        for line in lines:
            line.tag = "p" if line.tag == "figcaption" else line.tag
            line.attrib.clear()
        part.text = None
        part[:] = lines
        part.tag = "div"
        part.attrib.clear()


def _is_beside_text(part: "HtmlElement") -> bool:
    """Return whether a part is a figure, or next to a paragraph and not the page's head or foot."""
    beside = part.getnext() if part.tag == "header" else part.getprevious()
    in_body = beside is not None and beside.getparent().tag == "body"
    return part.tag == "figure" or (beside is not None and beside.tag == "p" and not in_body)


def _named_caption(element: "HtmlElement") -> bool:
    classes: str = element.get("class", "")
    return "caption" in classes.lower()


def _read_caption(line: "HtmlElement") -> None:
    """Drop a caption without a sentence or number; else clear the class names of a caption."""
    outer = line.getparent()
    if not _is_caption(line):
        drop(line)
        return
    for element in filter(_named_caption, (line, outer)):
        element.attrib.clear()


def _is_caption(line: "HtmlElement") -> bool:
    """Cut off the credit of a caption; return whether it is a sentence, or has a number."""
    text = " ".join(lines_of(line))
    caption = _CREDIT.split(text, maxsplit=1)[0].strip()
    _set_text(line, caption)
    return _is_sentence(caption) or (caption == text and bool(_NUMBERED.search(caption)))


def _is_note_text(line: "HtmlElement") -> bool:
    if line.tag == "figcaption":
        return _is_caption(line)
    text = " ".join(lines_of(line))
    linked = sum(len(link.text_content()) for link in line.iter("a"))
    return _is_sentence(text) and not _CLOCK.search(text) and linked * 2 < len(text)


def _is_sentence(text: str) -> bool:
    return len(text.split()) >= _FEW_WORDS and bool(SENTENCE_END.search(text.strip()))


def _is_fact(line: "HtmlElement") -> bool:
    text = line.text_content()
    numbered = len(text.split()) > 1 and bool(_NUMBERED.search(text)) and not _CLOCK.search(text)
    return _is_sentence(text) or (numbered and line.find(".//a") is None)
