"""Return the JSON Schemas of claims, queries and facts, in a form that providers can enforce."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_PER_SENTENCE = 8  # claims or facts at most: far more than a sentence has


def extraction_parameters(
    descriptions: Mapping[str, str], sentences: Sequence[int], most: int | None = None
) -> dict[str, Any]:
    """Return the JSON Schema of the function that takes the claims of sentences of these
    numbers, at most `most` of each."""
    number = {"$ref": "#/$defs/sentence"}
    fact = {
        "sentence": number,
        "claim": {"type": "string", "description": descriptions["claim"]},
        "query": {"type": "string", "description": descriptions["query"]},
    }
    count = len(sentences)
    arguments = closed(
        {
            "facts": listed(closed(fact), count * (most or _PER_SENTENCE)),
            "no_claim": listed(number, count, descriptions["no_claim"]),
        }
    )
    return {**arguments, "$defs": {"sentence": one_of(sentences)}}


def query_parameters(descriptions: Mapping[str, str], count: int) -> dict[str, Any]:
    """Return the JSON Schema of the function that takes the queries of `count` claims."""
    query = {
        "claim": one_of(range(1, count + 1)),
        "query": {"type": "string", "description": descriptions["query"]},
    }
    return closed({"queries": listed(closed(query), count)})


def facts_parameters(descriptions: Mapping[str, str], sentences: int) -> dict[str, Any]:
    """Return the JSON Schema of the function that takes the facts of a true answer that has
    so many sentences."""
    fact = {"type": "string", "description": descriptions["fact"]}
    return closed({"facts": listed(fact, sentences * _PER_SENTENCE, descriptions["facts"])})


def one_of(numbers: Iterable[int]) -> dict[str, Any]:
    """Return the schema of one of these numbers."""
    return {"type": "integer", "enum": list(numbers)}


def listed(items: Mapping[str, Any], most: int, description: str = "") -> dict[str, Any]:
    """Return the schema of a list of at most `most` items."""
    described = {"description": description} if description else {}
    return {"type": "array", "items": items, "maxItems": most, **described}


def closed(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has these properties, all of them and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
