"""Servers as people run them, and servers that refuse in the words of the product's own table."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from .chat import REJECTED, Switches
from .errors import ApiError, too_long

_TABLE = Path(__file__).parents[2] / "transforms" / "llm" / "refusals.yaml"


def _error(refusal: Mapping[str, Any], **numbers: int) -> ApiError:
    text = json.dumps(refusal["body"])
    for name, number in numbers.items():
        text = text.replace(f'"<{name}>"', str(number)).replace(f"<{name}>", str(number))
    return ApiError(refusal.get("status", 400), text, body=json.loads(text))


def _profile(refusals: Mapping[str, Any] | None = None, **switches: Any) -> Switches:
    by_kind = dict(refusals or {})
    long = by_kind.pop("too_long", None)

    def over(context: int, prompt: int, allowed: int) -> ApiError:
        numbers = {"context": context, "prompt": prompt, "allowed": allowed}
        return _error(long, asked=prompt + allowed, **numbers)

    return Switches(
        **switches,
        too_long=over if long else too_long,
        refusals={name: _error(one) for name, one in by_kind.items()},
    )


PROFILES: Mapping[str, Switches] = {
    name: _profile(**about)
    for name, about in yaml.safe_load(
        Path(__file__).with_name("profiles.yaml").read_text(encoding="utf-8")
    ).items()
}


def refusals() -> list[dict[str, Any]]:
    """The rows of the table of what providers say, with their examples."""
    rows: list[dict[str, Any]] = yaml.safe_load(_TABLE.read_text(encoding="utf-8"))
    return rows


def of_example(kind: str, example: Mapping[str, Any]) -> Switches:
    """A server that refuses what this kind is about, in the words of an example of the table."""

    def error(**numbers: int) -> ApiError:
        text = str(example["says"])
        for name, number in numbers.items():
            text = text.replace(str(example.get(name, "?")), str(number))
        codes, status = example.get("codes"), example.get("status", 400)
        return ApiError(status, text, code=codes, param=example.get("param"))

    if kind == "overflow":
        return Switches(
            context=2000, too_long=lambda context, prompt, _: error(context=context, prompt=prompt)
        )
    if kind == "cap":
        return Switches(cap=1500, capped=lambda _, cap: error(cap=cap))
    if kind == "schema":
        return Switches(grammar='"$ref"', refusals={"grammar": error()})
    refused = {"limit": "max_tokens", "format": "response_format"}.get(kind, kind)
    if kind == "stream":
        return Switches(streams=True, refusals={"stream": error()})
    if kind == "temperature":
        return Switches(temperature_fixed=True)
    if kind in ("tools", "tool_choice", "strict", "limit", "logprobs", "n", "system"):
        changes: dict[str, Any] = {refused: REJECTED}
        return replace(Switches(refusals={refused: error()}), **changes)
    if kind == "format":
        return Switches(
            tools=REJECTED, response_format=REJECTED, refusals={"response_format": error()}
        )
    return Switches(fails=error())
