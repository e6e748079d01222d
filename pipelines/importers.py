"""Published label files as input records of DESIGN section 4: one function a format.

A further format is a function from one object of its file to a record, and a line in IMPORTERS.
"""

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from schemas.errors import UsageError, unknown_value
from transforms.align import align
from transforms.sentences import Span, segment

Record = dict[str, Any]
# (an object of the file, the file's name without endings, its line number) → a record.
Importer = Callable[[Record, str, int], Record]


class _Unusable(ValueError):
    """A line that is not of the format; says what was expected of it."""


def import_records(kind: str, path: str | Path, report: Callable[[str], None]) -> Iterator[Record]:
    """Give the records of a label file (JSON Lines, also `.gz`), in order.

    Args:
        kind: one of IMPORTERS.
        path: the file; factscore takes the model's name from it.
        report: called with a message for each line that cannot be used; other lines go on.

    Raises:
        UsageError: an unknown kind, a file that cannot be read, or one without a usable line.
    """
    if kind not in IMPORTERS:
        raise UsageError(unknown_value("format", kind, IMPORTERS))
    file = Path(path)
    stem = file.name.split(".")[0]
    problems: list[str] = []
    found = False
    for number, line in _lines(file):
        try:
            record = IMPORTERS[kind](_object(line), stem, number)
        except _Unusable as problem:
            problems.append(f"{file}:{number}: {problem}")
        else:
            found = True
            yield record
        # A file of another format is one problem, not one a line: told when a line has fitted.
        while found and problems:
            report(problems.pop(0))
    if problems:
        raise UsageError(f"none of {len(problems)} lines is {kind}; {problems[0]}.")
    if not found:
        raise UsageError(f"nothing to import: {str(file)!r} has no lines.")


def factcheck_gpt(raw: Record, stem: str, number: int) -> Record:
    """Factcheck-Bench (Wang et al. 2023): claims with labels, under sentences, with web evidence.

    Evidence found for any claim becomes a reference answer of the whole response. Labels other than
    true and false ("unknown", "NA") are left out.
    """
    text = _response(raw, "response")
    sentences = list(_get(raw, "sentences", dict).values())
    for sentence in sentences:
        if not isinstance(sentence, dict):
            raise _Unusable(f"expected each of `sentences` to be an object, found {sentence!r:.80}")
    places = _places([_text(sentence, "text") for sentence in sentences], text)
    claims: list[Record] = []
    references: dict[str, None] = {}
    for sentence, place in zip(sentences, places, strict=True):
        texts = [_as_text("claims", claim) for claim in _get(sentence, "claims", list)]
        labels = _get(sentence, "claims_factuality_label", list)
        if len(labels) != len(texts):
            raise _Unusable(
                f"expected one of `claims_factuality_label` for each claim, found {len(labels)} "
                f"for {len(texts)}"
            )
        claims += _claims(
            texts, [one if type(one) is bool else None for one in labels], place, text
        )
        for passages in _get(sentence, "auto_evidence", list):
            for passage in passages if isinstance(passages, list) else [passages]:
                references[_as_text("auto_evidence", passage).strip()] = None
    record: Record = {
        "id": f"factcheck_gpt-{number}",
        "model": "ChatGPT",
        "dataset": "factcheck_gpt",
        "question": _text(raw, "prompt").strip(),
        "response": text,
        "claims": claims,
        "sentence_labels": [
            {"start": place.start, "end": place.end, "label": sentence["sentence_factuality_label"]}
            for sentence, place in zip(sentences, places, strict=True)
            if place and isinstance(sentence.get("sentence_factuality_label"), bool)
        ],
        "reference_answers": [reference for reference in references if reference],
    }
    if isinstance(raw.get("response_factuality"), bool):
        record["label"] = raw["response_factuality"]
    return record


_FACTSCORE_LABELS = {"S": True, "NS": False, "IR": None}


def factscore(raw: Record, stem: str, number: int) -> Record:
    """FActScore (Min et al. 2023): biographies with atomic facts that people labelled.

    Supported is true, not supported false, irrelevant has no label. The response's label is its
    precision: the share of supported facts among those with a label. A model that declined has no
    annotations, and so no claims.
    """
    text = _response(raw, "output")
    annotations = [] if raw.get("annotations") is None else _get(raw, "annotations", list)
    facts: list[tuple[str, list[Record]]] = []
    for annotation in annotations:
        if not isinstance(annotation, dict):
            raise _Unusable(f"expected `annotations` to hold objects, found {annotation!r:.80}")
        if annotation.get("human-atomic-facts") is not None:
            listed = _get(annotation, "human-atomic-facts", list)
            facts.append((_text(annotation, "text"), listed))
    claims: list[Record] = []
    places = _places([sentence for sentence, _ in facts], text)
    for (_, listed), place in zip(facts, places, strict=True):
        for fact in listed:
            if not isinstance(fact, dict) or fact.get("label") not in _FACTSCORE_LABELS:
                raise _Unusable(
                    "expected `human-atomic-facts` to be objects with `text` and a `label` of "
                    f"S, NS or IR, found {fact!r:.80}"
                )
        texts = [_text(fact, "text") for fact in listed]
        claims += _claims(texts, [_FACTSCORE_LABELS[fact["label"]] for fact in listed], place, text)
    labels = [claim["label"] for claim in claims if "label" in claim]
    record: Record = {
        "id": f"factscore-{stem}-{number}",
        "model": stem,
        "dataset": "factscore",
        "question": _text(raw, "input").strip(),
        "response": text,
        "claims": claims,
    }
    if labels:
        record["label"] = sum(labels) / len(labels)
    return record


IMPORTERS: dict[str, Importer] = {
    "factcheck_gpt": factcheck_gpt,
    "factscore": factscore,
}


# --- claims and sentences ------------------------------------------------------------------------


def _places(sentences: Sequence[str], text: str) -> list[Span | None]:
    """Return where each sentence stands in the text: after the one before it, if it can.

    White space, case and the final mark may differ, as annotators tidied them; a sentence that they
    rewrote has no place.
    """
    places: list[Span | None] = []
    after = 0
    for sentence in sentences:
        words = sentence.strip().rstrip(".").split()
        pattern = re.compile(r"\s+".join(map(re.escape, words)) + r"\.?", re.IGNORECASE)
        match = (pattern.search(text, after) or pattern.search(text)) if words else None
        places.append(Span(*match.span()) if match else None)
        after = match.end() if match else after
    return places


def _claims(
    texts: Sequence[str], labels: Sequence[bool | None], place: Span | None, response: str
) -> list[Record]:
    """Return the claims of one of their sentences, each with its label and our sentence's index."""
    indices = _our_sentences(texts, place, response) if place else [None] * len(texts)
    claims = []
    for text, label, index in zip(texts, labels, indices, strict=True):
        claim: Record = {"claim": text}
        if label is not None:
            claim["label"] = label
        if index is not None:
            claim["sentence_index"] = index
        claims.append(claim)
    return claims


def _our_sentences(claims: Sequence[str], place: Span, response: str) -> list[int | None]:
    """Return the index of our sentence for each claim that was made from the text at `place`.

    Where that text is several sentences of ours (a list, mostly), each claim goes to the one it
    shares its words with, or to none.
    """
    covered = []
    for index, span in enumerate(segment(response)):
        overlap = min(span.end, place.end) - max(span.start, place.start)
        if overlap * 2 > min(span.end - span.start, place.end - place.start):
            covered.append((index, response[span.start : span.end]))
    if len(covered) == 1:
        return [covered[0][0]] * len(claims)
    chosen = align(claims, [text for _, text in covered])
    return [None if at is None else covered[at][0] for at in chosen]


# --- reading -------------------------------------------------------------------------------------


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Give the lines that are not blank, numbered from 1."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"cannot read {str(path)!r}: {error}.") from error


def _object(line: bytes) -> Record:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise _Unusable(f"expected a JSON object a line, found no JSON: {error}") from error
    if not isinstance(value, dict):
        raise _Unusable(f"expected a JSON object a line, found {_kind(value)}")
    return value


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _get(raw: Record, name: str, kind: type) -> Any:
    if name not in raw:
        raise _Unusable(f"expected `{name}`, found only: {', '.join(raw) or 'nothing'}"[:300])
    if not isinstance(raw[name], kind):
        raise _Unusable(f"expected `{name}` to be {_kind(kind())}, found {_kind(raw[name])}")
    return raw[name]


def _text(raw: Record, name: str) -> str:
    return _as_text(name, _get(raw, name, str))


def _response(raw: Record, name: str) -> str:
    text = _text(raw, name)
    if not text.strip():
        raise _Unusable(f"expected `{name}` to be a response, found an empty text")
    return text


def _as_text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise _Unusable(f"expected `{name}` to hold texts, found {_kind(value)}")
    return value
