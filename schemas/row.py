"""Parse one row of an input: a line of JSON."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from ufo.schemas.text import decode, replace_nul

PROBLEM: Final = "unusable because"
"""The key by which a reader of another format marks an invalid record, with the reason."""
OF_CELLS: Final = "from cells"
"""The key that marks a record whose values are cells of CSV, and so all text."""


_STEP: Final = re.compile(r"\[(-?[0-9]{1,9})\]|(?:^|\.)([^.\[\]]+)")
_PATH: Final = re.compile(rf"(?:{_STEP.pattern})+")


@lru_cache(maxsize=1_000)
def steps_of(path: str) -> tuple[str | int, ...]:
    """Return the names and indices of a path, as in `choices[0].message`; () if it is no path."""
    if not _PATH.fullmatch(path):
        return ()
    return tuple(int(index) if index else name for index, name in _STEP.findall(path))


def value_at(row: Mapping[str, Any], path: str) -> Any:
    """Return the value of a column, or at a path such as `messages[-1].content`; None without one.

    A cell of CSV with a list or an object as JSON has the values of these.
    """
    if path in row or ("." not in path and "[" not in path):
        return row.get(path)
    steps = steps_of(path)
    value: Any = row if steps else None
    for step in steps:
        value = _inside(parse_nested(value), step)
    return value


def _inside(value: Any, step: str | int) -> Any:
    if isinstance(step, str):
        return value.get(step) if isinstance(value, dict) else None
    is_there = isinstance(value, list) and -len(value) <= step < len(value)
    return value[step] if is_there else None


def parse_nested(value: Any) -> Any:
    """Return the list or object that a text holds as JSON; other values unchanged."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        parsed = json_of(value)
    except (ValueError, RecursionError):
        return value
    return parsed if isinstance(parsed, (dict, list)) else value


def has_value(row: Mapping[str, Any], path: str) -> bool:
    """Return whether a row has a column, also an empty one, or a value at a path."""
    return path in row or value_at(row, path) is not None


class UnusableValue(ValueError):
    """A line that is not a record; the message is for the row in `failures`."""


def object_of(line: bytes) -> dict[str, Any]:
    """Parse the JSON object of a line; NaN becomes null, and NUL in a string U+FFFD.

    Raises:
        UnusableValue: the line is not a JSON object, or marked as invalid.
    """
    try:
        text = decode(line, " of the record")
    except ValueError as error:
        raise UnusableValue(str(error)) from None
    try:
        record = json_of(text)
    except (ValueError, RecursionError) as error:
        raise UnusableValue(f"not JSON: {error}") from None
    if not isinstance(record, dict):
        raise UnusableValue(f"a record is a JSON object, not {kind_of(record)}")
    if PROBLEM in record:
        raise UnusableValue(str(record[PROBLEM]))
    return record


def json_of(text: str) -> Any:
    """Parse JSON; NaN becomes null, and NUL in a string U+FFFD. Infinity stays.

    Raises:
        ValueError, RecursionError: the text is not valid JSON, or nested too deeply.
    """
    parsed = _DECODER.decode(replace_nul(text))
    return replace_nul(parsed) if "\\u0000" in text else parsed


def _constant(name: str) -> float | None:
    # Python writes NaN for a missing value. Infinity is refused where a key does not allow it.
    return None if name == "NaN" else float(name)


_DECODER = json.JSONDecoder(parse_constant=_constant)


def kind_of(value: object) -> str:
    """Return the JSON type of a value, for a message."""
    names = {dict: "an object", list: "a list", str: "text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
