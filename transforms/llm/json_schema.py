"""Write the JSON Schema of function parameters in a form that providers can enforce."""

from collections.abc import Iterable, Mapping
from typing import Any


def one_of(numbers: Iterable[int]) -> dict[str, Any]:
    """Return the schema of one of these numbers."""
    return {"type": "integer", "enum": list(numbers)}


def list_of(items: Mapping[str, Any], most: int, description: str = "") -> dict[str, Any]:
    """Return the schema of a list of at most `most` items."""
    described = {"description": description} if description else {}
    return {"type": "array", "items": items, "maxItems": most, **described}


def closed_object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has these properties, all of them and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
