"""What the API demands of a strict schema: every property required, none beside them, few words."""

from collections.abc import Mapping
from typing import Any

_KNOWN = {
    "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf",
    "description", "title", "$ref", "$defs", "pattern", "format", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems",
}  # fmt: skip


def complaint(schema: Any, where: tuple[str, ...] = ()) -> str | None:
    """Return why the schema cannot be strict, None where it can."""
    if not isinstance(schema, Mapping):
        return f"In context={where}, schema must be an object"
    below: list[tuple[Any, tuple[str, ...]]] = []
    wrong = [f"{name!r} is not permitted" for name in sorted(set(schema) - _KNOWN)]
    if not where and schema.get("type") != "object":
        wrong.append("schema must be of type 'object'")
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False:
            wrong.append("'additionalProperties' is required to be false")
        if set(schema.get("required", ())) != set(properties):
            wrong.append("'required' must name every key in properties")
        below += [(one, (*where, "properties", name)) for name, one in properties.items()]
    if schema.get("type") == "array":
        below.append((schema.get("items"), (*where, "items")))
    below += [(one, (*where, "anyOf")) for one in schema.get("anyOf", ())]
    below += [(one, (*where, "$defs", name)) for name, one in schema.get("$defs", {}).items()]
    if wrong:
        return f"In context={where}, {wrong[0]}"
    return next((message for one, at in below if (message := complaint(one, at))), None)
