"""Parse records of factual recall: a line of JSON Lines, or a row of WikiEvalFacts.

A record has `question`, the ground truth, and the answers to be verified:

- `ground_truth`; without it `answer` is the ground truth.
- `answers`: `{variant: text}`. Without it the answers are the keys X with a key
  `human_evaluated_facts_X`, and every key that ends in `_answer`.
  The key `answer` is one of them in three cases: it has human labels, there are no labels at all
  (as in WikiEval), or there is a `ground_truth`.
- `facts`, optional: strings, or `{"fact", "labels": {variant: true or false}}`.
- `human_evaluated_facts_X`: `{fact: True or False}`, as an object or, in WikiEvalFacts, as the text
  of a Python dictionary. Its keys are facts, in addition to `facts`. `gt_facts` is read only if
  there are no other facts.
- `id` or `unique_id`, else a hash of the content.
"""

import ast
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

from ufo.schemas.label_words import WORDS, word_of
from ufo.schemas.records import Failure, RecallAnswer, RecallInput, RecallLabel, content_id
from ufo.schemas.row import UnusableValue, kind_of
from ufo.transforms.read import (
    MAX_LINE_BYTES,
    LeftOut,
    Lost,
    id_value,
    label_value,
    lost_labels,
    record_of,
    text_value,
)

GROUND_TRUTHS: Final = ("ground_truth", "ground_truth_answer")
ANSWER: Final = "answer"
LABELS: Final = "human_evaluated_facts_"
_ENDING: Final = "_answer"
_COLUMNS: Final = ("id", "unique_id", "question", "facts", "gt_facts", "answers", *GROUND_TRUTHS)
_NO_RESPONSE: Final = "no_response"  # in WikiEvalFacts, where there is no answer to label
# FaaF's code drops these from facts before it compares them; a dot within a number stays a break.
_QUOTES: Final = re.compile(r"['\"’]")
_PUNCTUATION: Final = re.compile(r"[-.\s]+")
_BULLET: Final = re.compile(r"(?:^|\n|(?<=[.!?]))\s*[-*•]\s+")

# Cells that hold a dictionary or list of strings and words as text.
_LEXEME: Final = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\w+""", re.DOTALL)
_FLAT: Final = re.compile(r"\{(?:_:_,?)*\}|\[(?:_,?)*\]")
_IN_PYTHON: Final = {"true": "True", "false": "False", "null": "None"}
_CONSTANTS: Final = ("true", "false", "null", "none")
_KINDS: Final[Mapping[type, str]] = {list: "a list", dict: "an object"}


def parse_recall(
    key: str,
    line: bytes,
    max_line_bytes: int = MAX_LINE_BYTES,
    left_out: LeftOut = lambda failure: None,
) -> RecallInput | Failure:
    """Return the record of one line (`key` is `file:line`), or a failure with the reason.

    A label that cannot be read is not in the record, and `left_out` is called with its failure.
    """
    return record_of(partial(_record, left_out), key, line, max_line_bytes)


def is_used(name: str) -> bool:
    """Return whether a column of the input may be one of a record's keys."""
    return name in (*_COLUMNS, ANSWER) or name.startswith(LABELS) or name.endswith(_ENDING)


def same_fact(fact: str) -> str:
    """Return the form of a fact by which facts are compared: without case and punctuation."""
    return _PUNCTUATION.sub(" ", _QUOTES.sub("", fact)).strip().casefold()


def _record(left_out: LeftOut, key: str, raw: dict[str, Any]) -> RecallInput:
    question = text_value(raw, "question")
    if question is None or not question.strip():
        raise UnusableValue("`question` is missing or empty")
    answers = dict(_answers(raw))
    facts, labels = _facts(raw, answers, lost_labels(key, raw, left_out))
    has_facts = bool(facts) or raw.get("facts") == []
    truths = (text_value(raw, name) for name in (*GROUND_TRUTHS, ANSWER))
    truth = next((text for text in truths if text is not None), "")
    if not truth.strip() and not has_facts:
        raise UnusableValue(
            "there is no ground truth to take facts from: give `ground_truth` (or `answer`), or "
            "`facts`"
        )
    own_id = id_value(raw) or id_value(raw, "unique_id")
    record_id = own_id or content_id(question, truth, *answers, *answers.values())
    rows = [RecallAnswer(record_id, variant, text) for variant, text in answers.items()]
    return RecallInput(key, record_id, question, truth, rows, has_facts, facts, labels)


def _answers(raw: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (variant, text) of the answers to be verified."""
    if raw.get("answers") is not None:
        named = _held(raw, "answers", dict)
        for variant in named:
            if not variant.strip():
                raise UnusableValue("`answers` has a variant without a name")
            if variant in _COLUMNS or variant.startswith(LABELS):
                raise UnusableValue(
                    f"`answers` has a variant {variant!r}, the name of another column"
                )
        texts = ((variant, text_value(named, variant, "answers.")) for variant in named)
        yield from ((variant, text) for variant, text in texts if text is not None)
        return
    labelled = [name.removeprefix(LABELS) for name in raw if name.startswith(LABELS)]
    apart = any(raw.get(name) is not None for name in GROUND_TRUTHS)
    for name in raw:
        ending = name.endswith(_ENDING) and name not in GROUND_TRUTHS and LABELS not in name
        alone = name == ANSWER and (apart or not labelled)
        if not (name in labelled or ending or alone):
            continue
        text = text_value(raw, name)
        # A table has every column in each row: an empty cell without labels is not an answer.
        if text is None or (not text.strip() and name in labelled and not raw[LABELS + name]):
            continue
        yield name, text


def _facts(
    raw: Mapping[str, Any], answers: Mapping[str, str], lost: Lost
) -> tuple[list[str], list[RecallLabel]]:
    facts: dict[str, str] = {}
    labels: dict[tuple[str, str], int] = {}

    def add(fact: str, by_variant: Mapping[str, int | None], where: str) -> None:
        key = same_fact(fact)
        if not key:
            raise UnusableValue(f"`{where}` has an empty fact")
        facts.setdefault(key, fact.strip())
        for variant, label in by_variant.items():
            if label is None:
                continue
            if variant not in answers:
                known = ", ".join(answers) or "none"
                raise UnusableValue(f"`{where}` labels {variant!r}, and the answers are: {known}")
            if labels.setdefault((key, variant), label) != label:
                raise UnusableValue(f"`{where}` labels {fact!r:.200} both true and false")

    for number, item in enumerate(_held(raw, "facts", list)):
        where = f"facts[{number}]"
        members = item if isinstance(item, dict) else {}
        own_items = _held(members, "labels", dict, f"{where}.").items()
        own_labels = {
            variant: _label(value, f"{where}.labels", lost) for variant, value in own_items
        }
        add(_text_of(item, where), own_labels, where)
    for name in [name for name in raw if name.startswith(LABELS)]:
        for fact, value in _held(raw, name, dict).items():
            label = _label(value, f"{name}[{fact!r:.80}]", lost)
            add(text_value({name: fact}, name) or "", {name.removeprefix(LABELS): label}, name)
    truths = raw.get("gt_facts")
    if not facts and isinstance(truths, str) and not truths.strip().startswith("["):
        truths = [fact for fact in _BULLET.split(truths) if fact.strip()]
    for item in () if facts else _held({"gt_facts": truths}, "gt_facts", list):
        add(_text_of(item, "gt_facts"), {}, "gt_facts")
    places = {key: place for place, key in enumerate(facts)}
    rows = [RecallLabel(variant, places[key], label) for (key, variant), label in labels.items()]
    return list(facts.values()), rows


def _text_of(item: object, where: str) -> str:
    if isinstance(item, str):
        item = {"fact": item}
    if not isinstance(item, dict):
        raise UnusableValue(f"`{where}` is a text or an object with `fact`, not {kind_of(item)}")
    return text_value(item, "fact", f"{where}.") or ""


def _held(raw: Mapping[str, Any], name: str, kind: type, where: str = "") -> Any:
    """Return a list or an object of a record, empty where it is missing."""
    value = _literal(raw.get(name), where + name)
    if not isinstance(value, kind | None):
        raise UnusableValue(f"`{where}{name}` is {_KINDS[kind]}, not {kind_of(value)}")
    return value or kind()


def _literal(value: Any, name: str) -> Any:
    """Return the dictionary or list of a cell's text, None for an empty cell; other values as is.

    The text is in JSON or Python. Only strings and words within one pair of brackets are read, and
    nothing is evaluated.

    Raises:
        UnusableValue: the text is something else, or has a key twice with different values.
    """
    if not isinstance(value, str) or not value.strip():
        return None if isinstance(value, str) else value
    try:
        if not _FLAT.fullmatch("".join(_LEXEME.sub("_", value).split())):
            raise ValueError("it is no dictionary or list of texts")
        with suppress(json.JSONDecodeError):
            return json.loads(value, object_pairs_hook=_members)
        with warnings.catch_warnings():  # of escapes that Python does not know
            warnings.simplefilter("ignore")
            node: Any = ast.parse(_LEXEME.sub(_in_python, value).strip(), mode="eval").body
        if isinstance(node, ast.List):
            return ast.literal_eval(node)
        pairs = zip(node.keys, node.values, strict=True)
        return _members([(ast.literal_eval(key), ast.literal_eval(one)) for key, one in pairs])
    except (ValueError, SyntaxError) as error:
        raise UnusableValue(f"`{name}` cannot be read: {error}"[:200]) from None


def _in_python(lexeme: re.Match[str]) -> str:
    word = lexeme[0]
    if word_of(word) in WORDS and word.lower() not in _CONSTANTS:  # {'A fact': nan}
        return repr(word)
    return _IN_PYTHON.get(word, word.replace("\n", "\\n"))


def _members(pairs: Sequence[tuple[Any, Any]]) -> dict[Any, Any]:
    members = dict(pairs)
    for key, value in pairs:
        if members[key] != value:
            raise ValueError(f"{key!r:.40} is given twice")
    return members


def _label(value: object, where: str, lost: Lost) -> int | None:
    if isinstance(value, str) and value.strip().casefold() == _NO_RESPONSE:
        return None
    label = label_value(value, where, lost, between=False)
    return None if label is None else int(label)
