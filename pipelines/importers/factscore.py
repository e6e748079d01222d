"""Import FActScore (Min et al. 2023): its labelled biographies, one file a model."""

from pathlib import Path

from ufo.pipelines.importers.claims import claims_of, places_of
from ufo.pipelines.importers.reading import (
    LEFT_OUT,
    NEITHER,
    Record,
    get,
    named_after,
    response_text,
    text_of,
)
from ufo.transforms.values import Unusable

_LABELS = {"S": True, "NS": False, "IR": None}


def factscore(raw: Record, file: Path, number: int) -> Record:
    """FActScore (Min et al. 2023): biographies with atomic facts that people labelled.

    Supported is true, not supported false, irrelevant has no label. The response's label is its
    precision: the share of supported facts among those with a label. A model that declined has no
    annotations, and so no claims.
    """
    text = response_text(raw, "output")
    annotations = [] if raw.get("annotations") is None else get(raw, "annotations", list)
    facts: list[tuple[str, list[Record]]] = []
    for annotation in annotations:
        if not isinstance(annotation, dict):
            raise Unusable(f"expected `annotations` to hold objects, found {annotation!r:.80}")
        if annotation.get("human-atomic-facts") is not None:
            listed = get(annotation, "human-atomic-facts", list)
            facts.append((text_of(annotation, "text"), listed))
    claims: list[Record] = []
    places = places_of([sentence for sentence, _ in facts], text)
    for (_, listed), place in zip(facts, places, strict=True):
        for fact in listed:
            if not isinstance(fact, dict) or fact.get("label") not in _LABELS:
                raise Unusable(
                    "expected `human-atomic-facts` to be objects with `text` and a `label` of "
                    f"S, NS or IR, found {fact!r:.80}"
                )
        texts = [text_of(fact, "text") for fact in listed]
        claims += claims_of(texts, [_LABELS[fact["label"]] for fact in listed], place, text)
    labels = [claim["label"] for claim in claims if "label" in claim]
    model, _ = named_after(file)
    record: Record = {
        "id": f"factscore-{model}-{number}",
        "model": model,
        "dataset": "factscore",
        "question": text_of(raw, "input").strip(),
        "response": text,
        "claims": claims,
        LEFT_OUT: [NEITHER for claim in claims if "label" not in claim],
    }
    if labels:
        record["label"] = sum(labels) / len(labels)
    return record
