"""Import Factcheck-Bench (Wang et al. 2023): `benchmark.jsonl` of the Factcheck-GPT repository."""

from pathlib import Path

from ufo.pipelines.importers.claims import claims_of, places_of
from ufo.pipelines.importers.reading import (
    LEFT_OUT,
    NEITHER,
    UNPLACED,
    Record,
    as_text,
    get,
    response_text,
    text_of,
)
from ufo.transforms.values import Unusable


def factcheck_gpt(raw: Record, file: Path, number: int) -> Record:
    """Factcheck-Bench (Wang et al. 2023): claims with labels, under sentences, with web evidence.

    Evidence found for any claim becomes a reference answer of the whole response. Labels other than
    true and false ("unknown", "NA") are left out.
    """
    text = response_text(raw, "response")
    sentences = list(get(raw, "sentences", dict).values())
    for sentence in sentences:
        if not isinstance(sentence, dict):
            raise Unusable(f"expected each of `sentences` to be an object, found {sentence!r:.80}")
    places = places_of([text_of(sentence, "text") for sentence in sentences], text)
    claims: list[Record] = []
    references: dict[str, None] = {}
    left_out: list[str] = []
    for sentence, place in zip(sentences, places, strict=True):
        if place is None and isinstance(sentence.get("sentence_factuality_label"), bool):
            left_out.append(UNPLACED)
        texts = [as_text("claims", claim) for claim in get(sentence, "claims", list)]
        labels = get(sentence, "claims_factuality_label", list)
        if len(labels) != len(texts):
            raise Unusable(
                f"expected one of `claims_factuality_label` for each claim, found {len(labels)} "
                f"for {len(texts)}"
            )
        left_out += [NEITHER for one in labels if type(one) is not bool]
        claims += claims_of(
            texts, [one if type(one) is bool else None for one in labels], place, text
        )
        for passages in get(sentence, "auto_evidence", list):
            for passage in passages if isinstance(passages, list) else [passages]:
                references[as_text("auto_evidence", passage).strip()] = None
    record: Record = {
        "id": f"factcheck_gpt-{number}",
        "model": "ChatGPT",
        "dataset": "factcheck_gpt",
        "question": text_of(raw, "prompt").strip(),
        "response": text,
        "claims": claims,
        "sentence_labels": [
            {"start": place.start, "end": place.end, "label": sentence["sentence_factuality_label"]}
            for sentence, place in zip(sentences, places, strict=True)
            if place and isinstance(sentence.get("sentence_factuality_label"), bool)
        ],
        "reference_answers": [reference for reference in references if reference],
        LEFT_OUT: left_out,
    }
    if isinstance(raw.get("response_factuality"), bool):
        record["label"] = raw["response_factuality"]
    return record
