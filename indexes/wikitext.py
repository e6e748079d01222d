"""Convert wikitext to plain text, in time linear in the page's length.

Regular expressions first remove what MediaWiki removes before parsing (comments, references,
mathematics). One scan with a stack then removes or renders templates, links and tables. Regular
expressions finally handle markup within lines (tags, headings, lists, quotes).

The library mwparserfromhell, with templates, tables and references removed beforehand, processes 9
MB/s against 30 here. It leaves 20 pieces of markup in 106 articles against none, loses the text of
templates (dates, measures), stops at 40 levels of nesting, and takes quadratic time for unclosed
brackets.
"""

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache

from ufo.indexes import running_text
from ufo.indexes.templates import GAP, SUPERSCRIPTS, Unrendered, formula, render
from ufo.indexes.wikis import ABBREVIATIONS, has_variants
from ufo.schemas.documents import Section

# --- marks ---------------------------------------------------------------------------------------

# Control characters that XML forbids and that are no blanks. `html.unescape` makes none of a
# reference, so only those that stand in the input itself are to be removed.
_MARK, _ASIDE = "\x02", "\x03"
_DIGITS = "\x04\x05\x06\x07\x08\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18"
_MOST_NAMES = 16**3
_MARKS = re.compile(rf"[{_MARK}{_ASIDE}]([{_DIGITS}]{{3}})")
_MARK_VALUES = str.maketrans(_DIGITS, "0123456789abcdef")


class _Marks:
    """The templates and elements of a page without a known text, each with a mark in its place."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._numbers: dict[str, int] = {}

    def mark(self, name: str, aside: bool = False) -> str:
        """Return the mark for a name, to stand in the text."""
        name = _MARKS.sub("…", name) or "{{}}"  # a name may be made by another template
        if name not in self._numbers and len(self._names) < _MOST_NAMES:
            self._numbers[name] = len(self._names)
            self._names.append(name)
        number = self._numbers.get(name, _MOST_NAMES - 1)
        digits = "".join(_DIGITS[number >> shift & 15] for shift in (8, 4, 0))
        return (_ASIDE if aside else _MARK) + digits

    def names_in(self, text: str) -> set[str]:
        """Return the names of the marks in a text."""
        numbers = {int(digits.translate(_MARK_VALUES), 16) for digits in _MARKS.findall(text)}
        return {self._names[number] for number in numbers}


def _has_mark(text: str) -> bool:
    return _MARK in text or _ASIDE in text


_MAX_DEPTH = 200  # of nested templates, links, tables and brackets with asides; others are text

# --- before the scan ----------------------------------------------------------------------------

# Elements without prose or not shown, and those whose text is lost or struck out: a sentence with
# one of these is left out.
_DROPPED = (
    "ref|references|gallery|timeline|imagemap|templatestyles|indicator|mapframe|maplink"
    "|categorytree|section|inputbox|del|includeonly|rp"
)
_LOST = "score|graph|hiero|source|syntaxhighlight|chem|ce|s|strike"
_ELEMENT = re.compile(rf"<!--|<(nowiki|pre|math|{_DROPPED}|{_LOST})\b([^<>]*)>", re.IGNORECASE)
_SPECIAL = re.compile(r"[\[\]{}|<>'=*#:;_]")


def _remove_elements(text: str, marks: _Marks) -> str:
    """Remove comments and elements without prose; escape elements that are literal text."""
    kept: list[str] = []
    at = 0
    unclosed: set[str] = set()  # tags without a further end tag, so it is not searched again
    while match := _ELEMENT.search(text, at):
        kept.append(text[at : match.start()])
        at = match.end()
        tag = (match[1] or "").lower()
        if tag and match[2].endswith("/"):
            kept.append("" if tag == "nowiki" else GAP)
            continue
        end = None if tag in unclosed else _end_of(tag).search(text, at)
        if end is None:
            unclosed.add(tag)
            # An unclosed comment hides the rest of the page; an unclosed element hides nothing.
            if not tag:
                return "".join(kept)
            continue
        kept.append(_literal(tag, text[at : end.start()], marks))
        at = end.end()
    kept.append(text[at:])
    return "".join(kept)


@cache
def _end_of(tag: str) -> re.Pattern[str]:
    return re.compile(rf"</{tag}\b[^>]*+>?" if tag else "-->", re.IGNORECASE)


def _literal(tag: str, content: str, marks: _Marks) -> str:
    """Return the text of an element, with markup as entities so that it is not parsed."""
    if tag in ("nowiki", "pre"):
        return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", content)
    shown = formula(content) if tag == "math" else None
    if shown is None and tag in _WITH_TEXT:
        return marks.mark(f"<{tag}>")
    return shown or (GAP if tag else "")


_WITH_TEXT = frozenset(("math", *_LOST.split("|")))


# --- the scan -----------------------------------------------------------------------------------

_TEMPLATE, _LINK, _TABLE = "}}", "]]", "|}"
# "\n" rather than "^": the regex engine searches faster for a literal prefix.
_BRACKET = re.compile(r"\{\{|\}\}|\[\[|\]\]|\n[ \t:*#;]*+(\{\|)|\n[ \t]*+(\|\})(?!\})")
# Links without nested markup and namespace. The text is the label, else the target.
_SIMPLE = r"[^\[\]{}|\n:]*+"
_SIMPLE_LINK = re.compile(rf"\[\[(?:({_SIMPLE})|{_SIMPLE}\|(?=\s*+[^\s\]])([^\[\]{{}}|\n]*+))\]\]")
_CLOSES = {"{{": _TEMPLATE, "[[": _LINK, "{|": _TABLE}
_TABLE_ENDS = frozenset(("end", "table end", "s-end"))
_LANGUAGE = re.compile(r"(?:[a-z]{2,3}|simple)(?:-[a-z]+)*", re.ASCII)
_MEDIA = frozenset(("file", "image", "media", "category"))
_HEADING_INSIDE = re.compile(r"^==", re.MULTILINE)


def _replace_brackets(
    text: str, dropped_links: frozenset[str], language: str, marks: _Marks
) -> str:
    """Replace templates by their readable value, links by their text, tables by nothing."""
    text = "\n" + _SIMPLE_LINK.sub(lambda match: match[match.lastindex or 0], text)
    out: list[str] = []
    stack: list[tuple[str, int]] = []  # (closing bracket, start of the content in `out`)
    open_now = {_TEMPLATE: 0, _LINK: 0, _TABLE: 0}
    at = 0

    def close(kind: str) -> None:
        if not open_now[kind]:
            return
        # Unclosed brackets inside are text: their content stays in `out`.
        while True:
            top, start = stack.pop()
            open_now[top] -= 1
            if top == kind:
                break
        content = "".join(out[start:])
        del out[start:]
        if kind == _LINK:
            out.append(_link_text(content, dropped_links))
        elif kind == _TABLE:
            out.append("\n")
        elif stack and stack[-1][0] == _TABLE and content.strip().lower() in _TABLE_ENDS:
            close(_TABLE)
        else:
            value = render(content, language)
            if isinstance(value, Unrendered):
                value = marks.mark(value.name, value.aside)
            out.append(value or GAP)

    for match in _BRACKET.finditer(text):
        table = match[1] or match[2]
        token = table or match[0]
        out.append(text[at : match.start() + (1 if table else 0)])
        at = match.end()
        if token not in _CLOSES:
            close(token)
        elif len(stack) < _MAX_DEPTH:
            closer = _CLOSES[token]
            stack.append((closer, len(out)))
            if closer == _TABLE:
                out.append(token)  # marks the line as a table's if it is never closed
            open_now[closer] += 1
    out.append(text[at:])
    return "".join(out)


def _link_text(content: str, dropped: frozenset[str]) -> str:
    target, bar, label = content.partition("|")
    prefix, colon, rest = target.partition(":")
    if colon:
        space = prefix.strip().lower()
        if space in dropped:
            # A file link that contains a heading lacks its own closing bracket.
            return content if _HEADING_INSIDE.search(content) else GAP
        if not bar and _LANGUAGE.fullmatch(space):
            return GAP
        if not space:
            target = rest
    if bar and _HEADING_INSIDE.search(target):
        return content
    if bar and not label.strip():
        return target.partition(":")[2] or target.partition("(")[0].strip()
    return label if bar else target


# --- after the scan -----------------------------------------------------------------------------

_EXTERNAL = re.compile(
    r"\[(?:(?:(?:https?|ftp|irc):)?//|mailto:|news:)[^\s\[\]]++(?:[^\S\n]*+([^\[\]\n]*+)\])?"
)
_RAISED = re.compile(r"<(su[pb])\b[^<>]{0,1000}>([^<>\n]{0,200})</\1>", re.IGNORECASE)
_UNPAIRED = re.compile(r"</?su[pb]\b[^<>]{0,1000}>", re.IGNORECASE)
_VULGAR = re.compile(r"<sup>(\d+)</sup>\s?(?:[/⁄]|&frasl;)\s?<sub>(\d+)</sub>", re.IGNORECASE)
_SIGNED = re.compile(r"[-−–+]?\d[\d.,]*[-−–+]?|[-−–+]?[A-Za-z]")
_ORDINAL = re.compile(
    r"th|st|nd|rd|er|[eè]re|i?[eè]me|nde|es|ers|de|te|ste|os|as|ro|do|to|vo|mo|[eadoºª]",
    re.IGNORECASE,
)
_CLOSING = (")", "]", "}", "|")
_BREAK = re.compile(
    r"</?(?:br|hr|p|div|li|ul|ol|dl|dd|dt|blockquote|poem|center|tr|td|th|table|h[1-6])\b[^<>]{0,1000}>",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?(?!su[pb]\b)[A-Za-z][^<>]{0,1000}>", re.IGNORECASE)
_HIDDEN = re.compile(
    r"<(span|div)\b[^<>]{0,1000}\b(?:display\s*:\s*none|visibility\s*:\s*hidden)[^<>]{0,1000}>"
    r"[^<>]*+</\1>",
    re.IGNORECASE,
)
_READING = re.compile(r"<(/?)rt\b[^<>]{0,1000}>", re.IGNORECASE)  # above characters
_QUOTES = re.compile(r"''+")
_MAGIC = re.compile(r"__[^\W\da-z_](?:[^\W\da-z_]|_(?!_)){2,40}__")
_HEADING = re.compile(r"(={1,6})(.+?)\1$")
_MARKER = re.compile(r"[*#:;]+\s*")
_TABLE_LINE = re.compile(r"\{\||\||!(?:\s|[^!|]{0,200}(?:!!|\|))")
_RULE = re.compile(r"-{4,}")
_STRAY = re.compile(r"\[\[|\]\]|\{\{|\}\}")
_EMPTY_BRACKETS = re.compile(rf"[(\[][\s,;:/–{_MARK}{_DIGITS}-]*+[)\]]")
_AND_BEFORE = re.compile(r"\s?" + _EMPTY_BRACKETS.pattern)
_BEFORE_WORD = re.compile(_AND_BEFORE.pattern + r"(?=\w)")
_AFTER_OPENING = re.compile(r"\(\s*(?:[,;:]\s*)+")
_BEFORE_CLOSING = re.compile(r"(?<![\s,;])[\s,;]++\)")
_BEFORE_STOP = re.compile(r" +(?=[,;.](?:\s|$))")
_DOUBLED = re.compile(r"([,;])(?: ?[,;])+")


@dataclass(frozen=True, slots=True)
class Article:
    """The sections of an article that have any text, in order; a line is a paragraph or an item.

    `left_out` counts sentences that have a template or element without a known text, `by_name`
    those of each such name.
    """

    sections: tuple[Section, ...]
    left_out: int = 0
    by_name: Counter[str] = field(default_factory=Counter)


def article_of(
    wikitext: str, dropped_links: frozenset[str] = _MEDIA, language: str = "en"
) -> Article:
    """Return the text of an article.

    `dropped_links` are the namespaces, in lower case, whose links have no text.
    """
    marks = _Marks()
    for character in (_MARK, _ASIDE, GAP):
        if character in wikitext:
            wikitext = wikitext.replace(character, "")
    text = _remove_elements(wikitext, marks)
    variants = "-{" in text and has_variants(language)
    if variants:
        text = _one_variant(text)
    text = _replace_brackets(text, dropped_links, language, marks)
    if variants:  # with templates or links in them
        text = _one_variant(text)
    text = _EXTERNAL.sub(lambda match: match[1] or "", text)
    if _ASIDE in text:
        text = _ASIDES.sub(_unless_after_name, text)
    text = _QUOTES.sub("", text)
    if "<" in text:
        text = _HIDDEN.sub(GAP, text)
        text = _READING.sub(lambda match: ")" if match[1] else " (", text)
        text = _TAG.sub("", _BREAK.sub("\n", text))
        text = _VULGAR.sub(rf"{GAP}\1/\2", text)
        text = _UNPAIRED.sub(GAP, _render_raised(text))
    if GAP in text:
        text = _BETWEEN_DIGITS.sub(" ", text).replace(GAP, "")
    reader = _LineReader(language, marks)
    for line in _MAGIC.sub("", text).split("\n"):
        reader.add(line.strip())
    return reader.article()


# It begins with a plain character, for which the engine searches fast.
_BETWEEN_DIGITS = re.compile(rf"{GAP}(?<=[\d.,]{GAP}){GAP}*+(?=[.,]?\d)")


def _render_raised(text: str) -> str:
    """Return the text with superscripts and subscripts on the line, apart from other digits."""
    out: list[str] = []
    at = 0
    before = ""
    for match in _RAISED.finditer(text):
        between = text[at : match.start()]
        before = between.rstrip(GAP)[-1:] or before
        shown = _raised(match[1].lower(), match[2], before)
        out += (between, shown + GAP)
        before = shown[-1:] or before
        at = match.end()
    return "".join((*out, text[at:]))


def _raised(tag: str, content: str, before: str) -> str:
    content = html.unescape(content).strip()
    if not any(map(str.isalnum, content)) or not (before.isalnum() or before in _CLOSING):
        return content
    if tag == "sub":
        joined = before.isdigit() and (content[0].isdigit() or content[0] in ".,")
        return f"_{content}" if joined else content
    if before.isalpha():
        if content in SUPERSCRIPTS or not any(map(str.isdigit, content)):
            return SUPERSCRIPTS.get(content, content)
    elif _ORDINAL.fullmatch(content):
        return content
    if not (content[0].isalnum() or content[0] in "-−–+±.,"):
        return content
    return f"^{content if _SIGNED.fullmatch(content) else f'({content})'}"


_VARIANT = re.compile(r"-\{([^{}]*)\}-")
_VARIANT_RULE = re.compile(r"(?:^|;)\s*+(?:[^;:=]*+=>\s*+)?([a-z]{2,3}(?:-[a-z]+)*)\s*+:")
_PREFERRED = ("zh-hans", "zh-cn", "zh-sg", "zh-my", "zh")
_HIDDEN_FLAGS = frozenset("HTD-")


def _one_variant(text: str) -> str:
    """Replace each `-{…}-` by one of its variants: of Chinese a simplified one, else the first."""
    return _VARIANT.sub(lambda match: _variant(match[1]), text)


def _variant(content: str) -> str:
    flags, bar, rules = content.partition("|")
    if not bar:
        flags, rules = "", content
    if _HIDDEN_FLAGS & {flag.strip() for flag in flags.split(";")}:
        return ""
    starts = list(_VARIANT_RULE.finditer(rules))
    if not starts or rules[: starts[0].start()].strip():
        return rules.strip()
    ends = [start.start() for start in starts[1:]] + [len(rules)]
    variants: dict[str, str] = {}
    for start, end in zip(starts, ends, strict=True):
        variants.setdefault(start[1], rules[start.end() : end].rstrip("; \n").strip())
    key = next((code for code in _PREFERRED if code in variants), next(iter(variants)))
    return variants[key]


_ENDS = ".!?:;…。！？：；।؟"
_AFTER_END = "\"'”’»)]」』）"
_CJK_ENDS = re.compile(r"(?<=[。！？])(?![”’」』）])")
_ABBREVIATED = re.compile(rf"(?:^|\s)(?:\w{{1,2}}|{'|'.join(ABBREVIATIONS)})\.\s*$", re.IGNORECASE)


def sentences_of(line: str, language: str) -> list[str]:
    """Return the sentences of a line, each with the white space after it.

    A stop before a hyphen or a small letter ends none: "52 av. J.-C. il vint".
    """
    sentences: list[list[str]] = []
    for piece in running_text.pieces(line, language):
        goes_on = piece[0] in "-,;'’" or piece[0].islower()
        if goes_on and sentences and sentences[-1][-1].rstrip().endswith("."):
            sentences[-1].append(piece)
        elif piece.isascii():  # faster
            sentences.append([piece])
        else:
            sentences += ([part] for part in _CJK_ENDS.split(piece) if part)
    return ["".join(parts) for parts in sentences]


def _join_brackets(sentences: Iterable[str]) -> Iterator[str]:
    """Yield sentences, of which those with a bracket in common are joined."""
    whole = ""
    depth = 0
    for sentence in sentences:
        # "「…。」と": the quotation ends, the sentence goes on.
        if whole and not depth and not (whole[-1] in "」』" and "ぁ" <= sentence[0] <= "ゟ"):
            yield whole
            whole = ""
        whole += sentence
        depth += sum(map(sentence.count, "(（「『")) - sum(map(sentence.count, ")）」』"))
        depth = max(0, depth)
    if whole:
        yield whole


class _LineReader:
    """Gathers the lines of a page into sections, without the sentences that have marks."""

    def __init__(self, language: str, marks: _Marks) -> None:
        self._language = language
        self._marks = marks
        self._sections: list[Section] = []
        self._path: list[tuple[int, str]] = []
        self._lines: list[str] = []
        self._open = False  # the line before is of a paragraph, which may go on in the next
        self._left_out = 0
        self._by_name: Counter[str] = Counter()

    def add(self, line: str) -> None:
        """Add the next line of the text."""
        if not line:
            self._open = False
        elif line[0] == "=" and (heading := _HEADING.fullmatch(line)):
            self._finish()
            level = len(heading[1])
            self._path = [above for above in self._path if above[0] < level]
            title = _plain(heading[2])
            if _has_mark(title):
                self._count(title)
                title = ""
            self._path.append((level, title))
            self._open = False
        else:
            self._add_text(line)

    def article(self) -> Article:
        """Return the article of the lines so far."""
        self._finish()
        return Article(tuple(self._sections), self._left_out, self._by_name)

    def _add_text(self, line: str) -> None:
        plain = _line(line)
        marked = _has_mark(line)
        is_item = line[0] in "*#;"
        if not plain:
            if marked and self._open:  # a formula or the like within a paragraph's sentence
                self._lines[-1] += " " + "".join(mark[0] for mark in _MARKS.finditer(line))
        elif marked and is_item:
            self._count(plain)
            self._open = False
        else:
            if self._open and (marked or _has_mark(self._lines[-1])):
                self._lines[-1] += f" {plain}"
            else:
                self._lines.append(plain)
            self._open = not is_item and plain.rstrip(_AFTER_END)[-1:] not in _ENDS

    def _finish(self) -> None:
        lines = [kept for line in self._lines if (kept := self._remove_marked(line))]
        if lines:
            heading = " > ".join(title for _, title in self._path if title)
            self._sections.append(Section(heading, tuple(lines)))
        self._lines.clear()

    def _remove_marked(self, line: str) -> str:
        """Return a line without the sentences that have marks, which are counted."""
        if not _has_mark(line):
            return line
        kept: list[str] = []
        for sentence in _join_brackets(sentences_of(line, self._language)):
            if not _has_mark(sentence):
                kept.append(sentence)
                continue
            if kept and sentence[0] in (_MARK, _ASIDE) and _ABBREVIATED.search(kept[-1]):
                kept.pop()  # "c. {{…}}": no sentence ended there
            if kept and kept[-1][-1] in ".!?":
                kept.append(" ")
            self._count(sentence)
        text = "".join(kept).strip()
        return text if any(map(str.isalnum, text)) else ""

    def _count(self, sentence: str) -> None:
        self._left_out += 1
        self._by_name.update(self._marks.names_in(sentence))


def _line(line: str) -> str:
    if line[0] in "*#:;" and (marker := _MARKER.match(line)):
        line = line[marker.end() :]
    elif line[0] in "|!{" and _TABLE_LINE.match(line):
        return ""  # a line of an unclosed table
    elif line[0] == "-":
        line = _RULE.sub("", line)
    plain = _plain(line).lstrip(",;: ")
    # Punctuation alone is left of a line with a removed template.
    return plain if any(map(str.isalnum, plain)) else ""


def _plain(line: str) -> str:
    """Decode entities, and remove punctuation left by templates: "( ; born 1867)", " ,"."""
    if "[[" in line or "]]" in line or "{{" in line or "}}" in line:
        line = _STRAY.sub("", line)
    if "&" in line:
        line = html.unescape(line)
    line = " ".join(line.split())
    if _ASIDE in line:
        line = _remove_asides(line)
    if "(" in line or "[" in line:
        if _EMPTY_BRACKETS.search(line):
            line = _AND_BEFORE.sub("", _BEFORE_WORD.sub(" ", line))
        line = _AFTER_OPENING.sub("(", line)
    # Checked first: most lines have none, and the expressions try every space and comma.
    if " )" in line or ",)" in line or ";)" in line:
        line = _BEFORE_CLOSING.sub(")", line)
    if " ," in line or " ;" in line or " ." in line:
        line = _BEFORE_STOP.sub("", line)
    if ";" in line or ",," in line or ", ," in line:
        line = _DOUBLED.sub(r"\1", line)
    return line.strip()


_ROUND = re.compile(r"([()（）])")
_BETWEEN = f" {GAP}"
_ASIDES = re.compile(rf"{_ASIDE}[{_DIGITS}]{{3}}(?:[{_BETWEEN}]*+{_ASIDE}[{_DIGITS}]{{3}})*+")
# A word with a capital or of another script.
_NAME = re.compile(r"[\s(][^\W\d_a-z][^\s:<>]*$")


def _unless_after_name(match: re.Match[str]) -> str:
    """Return "" for asides right after a name, others unchanged.

    A name is in italics, bold or brackets, or a word like a name before a comma or the like."""
    before = match.string[max(0, match.start() - 100) : match.start()].rstrip(_BETWEEN)
    after = match.string[match.end() : match.end() + 3].lstrip(_BETWEEN)[:1]
    is_name = after in ",;.()\n" and _NAME.search(before)
    return "" if is_name or before.endswith(("''", ")")) else match[0]


def _remove_asides(line: str) -> str:
    """Remove asides in round brackets with their words; outside of them, they become marks."""
    open_now: list[list[str]] = [[]]
    for piece in _ROUND.split(line):
        if piece in ("(", "（") and len(open_now) < _MAX_DEPTH:
            open_now.append([piece])
        elif piece in (")", "）") and len(open_now) > 1:
            bracket, *inside = open_now.pop()
            content = "".join(inside)
            if _ASIDE in content:
                content = _rest_of(content)
            open_now[-1].append(f"{bracket}{content}{piece}")
        else:
            open_now[-1].append(piece)
    return "".join(map("".join, open_now)).replace(_ASIDE, _MARK)


def _rest_of(content: str) -> str:
    """Return the content of brackets without the parts that have an aside.

    A part ends at a semicolon, or at a comma where no digit shows that it may be within a date.
    """
    kept: list[str] = []
    for part in content.split(";"):
        pieces = part.split(",")
        if not any(_ASIDE in piece and any(map(str.isdigit, piece)) for piece in pieces):
            rest = [piece for piece in pieces if piece.strip() and _ASIDE not in piece]
            kept.extend([",".join(rest)] if rest else [])
    return ";".join(kept).strip()
