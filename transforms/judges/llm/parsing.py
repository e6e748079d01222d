"""Parse values from replies: JSON in function calls or in a text, tags, numbers and verdicts.

Values are found leniently but accepted strictly: a value that is cut off, of a wrong type, or given
twice with differences counts as missing. No function here raises.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import resources
from itertools import chain
from typing import Any, Final

from ufo.schemas.records import (
    FILTERED,
    NOANS,
    REFUSED,
    REFUTED,
    SUPPORTED,
    TRUNCATED,
    UNPARSABLE,
)
from ufo.transforms.judges.llm.llm_settings import TF, TFN
from ufo.transforms.llm.request import BROKEN_OFF, WITHHELD, Choice

_MAX_FALSE_STARTS: Final = 1000
_MAX_DEPTH: Final = 100  # levels of brackets; a valid reply has six
_WRAPPERS: Final = 6  # levels of objects, lists and texts around the arguments
_BEGINNING: Final = re.compile(r"\s*(?:```\w*\s*)?[{\[]")
# A number of a fact or question in the place of its name: "1", "F1", "fact_1", "<f1>".
_NUMBERED_NAME: Final = re.compile(r"\W*(?:[fq][a-z]*[\W_]*)?(\d{1,4})\W*", re.IGNORECASE)
_NUMBER_OF_NAME: Final = re.compile(r"id|name|number|claim\w*|[fq][a-z]*(?:_?(?:id|number|no))?")
_ZERO: Final = "0"  # in place of a name: the names are counted from 0
_PUNCTUATION: Final = re.compile(r"[\W_]+")
_RANGE: Final = 10_000  # numbers, at most, between two with a dash
_CLOSING: Final = {"{": "}", "[": "]"}
_NO_NAME: Final = {"{": None, "[": ""}

# --- almost JSON --------------------------------------------------------------------------------

# A quote ends a text only before what may follow one: models leave quotes within it as they are.
_NEXT: Final = r"[\"'“‘{\[\]},]|//|/\*|\#\s|-?\d|\w+\s*[:,}\]]"
_AFTER: Final = rf"\s*(?:[:}}\]]|//|/\*|\#\s|,\s*(?:{_NEXT}))"
_TEXT: Final = "|".join(
    rf"{first}(?:[^{last}\\]|\\.|{last}(?!{_AFTER}))*{last}(?={_AFTER})"
    for first, last in ('""', "''", "“”", "‘’")
)
_TOKEN: Final = re.compile(
    r"(?:\s|//[^\n]*|/\*.*?\*/|\#\s[^\n]*)*"
    r"(?:(?P<mark>[{}\[\]:,])|(?P<word>[^\s{}\[\]:,\"'“”‘’]+)"
    rf"|(?P<text>{_TEXT}))",
    re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\([\"\\/bfnrt]|u[0-9a-fA-F]{4})|\\(.)|(\")", re.DOTALL)
_NAMED: Final = {"true": True, "false": False, "null": None, "none": None, "undefined": None}


@dataclass(slots=True)
class _Open:
    """An object or list that is not closed yet; `name` is its own in the object around it."""

    bracket: str
    name: str
    members: list[tuple[str, Any]] = field(default_factory=list)

    def value(self) -> Any:
        """Return the object or list with its members so far."""
        return _object(self.members) if self.bracket == "{" else [one for _, one in self.members]


def _almost_json(text: str, at: int) -> tuple[Any, int, bool]:
    """Return the object that is almost JSON at `at`, its end, and whether the text ends within it.

    Texts may be in other quotes, and may hold quotes and line breaks. Names and words may have no
    quotes. Comments and surplus commas are left out. Where the text ends early or cannot be read,
    the value has only what was complete: a value that something follows, and an item of a list. An
    object within it that is cut off may lack members, and is left out.
    """
    start, levels = at, [_Open("{", "")]
    at += 1
    name: str | None = None  # of the next value, "" in a list; None where a name has to come
    while token := _TOKEN.match(text, at):
        level, mark = levels[-1], token["mark"] or ""
        after = _TOKEN.match(text, token.end())
        follows = "a value" if mark or not after else after["mark"] or "a value"
        between = name is None or level.bracket == "["
        if mark and mark == _CLOSING[level.bracket] and between:
            levels.pop()
            if not levels:
                return level.value(), token.end(), False
            levels[-1].members.append((level.name, level.value()))
            name = _NO_NAME[levels[-1].bracket]
        elif mark in _CLOSING and name is not None and len(levels) < _MAX_DEPTH:
            levels.append(_Open(mark, name))
            name = _NO_NAME[mark]
        elif after and follows == ":" and name is None:
            name, token = str(_scalar(token)), after
        elif follows in ",}]" and name is not None:
            level.members.append((name, _scalar(token)))
            name = _NO_NAME[level.bracket]
        elif mark != "," or not between:
            break
        at = token.end()
    ends_within = text[at:].lstrip()[:1] in ("", *"\"'“‘")
    members = levels[-1].members
    if members and isinstance(members[-1][1], str) and not ends_within:
        members.pop()  # a quote within it may have been taken for its end
    value, name = None, ""
    for level in reversed(levels):
        if value is not None:
            level.members.append((name, value))
        usable = level.bracket == "[" or level is levels[0] or value is not None
        value, name = level.value() if usable else None, level.name
    return value, at if value else start + 1, ends_within


def _scalar(token: re.Match[str]) -> Any:
    """Return the text, word or number of a token."""
    if token["text"]:
        return _unescaped(token["text"][1:-1])
    word = token["word"]
    if word.casefold() in _NAMED:
        return _NAMED[word.casefold()]
    for kind in (int, float):
        with suppress(ValueError):
            return kind(word)
    return word


def _unescaped(text: str) -> str:
    """Return a text of JSON without escapes, unknown ones as the characters themselves."""

    def valid(match: re.Match[str]) -> str:
        return match[0] if match[1] else match[2] or '\\"'

    return str(json.loads(f'"{_ESCAPE.sub(valid, text)}"', strict=False))


def _members(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members as a dictionary, those of one name merged.

    Objects are merged by their members, and lists follow one another. A name that has other values
    that differ is left out.
    """
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    values: dict[str, list[Any]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    merged: dict[str, Any] = {}
    for name, (first, *others) in values.items():
        if not others or _equal(first, others):
            merged[name] = first
        elif all(isinstance(value, dict) for value in values[name]):
            merged[name] = _members([pair for value in values[name] for pair in value.items()])
        elif all(isinstance(value, list) for value in values[name]):
            merged[name] = [*chain.from_iterable(values[name])]
    return merged


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members as a dictionary, with names in lower case."""
    return _members([(name.strip().casefold(), value) for name, value in pairs])


def _equal(first: Any, others: Sequence[Any]) -> bool:
    try:
        return all(type(value) is type(first) and value == first for value in others)
    except RecursionError:
        return False


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_object, strict=False)


def _objects(text: str) -> Iterator[tuple[Any, bool]]:
    """Yield the outermost JSON objects of a text, and whether the text ends within each.

    An object that is cut off has its complete part. A text that is a JSON string yields its value.
    """
    if text[:1] not in ("", "{") and text.lstrip()[:1] == '"':
        with suppress(ValueError, RecursionError):
            yield _DECODER.decode(text.strip()), False
            return
    at = text.find("{")
    for _ in range(_MAX_FALSE_STARTS):
        if at < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, at)
            yield value, False
        except RecursionError:
            yield {}, text.rstrip()[-1:] != "}"
            return
        except ValueError:
            value, end, ends_within = _almost_json(text, at)
            if value or ends_within:
                yield value, ends_within
        at = text.find("{", end)


# --- replies ------------------------------------------------------------------------------------


def reason_of(choice: Choice, asked_json: bool = False) -> str:
    """Return the reason (one of records.REASONS) why items may be missing from a reply."""
    if choice.refusal:
        return REFUSED
    if choice.ending == WITHHELD:
        return FILTERED
    if choice.ending == BROKEN_OFF or (asked_json and breaks_off(choice)):
        return TRUNCATED
    return UNPARSABLE


def breaks_off(choice: Choice) -> bool:
    """Return whether a reply in JSON ends before its brackets are closed.

    Some servers return finish_reason `stop` for a reply that their limit cut off.
    """
    text = choice.arguments or choice.text
    with suppress(ValueError, RecursionError):  # most replies
        json.loads(text)
        return False
    ends = [ends_within for _, ends_within in _objects(text)]
    unclosed = any(ends) or (not ends and text.rstrip()[-1:] not in ("]", "}"))
    return bool(_BEGINNING.match(text)) and unclosed


def is_whole(choice: Choice) -> bool:
    """Return whether JSON in a reply is complete, for a reply that may have broken off."""
    ends = [ends_within for _, ends_within in _objects(choice.arguments or choice.text)]
    return bool(ends) and not any(ends)


def arguments_of(choice: Choice, names: Iterable[str]) -> dict[str, Any]:
    """Return the arguments of these names from function calls, or from JSON in the text.

    From JSON that is cut off, complete arguments and complete items of a list are returned. The
    arguments of several calls are merged; a name with two different values is left out. A name may
    be written in another way: `F1`, `fact_1` or `1` for `f1`, or be a number in the value:
    `{"fact": 1, …}`. Where they are counted from 0, none is returned. Names within the values are
    in lower case.
    """
    if choice.refusal or choice.ending == WITHHELD:
        return {}
    wanted: dict[str, str] = {}
    for name in names:
        wanted[_PUNCTUATION.sub("", name.casefold())] = name
        if number := _NUMBERED_NAME.fullmatch(name):
            wanted |= {number[1]: name, "0": _ZERO}
    called = _wanted(choice.arguments, wanted, _WRAPPERS) if choice.arguments else ()
    members = _members([*called]) or _members([*_wanted(choice.text, wanted, _WRAPPERS)])
    return {} if _ZERO in members else members


def _wanted(value: Any, wanted: Mapping[str, str], levels: int) -> Iterator[tuple[str, Any]]:
    """Yield the wanted members of an object, or of objects in it.

    They may be in `{"arguments": {…}}` or `{"tool_uses": [{"parameters": {…}}, …]}`, also where one
    of these is JSON in a text.
    """
    inner: Iterable[Any] = ()
    if isinstance(value, str):
        inner = (found for found, _ in _objects(value))
    elif isinstance(value, list):
        inner = value
    elif isinstance(value, dict):
        direct = [(_named(name, wanted), value[name]) for name in value]
        direct = [(name, below) for name, below in direct if name] or _numbered(value, wanted)
        around = [below for name, below in direct if isinstance(below, dict) and name in below]
        yield from () if around else direct
        inner = around if direct else value.values()
    for below in inner if levels else ():
        yield from _wanted(below, wanted, levels - 1)


def _named(name: object, wanted: Mapping[str, str]) -> str:
    """Return the wanted name that a name or a number stands for, "" for none."""
    text = str(name).casefold()
    number = _NUMBERED_NAME.fullmatch(text)
    return wanted.get(_PUNCTUATION.sub("", text)) or (wanted.get(number[1], "") if number else "")


def _numbered(value: Mapping[str, Any], wanted: Mapping[str, str]) -> list[tuple[str, Any]]:
    """Return the wanted name whose number an object gives, with the other members as its value.

    A single other member is the value itself. Members about a passage are in a list, since more of
    the name may follow.
    """
    for name in filter(_NUMBER_OF_NAME.fullmatch, value):
        wanted_name = _named(value[name], wanted)
        if wanted_name == _ZERO and name == "id":  # of a call, not of a fact
            wanted_name = ""
        if wanted_name and _NUMBERED_NAME.fullmatch(str(value[name])):
            others = {other: value[other] for other in value if other != name}
            if any(other.startswith("passage") for other in others):
                return [(wanted_name, [others])]
            return [(wanted_name, next(iter(others.values())) if len(others) == 1 else others)]
    return []


def decode_json(value: Any) -> Any:
    """Return the object or list of a JSON text; any other value unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            return _DECODER.decode(value.strip())
    return value


def values_in(text: str) -> list[Any]:
    """Return the outermost JSON objects of a text."""
    return [value for value, _ in _objects(text)]


def objects_of(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list, or a single object as a list."""
    value = decode_json(value)
    items = map(decode_json, value if isinstance(value, list) else [value])
    return [item for item in items if isinstance(item, dict)]


def tags(text: str, names: Iterable[str]) -> dict[str, str]:
    """Return the contents of the tags of these names, each closed and with only one content."""
    by_name: dict[str, str] = {}
    for name in names:
        opening, closing = f"<{name}>", f"</{name}>"
        parts = [part.partition(closing) for part in text.split(opening)[1:]]
        contents = {content for content, _, _ in parts}
        if len(contents) == 1 and all(closed for _, closed, _ in parts):
            by_name[name] = contents.pop()
    return by_name


def tags_in_reply(choice: Choice, names: Iterable[str]) -> dict[str, str]:
    """Return the contents of the tags of these names in a reply."""
    return {} if choice.refusal or choice.ending == WITHHELD else tags(choice.text, names)


# --- numbers and verdicts -----------------------------------------------------------------------

# "3", "p3", "[3]", "#4", "passage 3", "3.0", and a range: "1-3", "p1-p3".
_NUMBER: Final = re.compile(
    r"(?:\b(?:[a-z]|passage|sentence|fact|claim|source|item|no|id)s?[\s._:#]{0,3})?"
    r"(?<![\d.-])(\d{1,6})(?:\.0+)?(?!\.?\d)"
    r"(?:\s*[-–]\s*[a-z]?(\d{1,6})(?!\.?\d))?",
    re.IGNORECASE,
)
_MORE: Final = re.compile(r"(?:and\b|[^\w-])*", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LABELLED: Final = re.compile(r"^\W*(?:verdict|label|answer)\W*[:=]", re.IGNORECASE)
_PARTS: Final = re.compile(r"[\n.,;:!?()\[\]|/–—]+|\s-+\s")
_VERDICTS: Final = {
    word: outcome
    for outcome, words in tomllib.loads(
        (resources.files(__package__) / "verdicts.toml").read_text(encoding="utf-8")
    ).items()
    for word in words
}


def numbers_of(value: object) -> list[int]:
    """Return the whole numbers of a value such as 3, 3.0, "p3", "[3]", "#4" or "1-3, 5".

    A list or object has those of its items; a text with anything else has none.
    """
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list):
        return [*chain.from_iterable(map(numbers_of, value))]
    if isinstance(value, int) and not isinstance(value, bool):
        return [value]
    if isinstance(value, float) and value.is_integer():
        return [int(value)]
    if not isinstance(value, str) or not _MORE.fullmatch(_NUMBER.sub("", value)):
        return []
    numbers: list[int] = []
    for match in _NUMBER.finditer(value):
        first, last = int(match[1]), int(match[2] or match[1])
        numbers += range(first, min(last, first + _RANGE) + 1)
    return numbers


def number_of(value: object) -> int | None:
    """Return the only whole number of a value, None where it has none or several."""
    numbers = numbers_of(value)
    return numbers[0] if len(numbers) == 1 else None


def outcome_of(verdict: object, labels: str) -> str | None:
    """Return the outcome of a verdict, a boolean or words; None without one among the labels."""
    if isinstance(verdict, bool):
        verdict = str(verdict)
    if not isinstance(verdict, str):
        return None
    outcome = _VERDICTS.get(" ".join(_WORD.findall(verdict.casefold().replace("’", "'"))))
    return None if outcome == NOANS and labels == TF else outcome


def verdict_of(verdict: object, labels: str) -> str | None:
    """Return the outcome of a member `verdict`, read more leniently than by `outcome_of`.

    The verdict may be the one item of a list or object, 1 or 0 where there are two labels, or stand
    before a reason: "T (True)", "False, since …". The result is None where another verdict follows,
    and for "yes, …" and "no, …", which may answer anything.
    """
    verdict = decode_json(verdict)
    while isinstance(verdict, list | dict) and len(verdict) == 1:
        (verdict,) = verdict.values() if isinstance(verdict, dict) else verdict
    if labels == TF and str(verdict).strip() in ("0", "1"):
        return SUPPORTED if str(verdict).strip() == "1" else REFUTED
    if (outcome := outcome_of(verdict, labels)) or not isinstance(verdict, str):
        return outcome
    parts = [part for part in _PARTS.split(_LABELLED.sub("", verdict)) if _WORD.search(part)]
    outcomes = {outcome_of(part, TFN) for part in parts} - {None}
    if len(outcomes) != 1 or parts[0].strip().casefold() in ("yes", "no", "y"):
        return None
    return outcome_of(parts[0], labels)
