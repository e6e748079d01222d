"""A small run that has something for every view: models, labels, usage, failures, every outcome."""

from dataclasses import replace
from typing import Any

from ufo.schemas.records import Failure, RecallVerdict, Usage

VOTES = {
    "a": {
        "a1": {"ref": "ss", "wiki": "r"},
        "a2": {"ref": "r", "wiki": "rs"},
        "a3": {"ref": "s", "wiki": "s"},
    },
    "b": {"b1": {"ref": "-", "wiki": "s"}, "b2": {"ref": "n", "wiki": "n"}},
    "c": {"c1": {"ref": "r", "wiki": "r"}, "c2": {"ref": "e", "wiki": "sn"}},
    "d": {"d1": {"ref": "s", "wiki": "e"}, "d2": {"ref": "n", "wiki": "r"}},
    "e": {"e1": {"ref": "r", "wiki": "s"}},
    "f": {},
}
MODELS = {"a": "alder", "b": "birch", "c": "alder", "d": "birch", "e": "alder", "f": "birch"}
QUESTIONS = {"a": "q1", "b": "q1", "c": "q2", "d": "q2", "e": "q3", "f": "q3"}
LABELS = {"a1": 1, "a2": 0, "a3": 1, "b1": 0, "c1": 0, "c2": 1, "d1": 1, "d2": 1, "e1": 1}
SCORES = {"a": 0.75, "b": 0.0, "c": 0.5, "d": 1.0, "e": 1.0, "f": 0.5}


def request(response_id: str | None, source: str | None, cost: float, **changes: Any) -> Usage:
    name, step = f"{response_id}-{source}-{cost}", "verify" if source else "extract"
    counts = (False, False, 0, 100, 10, 0.5, cost)  # neither cached nor shared, at once; tokens
    return replace(Usage(name, step, source, "m", response_id, "w", "ok", *counts), **changes)


def labelled_rows(rows_of: Any, mode: str = "all") -> dict[str, list[Any]]:
    """Return the rows of the run; in mode seq, `wiki` was asked only where `ref` had no answer."""
    votes: dict[str, Any] = VOTES
    if mode == "seq":
        votes = {
            response: {
                unit: {"ref": by["ref"]} if set("sr") & set(by["ref"]) else by
                for unit, by in units.items()
            }
            for response, units in VOTES.items()
        }
    of_people = {"questions": QUESTIONS, "scores": SCORES, "labels": LABELS}
    rows: dict[str, list[Any]] = rows_of(votes, mode=mode, models=MODELS, **of_people)
    rows["sentences"] = [
        replace(row, human_label=label)
        for row, label in zip(rows["sentences"], [1, 0, 1, 0, None, 0, 1, 1, 0, 1], strict=True)
    ]
    rows["failures"] = [Failure("read", "in.jsonl:3", "BadJson", "not JSON", "{")]
    rows["usage"] = [
        request("a", None, 0.5),
        request("a", "ref", 0.1),
        request("a", "wiki", 0.3),
        request("b", "wiki", 0.2),
        request("b", "wiki", 0.0, cached=True),
        request("c", "ref", 0.1),
        request("d", "wiki", 0.4),
        request("d", "wiki", 0.0, coalesced=True),
    ]
    return rows


_OUTCOMES = {"t": ("supported", 1), "f": ("refuted", 0), "n": ("noans", 0), "-": ("error", None)}


def verdicts(record: str, variant: str, formulation: str, letters: str, human: str) -> list[Any]:
    """A verdict a letter: t, f, n (not clear) or - (unanswered); in capitals, one that a
    repair brought. `human` has t, f or a blank for each, and is a formulation of its own."""
    rows = []
    for place, (letter, mark) in enumerate(zip(letters, human, strict=True)):
        outcome, label = _OUTCOMES[letter.lower()]
        people = {"t": 1, "f": 0}.get(mark)
        first = "unparsable" if letter.isupper() or letter == "-" else None
        reason = "unparsable" if letter == "-" else None
        rows.append(
            RecallVerdict(
                record, variant, f"{record}{place}", formulation, outcome, reason, first, label,
                people, None, None, None, None, None, "llm", "m",
            )
        )  # fmt: skip
    return rows


def people(record: str, variant: str, human: str) -> list[Any]:
    rows = verdicts(record, variant, "human", human.replace(" ", "-"), human)
    return [row for row in rows if row.label is not None]
