"""Import RAGTruth (Niu et al. 2024): `response.jsonl`, with `source_info.jsonl` beside it."""

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from ufo.pipelines.importers.reading import (
    LEFT_OUT,
    UNPLACED,
    Record,
    objects_of,
    read_objects,
    response_text,
    text_of,
)

SOURCES = "source_info.jsonl"
_PASSAGE = re.compile(r"\s*\bpassage \d+:\s*")


def ragtruth(raw: Record, file: Path, number: int) -> Record:
    """RAGTruth (Niu et al. 2024): responses with spans that their sources do not support.

    What is right without a source (`implicit_true`) is not an error. If a span cannot be found
    the response gets none, since a sentence without one counts as right.
    """
    text = response_text(raw, "response")
    left_out: list[str] = []
    spans: list[Record] = []
    for label in objects_of(raw, "labels"):
        start, end = label.get("start"), label.get("end")
        if label.get("implicit_true"):
            left_out.append("spans that are right (implicit_true)")
        elif not (
            isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(text)
        ):
            left_out.append(UNPLACED)
        else:
            spans.append({"start": start, "end": end, "label": label.get("label_type")})
    source = _sources(file.parent / SOURCES).get(str(raw.get("source_id")), {})
    if not source:
        left_out.append(f"sources of responses (none in {SOURCES} beside the file)")
    question, references = _given(source.get("source_info"))
    known = {name: raw[name] for name in ("temperature", "quality", "split") if name in raw}
    record: Record = {
        "id": f"ragtruth-{raw.get('id', number)}",
        "model": text_of(raw, "model"),
        "dataset": "ragtruth",
        "response": text,
        "reference_answers": references,
        "label": not spans and UNPLACED not in left_out,
        "metadata": known | {"task": source["task_type"]} if "task_type" in source else known,
        LEFT_OUT: left_out,
    }
    if question:
        record["question"] = question
    if UNPLACED not in left_out:
        record["spans"] = spans
    return record


def _given(source: Any) -> tuple[str | None, list[str]]:
    """Return the question and the texts of a source: an article, passages, or data."""
    if isinstance(source, str):
        return None, [source]
    if not isinstance(source, dict):
        return None, []
    passages = source.get("passages")
    if isinstance(passages, str):
        return source.get("question"), list(filter(None, map(str.strip, _PASSAGE.split(passages))))
    return None, [json.dumps(source, ensure_ascii=False)]


@lru_cache(1)
def _sources(path: Path) -> dict[str, Record]:
    """Return the sources of the data set by their ids; empty if the file does not exist."""
    if not path.exists():
        return {}
    found = (source for _, source in read_objects(path) if isinstance(source, dict))
    return {str(source.get("source_id")): source for source in found}
