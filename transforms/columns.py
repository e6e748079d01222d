"""Guess the columns of a data set that have the keys of a record.

The columns of the usual tools are known, also those inside of objects and lists. A guess is
proposed to people and never mapped by itself.
"""

import difflib
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ufo.schemas.label_words import label_of
from ufo.schemas.row import OF_CELLS, parse_nested, value_at

FIELDS: Final = (
    "response",
    "id",
    "model",
    "question",
    "dataset",
    "reference_answers",
    "label",
    "claims",
    "spans",
    "sentence_labels",
    "language",
    "metadata",
)
"""The keys of an input record."""
ALIASES: Final = {"reference answers": "reference_answers"}
"""Other names that are read as a key."""

# Common names in other data sets, the most usual first: DeepEval, Ragas, promptfoo, HELM and
# lm-evaluation-harness, OpenAI, MLflow, vLLM, Hugging Face and Inspect have them.
_USUAL: Final = {
    name: field
    for field, names in {
        "response": "output answer completion generation text prediction model_output generated "
        "actual_output generated_text output_text predicted_answer filtered_resps resps sampled "
        "outputs predictions completions generations choices messages",
        "question": "prompt query input instruction user_query user_input inputs request",
        "reference_answers": "references evidence retrieval_context retrieved_contexts "
        "retrieved_context context contexts documents passages reference reference_answer "
        "ground_truth ground_truths expected_output expected_response expected ideal target "
        "targets gold gold_answer",
        "model": "model_name generator llm",
        "label": "score human_score factuality",
        "claims": "facts atomic_facts statements",
        "language": "lang locale",
        "metadata": "meta extra",
        "id": "uid key _id response_id",
    }.items()
    for name in names.split()
}
_RANKS: Final = {name: rank for rank, name in enumerate((*FIELDS, *_USUAL))}

NAMES: Final = frozenset((*FIELDS, *ALIASES, *_USUAL))
"""The keys of a record, and common other names for them."""

_TEXTS: Final = ("response", "model", "question", "dataset", "language")
_LISTS: Final = ("claims", "spans", "sentence_labels")
_GIVEN: Final = ("doc", "item", "example", "vars")
"""Columns with the input of a tool, in which an answer is the right one, not the model's."""
_OF_THE_WHOLE: Final = ("reference_answers", "claims", "label", "metadata")
"""Keys whose column has no value for another key in it."""
_CONTENTS: Final = ("text", "content", "value", "message")
"""Names that do not describe their text: the name of the object around it does."""
_DEEPEST: Final = 6
_WIDEST: Final = 50
_ASKED: Final = ("response", "question", "reference_answers")


class _Part(NamedTuple):
    """A value inside of a record, with the names on the way to it and its path.

    `role` is that of the message that it is in, "" for none.
    """

    names: tuple[str, ...]
    path: str
    value: Any
    role: str = ""


def nearest_key(name: str) -> str | None:
    """Return the key of a record that a column name probably means, else None."""
    folded = name.casefold().strip()
    matches = difflib.get_close_matches(folded, [*FIELDS, *_USUAL], n=1, cutoff=0.7)
    return _USUAL.get(matches[0], matches[0]) if matches else None


def likely_columns(names: Sequence[str]) -> dict[str, str]:
    """Return the column of each key of a record that has it, or probably has it by its name.

    A column with the key's own name comes first, then the other names, the most usual first.
    """
    folded = {_folded(name): name for name in reversed(names)}
    column_of: dict[str, str] = {}
    for known in (*FIELDS, *_USUAL):
        if column := folded.pop(_folded(known), None):
            column_of.setdefault(_USUAL.get(known, known), column)
    return {key: column_of[key] for key in FIELDS if key in column_of}


def likely_paths(raw: Mapping[str, Any]) -> dict[str, str]:
    """Return the column, or the path inside of one, that probably has each key of a record.

    Keys whose value there cannot be used are left out.
    """
    best: dict[str, tuple[tuple[bool, int, int, int], str]] = {}
    for column, value in raw.items():
        if column == OF_CELLS or "," in column or column != column.strip():
            continue  # --map cannot name it
        for part in _parts(_Part((column,), column, value)):
            for key, rank in _keys(part):
                if _fits(key, part.value) and value_at(raw, part.path) == part.value:
                    # What a cell of JSON holds is rather a text than the cell is.
                    is_cell = key in _TEXTS and parse_nested(part.value) is not part.value
                    candidate = (is_cell, len(part.names), rank, len(part.path)), part.path
                    best[key] = min(candidate, best.get(key, candidate))
    return {key: best[key][1] for key in FIELDS if key in best}


def map_advice(name: str, value: object) -> str | None:
    """Return a value for `--map` that reads an unknown column, such as `response=outputs.answer`.

    It is None if the column's name means no key, or the key cannot have its value.
    """
    key = nearest_key(name)
    paths = likely_paths({name: value})
    return f"{key}={paths[key]}" if key in paths else None


def map_value(raw: Mapping[str, Any], columns: Mapping[str, str], wanted: str) -> str:
    """Return the value for `--map` that reads a wanted key, "" if no column probably has it.

    It is quoted for a shell, and has the columns that `--map` names already.
    """
    paths = likely_paths(raw)
    if wanted not in paths:
        return ""
    chosen = {key: path for key, path in columns.items() if _fits(key, value_at(raw, path))}
    for key in dict.fromkeys((*_ASKED, wanted)):
        value = value_at(raw, chosen.get(key, key))
        if key in paths and paths[key] != key and not _fits(key, value):
            chosen[key] = paths[key]
    return shlex.quote(",".join(f"{key}={path}" for key, path in chosen.items()))


def paths_of(column: str, value: object) -> list[str]:
    """Return the paths that `--map` may name in a column, the column itself first."""
    return [part.path for part in _parts(_Part((column,), column, value))]


def _folded(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.casefold()).strip()


def _named(name: str) -> str:
    """Return a column's name in the spelling of the lists of this module."""
    return name.casefold().strip().replace(" ", "_").replace("-", "_")


def _parts(part: _Part) -> Iterator[_Part]:
    """Yield a value of a record and the values in it, at any depth.

    These are all members of an object, the first item of a list, and the last message of each role
    in a chat.
    """
    yield part
    value = parse_nested(part.value)
    if len(part.names) >= _DEEPEST:
        return
    if isinstance(value, dict):
        texts = [name for name, item in value.items() if isinstance(item, str) and item.strip()]
        for name, item in [*value.items()][:_WIDEST]:
            if name and not re.search(r"[.,\[\]]", name) and name == name.strip():
                # The only text of a column is described by the column's name.
                is_only = texts == [name] and part.path == part.names[0]
                known = _CONTENTS[0] if is_only and _named(name) not in _RANKS else name
                names = (*part.names, known)
                yield from _parts(_Part(names, f"{part.path}.{name}", item, part.role))
    elif isinstance(value, list) and value:
        roles = [_role(item) for item in value]
        if all(roles):
            for role in dict.fromkeys(reversed(roles)):
                at = roles[::-1].index(role) + 1
                yield from _parts(_Part(part.names, f"{part.path}[-{at}]", value[-at], role))
        elif part.path.count("[") < _DEEPEST:
            yield from _parts(_Part(part.names, f"{part.path}[0]", value[0], part.role))


def _role(item: object) -> str:
    """Return the role of a message of a chat, "" for any other item."""
    role = item.get("role") if isinstance(item, dict) else None
    return role if isinstance(role, str) else ""


def _keys(part: _Part) -> Iterator[tuple[str, int]]:
    """Yield the keys of a record that a value may belong to, by the names on the way to it.

    Each has the rank of the name that means it: the lower, the more usual.
    """
    names = [_named(name) for name in part.names]
    around = [_USUAL.get(name, name) for name in names[:-1]]
    whole = next((at for at, key in enumerate(around) if key in _OF_THE_WHOLE), None)
    if whole is not None:
        yield around[whole], _RANKS[names[whole]]
        return
    own = names[-1]
    if part.role:
        # A model's turn is its response, and a person's the question, whatever the list is called.
        key = {"assistant": "response", "user": "question"}.get(part.role)
        if key and own in _CONTENTS:
            yield key, _RANKS["messages"]
        return
    if own in _CONTENTS and len(names) > 1:
        outer = next((name for name in names[-2::-1] if name in _RANKS), None)
        if outer and outer not in ("text", "content"):
            own = outer
    if own in ("answer", "answers") and names[0] in _GIVEN:
        yield "reference_answers", _RANKS["gold_answer"]
    elif own in _RANKS:
        yield _USUAL.get(own, own), _RANKS[own]
    elif len(names) == 1 and (near := nearest_key(own)):
        yield near, len(_RANKS)


def _fits(key: str, value: object) -> bool:
    """Return whether a key of a record can have a value."""
    if key in _TEXTS:
        return isinstance(value, str) and bool(value.strip())
    if key in _LISTS:
        return isinstance(value, list)
    if key == "reference_answers":
        items = value if isinstance(value, list) and value else [value]
        return all(isinstance(item, str) and item.strip() for item in items)
    if key == "label":
        return _is_label(value)
    if key == "id":
        is_number = isinstance(value, int) and not isinstance(value, bool)
        return is_number or (isinstance(value, str) and bool(value.strip()))
    return isinstance(value, dict)


def _is_label(value: object) -> bool:
    try:
        return label_of(value) is not None
    except ValueError:
        return False
