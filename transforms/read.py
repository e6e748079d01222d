"""Step `read`: a line of JSON Lines into an input record, or a failure that says why not.

What is wrong with one line never stops a run.
"""

import json
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Mapping
from dataclasses import astuple, fields
from hashlib import sha256
from operator import attrgetter
from typing import Any, TypeVar

from schemas.ids import content_id
from schemas.records import Failure, GivenClaim, InputRecord, LabelledSpan
from transforms.sentences import segment

MAX_LINE_BYTES = 4 * 1024 * 1024
BEYOND = "cells beyond the header"
"""The key under which a row of CSV has the cells for which its header has no name."""
_MAX_SHOWN = 4096
_UTF_16 = (BOM_UTF16_LE, BOM_UTF16_BE)
_said = attrgetter(*(field.name for field in fields(InputRecord) if field.name != "key"))
_ALIASES = {"reference answers": "reference_answers"}

T = TypeVar("T")


class Unusable(ValueError):
    """A line that is no record; the message is for the row in `failures`."""


def parse(key: str, line: bytes, max_line_bytes: int = MAX_LINE_BYTES) -> InputRecord | Failure:
    """Return the record of one line (`key` is `file:line` or `file@byte`), or a failure.

    A response without `id` gets a hash of its content, so that the same response has the same one
    in every run.
    """
    return record_of(_record, key, line, max_line_bytes)


def record_of(
    make: Callable[[str, dict[str, Any]], T], key: str, line: bytes, max_line_bytes: int
) -> T | Failure:
    """Return what `make` reads out of the JSON object of a line, or the failure that says why it
    raised `Unusable`."""
    try:
        if len(line) > max_line_bytes:
            raise Unusable(f"the line is longer than --max_line_bytes, which is {max_line_bytes:,}")
        raw = _object(line)
        if BEYOND in raw:
            raise Unusable("the row has more cells than the header has columns")
        return make(key, raw)
    except Unusable as error:
        return failure(key, "unusable_record", str(error), line)
    except RecursionError:
        return failure(key, "unusable_record", "the record is nested too deeply", line)


def record_hash(record: InputRecord) -> str:
    """Return 32 hex digits over all that a record says; where it stood is not part of it."""
    return sha256(json.dumps(_said(record), default=astuple).encode()).hexdigest()[:32]


def failure(key: str, error_type: str, message: str, line: bytes) -> Failure:
    """Return the `failures` row of a line; its text is cut at 4 KiB."""
    shown = line[:_MAX_SHOWN].decode("utf-8", "backslashreplace").replace("\0", "\\0")
    return Failure("read", key, error_type, message, shown[:_MAX_SHOWN])


def _object(line: bytes) -> dict[str, Any]:
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        other = " (the file is UTF-16)" if line.startswith(_UTF_16) else ""
        raise Unusable(f"not UTF-8{other}: byte {error.start + 1} of the line is invalid") from None
    if "\0" in text:
        raise Unusable("the line has a NUL byte")
    try:
        found = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Unusable(f"not JSON: {error}") from None
    if not isinstance(found, dict):
        raise Unusable(f"a record is a JSON object, not {kind_of(found)}")
    return found


def _no_constant(name: str) -> float:
    # Python reads and writes NaN and Infinity; JSON has none, and nobody else could read them.
    raise ValueError(f"{name} is no JSON value")


def _record(key: str, raw: dict[str, Any]) -> InputRecord:
    for alias, name in _ALIASES.items():
        if alias in raw:
            raw.setdefault(name, raw.pop(alias))
    if "response" not in raw:
        raise Unusable("`response` is missing")
    text = text_value(raw, "response")
    if text is None or not text.strip():
        raise Unusable("`response` is empty")
    # An empty text is no model's name, and would be a row of its own in reports.
    named = (text_value(raw, name) or None for name in ("model", "question", "dataset", "language"))
    model, question, dataset, language = named
    references = _references(raw)
    given = raw.get("claims") is not None
    spans, are_errors = _spans(raw, text)
    response_id = id_value(raw)
    if response_id is None:
        response_id = content_id(text, model or "", question or "", dataset or "")
    return InputRecord(
        key,
        response_id,
        text,
        model,
        dataset,
        question,
        language,
        _score(raw),
        _metadata(raw),
        references,
        given,
        [_claim(number, item) for number, item in enumerate(_list(raw, "claims"))],
        spans,
        are_errors,
    )


def kind_of(value: object) -> str:
    """Return what JSON calls a value, for a message."""
    names = {dict: "an object", list: "a list", str: "text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def text_value(raw: Mapping[str, Any], name: str, where: str = "") -> str | None:
    """Return a text of a record, None where it has none.

    Raises:
        Unusable: it is something else, or has a character that no table can hold.
    """
    value = raw.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise Unusable(f"`{where}{name}` is text, not {kind_of(value)}")
    _writable(value, where + name)
    return value


def _writable(value: str, name: str) -> None:
    # JSON can say "\\ud800", half of a character; no UTF-8 file, and so no table, can hold it.
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Unusable(f"`{name}` has half of a surrogate pair, which is no character") from None
    if "\0" in value:
        raise Unusable(f"`{name}` has a NUL character")


def id_value(raw: Mapping[str, Any], name: str = "id") -> str | None:
    """Return the id of a record, None where it brought none.

    Raises:
        Unusable: it is neither a text nor a whole number, or empty.
    """
    value = raw.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    text = text_value(raw, name)
    if text is not None and not text.strip():
        raise Unusable(f"`{name}` is empty; leave it out to have one made")
    return text


def _list(raw: Mapping[str, Any], name: str) -> list[Any]:
    value = raw.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Unusable(f"`{name}` is a list, not {kind_of(value)}")
    return value


def _references(raw: Mapping[str, Any]) -> list[str]:
    value = raw.get("reference_answers")
    items = value if isinstance(value, list) else [] if value is None else [value]
    for item in items:
        if not isinstance(item, str):
            wrong = f"of {kind_of(item)}" if items is value else kind_of(item)
            raise Unusable(f"`reference_answers` is text or a list of texts, not {wrong}")
        _writable(item, "reference_answers")
    return [item for item in items if item.strip()]


def _score(raw: Mapping[str, Any]) -> float | None:
    value = raw.get("label")
    if value is None:
        return None
    # No float is made of it first: JSON knows no bound, and 10**400 is one too many for a float.
    if not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise Unusable(f"`label` is a number from 0 to 1 or a boolean, not {value!r}"[:200])
    return float(value)


def label_value(value: object, where: str) -> int | None:
    """Return a human label, None where there is none.

    Raises:
        Unusable: it is not true, false, 1, 0 or null.
    """
    if value is None:
        return None
    if value in (0, 1) and isinstance(value, (bool, int, float)):
        return int(value)
    raise Unusable(f"`{where}` is true, false or null, not {value!r}"[:200])


def _metadata(raw: Mapping[str, Any]) -> str | None:
    value = raw.get("metadata")
    if value is None:
        return None
    if not isinstance(value, dict):
        raise Unusable(f"`metadata` is an object, not {kind_of(value)}")
    try:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)
    except ValueError:  # 1e999 is JSON, and for Python infinite: as such nobody could read it again
        raise Unusable("`metadata` has a number that no float can hold") from None
    _writable(text, "metadata")
    return text


def _claim(number: int, item: object) -> GivenClaim:
    where = f"claims[{number}]."
    if isinstance(item, str):
        item = {"claim": item}
    if not isinstance(item, dict):
        raise Unusable(f"`claims[{number}]` is an object with `claim`, not {kind_of(item)}")
    claim = text_value(item, "claim", where)
    if claim is None or not claim.strip():
        raise Unusable(f"`{where}claim` is missing or empty")
    place = item.get("sentence_index")
    if place is not None and (type(place) is not int or not 0 <= place < 2**63):
        raise Unusable(f"`{where}sentence_index` is a number from 0, not {place!r}"[:200])
    label = label_value(item.get("label"), where + "label")
    return GivenClaim(claim.strip(), text_value(item, "query", where), label, place)


def _spans(raw: Mapping[str, Any], text: str) -> tuple[list[LabelledSpan], bool]:
    """Return the labelled stretches of the text, and whether they are errors."""
    if raw.get("spans") is not None:
        errors = [_stretch(text, f"spans[{n}]", s) for n, s in enumerate(_list(raw, "spans"))]
        return [LabelledSpan(start, end, 0) for start, end, _ in errors], True
    return _sentence_labels(_list(raw, "sentence_labels"), text), False


def _stretch(text: str, where: str, item: object) -> tuple[int, int, object]:
    if not isinstance(item, dict):
        raise Unusable(f"`{where}` is an object with `start` and `end`, not {kind_of(item)}")
    start, end = item.get("start"), item.get("end")
    whole = type(start) is int and type(end) is int
    if not whole or not 0 <= start < end <= len(text):  # type: ignore[operator]
        raise Unusable(
            f"`{where}` is from {start!r} to {end!r}, not a stretch of a response "
            f"of {len(text)} characters"
        )
    return start, end, item.get("label")  # type: ignore[return-value]


def _sentence_labels(items: list[Any], text: str) -> list[LabelledSpan]:
    """Read `[{"start", "end", "label"}]`, or one label for each of our sentences, in order."""
    if items and not any(isinstance(item, dict) for item in items):
        spans = segment(text)
        if len(spans) != len(items):
            raise Unusable(
                f"`sentence_labels` has {len(items)} labels, the response {len(spans)} sentences; "
                "give each with its `start` and `end` instead"
            )
        items = [
            {"start": span.start, "end": span.end, "label": label}
            for span, label in zip(spans, items, strict=True)
        ]
    labelled = []
    for number, item in enumerate(items):
        where = f"sentence_labels[{number}]"
        start, end, label = _stretch(text, where, item)
        labelled.append(LabelledSpan(start, end, label_value(label, where + ".label")))
    return labelled
