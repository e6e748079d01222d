"""Parse values from replies: JSON in a function call or in a text, tags, and single words.

Values are found leniently but accepted strictly: a value that is cut off, of a wrong type, or given
twice with differences counts as missing. No function here raises.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ufo.schemas.functions import (
    CHECKS,
    FALSE,
    NOANS_LIST,
    NOT_CLEAR,
    PASSAGE,
    TF,
    TRUE,
    Check,
    FactFunction,
    argument,
)
from ufo.schemas.records import FILTERED, REFUSED, TRUNCATED, UNPARSABLE
from ufo.transforms.llm.base import Choice

_MAX_FALSE_STARTS = 1000
_SPACE = re.compile(r"[ \t\r\n]*")
_SEPARATOR = re.compile(r"[ \t\r\n]*,?[ \t\r\n]*")
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_FENCE = re.compile(r"\A\s*(?:```(?:json)?\s*)?", re.IGNORECASE)
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|["{}\[\]]', re.DOTALL)
_LIST_IN_OBJECT = re.compile(r'\{\s*"(\w+)"\s*:\s*(?=\[)')
_PASSAGE_TAG = re.compile(r"<p([0-9]{1,6})>")
_NUMBERS = re.compile(r"p?([0-9]{1,4})(?:-p?([0-9]{1,4}))?")
_WORD = re.compile(r"\b(?:(true)|(false)|(not clear|unclear))\b", re.IGNORECASE)
_NEGATED = re.compile(
    r"\b(?:\w*n['’]t|cannot|not|never|neither|nor)\s+(?:\w+\s+)?(?:true|false)\b", re.IGNORECASE
)
_RATIONALE_HEAD = re.compile(r"^[^\w\n]*rationale[^\w\n]*?:", re.IGNORECASE)
_VERDICT_LINE = re.compile(r"^[^\w\n]*verdict[^\w\n]*?:(.*)$", re.IGNORECASE | re.MULTILINE)


def reason_of(choice: Choice, asked_json: bool = False) -> str:
    """Return the reason, one of records.REASONS, why items may be missing from a reply."""
    if choice.refusal:
        return REFUSED
    if choice.finish_reason == "content_filter":
        return FILTERED
    if choice.finish_reason == "length" or (asked_json and breaks_off(choice)):
        return TRUNCATED
    return UNPARSABLE


def breaks_off(choice: Choice) -> bool:
    """Return whether a reply in JSON ends before its first bracket closes.

    Some servers return finish_reason `stop` for a reply that their limit cut off.
    """
    text = _FENCE.sub("", choice.arguments or choice.text)
    depth = 0
    for found in _STRING_OR_BRACKET.finditer(text) if text[:1] in ("{", "[") else ():
        if found[0] == '"':  # an unclosed string
            return True
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(found[0], 0)
        if not depth:
            return False
    return depth > 0


def withheld(choice: Choice) -> bool:
    """Return whether the reply is a refusal or was stopped by a content filter."""
    return reason_of(choice) in (REFUSED, FILTERED)


def arguments_of(choice: Choice, names: Iterable[str]) -> dict[str, Any]:
    """Return the arguments of these names from a function call, or from JSON in the text.

    JSON that is cut off yields the complete arguments, and the complete items of a list that is cut
    off. A name that is given twice with different values is left out.
    """
    if withheld(choice):
        return {}
    text = choice.arguments or choice.text
    wanted = frozenset(names)
    return _members([pair for found in _objects(text) for pair in _with_names(found, wanted)])


class _Repeated(list[tuple[str, Any]]):
    """The members of a JSON object in order; a name may occur more than once."""


def _objects(text: str) -> Iterator[_Repeated]:
    """Yield the outermost JSON objects of a text; one that is cut off with its complete members."""
    decoder = json.JSONDecoder(object_pairs_hook=_members)
    at = text.find("{")
    for _ in range(_MAX_FALSE_STARTS):
        if at < 0:
            return
        found, end = _object_at(decoder, text, at)
        if found:
            yield found
        at = text.find("{", end)


def _object_at(decoder: json.JSONDecoder, text: str, start: int) -> tuple[_Repeated, int]:
    """Return the members from the brace at `start` to its end or an invalid member, and the end."""
    members = _Repeated()
    at = _end(_SPACE, text, start + 1)
    while at < len(text) and text[at] == '"':
        try:
            name, at = decoder.raw_decode(text, at)
            colon = _COLON.match(text, at)
            if colon is None:
                break
            at = colon.end()
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            lists = _lists_at(decoder, text, at)
            if lists:
                return _Repeated([*members, (name, lists)]), len(text)
            # Other values that are cut off are ignored: what they lack is unknown.
            return members, len(text) if members else start + 1
        if at == len(text) and not isinstance(value, dict | list | str):
            break  # a number at the end of the text may have lost digits
        members.append((name, value))
        at = _end(_SEPARATOR, text, at)
    return members, max(at, start + 1)


def _lists_at(decoder: json.JSONDecoder, text: str, at: int) -> Any:
    """Return the complete items of a list that is cut off, or the object of one such list."""
    items: list[Any] = []
    if (inner := _LIST_IN_OBJECT.match(text, at)) is not None:
        items = _lists_at(decoder, text, inner.end())
        return {inner[1]: items} if items else None
    if text[at : at + 1] != "[":
        return None
    at = _end(_SPACE, text, at + 1)
    with suppress(ValueError, RecursionError):
        while True:
            item, at = decoder.raw_decode(text, at)
            if at == len(text) and not isinstance(item, dict | list | str):
                break  # as above
            items.append(item)
            at = _end(_SEPARATOR, text, at)
    return items


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _members(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members as a dictionary, without names that have different values."""
    given: dict[str, list[Any]] = {}
    for name, value in pairs:
        given.setdefault(name, []).append(value)
    return {name: values[0] for name, values in given.items() if _all_equal(values)}


def _all_equal(values: Sequence[Any]) -> bool:
    try:
        return all(value == values[0] for value in values[1:])
    except RecursionError:
        return False


def _with_names(
    members: Sequence[tuple[str, Any]], wanted: frozenset[str]
) -> Sequence[tuple[str, Any]]:
    """Return the wanted members of an object, or of an object in it ({"arguments": {…}})."""
    direct = [(name, value) for name, value in members if name in wanted]
    if direct:
        return direct
    inner = []
    for _, value in members:
        if isinstance(value, str) and value.lstrip().startswith("{"):
            value = _members(next(_objects(value), _Repeated()))
        if isinstance(value, Mapping):
            inner += [(name, item) for name, item in value.items() if name in wanted]
    return inner


def xml_arguments(choice: Choice, function: FactFunction) -> dict[str, Any]:
    """Return the arguments of a reply in tags, in the shape of the JSON reply."""
    if withheld(choice):
        return {}
    arguments: dict[str, Any] = {}
    for number in range(1, len(function.facts) + 1):
        content = _tag(choice.text, argument(number))
        if content is None:
            continue
        passages = dict.fromkeys(int(found) for found in _PASSAGE_TAG.findall(content))
        if function.single and not passages:
            arguments[argument(number)] = _fields(content, function)
            continue
        checks = []
        for passage in passages:
            inner = _tag(content, f"p{passage}")
            if inner is not None:
                checks.append({PASSAGE: passage, **_fields(inner, function)})
        arguments[argument(number)] = {CHECKS: checks, NOANS_LIST: _numbers(content)}
    return arguments


def _fields(content: str, function: FactFunction) -> dict[str, str]:
    found = {name: _tag(content, name) for name in function.control.fields}
    return {name: text for name, text in found.items() if text is not None}


def _numbers(content: str) -> list[int]:
    """Return the passages listed in `<noans>` ("2 4-6"); [] where the list has anything else."""
    numbers: list[int] = []
    for item in (_tag(content, NOANS_LIST) or "").replace(",", " ").split():
        found = _NUMBERS.fullmatch(item)
        if found is None:
            return []
        numbers += range(int(found[1]), int(found[2] or found[1]) + 1)
    return numbers


def _tag(text: str, name: str) -> str | None:
    """Return the content of `<name>`, None where the tag is missing, not closed or ambiguous."""
    opening, closing = f"<{name}>", f"</{name}>"
    found: list[str] = []
    at = text.find(opening)
    while at >= 0:
        start = at + len(opening)
        end = text.find(closing, start)
        if end < 0 or opening in text[start:end]:
            return None
        found.append(text[start:end])
        at = text.find(opening, end)
    return found[0] if found and _all_equal(found) else None


def word_verdict(text: str) -> str | None:
    """Return TRUE, FALSE or NOT_CLEAR where a text has words of exactly one of them, else None.

    FaaF (Katranidis & Barany, 2024) takes the first word that matches, so that "not true" is true;
    here a negated word is not a verdict.
    """
    if _NEGATED.search(text):
        return None
    kinds = {found.lastindex for found in _WORD.finditer(text)}
    return (None, TRUE, FALSE, NOT_CLEAR)[kinds.pop() or 0] if len(kinds) == 1 else None


def wrong_word(text: str, options: str) -> str:
    """Return why `verdict_reader` finds no verdict in a text, for the repair prompt."""
    words = "True and False" if options == TF else "True, False and Unclear"
    if _NEGATED.search(text):
        return "it negates a verdict; give the verdict that is meant"
    if len({found.lastindex for found in _WORD.finditer(text)}) > 1:
        return f"it has more than one of {words}; give one"
    return f"it has none of {words}; give one"


def verdict_reader(options: str) -> Callable[[str], str | None]:
    """Return a function that parses the verdict of a text, None where it has none of `options`."""

    def read_verdict(text: str) -> str | None:
        verdict = word_verdict(text)
        return None if verdict == NOT_CLEAR and options == TF else verdict

    return read_verdict


def wrong_rationale(text: str, options: str) -> str:
    """Return why `rationale_reader` finds no verdict in a text, for the repair prompt."""
    lines = list(_VERDICT_LINE.finditer(text))
    if not lines:
        return "it does not end in a line that begins with Verdict:"
    if rationale_reader(options)(f"Rationale: x\n{text}"):
        return "it gives no rationale before its verdict"
    return f"its verdict does not do: {wrong_word(lines[-1][1], options)}"


def rationale_reader(options: str) -> Callable[[str], Check | None]:
    """Return a function that parses a rationale followed by the line `Verdict: …`.

    It returns None where there is no such line, no rationale, or several different verdicts.
    """
    read_verdict = verdict_reader(options)

    def read_rationale(text: str) -> Check | None:
        lines = list(_VERDICT_LINE.finditer(text))
        verdicts = {read_verdict(line[1]) for line in lines}
        verdict = verdicts.pop() if len(verdicts) == 1 else None
        if verdict is None:
            return None
        rationale = _RATIONALE_HEAD.sub("", text[: lines[0].start()], count=1).strip()
        raw = lines[-1][1].strip(" \t\r*.")
        return Check(verdict, raw, rationale=rationale) if rationale else None

    return read_rationale
