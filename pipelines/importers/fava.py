"""Import FAVA (Mishra et al. 2024): responses with tagged errors.

An object of `annotations.json` has the response as `output`, and as `annotated` with tags: an error
is inside the tag of its type, in it the erroneous text in <delete> and a correction in <mark>, as

    He was an <entity><delete>American</delete><mark>Argentine</mark></entity> player.

The response is the text without tags and corrections. The synthetic data have the two the other way
round, an error put in for what was there: `errored_passage` always, `annotated` where `output` (in
the input of FAVA's own evaluation `passage`) says so.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from ufo.pipelines.importers.reading import LEFT_OUT, UNPLACED, Record, response_text
from ufo.transforms.values import Unusable

_TYPES = ("entity", "relation", "contradictory", "invented", "subjective", "unverifiable")
_EDITS = ("mark", "delete")
_TAG = re.compile(rf"<(/?)({'|'.join((*_TYPES, *_EDITS))})>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Error:
    start: int
    end: int
    type: str


def fava(raw: Record, file: Path, number: int) -> Record:
    """Return the record: its errors are `spans` (`label` is the error's type) in its text.

    A correction that replaces nothing has no place in the response; its type is counted in
    `metadata` with the others.
    """
    synthetic = "annotated" not in raw and "errored_passage" in raw
    annotated = response_text(raw, "errored_passage" if synthetic else "annotated")
    output = raw.get("output", raw.get("passage"))
    text, errors = _parsed(annotated, "delete" if synthetic else "mark")
    if isinstance(output, str) and output.strip():
        if not _same(text, output):
            other, others = _parsed(annotated, "delete")
            if _same(other, output):
                text, errors = other, others
        if _same(text, output):
            errors = _moved(errors, text, output)
            text = output
    if not text.strip():
        raise Unusable("expected `annotated` to hold a response, found corrections only")
    spans = [
        {"start": error.start, "end": error.end, "label": error.type}
        for error in errors
        if error.start < error.end
    ]
    types = {kind: sum(error.type == kind for error in errors) for kind in _TYPES}
    known = {name: raw[name] for name in ("subject", "dataset") if isinstance(raw.get(name), str)}
    evidence = raw.get("evidence", raw.get("reference"))
    record: Record = {
        "id": f"fava-{number}",
        "model": raw["model"] if isinstance(raw.get("model"), str) else None,
        "dataset": "fava",
        "question": raw["prompt"].strip() if isinstance(raw.get("prompt"), str) else None,
        "response": text,
        "reference_answers": [evidence] if isinstance(evidence, str) and evidence.strip() else None,
        "spans": spans,
        "metadata": {**known, "errors": {kind: n for kind, n in types.items() if n}},
        LEFT_OUT: [UNPLACED for error in errors if error.start == error.end],
    }
    return {name: value for name, value in record.items() if value is not None}


def _parsed(annotated: str, left_out: str) -> tuple[str, list[_Error]]:
    """Return the text without tags and the content of `left_out` tags, and its errors in order."""
    text = ""
    errors: list[_Error] = []
    opened: list[tuple[str, int]] = []
    at = 0
    for match in _TAG.finditer(annotated):
        if not any(name == left_out for name, _ in opened):
            text += annotated[at : match.start()]
        at = match.end()
        name = match[2].lower()
        if not match[1]:
            opened.append((name, len(text)))
            continue
        if not opened or opened[-1][0] != name:
            inside = f"inside <{opened[-1][0]}>" if opened else "that nothing opens"
            raise Unusable(f"expected tags of `annotated` to match, found </{name}> {inside}")
        _, start = opened.pop()
        if name in _TYPES:
            errors.append(_trimmed(start, text, name))
    if opened:
        raise Unusable(f"expected tags of `annotated` to match, found <{opened[-1][0]}> left open")
    return text + annotated[at:], sorted(errors, key=lambda error: (error.start, -error.end))


def _trimmed(start: int, text: str, name: str) -> _Error:
    """Return the error from `start` to the text's end, without white space around."""
    inside = text[start:]
    before = len(inside) - len(inside.lstrip())
    return _Error(start + before, max(start + before, len(text.rstrip())), name)


def _same(one: str, other: str) -> bool:
    return one.split() == other.split() or "".join(one.split()) == "".join(other.split())


def _moved(errors: list[_Error], text: str, output: str) -> list[_Error]:
    """Return the errors with their offsets in `output`, which differs only in white space."""
    places = [at for at, char in enumerate(output) if not char.isspace()]
    before = [0]
    for char in text:
        before.append(before[-1] + (not char.isspace()))
    return [
        _Error(places[before[error.start]], places[before[error.end] - 1] + 1, error.type)
        if error.start < error.end
        else _Error(0, 0, error.type)
        for error in errors
    ]
