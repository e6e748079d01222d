"""Import HaluEval (Li et al. 2023): responses to users, and pairs of a right and a wrong answer."""

from pathlib import Path

from ufo.pipelines.importers.claims import places_of
from ufo.pipelines.importers.reading import (
    LEFT_OUT,
    UNPLACED,
    Record,
    as_text,
    response_text,
    text_of,
)
from ufo.transforms.values import Unusable

# By the two answers: what was asked, and what is known.
PAIRS = {
    ("right_answer", "hallucinated_answer"): ("question", "knowledge"),
    ("right_response", "hallucinated_response"): ("dialogue_history", "knowledge"),
    ("right_summary", "hallucinated_summary"): (None, "document"),
}


def halueval(raw: Record, file: Path, number: int) -> list[Record]:
    """HaluEval (Li et al. 2023): `general`, whose spans are errors of ChatGPT; and `qa`, `dialogue`
    and `summarization`, where a right and a hallucinated answer become a record each."""
    for answers, (question, knowledge) in PAIRS.items():
        if all(name in raw for name in answers):
            return [
                {
                    "id": f"halueval-{file.stem}-{number}-{'right' if right else 'hallucinated'}",
                    "dataset": "halueval",
                    **({"question": text_of(raw, question).strip()} if question else {}),
                    "response": response_text(raw, name),
                    "reference_answers": [text_of(raw, knowledge)],
                    "label": right,
                }
                for name, right in zip(answers, (True, False), strict=True)
            ]
    return [_general(raw, number)]


def _general(raw: Record, number: int) -> Record:
    text = response_text(raw, "chatgpt_response")
    word = text_of(raw, "hallucination").strip().lower()
    if word not in ("yes", "no"):
        raise Unusable(f"expected `hallucination` to be yes or no, found {word!r:.80}")
    spans = [as_text("hallucination_spans", one) for one in raw.get("hallucination_spans") or []]
    places = places_of(spans, text)
    record: Record = {
        "id": f"halueval-{raw.get('ID', number)}",
        "model": "ChatGPT",
        "dataset": "halueval",
        "question": text_of(raw, "user_query").strip(),
        "response": text,
        "label": word == "no",
        LEFT_OUT: [UNPLACED for place in places if place is None],
    }
    # A sentence without a span counts as right, so that all are given, or none.
    if None not in places and bool(places) == (word == "yes"):
        record["spans"] = [{"start": at.start, "end": at.end} for at in places if at]
    return record
