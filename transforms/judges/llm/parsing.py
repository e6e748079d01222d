"""Parse values from replies: JSON in a function call or in a text, and tags.

Values are found leniently but accepted strictly: a value that is cut off, of a wrong type, or given
twice with differences counts as missing. No function here raises.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from ufo.schemas.records import FILTERED, REFUSED, TRUNCATED, UNPARSABLE
from ufo.transforms.judges.llm.fact_function import (
    CHECKS,
    NOANS_LIST,
    PASSAGE,
    FactFunction,
    argument,
)
from ufo.transforms.llm.request import Choice

_MAX_FALSE_STARTS: Final = 1000
_MAX_DEPTH: Final = 100  # levels of brackets; a valid reply has six
_FENCE: Final = re.compile(r"\A\s*(?:```(?:json)?\s*)?", re.IGNORECASE)
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|["{}\[\],]', re.DOTALL)
_CLOSING: Final = {"{": "}", "[": "]"}
_PASSAGE_TAG: Final = re.compile(r"<p([0-9]{1,6})>")
_NUMBERS: Final = re.compile(r"p?([0-9]{1,4})(?:-p?([0-9]{1,4}))?")


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
    if text[:1] not in ("{", "["):
        return False
    with suppress(ValueError, RecursionError):  # the fast way for most replies
        json.JSONDecoder().raw_decode(text)
        return False
    return all(stack for _, stack in _ends(text))


def arguments_of(choice: Choice, names: Iterable[str]) -> dict[str, Any]:
    """Return the arguments of these names from a function call, or from JSON in the text.

    From JSON that is cut off, complete arguments and complete items of a list are returned. A name
    with two different values is left out.
    """
    if reason_of(choice) in (REFUSED, FILTERED):
        return {}
    text = choice.arguments or choice.text
    wanted = frozenset(names)
    return _members([pair for found in _objects(text) for pair in _with_names(found, wanted)])


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the outermost JSON objects of a text; of one that is cut off, the complete part."""
    decoder = json.JSONDecoder(object_pairs_hook=_members)
    at = text.find("{")
    for _ in range(_MAX_FALSE_STARTS):
        if at < 0:
            return
        end = at + 1
        try:
            found, end = decoder.raw_decode(text, at)
            yield found
        except json.JSONDecodeError as error:
            for whole in _completed(text[at : error.pos]):
                with suppress(ValueError):
                    found = decoder.decode(whole)
                    if found:
                        yield found
                        end = error.pos
                    break
        except RecursionError:
            return
        at = text.find("{", end)


def _completed(text: str) -> Iterator[str]:
    """Yield versions of a cut-off JSON object, each closed after a complete value; the longest
    first.

    Only values of the object itself or of a list count as complete: an inner object that is cut off
    may lack members.
    """
    ends: list[tuple[int, str]] = []
    for end, stack in _ends(text):
        if stack[-1:] == "[" or stack == "{":
            ends.append((end, stack))
    for end, stack in reversed(ends[-3:]):
        yield text[:end] + "".join(_CLOSING[bracket] for bracket in reversed(stack))


def _ends(text: str) -> Iterator[tuple[int, str]]:
    """Yield the end of each string and bracket of a JSON text, and the beginning of each comma,
    with the brackets open there. Stop at the end of the first value."""
    stack = ""
    for found in _TOKEN.finditer(text):
        if found[0] in _CLOSING:
            stack += found[0]
        elif found[0] in ("}", "]"):
            stack = stack[:-1]
        elif found[0] == '"':  # of a string that is not closed
            return
        yield (found.start() if found[0] == "," else found.end()), stack
        if not 0 < len(stack) <= _MAX_DEPTH:
            return


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


def _with_names(members: Mapping[str, Any], wanted: frozenset[str]) -> list[tuple[str, Any]]:
    """Return the wanted members of an object, or of an object in it ({"arguments": {…}})."""
    direct = [(name, value) for name, value in members.items() if name in wanted]
    if direct:
        return direct
    inner = []
    for value in members.values():
        if isinstance(value, str) and value.lstrip().startswith("{"):
            value = next(_objects(value), {})
        if isinstance(value, Mapping):
            inner += [(name, item) for name, item in value.items() if name in wanted]
    return inner


def xml_arguments(choice: Choice, function: FactFunction) -> dict[str, Any]:
    """Return the arguments of a reply in tags, in the shape of the JSON reply."""
    arguments: dict[str, Any] = {}
    names = [argument(number) for number in range(1, len(function.facts) + 1)]
    for name, content in tagged(choice, names).items():
        passages = dict.fromkeys(_PASSAGE_TAG.findall(content))
        if function.single and not passages:
            arguments[name] = _tags(content, function.control.fields)
            continue
        checks = [
            {PASSAGE: int(tag[1:]), **_tags(inner, function.control.fields)}
            for tag, inner in _tags(content, [f"p{number}" for number in passages]).items()
        ]
        arguments[name] = {CHECKS: checks, NOANS_LIST: _numbers(content)}
    return arguments


def tagged(choice: Choice, names: Iterable[str]) -> dict[str, str]:
    """Return the contents of the tags of these names in a reply."""
    return {} if reason_of(choice) in (REFUSED, FILTERED) else _tags(choice.text, names)


def _tags(text: str, names: Iterable[str]) -> dict[str, str]:
    found = {name: _tag(text, name) for name in names}
    return {name: content for name, content in found.items() if content is not None}


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
    contents = []
    for part in text.split(opening)[1:]:
        content, closed, _ = part.partition(closing)
        if not closed:
            return None
        contents.append(content)
    return contents[0] if contents and _all_equal(contents) else None
