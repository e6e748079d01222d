"""Parse records of factual recall: a line of JSON Lines, or a row of WikiEvalFacts.

A record has `question`, the ground truth, and the answers to be verified:

- `ground_truth`; without it `answer` is the ground truth.
- `answers`: `{variant: text}`. Without it the answers are the keys X that have
  `human_evaluated_facts_X`, and every key that ends in `_answer`; `answer` is one of them where it
  has human labels, where there are no labels at all (as in WikiEval), or beside a `ground_truth`.
- `facts`, optional: strings, or `{"fact", "labels": {variant: true or false}}`.
- `human_evaluated_facts_X`: `{fact: True or False}`, as an object or, in WikiEvalFacts, as the text
  of a Python dictionary. Its keys are facts, beside those of `facts`; `gt_facts` is read only where
  there are no others.
- `id` or `unique_id`, else a hash of the content.
"""

import ast
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ufo.schemas.ids import content_id
from ufo.schemas.recall import RecallAnswer, RecallInput, RecallLabel
from ufo.schemas.records import Failure
from ufo.transforms.read import MAX_LINE_BYTES, record_of
from ufo.transforms.values import Unusable, id_value, kind_of, label_value, text_value

GROUND_TRUTHS: Final = ("ground_truth", "ground_truth_answer")
ANSWER: Final = "answer"
LABELS: Final = "human_evaluated_facts_"
_ENDING: Final = "_answer"
_COLUMNS: Final = ("id", "unique_id", "question", "facts", "gt_facts", "answers", *GROUND_TRUTHS)
_WORDS: Final = {"true": 1, "false": 0}
_NO_LABEL: Final = ("", "none", "null", "n/a", "no_response")
# FaaF's code drops these from facts before it compares them; a dot within a number stays a break.
_QUOTES: Final = re.compile(r"['\"’]")
_PUNCTUATION: Final = re.compile(r"[-.\s]+")
_BULLET: Final = re.compile(r"(?:^|\n|(?<=[.!?]))\s*[-*•]\s+")

# Cells that hold a dictionary or list as text: strings and words, within one pair of brackets.
_LEXEME: Final = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\w+""", re.DOTALL)
_FLAT: Final = re.compile(r"\s*(?:\{[\s_:,]*\}|\[[\s_,]*\])\s*")
_IN_PYTHON: Final = {"true": "True", "false": "False", "null": "None"}


def parse_recall(
    key: str, line: bytes, max_line_bytes: int = MAX_LINE_BYTES
) -> RecallInput | Failure:
    """Return the record of one line (`key` is `file:line`), or a failure with the reason."""
    return record_of(_record, key, line, max_line_bytes)


def is_used(name: str) -> bool:
    """Return whether a column of the input may be one of a record's keys."""
    return name in (*_COLUMNS, ANSWER) or name.startswith(LABELS) or name.endswith(_ENDING)


def same_fact(fact: str) -> str:
    """Return a fact without case, punctuation and extra spaces, to compare facts by."""
    return _PUNCTUATION.sub(" ", _QUOTES.sub("", fact)).strip().casefold()


def _record(key: str, raw: dict[str, Any]) -> RecallInput:
    question = text_value(raw, "question")
    if question is None or not question.strip():
        raise Unusable("`question` is missing or empty")
    answers = dict(_answers(raw))
    facts, labels = _facts(raw, answers)
    given = bool(facts) or raw.get("facts") == []
    ground_truth = _ground_truth(raw)
    if not ground_truth.strip() and not given:
        raise Unusable(
            "there is no ground truth to take facts from: give `ground_truth` (or `answer`), or "
            "`facts`"
        )
    record_id = id_value(raw) or id_value(raw, "unique_id")
    if record_id is None:
        record_id = content_id(question, ground_truth, *answers, *answers.values())
    return RecallInput(
        key,
        record_id,
        question,
        ground_truth,
        [RecallAnswer(record_id, variant, text) for variant, text in answers.items()],
        given,
        facts,
        labels,
    )


def _ground_truth(raw: Mapping[str, Any]) -> str:
    for name in (*GROUND_TRUTHS, ANSWER):
        text = text_value(raw, name)
        if text is not None:
            return text
    return ""


def _answers(raw: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (variant, text) of the answers to be verified."""
    named = raw.get("answers")
    if named is not None:
        if not isinstance(named, dict):
            raise Unusable(f"`answers` is an object of texts by variant, not {kind_of(named)}")
        for variant in named:
            if not variant.strip():
                raise Unusable("`answers` has a variant without a name")
            if variant in _COLUMNS or variant.startswith(LABELS):
                raise Unusable(f"`answers` has a variant {variant!r}, the name of another column")
            text = text_value(named, variant, "answers.")
            if text is not None:
                yield variant, text
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
    raw: Mapping[str, Any], answers: Mapping[str, str]
) -> tuple[list[str], list[RecallLabel]]:
    facts: dict[str, str] = {}
    labels: dict[tuple[str, str], int] = {}

    def add(fact: str, by_variant: Mapping[str, int | None], where: str) -> None:
        key = same_fact(fact)
        if not key:
            raise Unusable(f"`{where}` has an empty fact")
        facts.setdefault(key, fact.strip())
        for variant, label in by_variant.items():
            if label is None:
                continue
            if variant not in answers:
                known = ", ".join(answers) or "none"
                raise Unusable(f"`{where}` labels {variant!r}, and the answers are: {known}")
            if labels.setdefault((key, variant), label) != label:
                raise Unusable(f"`{where}` labels {fact!r:.200} both true and false")

    for number, item in enumerate(_given(raw)):
        where = f"facts[{number}]"
        add(_text_of(item, where), _labels_of(item, where), where)
    for name in [name for name in raw if name.startswith(LABELS)]:
        for fact, value in _dictionary(raw, name).items():
            add(fact, {name.removeprefix(LABELS): _label(value, f"{name}[{fact!r:.80}]")}, name)
    if not facts:
        for fact in _ground_truth_facts(raw):
            add(fact, {}, "gt_facts")
    places = {key: place for place, key in enumerate(facts)}
    rows = [RecallLabel(variant, places[key], label) for (key, variant), label in labels.items()]
    return list(facts.values()), rows


def _given(raw: Mapping[str, Any]) -> list[Any]:
    value = _literal(raw.get("facts"), "facts") or []
    if not isinstance(value, list):
        raise Unusable(f"`facts` is a list, not {kind_of(value)}")
    return value


def _text_of(item: object, where: str) -> str:
    if isinstance(item, str):
        item = {"fact": item}
    if not isinstance(item, dict):
        raise Unusable(f"`{where}` is a text or an object with `fact`, not {kind_of(item)}")
    return text_value(item, "fact", f"{where}.") or ""


def _labels_of(item: object, where: str) -> dict[str, int | None]:
    labels = item.get("labels") if isinstance(item, dict) else None
    if labels is None:
        return {}
    if not isinstance(labels, dict):
        raise Unusable(f"`{where}.labels` is an object by variant, not {kind_of(labels)}")
    return {variant: _label(value, f"{where}.labels") for variant, value in labels.items()}


def _dictionary(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    labels = _literal(raw[name], name) or {}
    if not isinstance(labels, dict):
        raise Unusable(f"`{name}` is an object of labels by fact, not {kind_of(labels)}")
    for fact in labels:
        text_value({name: fact}, name)
    return labels


def _ground_truth_facts(raw: Mapping[str, Any]) -> list[str]:
    """Return the facts of `gt_facts`: a list, a list as text, or lines that begin with a dash."""
    value = raw.get("gt_facts")
    if isinstance(value, str) and not value.strip().startswith("["):
        return [fact.strip() for fact in _BULLET.split(value) if fact.strip()]
    value = _literal(value, "gt_facts") or []
    if not isinstance(value, list):
        raise Unusable(f"`gt_facts` is text or a list, not {kind_of(value)}")
    return [_text_of(item, "gt_facts") for item in value]


def _literal(value: Any, name: str) -> Any:
    """Return the dictionary or list that a cell holds as text, in JSON or Python; other values
    unchanged, and None for an empty cell.

    Only strings and words within one pair of brackets are read, and nothing is evaluated.

    Raises:
        Unusable: the text is something else, or has a key twice with different values.
    """
    if not isinstance(value, str) or not value.strip():
        return value or None
    try:
        if not _FLAT.fullmatch(_LEXEME.sub("_", value)):
            raise ValueError("it is no dictionary or list of texts")
        try:
            return json.loads(value, object_pairs_hook=_members)
        except json.JSONDecodeError:
            return _of_python(_LEXEME.sub(_in_python, value).strip())
    except (ValueError, SyntaxError) as error:
        raise Unusable(f"`{name}` cannot be read: {error}"[:200]) from None


def _in_python(lexeme: re.Match[str]) -> str:
    return _IN_PYTHON.get(lexeme[0], lexeme[0].replace("\n", "\\n"))


def _of_python(text: str) -> Any:
    with warnings.catch_warnings():  # of escapes that Python does not know
        warnings.simplefilter("ignore")
        node = ast.parse(text, mode="eval").body
    if isinstance(node, ast.List):
        return ast.literal_eval(node)
    if not isinstance(node, ast.Dict):
        raise ValueError("it is no dictionary or list of texts")
    keys = [ast.literal_eval(key or "") for key in node.keys]
    return _members(list(zip(keys, map(ast.literal_eval, node.values), strict=True)))


def _members(pairs: Sequence[tuple[Any, Any]]) -> dict[Any, Any]:
    members = dict(pairs)
    for key, value in pairs:
        if members[key] != value:
            raise ValueError(f"{key!r:.40} is given twice")
    return members


def _label(value: object, where: str) -> int | None:
    if not isinstance(value, str):
        return label_value(value, where)
    word = value.strip().casefold()
    if word in _NO_LABEL:
        return None
    if word not in _WORDS:
        raise Unusable(f"`{where}` is 'True', 'False' or None, not {value!r}"[:200])
    return _WORDS[word]
