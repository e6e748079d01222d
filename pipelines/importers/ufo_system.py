"""Import UFO (Huang et al.): the data sets and results of its demo system and first release.

The demo system (UFOSys) has `question`, `response`, `reference_answers` and `label`; its results
add `output`, a list of fact units with `claims` (one text) and `queries`. The first release has the
response as `modelText` or `mgt`, the question as `question` or `prompt`, fact units as `facts` of
`Question` and `Answer`, and documents in `human_written_evidences` and `reference_documents`. Its
`answer` is the question's, not evidence. Before that its data sets had the two kinds of evidence in
`summary` and `document`, and the question or headline in `title`, or inside of `prompt`.
"""

import re
from pathlib import Path

from ufo.pipelines.importers.reading import (
    Record,
    as_text,
    get,
    named_after,
    objects_of,
    response_text,
)
from ufo.transforms.values import Unusable

_RESPONSES = ("response", "modelText", "mgt")
_REFERENCES = ("reference_answers", "human_written_evidences", "reference_documents")
_OLDER = ("summary", "document")
_ARTICLES = "story_separator_special_tag"  # between the articles of a `document`
_TITLE = re.compile(r"^Title: (.+?)\s*^Introduction:", re.DOTALL | re.MULTILINE)
# Folders of the data sets, in the spelling of either release; each has a file or folder a model.
_DATA_SETS = {
    **{name: name for name in ("factcheckgpt", "factool-qa", "felm-wk", "selfaware")},
    **{name: name for name in ("wikibio-labeled", "nq", "hotpotqa", "truthfulqa", "msmarco")},
    "cnndm": "cnndm",
    "cnn:dm": "cnndm",
    "ms marco": "msmarco",
    "multi-news": "multi-news",
}


def ufo_system(raw: Record, file: Path, number: int) -> Record:
    """Return the record; a response without fact units has its claims extracted.

    The model is what the file is named after. The id is that of the data set or else the number,
    after the data set and model, since each file counts from 0.
    """
    model, folder = named_after(file)
    dataset = _DATA_SETS.get(folder.lower())
    place = f"{dataset}-{model}" if dataset else model
    name = next((name for name in _RESPONSES if raw.get(name) is not None), "response")
    given = raw.get("id")
    record: Record = {
        "id": f"ufo-{place}-{number if given is None else given}",
        "model": model,
        "dataset": dataset or "ufo",
        "question": _question(raw),
        "response": response_text(raw, name),
        "reference_answers": list(dict.fromkeys(_references(raw))),
        "claims": [*_units(raw), *_facts(raw)] or None,
        "label": _label(raw),
        "metadata": {"answer": _texts(raw, "answer")} if raw.get("answer") else None,
    }
    return {name: value for name, value in record.items() if value is not None}


def _question(raw: Record) -> str | None:
    found = next((raw[key] for key in ("question", "title", "prompt") if raw.get(key)), None)
    if found is None:
        return None
    text = as_text("question", found)
    title = _TITLE.search(text)
    return (title[1] if title else text).strip()


def _references(raw: Record) -> list[str]:
    found = [text for key in _REFERENCES for text in _texts(raw, key)]
    if found:
        return found
    older = [
        part.strip()
        for key in _OLDER
        for text in _texts(raw, key)
        for part in text.split(_ARTICLES)
    ]
    return [text for text in older if text]


def _texts(raw: Record, name: str) -> list[str]:
    value = raw.get(name)
    if value is None:
        return []
    items = [value] if isinstance(value, str) else get(raw, name, list)
    return [text.strip() for item in items if (text := as_text(name, item)).strip()]


def _label(raw: Record) -> float | None:
    label = raw.get("label")
    if label is None:
        return None
    if not isinstance(label, (int, float)) or not 0 <= label <= 1:
        raise Unusable(f"expected `label` to be from 0 to 1, found {label!r:.80}")
    return float(label)


def _units(raw: Record) -> list[Record]:
    """Return the claims of `output`, each with the first of its queries."""
    found = []
    for unit in objects_of(raw, "output"):
        claim: Record = {"claim": as_text("claims", get(unit, "claims", str)).strip()}
        queries = _texts(unit, "queries")
        if queries:
            claim["query"] = queries[0]
        if claim["claim"]:
            found.append(claim)
    return found


def _facts(raw: Record) -> list[Record]:
    """Return the pairs of `facts` as claims: the question followed by its answer."""
    found = []
    for fact in objects_of(raw, "facts"):
        question = as_text("Question", get(fact, "Question", str)).strip()
        answer = as_text("Answer", get(fact, "Answer", str)).strip()
        found.append({"claim": f"{question} {answer}", "query": question})
    return found
