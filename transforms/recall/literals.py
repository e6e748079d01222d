"""Parse cells that hold a Python dictionary or list as text, as in WikiEvalFacts.

Supported is one level of strings, True, False, None, 0 and 1, also as JSON. Parsing takes linear
time and evaluates nothing, and values cannot nest.
"""

import re
from collections.abc import Iterator
from typing import Final

Value = str | bool | int | None

_TOKEN: Final = re.compile(
    r"""\s*(?:
        (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
        |(?P<word>\w+)
        |(?P<mark>[{}\[\],:])
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})|(.))",
    re.DOTALL,
)
_CHARACTERS: Final = {
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "b": "\b",
    "f": "\f",
    "/": "/",
    "'": "'",
    '"': '"',
    "\\": "\\",
    "\n": "",
}
_WORDS: Final[dict[str, Value]] = {
    "True": True,
    "true": True,
    "False": False,
    "false": False,
    "None": None,
    "null": None,
    "0": 0,
    "1": 1,
}
_SHOWN: Final = 40


class LiteralError(ValueError):
    """The text is not a flat dictionary or list; the message says where."""


def read_dictionary(text: str) -> dict[str, Value]:
    """Parse a dictionary.

    Raises:
        LiteralError: the text is something else, or has a key twice with different values.
    """
    tokens = _tokens(text)
    _expect(next(tokens), "{")
    result: dict[str, Value] = {}
    lexeme = next(tokens)
    while lexeme != "}":
        key = _value(lexeme)
        if not isinstance(key, str):
            raise LiteralError(f"a key is text, not {_shown(lexeme)}")
        _expect(next(tokens), ":")
        value = _value(next(tokens))
        if key in result and result[key] is not value and result[key] != value:
            raise LiteralError(f"{_shown(key)} is given twice")
        result[key] = value
        lexeme = _after(next(tokens), tokens, "}")
    _expect(next(tokens), "")
    return result


def read_list(text: str) -> list[str]:
    """Parse a list of strings.

    Raises:
        LiteralError: the text is something else.
    """
    tokens = _tokens(text)
    _expect(next(tokens), "[")
    result: list[str] = []
    lexeme = next(tokens)
    while lexeme != "]":
        item = _value(lexeme)
        if not isinstance(item, str):
            raise LiteralError(f"an item is text, not {_shown(lexeme)}")
        result.append(item)
        lexeme = _after(next(tokens), tokens, "]")
    _expect(next(tokens), "")
    return result


def _tokens(text: str) -> Iterator[str]:
    """Yield the tokens (strings with their quotes), then "" without end."""
    at = 0
    while match := _TOKEN.match(text, at):
        at = match.end()
        yield match[0].strip() if match["text"] is None else match["text"]
    rest = text[at:].strip()
    if rest:
        raise LiteralError(f"cannot be read from {_shown(rest)} on")
    while True:
        yield ""


def _after(lexeme: str, tokens: Iterator[str], end: str) -> str:
    """Return `end`, or the lexeme after a comma; a comma may precede the end."""
    if lexeme == end:
        return lexeme
    _expect(lexeme, ",")
    return next(tokens)


def _expect(lexeme: str, wanted: str) -> None:
    if lexeme != wanted:
        expected = repr(wanted) if wanted else "the end"
        raise LiteralError(f"expected {expected}, found {_shown(lexeme) if lexeme else 'the end'}")


def _value(lexeme: str) -> Value:
    if lexeme[:1] in ("'", '"'):
        text = _ESCAPE.sub(_character, lexeme[1:-1])
        # JSON writes a character outside the basic plane as a surrogate pair.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    if lexeme not in _WORDS:
        raise LiteralError(
            f"expected a text, True, False or None, found {_shown(lexeme) if lexeme else 'the end'}"
        )
    return _WORDS[lexeme]


def _character(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    return chr(int(code, 16)) if code else _CHARACTERS.get(match[4], match[0])


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
