"""Step `read`: parse a line of JSON Lines into an input record, or a failure with the reason.

The columns of an input are mapped to the keys of a record, and its JSON values checked. An invalid
line never stops a run.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, fields
from functools import partial
from hashlib import sha256
from operator import attrgetter
from typing import Any, Final, TypeVar

from ufo.schemas.errors import DoesNotFit, UsageError, unknown_value
from ufo.schemas.label_words import label_of
from ufo.schemas.records import Failure, GivenClaim, InputRecord, LabelledSpan, content_id
from ufo.schemas.row import OF_CELLS, UnusableValue, json_of, kind_of, object_of, value_at
from ufo.schemas.text import quantity, replace_nul
from ufo.transforms.columns import ALIASES, FIELDS, map_value
from ufo.transforms.literals import structure_of
from ufo.transforms.sentences import segment

_KEYS: Final = frozenset(FIELDS)
_ALIASED: Final = [(name, alias) for alias, name in ALIASES.items()]

Columns = Mapping[str, str]
"""The column of the input for each key of a record."""
Lost = Callable[[str], object]
"""Takes a message on a label that cannot be read."""


def named_columns(
    text: str, fields: Sequence[str] = FIELDS, example: str = "response=output,question=prompt"
) -> dict[str, str]:
    """Parse the value of `--map`, such as `response=output,question=prompt`, with these keys.

    Raises:
        UsageError: the form is invalid, or a key is unknown or repeated.
    """
    columns: dict[str, str] = {}
    for item in filter(None, (item.strip() for item in text.split(","))):
        name, equals, column = (part.strip() for part in item.partition("="))
        if not equals or not column:
            raise UsageError(f"--map {item!r}: give KEY=COLUMN, as in {example}")
        if name not in fields:
            raise UsageError(unknown_value("key of --map", name, fields))
        if name in columns:
            raise DoesNotFit(f"--map names {name!r} twice")
        columns[name] = column
    return columns


def is_used(columns: Columns | None, name: str) -> bool:
    """Return whether a column of the input is read as a key; `columns` is from `--map`."""
    mapped = (columns or {}).values()
    return name in (*FIELDS, *ALIASES, *mapped) or any(
        path.startswith((f"{name}.", f"{name}[")) for path in mapped
    )


def sort_columns(raw: Mapping[str, Any], columns: Columns) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values of a record's keys, and the values of the other columns.

    Null values and empty cells are left out. The object around the value of a path is another
    column.
    """
    of_cells = OF_CELLS in raw
    none = (None, "") if of_cells else (None,)
    known: dict[str, Any] = {}
    taken = {OF_CELLS}
    for key, column in (*columns.items(), *_ALIASED):
        if key not in known and column not in taken:
            value = value_at(raw, column)
            if value not in none:
                known[key] = value
                taken.add(column)
    others: dict[str, Any] = {}
    for name, value in raw.items():
        if name in _KEYS and name not in known:
            known[name] = None if name in taken or value in none else value
        elif name not in taken and value not in none:
            others[name] = number_of(value) if of_cells else value
    return known, others


def number_of(cell: object) -> object:
    """Return the number or boolean in a JSON string; other values unchanged."""
    if isinstance(cell, str) and cell.strip()[:1] in "-0123456789tf":
        try:
            number = json_of(cell)
        except ValueError:
            return cell
        return number if isinstance(number, (int, float)) and math.isfinite(number) else cell
    return cell


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
    if value.isascii():  # fast path, for most texts
        return
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
    value = structure_of(raw.get(name), name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise UnusableValue(f"`{name}` is a list, not {kind_of(value)}")
    return value


def label_value(value: object, where: str, lost: Lost, between: bool = True) -> float | None:
    """Return a human label as a number from 0 to 1, None if there is none.

    `lost` is called with a message for a value that is not a label, and for a number between 0 and
    1 where not `between`.
    """
    try:
        label = label_of(value)
    except ValueError as error:
        lost(f"`{where:.100}`: {error}")
        return None
    if label is not None and not between and not label.is_integer():
        lost(f"`{where:.100}`: {value!r:.80} is neither true nor false")
        return None
    return label


MAX_LINE_BYTES = 4 * 1024 * 1024
_MAX_SHOWN = 4096
_CELLS_MARK = f', "{OF_CELLS}": true'  # not in the user's file
_HASHED: Final = json.JSONEncoder(default=astuple)
_said = attrgetter(*(field.name for field in fields(InputRecord) if field.name != "key"))

T = TypeVar("T")
Unknown = Callable[[Mapping[str, Any]], object]
LeftOut = Callable[[Failure], object]


def parse(
    key: str,
    line: bytes,
    max_line_bytes: int = MAX_LINE_BYTES,
    columns: Columns | None = None,
    unknown: Unknown | None = None,
    left_out: LeftOut = lambda failure: None,
    keys: Unknown | None = None,
) -> InputRecord | Failure:
    """Return the record of one line (`key` is `file:line` or `file@byte`), or a failure.

    `columns` has other names of a record's keys, or paths as in `outputs.answer`. `keys` is called
    with each object, and `unknown` with the values of unknown keys of a record, which go into its
    `metadata`. A given claim that cannot be used and a label that cannot be read are not in the
    record, and `left_out` is called with the failure of each. A response without `id` gets a hash
    of its content as id.
    """
    make = partial(_record, columns or {}, unknown, left_out, keys)
    return record_of(make, key, line, max_line_bytes)


def record_of(
    make: Callable[[str, dict[str, Any]], T], key: str, line: bytes, max_line_bytes: int
) -> T | Failure:
    """Return `make(key, object)` for the JSON object of a line, or a failure if it is unusable."""
    try:
        if len(line) > max_line_bytes:
            raise UnusableValue(
                f"the record is longer than --max_line_bytes, which is {max_line_bytes:,}"
            )
        return make(key, object_of(line))
    except UnusableValue as error:
        return failure(key, "unusable_record", str(error), line)
    except RecursionError:
        return failure(key, "unusable_record", "the record is nested too deeply", line)


def record_hash(record: InputRecord) -> str:
    """Return a hash of a record (32 hex digits), without its position in the input."""
    return sha256(_HASHED.encode(_said(record)).encode()).hexdigest()[:32]


def failure(key: str, error_type: str, message: str, line: bytes) -> Failure:
    """Return the `failures` row of a line, or of a claim; its text is cut at 4 KiB."""
    shown = line[:_MAX_SHOWN].decode("utf-8", "backslashreplace").replace(_CELLS_MARK, "")
    return Failure("read", key, error_type, message, replace_nul(shown)[:_MAX_SHOWN])


def _shown(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def lost_labels(key: str, raw: Mapping[str, Any], left_out: LeftOut) -> Lost:
    """Return a function that passes the failure of a label of a record to `left_out`."""

    def lost(message: str) -> None:
        left_out(failure(key, "unusable_label", f"{message}; the label is left out", _shown(raw)))

    return lost


def _record(
    columns: Columns,
    unknown: Unknown | None,
    left_out: LeftOut,
    keys: Unknown | None,
    key: str,
    row: dict[str, Any],
) -> InputRecord:
    if keys is not None:
        keys(row)
    raw, others = sort_columns(row, columns)
    lost = lost_labels(key, row, left_out)
    if "response" not in raw:
        found = f"; there are: {', '.join(others)}"[:200] if others else ""
        raise UnusableValue(f"`response` is missing{found}{_hint(row, columns, 'response')}")
    text = _text(raw, "response", row, columns)
    if text is None or not text.strip():
        raise UnusableValue("`response` is empty")
    # An empty name would be a separate row in reports.
    names = ("model", "question", "dataset", "language")
    named = (_text(raw, name, row, columns) or None for name in names)
    model, question, dataset, language = named
    references = _references(raw)
    claims = list_value(raw, "claims")
    spans, are_errors = _spans(raw, text, lost)
    response_id = id_value(raw)
    if response_id is None:
        response_id = content_id(text, model or "", question or "", dataset or "")
    record = InputRecord(
        key,
        response_id,
        text,
        model,
        dataset,
        question,
        language,
        label_value(raw.get("label"), "label", lost),
        _metadata(raw, others),
        references,
        raw.get("claims") is not None,
        list(_claims(key, claims, left_out, lost)),
        spans,
        are_errors,
    )
    if others and unknown is not None:
        unknown(others)
    return record


def _text(
    raw: Mapping[str, Any], name: str, row: Mapping[str, Any], columns: Columns
) -> str | None:
    """Return a text of a record; an error advises a `--map` that finds a text inside the value."""
    try:
        return text_value(raw, name)
    except UnusableValue as error:
        hint = "" if isinstance(raw[name], str) else _hint(row, columns, name)
        raise UnusableValue(f"{error}{hint}") from None


def _hint(row: Mapping[str, Any], columns: Columns, name: str) -> str:
    advice = map_value(row, columns, name)
    return f"; did you mean --map {advice}?" if advice else ""


def _references(raw: Mapping[str, Any]) -> list[str]:
    value = structure_of(raw.get("reference_answers"), "reference_answers")
    items = value if isinstance(value, list) else [value]
    references = []
    for item in items:
        if item is None:
            continue
        if not isinstance(item, str):
            wrong = f"of {kind_of(item)}" if items is value else kind_of(item)
            raise UnusableValue(f"`reference_answers` is text or a list of texts, not {wrong}")
        check_writable(item, "reference_answers")
        if item.strip():
            references.append(item)
    return references


def _metadata(raw: Mapping[str, Any], others: Mapping[str, Any]) -> str | None:
    value = structure_of(raw.get("metadata"), "metadata")
    if value is not None and not isinstance(value, dict):
        raise UnusableValue(f"`metadata` is an object, not {kind_of(value)}")
    if value is None and not others:
        return None
    text = _written({**others, **(value or {})})
    if text is None:
        # An invalid value of an unknown key is left out, without failing the record.
        kept = {name: item for name, item in others.items() if _written({name: item}) is not None}
        text = _written({**kept, **(value or {})})
    if text is None:
        raise UnusableValue(
            "`metadata` has a number that no float can hold, half of a surrogate pair, or is "
            "nested too deeply"
        )
    return text


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True, allow_nan=False)


def _written(item: Mapping[str, Any]) -> str | None:
    """Return the JSON of an object, None if a table cannot store it, as 1e999 (infinite)."""
    try:
        text = _ENCODER.encode(_without_nulls(item))
        text.encode()
    except (ValueError, RecursionError):
        return None
    return text


def _without_nulls(value: Any) -> Any:
    """Return a JSON value without null members: a Parquet struct has null for each missing key."""
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _claims(
    key: str, items: Sequence[object], left_out: LeftOut, lost: Lost
) -> Iterator[GivenClaim]:
    """Yield the claims that can be used; an unusable one does not affect the others."""
    for number, item in enumerate(items):
        try:
            yield _claim(number, item, lost)
        except UnusableValue as error:
            message = f"{error}; the claim is left out"
            left_out(failure(key, "unusable_claim", message, _shown(item)))


def _claim(number: int, item: object, lost: Lost) -> GivenClaim:
    where = f"claims[{number}]."
    if isinstance(item, str):
        item = {"claim": item}
    if not isinstance(item, dict):
        raise UnusableValue(f"`claims[{number}]` is an object with `claim`, not {kind_of(item)}")
    claim = text_value(item, "claim", where)
    if claim is None or not claim.strip():
        raise UnusableValue(f"`{where}claim` is missing or empty")
    place = item.get("sentence_index")
    if place is not None and (type(place) is not int or not 0 <= place < 2**63):
        raise UnusableValue(f"`{where}sentence_index` is a number from 0, not {place!r}"[:200])
    query = text_value(item, "query", where)
    label = label_value(item.get("label"), where + "label", lost)
    return GivenClaim(claim.strip(), query, label, place)


def _spans(raw: Mapping[str, Any], text: str, lost: Lost) -> tuple[list[LabelledSpan], bool]:
    """Return the labelled spans of the text, and whether they are errors."""
    are_errors = raw.get("spans") is not None
    name = "spans" if are_errors else "sentence_labels"
    items = list_value(raw, name)
    if not are_errors and items and not any(isinstance(item, dict) for item in items):
        items = _of_sentences(items, text)
    spans = []
    for at, item in enumerate(items):
        where = f"{name}[{at}]"
        start, end = _stretch(text, where, item)
        label = 0.0 if are_errors else label_value(item.get("label"), f"{where}.label", lost, False)
        spans.append(LabelledSpan(start, end, None if label is None else int(label)))
    return spans, are_errors


def _of_sentences(labels: Sequence[object], text: str) -> list[dict[str, object]]:
    """Return the spans of the sentences with their labels, one for each."""
    spans = segment(text)
    if len(spans) != len(labels):
        raise UnusableValue(
            f"`sentence_labels` has {quantity(len(labels), 'label')}, the response "
            f"{quantity(len(spans), 'sentence')}; "
            "give each with its `start` and `end` instead"
        )
    return [{**span._asdict(), "label": label} for span, label in zip(spans, labels, strict=True)]


def _stretch(text: str, where: str, item: Any) -> tuple[int, int]:
    """Return the start and end of a labelled span."""
    if not isinstance(item, dict):
        raise UnusableValue(f"`{where}` is an object with `start` and `end`, not {kind_of(item)}")
    start, end = item.get("start"), item.get("end")
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
        raise UnusableValue(
            f"`{where}` is from {start!r} to {end!r}, not a stretch of a response "
            f"of {quantity(len(text), 'character')}"
        )
    return start, end
