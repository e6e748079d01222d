"""What the API demands of a strict schema: every property required, none beside them, few words."""

from collections.abc import Mapping
from typing import Any

_KNOWN = {
    "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf",
    "description", "title", "$ref", "$defs", "pattern", "format", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems",
}  # fmt: skip
_DEEPEST = 10
_MOST_PROPERTIES = 5000


def complaint(schema: Mapping[str, Any]) -> str | None:
    """Return why the schema cannot be strict, None where it can."""
    if schema.get("type") != "object":
        return "schema must be of type 'object'"
    found = _complaint(schema, (), 1)
    if found is None and _properties(schema) > _MOST_PROPERTIES:
        return f"more than {_MOST_PROPERTIES} properties"
    return found


def _complaint(schema: Any, where: tuple[str, ...], depth: int) -> str | None:
    if not isinstance(schema, Mapping):
        return f"In context={where}, schema must be an object"
    if depth > _DEEPEST:
        return f"In context={where}, more than {_DEEPEST} levels of nesting"
    unknown = set(schema) - _KNOWN
    if unknown:
        return f"In context={where}, {sorted(unknown)[0]!r} is not permitted"
    if "object" in _types(schema):
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False:
            return f"In context={where}, 'additionalProperties' is required to be false"
        if set(schema.get("required", ())) != set(properties):
            return f"In context={where}, 'required' must name every key in properties"
        for name, below in properties.items():
            found = _complaint(below, (*where, "properties", name), depth + 1)
            if found:
                return found
    if "array" in _types(schema):
        if "items" not in schema:
            return f"In context={where}, array schema missing items"
        return _complaint(schema["items"], (*where, "items"), depth + 1)
    for below in schema.get("anyOf", ()):
        found = _complaint(below, (*where, "anyOf"), depth)
        if found:
            return found
    return None


def _types(schema: Mapping[str, Any]) -> list[str]:
    kind = schema.get("type", [])
    return [kind] if isinstance(kind, str) else list(kind)


def _properties(schema: Any) -> int:
    if isinstance(schema, Mapping):
        own = schema.get("properties")
        return (len(own) if isinstance(own, Mapping) else 0) + sum(
            _properties(below) for below in schema.values()
        )
    if isinstance(schema, list):
        return sum(_properties(below) for below in schema)
    return 0
