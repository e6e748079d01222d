"""Import ExpertQA (Malaviya et al. 2024): `r2_compiled_anon.jsonl`, answers that experts judged."""

from pathlib import Path

from ufo.pipelines.importers.reading import (
    LEFT_OUT,
    NEITHER,
    Record,
    as_text,
    get,
    objects_of,
    response_text,
    text_of,
)
from ufo.transforms.values import Unusable


def expertqa(raw: Record, file: Path, number: int) -> list[Record]:
    """ExpertQA (Malaviya et al. 2024): each model's answer is a record.

    A claim is true where the expert called it definitely or probably correct, false where likely or
    definitely incorrect. Evidence with a text is a reference; an address alone is left out.
    """
    answers = get(raw, "answers", dict)
    if not answers:
        raise Unusable("expected `answers` of models, found none: the file has questions alone")
    return [_answer(raw, model, answers, number) for model in answers]


def _answer(raw: Record, model: str, answers: Record, number: int) -> Record:
    answer = get(answers, model, dict)
    left_out: list[str] = []
    claims: list[Record] = []
    references: dict[str, None] = {}
    for item in objects_of(answer, "claims"):
        claim: Record = {"claim": text_of(item, "claim_string").strip()}
        label = _label(item.get("correctness"))
        if label is None:
            left_out.append(NEITHER)
        else:
            claim["label"] = label
        claims.append(claim)
        for evidence in item.get("evidence") or []:
            text = _text_of(as_text("evidence", evidence))
            if text:
                references[text] = None
            else:
                left_out.append("evidence without a text")
    labels = [claim["label"] for claim in claims if "label" in claim]
    record: Record = {
        "id": f"expertqa-{number}-{model}",
        "model": model,
        "dataset": "expertqa",
        "question": text_of(raw, "question").strip(),
        "response": response_text(answer, "answer_string"),
        "claims": [claim for claim in claims if claim["claim"]],
        "reference_answers": list(references),
        "metadata": raw.get("metadata") or {},
        LEFT_OUT: left_out,
    }
    if labels:
        record["label"] = sum(labels) / len(labels)
    return record


def _label(value: object) -> bool | None:
    words = value.lower().split() if isinstance(value, str) else []
    return False if "incorrect" in words else True if "correct" in words else None


def _text_of(evidence: str) -> str:
    """Return the passage of a piece of evidence, after its address."""
    first, _, rest = evidence.strip().partition("\n")
    return rest.strip() if "://" in first and " " not in first.strip() else evidence.strip()
