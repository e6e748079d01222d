"""Write and read state files: JSON that says what a run, an index or a stream consists of.

The first line has the SHA-256 of the rest, so that damage is noticed before anything is read by it:

    {"state": 1, "checksum": "…",
     "format": …}

A file without these two entries, of a schema version without checksums, is read unchecked.
"""

import json
import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Final, TypeVar

from ufo.schemas import storage
from ufo.schemas.errors import RunError, damaged_part

T = TypeVar("T")

_OWN: Final = ("state", "checksum")
_HEAD: Final = re.compile(rb'\{"state": 1, "checksum": "([0-9a-f]{64})"')


def state_bytes(content: Mapping[str, Any]) -> bytes:
    """Return the bytes of a state file with this content: plain JSON values."""
    assert not any(name in content for name in _OWN)
    text = json.dumps(content, indent=1, default=str)
    rest = (text[1:] if text == "{}" else f",{text[1:]}").encode()
    return f'{{"state": 1, "checksum": "{sha256(rest).hexdigest()}"'.encode() + rest


def write_state(path: str, content: Mapping[str, Any]) -> None:
    """Write a state file and wait until it is on disk; after an error there is no file."""
    storage.write(path, state_bytes(content))


def read_state(path: str, remedy: str, make: Callable[[dict[str, Any]], T]) -> T | None:
    """Return `make(content)` for the content of a state file; None if there is no such file.

    Raises:
        RunError: it is damaged, with the `remedy`, or cannot be read.
    """
    try:
        return make(state_in(storage.read(path)))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunError(f"{path!r} cannot be read: {error}.") from error
    except KeyError as error:
        raise damaged_part(path, f"it lacks {error}", remedy) from error
    except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise damaged_part(path, error, remedy) from error


def state_in(data: bytes) -> dict[str, Any]:
    """Return the content in the bytes of a state file.

    Raises:
        ValueError: they are damaged.
    """
    content = json.loads(data.decode())
    if not isinstance(content, dict):
        raise ValueError("it is no JSON object")
    if not any(name in content for name in _OWN):
        return content
    head = _HEAD.match(data)
    if head is None or sha256(data[head.end() :]).hexdigest() != head[1].decode():
        raise ValueError("it is not what was written, by its checksum")
    return {name: value for name, value in content.items() if name not in _OWN}


def entry(content: Mapping[str, Any], name: str, kind: type) -> Any:
    """Return an entry of a state file after a check of its type.

    Raises:
        KeyError: it is missing.
        ValueError: it is of another type, or a number below 0 or of more than 63 bits.
    """
    value = content[name]
    # JSON's true is no number, though Python's True is an int.
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{name!r} is {type(value).__name__}, not {kind.__name__}")
    if isinstance(value, int) and not 0 <= value < 1 << 63:
        raise ValueError(f"{name!r} is {value}")
    return value
