"""Read label files: JSON Lines (also `.gz`), or one JSON array of records."""

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schemas.errors import UsageError

Record = dict[str, Any]

# Such a file says nothing by its own name: it is named after its folder.
_PLAIN = ("test", "train", "dev", "data", "result")


class Unusable(ValueError):
    """A record that is not of the format; says what was expected of it."""


def read_objects(path: Path) -> Iterator[tuple[int, Record | Unusable]]:
    """Give each object, or why it is none, with its line's number (an array: its place) from 1.

    Raises:
        UsageError: a file that cannot be read.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.lstrip().startswith((b"[\n", b"[\r", b"[{", b"[ ")):
                    # Not a record a line: the file is one array.
                    yield from _items(line + file.read())
                    return
                if line.strip():
                    yield number, _object(line)
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"cannot read {str(path)!r}: {error}.") from error


def _object(line: bytes) -> Record | Unusable:
    try:
        return _as_object(json.loads(line))
    except ValueError as error:
        return Unusable(f"expected a JSON object a line, found no JSON: {error}")


def _items(text: bytes) -> Iterator[tuple[int, Record | Unusable]]:
    try:
        values = json.loads(text)
    except ValueError as error:
        yield 1, Unusable(f"expected a JSON object a line, or an array of them: {error}")
        return
    for number, value in enumerate(values, start=1):
        yield number, _as_object(value)


def _as_object(value: object) -> Record | Unusable:
    if isinstance(value, dict):
        return value
    return Unusable(f"expected a JSON object a line, found {kind_of(value)}")


def named_after(file: Path) -> tuple[str, str]:
    """Return what a file is named after, as a rule a model, and the name of the folder around."""
    name, folder = file.name.split(".")[0], file.absolute().parent
    return (folder.name, folder.parent.name) if name in _PLAIN else (name, folder.name)


def kind_of(value: object) -> str:
    """Return what a value is in JSON's words."""
    names = {dict: "an object", list: "a list", str: "text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def get(raw: Record, name: str, kind: type) -> Any:
    """Return a value of that type; raises Unusable where there is none."""
    if name not in raw:
        raise Unusable(f"expected `{name}`, found only: {', '.join(raw) or 'nothing'}"[:300])
    if not isinstance(raw[name], kind):
        raise Unusable(f"expected `{name}` to be {kind_of(kind())}, found {kind_of(raw[name])}")
    return raw[name]


def text_of(raw: Record, name: str) -> str:
    """Return a text; raises Unusable where there is none."""
    return as_text(name, get(raw, name, str))


def response_text(raw: Record, name: str) -> str:
    """Return a text that is not blank; raises Unusable where there is none."""
    text = text_of(raw, name)
    if not text.strip():
        raise Unusable(f"expected `{name}` to be a response, found an empty text")
    return text


def as_text(name: str, value: object) -> str:
    """Return the value, which belongs to `name`; raises Unusable where it is no text."""
    if not isinstance(value, str):
        raise Unusable(f"expected `{name}` to hold texts, found {kind_of(value)}")
    return value
