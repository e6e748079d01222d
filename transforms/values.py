"""Parse and validate the JSON values of an input record; errors are `UnusableValue`."""

import json
import math
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Mapping
from typing import Any, Final

from ufo.schemas.text import without_nul

PROBLEM: Final = "unusable because"
"""The key by which a reader of another format marks an invalid record, with the reason."""
OF_CELLS: Final = "from cells"
"""The key that marks a record whose values are cells of CSV, and so all text."""
_UTF_16: Final = (BOM_UTF16_LE, BOM_UTF16_BE)


class UnusableValue(ValueError):
    """A line that is not a record; the message is for the row in `failures`."""


def object_of(line: bytes) -> dict[str, Any]:
    """Parse the JSON object of a line; NaN becomes null, and NUL in a string U+FFFD.

    Raises:
        UnusableValue: the line is not a JSON object, or marked as invalid.
    """
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        other = " (the file is UTF-16)" if line.startswith(_UTF_16) else ""
        raise UnusableValue(
            f"not UTF-8{other}: byte {error.start + 1} of the record is invalid"
        ) from None
    try:
        found = json_of(text)
    except (ValueError, RecursionError) as error:
        raise UnusableValue(f"not JSON: {error}") from None
    if not isinstance(found, dict):
        raise UnusableValue(f"a record is a JSON object, not {kind_of(found)}")
    if PROBLEM in found:
        raise UnusableValue(str(found[PROBLEM]))
    return found


def json_of(text: str) -> Any:
    """Parse JSON; NaN becomes null, and NUL in a string U+FFFD. Infinity stays.

    Raises:
        ValueError, RecursionError: the text is not valid JSON, or nested too deeply.
    """
    found = _DECODER.decode(without_nul(text))
    return without_nul(found) if "\\u0000" in text else found


def _constant(name: str) -> float | None:
    # Python writes NaN for a missing value. What may not be infinite says so where it is read.
    return None if name == "NaN" else float(name)


_DECODER = json.JSONDecoder(parse_constant=_constant)


def structure_of(value: object) -> object:
    """Return the list or object in a JSON string, as in cells of CSV; other values unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json_of(value)
        except (ValueError, RecursionError):
            return value
    return value


def number_of(cell: object) -> object:
    """Return the number or boolean in a JSON string; other values unchanged."""
    if isinstance(cell, str) and cell.strip()[:1] in "-0123456789tf":
        try:
            found = json_of(cell)
        except ValueError:
            return cell
        return found if isinstance(found, (int, float)) and math.isfinite(found) else cell
    return cell


def kind_of(value: object) -> str:
    """Return the JSON type of a value, for a message."""
    names = {dict: "an object", list: "a list", str: "text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def text_value(raw: Mapping[str, Any], name: str, where: str = "") -> str | None:
    """Return a string of a record, None if it is missing.

    Raises:
        UnusableValue: it has another type, or a character that a table cannot store.
    """
    value = raw.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise UnusableValue(f"`{where}{name}` is text, not {kind_of(value)}")
    check_writable(value, where + name)
    return value


def check_writable(value: str, name: str) -> None:
    """Raise UnusableValue for a lone surrogate, which JSON allows and a table cannot store."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UnusableValue(
            f"`{name}` has half of a surrogate pair, which is not a character"
        ) from None


def id_value(raw: Mapping[str, Any], name: str = "id") -> str | None:
    """Return the id of a record, None if it is missing.

    Raises:
        UnusableValue: it is neither a string nor an integer, or it is empty.
    """
    value = raw.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    text = text_value(raw, name)
    if text is not None and not text.strip():
        raise UnusableValue(f"`{name}` is empty; leave it out to have one made")
    return text


def list_value(raw: Mapping[str, Any], name: str) -> list[Any]:
    """Return a list of a record, which may also be a JSON string; [] if it is missing.

    Raises:
        UnusableValue: it has another type.
    """
    value = structure_of(raw.get(name))
    if value is None:
        return []
    if not isinstance(value, list):
        raise UnusableValue(f"`{name}` is a list, not {kind_of(value)}")
    return value


def label_value(value: object, where: str) -> int | None:
    """Return a human label as 1 or 0, None if it is missing.

    Raises:
        UnusableValue: it is not true, false, 1, 0 or null.
    """
    if value is None:
        return None
    if value in (0, 1) and isinstance(value, (bool, int, float)):
        return int(value)
    raise UnusableValue(f"`{where}` is true, false or null, not {value!r}"[:200])
