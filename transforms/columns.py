"""Map the columns of an input to the keys of a record, and check its JSON values."""

import difflib
import json
import math
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.text import without_nul

FIELDS: Final = (
    *("response", "id", "model", "question", "dataset", "reference_answers", "label", "claims"),
    *("spans", "sentence_labels", "language", "metadata"),
)
"""The keys of an input record."""
_ALIASES: Final = {"reference answers": "reference_answers"}
# Common names in other data sets: suggested in a warning, but not mapped.
_USUAL: Final = {
    name: field
    for field, names in {
        "response": "output answer completion generation text prediction model_output generated",
        "question": "prompt query input instruction user_query",
        "reference_answers": "references evidence context contexts documents passages",
        "model": "model_name generator llm",
        "label": "score human_score factuality",
        "claims": "facts atomic_facts statements",
        "language": "lang locale",
        "metadata": "meta extra",
        "id": "uid key _id response_id",
    }.items()
    for name in names.split()
}

NAMES: Final = frozenset((*FIELDS, *_ALIASES, *_USUAL))
"""The keys of a record, and common other names for them."""

Columns = Mapping[str, str]
"""The column of the input for each key of a record."""


def named_columns(text: str) -> dict[str, str]:
    """Parse the value of `--map`, such as `response=output,question=prompt`.

    Raises:
        UsageError: the form is invalid, or a key is unknown or repeated.
    """
    found: dict[str, str] = {}
    for item in filter(None, (item.strip() for item in text.split(","))):
        name, equals, column = (part.strip() for part in item.partition("="))
        if not equals or not column:
            raise UsageError(
                f"--map {item!r}: give KEY=COLUMN, as in response=output,question=prompt"
            )
        if name not in FIELDS:
            raise UsageError(unknown_value("key of --map", name, FIELDS))
        if name in found:
            raise UsageError(f"--map names {name!r} twice")
        found[name] = column
    return found


def is_used(columns: Columns | None, name: str) -> bool:
    """Return whether a column of the input is one of a record's keys, of which `columns` are other
    names."""
    return name in (*FIELDS, *_ALIASES, *(columns or {}).values())


def sorted_out(raw: Mapping[str, Any], columns: Columns) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values of the keys of a record, and those of other columns.

    Null values and empty cells are left out.
    """
    of_cells = OF_CELLS in raw
    none = (None, "") if of_cells else (None,)
    present = {name: value for name, value in raw.items() if value not in none and name != OF_CELLS}
    known = {name: present.pop(column) for name, column in columns.items() if column in present}
    for alias, name in _ALIASES.items():
        if alias in present and name not in known:
            known[name] = present.pop(alias)
    for name in FIELDS:
        if name in raw and name not in known:
            known[name] = present.pop(name, None)
    others = {name: number_of(value) if of_cells else value for name, value in present.items()}
    return known, others


def nearest(name: str) -> str | None:
    """Return the key of a record that a column name probably means, None if there is none."""
    folded = name.casefold().strip()
    matches = difflib.get_close_matches(folded, [*FIELDS, *_USUAL], n=1, cutoff=0.7)
    return _USUAL.get(matches[0], matches[0]) if matches else None


def recognised(names: Sequence[str]) -> dict[str, str]:
    """Return the key of a record by the column that has it or, as its name says, probably does.

    A column of the key's own name comes first, then the other names in the order of their use.
    """
    folded = {re.sub(r"[\s_-]+", " ", name.casefold()).strip(): name for name in reversed(names)}
    found: dict[str, str] = {}
    for known, key in (*((field, field) for field in FIELDS), *_USUAL.items()):
        column = folded.get(known.replace("_", " ").strip())
        if column is not None and column not in found.values():
            found.setdefault(key, column)
    return {key: found[key] for key in FIELDS if key in found}


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
