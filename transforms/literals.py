"""Read lists from cells, as spreadsheets and data frames write them: JSON, Python, NumPy.

`["a", "b"]`, `['a', "b's"]`, `('a', 'b')`, `{'a', 'b'}`, `['a' 'b']` over one line or several,
`[np.str_('a')]`, `array(['a'], dtype=object)` and `frozenset({'a'})` are lists of two texts, or of
one. Nothing is evaluated.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Final

from ufo.schemas.row import UnusableValue, json_of

_CALL: Final = r"(?:(?:np\.|numpy\.)?(?:array|list|tuple|set|frozenset|deque)\s*\(\s*)?"
_BEGINS: Final = re.compile(
    _CALL + r"""[\[({]\s*(?:[bBrRuU]?["']|[\[({]|[A-Za-z_][\w.]*\(|(?:None|nan|null)\s*[\]),])"""
)
_OPENING: Final = re.compile(_CALL + r"([\[({])")
_CLOSING: Final = {"[": "]", "(": ")", "{": "}"}
_ITEM: Final = re.compile(
    r"""\s*(?P<call>(?:np\.|numpy\.)?str_\()?"""
    r"""(?P<item>[uU]?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|None|nan|null)"""
    r"""(?(call)\))\s*(?P<comma>,?)""",
    re.DOTALL,
)
_AFTER: Final = re.compile(r"\s*(?:,\s*dtype\s*=\s*[^()]{1,40})?\s*\)")
_QUOTED_OR_BRACKET: Final = re.compile(
    r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'(?!\w)|"(?:[^"\\]|\\.)*")|[\[\](){}]""", re.DOTALL
)
_SHOWN: Final = 60


def structure_of(value: object, name: str) -> object:
    """Return the list or object in a text, as in cells of CSV; any other value unchanged.

    `name` is the value's key, for the message.

    Raises:
        UnusableValue: the text is a list that cannot be read, for example one that was cut.
    """
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text[:1] in ("[", "{"):
        try:
            return json_of(text)
        except (ValueError, RecursionError):
            pass
    if not _BEGINS.match(text):
        return value
    items = _items(text)
    if items is not None:
        return items
    if _ends_early(text):
        return value
    raise UnusableValue(
        f"`{name}` holds a list that cannot be read: {text[:_SHOWN]!r}; give a list of texts, as "
        "JSON"
    )


def _items(text: str) -> list[str | None] | None:
    """Return the items of a list of Python or NumPy, None if the text is not a whole one."""
    opening = _OPENING.match(text)
    if opening is None:
        return None
    items: list[str | None] = []
    at, commas = opening.end(), 0
    while match := _ITEM.match(text, at):
        at = match.end()
        commas += bool(match["comma"])
        try:
            items.append(_text_of(match["item"]))
        except SyntaxError:  # an invalid escape, as in a path of Windows
            return None
    rest = text[at:].lstrip()
    if not rest.startswith(_CLOSING[opening[1]]):
        return None
    if opening[1] == "(" and not commas:  # ("a") is a text in brackets
        return None
    rest = rest[1:]
    is_called = opening.end() > 1
    return items if (_AFTER.fullmatch(rest) if is_called else not rest) else None


def _text_of(item: str) -> str | None:
    if item[-1] not in "'\"":
        return None
    with warnings.catch_warnings():  # of escapes that Python does not know
        warnings.simplefilter("ignore")
        # NumPy and data frames write a line end in a text as it is.
        text: str = ast.literal_eval(item.replace("\r", "\\r").replace("\n", "\\n"))
    return text


def _ends_early(text: str) -> bool:
    """Return whether the first bracket of a text is closed before its end: it is no list then."""
    if text.startswith("("):
        return True  # brackets around words are more usual than a tuple that cannot be read
    depth = 0
    for at, mark in _brackets(text):
        depth += 1 if mark in "[({" else -1
        if depth == 0:
            return at < len(text) - 1
    return False


def _brackets(text: str) -> Iterator[tuple[int, str]]:
    """Yield the brackets of a text that stand outside of quotation marks, and their places."""
    for match in _QUOTED_OR_BRACKET.finditer(text):
        if len(match[0]) == 1:
            yield match.start(), match[0]
