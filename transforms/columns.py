"""Map the columns of an input to the keys of a record, and separate unknown columns."""

import difflib
from collections.abc import Mapping
from typing import Any, Final

from ufo.schemas.errors import UsageError, unknown_value
from ufo.transforms.values import OF_CELLS, number_of

FIELDS: Final = (
    *("response", "id", "model", "question", "dataset", "reference_answers", "label", "claims"),
    *("spans", "sentence_labels", "language", "metadata"),
)
"""The keys of an input record."""
_ALIASES: Final = {"reference answers": "reference_answers"}
# Common names in other data sets: suggested in a warning, but not mapped.
_USUAL: Final = {
    name: field
    for field, names in {
        "response": "output answer completion generation text prediction model_output generated",
        "question": "prompt query input instruction user_query",
        "reference_answers": "references evidence context contexts documents passages",
        "model": "model_name generator llm",
        "label": "score human_score factuality",
        "claims": "facts atomic_facts statements",
        "language": "lang locale",
        "metadata": "meta extra",
        "id": "uid key _id response_id",
    }.items()
    for name in names.split()
}

NAMES: Final = frozenset((*FIELDS, *_ALIASES, *_USUAL))
"""The keys of a record, and common other names for them."""

Columns = Mapping[str, str]
"""The column of the input for each key of a record."""


def named_columns(text: str) -> dict[str, str]:
    """Parse the value of `--map`, such as `response=output,question=prompt`.

    Raises:
        UsageError: the form is invalid, or a key is unknown or repeated.
    """
    found: dict[str, str] = {}
    for item in filter(None, (item.strip() for item in text.split(","))):
        name, equals, column = (part.strip() for part in item.partition("="))
        if not equals or not column:
            raise UsageError(
                f"--map {item!r}: give KEY=COLUMN, as in response=output,question=prompt"
            )
        if name not in FIELDS:
            raise UsageError(unknown_value("key of --map", name, FIELDS))
        if name in found:
            raise UsageError(f"--map names {name!r} twice")
        found[name] = column
    return found


def is_used(columns: Columns | None, name: str) -> bool:
    """Return whether a column of the input is one of a record's keys, of which `columns` are other
    names."""
    return name in (*FIELDS, *_ALIASES, *(columns or {}).values())


def sorted_out(raw: Mapping[str, Any], columns: Columns) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values of the keys of a record, and those of other columns.

    Null values and empty cells are left out.
    """
    of_cells = OF_CELLS in raw
    none = (None, "") if of_cells else (None,)
    present = {name: value for name, value in raw.items() if value not in none and name != OF_CELLS}
    known = {name: present.pop(column) for name, column in columns.items() if column in present}
    for alias, name in _ALIASES.items():
        if alias in present and name not in known:
            known[name] = present.pop(alias)
    for name in FIELDS:
        if name in raw and name not in known:
            known[name] = present.pop(name, None)
    others = {name: number_of(value) if of_cells else value for name, value in present.items()}
    return known, others


def nearest(name: str) -> str | None:
    """Return the key of a record that a column name probably means, None if there is none."""
    folded = name.casefold().strip()
    matches = difflib.get_close_matches(folded, [*FIELDS, *_USUAL], n=1, cutoff=0.7)
    return _USUAL.get(matches[0], matches[0]) if matches else None
