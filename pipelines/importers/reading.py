"""Read published files, in any format that the input of a run may have."""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ufo.pipelines.runs.inputs import HEAD_BYTES, as_json_lines, format_of
from ufo.schemas.errors import UsageError
from ufo.transforms.values import OF_CELLS, Unusable, kind_of, object_of

Record = dict[str, Any]

# Such a file says nothing by its own name: it is named after its folder.
_PLAIN = ("test", "train", "dev", "data", "result")


LEFT_OUT: Final = "left out"
"""The key of a record under which an importer names what has no place in it: each thing once."""
NEITHER: Final = "labels that are neither true nor false"
UNPLACED: Final = "labels of stretches that are not in the response"


def read_objects(path: Path) -> Iterator[tuple[int, Record | Unusable]]:
    """Yield each object, or why it is unusable, with its line number (else its position) from 1.

    Raises:
        UsageError: a file that cannot be read.
    """
    try:
        with path.open("rb") as stream:
            form = format_of(stream.read(HEAD_BYTES))
            stream.seek(0)
            for number, line in enumerate(_lines(as_json_lines(form, stream)), start=1):
                if line.strip():
                    yield number, _object(line)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise UsageError(f"cannot read {str(path)!r}: {error}.") from error


def _lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for block in blocks:
        *whole, rest = (rest + block).split(b"\n")
        yield from whole
    yield rest


def _object(line: bytes) -> Record | Unusable:
    try:
        found = object_of(line)
    except Unusable as problem:
        return problem
    found.pop(OF_CELLS, None)
    return found


def named_after(file: Path) -> tuple[str, str]:
    """Return the stem of a file's name, usually a model, and the name of its folder."""
    name, folder = file.name.split(".")[0], file.absolute().parent
    return (folder.name, folder.parent.name) if name in _PLAIN else (name, folder.name)


def get(raw: Record, name: str, kind: type) -> Any:
    """Return a value of that type; raises Unusable if it is missing."""
    if name not in raw:
        raise Unusable(f"expected `{name}`, found only: {', '.join(raw) or 'nothing'}"[:300])
    if not isinstance(raw[name], kind):
        raise Unusable(f"expected `{name}` to be {kind_of(kind())}, found {kind_of(raw[name])}")
    return raw[name]


def text_of(raw: Record, name: str) -> str:
    """Return a text; raises Unusable if it is missing."""
    return as_text(name, get(raw, name, str))


def response_text(raw: Record, name: str) -> str:
    """Return a text that is not blank; raises Unusable if it is missing."""
    text = text_of(raw, name)
    if not text.strip():
        raise Unusable(f"expected `{name}` to be a response, found an empty text")
    return text


def as_text(name: str, value: object) -> str:
    """Return the value, which belongs to `name`; raises Unusable if it is not a text."""
    if not isinstance(value, str):
        raise Unusable(f"expected `{name}` to hold texts, found {kind_of(value)}")
    return value


def objects_of(raw: Record, name: str) -> list[Record]:
    """Return a list of objects, empty if the field is missing; raises Unusable for others."""
    items = [] if raw.get(name) is None else get(raw, name, list)
    for item in items:
        if not isinstance(item, dict):
            raise Unusable(f"expected `{name}` to hold objects, found {kind_of(item)}")
    return items
