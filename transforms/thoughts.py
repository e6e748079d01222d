"""Find the thoughts of a reasoning model in its text, which are no part of its answer.

Models and servers mark them in several ways: `<think>…</think>` and other tags, `[THINK]…[/THINK]`,
the channels of `gpt-oss`. A block may have lost its beginning, when the chat template wrote it, or
its end, when the text was cut off.
"""

import re
from collections.abc import Iterator
from typing import Final

from ufo.transforms.english.grammar import Lists

_LISTS: Final = Lists("ufo.transforms", "thoughts.toml")
NAMES: Final = _LISTS.phrases("names")
"""The names of the tags around thoughts, as a regular expression."""

# Marks, and the strings of JSON and the code in which a mark is only mentioned.
_TOKEN: Final = re.compile(
    r"\\[\"\\]|(?P<string>\")|(?P<fence>```)|(?P<tick>`)|(?P<line>\n)|(?P<brace>\{)"
    rf"|(?P<opens><(?:{NAMES})(?:\s[^<>\n]*)?>|{_LISTS.phrases('opens')})"
    rf"|(?P<closes></(?:{NAMES})\s*>|{_LISTS.phrases('closes')})\s*"
    rf"|(?P<wraps>{_LISTS.phrases('wraps')})",
    re.IGNORECASE,
)
_QUOTES: Final = ("'", '"', "`")
# "Models write <think> first": a mark within a sentence.
_WITHIN: Final = re.compile(r"[^\W_] ")
_GOES_ON: Final = re.compile(r" [a-z]")
_PARTS: Final = ("<", "THINK]", "RESPONSE]", "◁", "assistantf")  # a text with a mark has one
_ANSWERS: Final = ("<answer", "<final")


def without_thoughts(text: str) -> str:
    """Return a text without its thoughts, and without the marks around its answer."""
    kept, at = [], 0
    for start, end in thought_ranges(text):
        kept.append(text[at:start])
        at = end
    return "".join([*kept, text[at:]]).lstrip() if at else text


def thought_ranges(text: str) -> list[tuple[int, int]]:
    """Return the ranges of thoughts and of the marks around the answer, in order.

    A block without a beginning starts with the text, and one without an end goes to the end of the
    text, or to the mark of the answer. A mark in a string of JSON, in code or in quotes is text.
    Takes time linear in the length of the text.
    """
    if not any(part in text for part in _PARTS):
        return []  # most texts
    spans: list[tuple[int, int]] = []
    opened = answer = -1  # where a block begins, and the answer after a block without an end
    for mark in _marks(text):
        start, end = mark.span()
        if mark.lastgroup == "closes":
            spans = [*spans, (opened, end)] if opened >= 0 else [(0, end)]
            opened = answer = -1
        elif mark.lastgroup == "opens" and opened < 0:
            opened = start
        elif opened < 0:
            spans.append((start, end))
        elif mark[0].lower().startswith(_ANSWERS):
            answer = end
    if opened < 0:
        return spans
    if answer < 0:
        return [*spans, (opened, len(text))]
    tail = [(answer + start, answer + end) for start, end in thought_ranges(text[answer:])]
    return [*spans, (opened, answer), *tail]


def _marks(text: str) -> Iterator[re.Match[str]]:
    """Yield the marks of thoughts and answers, without those that are only mentioned."""
    within = fenced = ticked = string = False
    json = text.lstrip()[:1] == "["
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "brace":
            json = True
        elif kind == "string":
            string = json and not string
        elif kind == "fence":
            fenced = not fenced
        elif kind == "tick":
            ticked = not ticked
        elif kind == "line":
            ticked = False
        elif kind is not None:
            free = not (fenced or ticked or string or _is_spoken_of(text, *token.span(kind)))
            if not free and not (within and kind == "closes"):
                continue
            yield token
            if kind == "opens":
                within = True
            elif kind == "closes":
                within = fenced = ticked = string = False
                json = text.startswith("[", token.end())


def _is_spoken_of(text: str, start: int, end: int) -> bool:
    """Return whether a mark stands in quotation marks, or within a sentence in lower case."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    quoted = before[-1:] in _QUOTES and before[-1:] == after[:1]
    return quoted or (_WITHIN.match(before) is not None and _GOES_ON.match(after) is not None)
