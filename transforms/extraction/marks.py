"""Leave out the parts of a response that state nothing.

These are tags and entities of HTML, the marks of notes, addresses, citations of an author and year,
formulas that stand alone, open tasks, and lists of sources.
"""

import html
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from ufo.transforms.extraction.clause import LISTS, is_claim, wording
from ufo.transforms.sentences import GREETING, ITEM_MARK, Span

HEADING: Final = re.compile(r"\s*(#{1,6})\s+(.+?)\s*#*\s*$")
BOLD: Final = re.compile(r"\s*(\*\*|__)(?=\S)([^*_:.!?]{2,60})(?:\*\*|__):?\s*$")

_RAISED: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_TO_RAISED: Final = str.maketrans("0123456789", _RAISED)
_UNITS: Final = LISTS.words("squared")
_URL: Final = r"<?(?:https?://|www\.)[^\s<>()\[\]]*(?:\([^\s<>()]*\)[^\s<>()\[\]]*)*(?<![.,;:!?])>?"
_EMAIL: Final = r"\b[\w.+-]{1,64}@[\w-]{1,63}\.[A-Za-z][\w.-]{0,60}[A-Za-z]"
_ADDRESS: Final = re.compile(rf"{_URL}|{_EMAIL}")
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_RAISED_TAG: Final = re.compile(r"(\w{0,20})<sup>\s*\[?(\d{1,3})\]?\s*</sup>", re.IGNORECASE)
_BLOCK_TAG: Final = re.compile(
    rf"</?(?:{LISTS.phrases('block_tags')})(?:\s[^<>]*)?/?>", re.IGNORECASE
)
_TAG: Final = re.compile(
    rf"</[a-z][\w-]{{0,30}}>|<(?:{LISTS.phrases('tags')})(?:\s[^<>]*)?/?>"
    r"|(?<!\w)<(?-i:[a-z])[\w-]{0,30}(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
# After a word: "[^2]", "^[1]^", "【1†source】", "[1](https://…)", "([source](https://…))".
_NOTE: Final = re.compile(
    r"(?<=\S)\s?(?:\^?\[\^\w{1,20}\]\^?|\^\[\d{1,3}\]\^?|【[^】\n]{1,40}】"
    r"|[(\[](?i:sources?|refs?|references?|citations?): [^()\[\]\n]{1,80}[)\]]"
    r"|\[?\[\d{1,3}\]\]?\([^()\s]*\)|\(\[[^\[\]\n]*\]\([^()\s]*\)\)"
    rf"|(?<!\])[(\[<](?:(?:see|source|via|from|at|link):? )?{_URL}[)\]>])"
)
_RAISED_NOTE: Final = re.compile(
    r"(\b[^\W\d_]{4,40}|\b(?:1\d|20)\d\d[.,;:!?)]?|[^\W\d_][.,;:!?)\]\"”’]{1,4})"
    rf"[{_RAISED}]+(?:[,⁻–-][{_RAISED}]+)*(?![^\W_])"
)
_NAME: Final = r"[A-Z][\w'’-]{1,40}"
_YEAR: Final = r",? (?:1[5-9]|20)\d\d[a-z]?"
_PAGES: Final = r", pp?\. ?\d+(?:[–-]\d+)?"
# At the end of a sentence, and with more than a name and a year: "(Quinn, 1995, p. 12)".
_CITED_WORK: Final = rf"{_NAME}(?: et al\.?| (?:&|and) {_NAME})?{_YEAR}(?:{_PAGES})?"
_AUTHOR: Final = re.compile(
    rf"\s\((?:see |cf\. |e\.g\.,? )?(?:{_NAME}(?: et al\.?| & {_NAME}){_YEAR}(?:{_PAGES})?"
    rf"|{_NAME}(?: and {_NAME})?{_YEAR}{_PAGES}|{_CITED_WORK}(?:; {_CITED_WORK})+)\)(?=[.!?]?\s*$)"
)
_ACCORDING: Final = re.compile(rf"according to {_URL}, ", re.IGNORECASE)
_ESCAPED: Final = re.compile(r"\\([*_#`~.!>+{}-])")
_FORMULA: Final = re.compile(
    r"\s*(?:\$\$.*\$\$|\$[^$]*\$|\\\[.*\\\]|\\\(.*\\\)|`[^`]*[=^\\][^`]*`)[.,;:]?\s*", re.DOTALL
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_AROUND_ADDRESSES: Final = LISTS.words("around_addresses")
_INVISIBLE: Final = "\u200b\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069\ufeff"
_MARKED: Final = re.compile(rf"[<&\[/\\^【$`@☑✅✔☐{_RAISED}{_INVISIBLE}]")
_ITEM: Final = rf"\s*(?:{ITEM_MARK}\s+)?"
_DONE: Final = re.compile(rf"({_ITEM})(?:\[[xX✓✔]\]|[☑✅✔])\s+(?:Done: )?")
_AND_NUMBER: Final = re.compile(r"\A\s*and\s+\(?\w{1,2}\)\s+")  # "(1) she won, and (2) he left"
_SOURCES: Final = re.compile(
    rf"\W{{0,9}}(?:\d{{1,2}}[.)] )?\W{{0,5}}(?:{LISTS.phrases('source_headings')})\W{{0,9}}$",
    re.IGNORECASE,
)
# Lines that say nothing: an open task, a footnote, "Source: …".
_NOT_SAID: Final = re.compile(
    rf"{_ITEM}(?:\[ ?\]\s|☐|\[\^\w{{1,20}}\]:"
    rf"|[^\w\s]{{0,9}}(?:{LISTS.phrases('source_labels')})\W{{0,5}}:)",
    re.IGNORECASE,
)
_NUMBERED_NOTE: Final = re.compile(r"\s*\[(\d{1,3})\]:?\s+(?=\S)")
_CITED: Final = re.compile(r"\S\s?\[(\d{1,3})\]")
_STARTS: Final = re.compile(rf"\s*(?:{ITEM_MARK}|\[\d{{1,3}}\])\s")
# "Answer: Oslo is the capital."
_INTRODUCTION: Final = re.compile(
    rf"{_ITEM}[*_]{{0,3}}(?:{LISTS.phrases('introductions')})(?:[*_]{{1,3}}\s*:|:[*_]{{0,3}})\s+",
    re.IGNORECASE,
)
_MAX_LABEL: Final = 40
# "Myth: Oslo is in Sweden."
_MYTH: Final = re.compile(
    rf"{_ITEM}[*_]{{0,3}}(?:{LISTS.phrases('myths')})(?: #?\d{{1,2}})?[*_]{{0,3}}:", re.IGNORECASE
)


class Line(NamedTuple):
    """A sentence without marks, and its index.

    `indent` is that of its line, -1 for a sentence that does not begin one.
    """

    sentence: int
    text: str
    indent: int = 0
    is_paragraph: bool = False
    is_item: bool = False


def stated_lines(text: str, spans: Sequence[Span]) -> list[Line]:
    """Return the sentences of a text that state something, without marks.

    Lists of sources, footnotes, open tasks, and formulas and addresses that stand alone are left
    out."""
    lines: list[Line] = []
    cited: set[str] = set()
    sources = listed = left_out = False
    before = 0
    for index, (start, end) in enumerate(spans):
        sentence, gap = text[start:end], text[before:start]
        before, indent = end, -1
        is_paragraph = is_item = False
        if index == 0 or "\n" in gap or "\r" in gap:
            breaks = gap.replace("\r\n", "\n").replace("\r", "\n")
            is_paragraph = index == 0 or breaks.count("\n") > 1
            indent = len(breaks.rpartition("\n")[2].expandtabs(4))
            plain = sentence[:1].isalpha() and sentence[1:2] != ")"  # most lines
            is_item = not plain and _STARTS.match(sentence) is not None
            if sources and (is_heading(sentence) or (is_paragraph and listed and not is_item)):
                sources = False
            if _SOURCES.match(sentence):
                sources, listed = True, False
            listed = listed or is_item
            left_out = bool(
                _NOT_SAID.match(sentence) or GREETING.match(sentence) or _is_note(sentence, cited)
            )
        if ":" in sentence[:_MAX_LABEL]:
            introduction = _INTRODUCTION.match(sentence)
            left_out = not introduction and (left_out or _MYTH.match(sentence) is not None)
            sentence = sentence[introduction.end() :] if introduction else sentence
        if "[" in sentence:
            cited.update(_CITED.findall(sentence))
        kept = "" if sources or left_out else remove_marks(sentence)
        if kept.strip():
            lines.append(Line(index, kept, indent, is_paragraph, is_item))
    return lines


def is_heading(line: str) -> bool:
    """Return whether a line has the marks of a heading, or is bold as a whole."""
    return HEADING.match(line) is not None or BOLD.match(line) is not None


def _is_note(sentence: str, cited: set[str]) -> bool:
    """Return whether "[1] …" is a note: it was cited before, or is no sentence."""
    match = _NUMBERED_NOTE.match(sentence)
    if match is None:
        return False
    rest = sentence[match.end() :]
    return match[1] in cited or not is_claim(rest, wording(rest))


def remove_marks(text: str) -> str:
    """Return a sentence without tags, marks of notes, and addresses beside its statement."""
    if not (_MARKED.search(text) or ")" in text[-3:] or "www." in text or text[:4] == "and "):
        return text  # most sentences
    if _FORMULA.fullmatch(text):
        return ""
    text = _AND_NUMBER.sub("", text.translate(dict.fromkeys(map(ord, _INVISIBLE))), count=1)
    if "<" in text:
        text = _RAISED_TAG.sub(_raised, _COMMENT.sub(" ", text))
        text = _TAG.sub("", _BLOCK_TAG.sub(" ", text))
    if "&" in text:
        text = html.unescape(text)
    text = _RAISED_NOTE.sub(_remove_note, _AUTHOR.sub("", _NOTE.sub("", text)))
    if "//" in text or "www." in text or "@" in text:
        text = _ACCORDING.sub("", text)
        rest, count = _ADDRESS.subn(" ", text)
        if count and _AROUND_ADDRESSES.issuperset(_WORD.findall(rest.lower())):
            return ""
    return _ESCAPED.sub(r"\1", _DONE.sub(r"\1", text, count=1))


def _raised(match: re.Match[str]) -> str:
    """Return the power in `10<sup>6</sup>` and `m<sup>2</sup>`; a note is left out."""
    word, digits = match[1], match[2]
    is_year = len(word) == 4 and word.isdigit()
    is_power = word[-1:].isdigit() or 0 < len(word) < 3 or word.lower() in _UNITS
    return word + digits.translate(_TO_RAISED) if is_power and not is_year else word


def _remove_note(match: re.Match[str]) -> str:
    return match[0] if match[1].lower() in _UNITS else match[1]
