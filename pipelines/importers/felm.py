"""Import FELM (Chen et al. 2023): responses of ChatGPT in segments that people labelled."""

from pathlib import Path

from ufo.pipelines.importers.claims import places_of
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


def felm(raw: Record, file: Path, number: int) -> Record:
    """FELM (Chen et al. 2023): each segment's label goes to the sentences that it is; a response is
    right if all of its segments are. Links to references have no text and stay in `metadata`."""
    text = response_text(raw, "response")
    segments = [as_text("segmented_response", one) for one in get(raw, "segmented_response", list)]
    labels = get(raw, "labels", list)
    if len(labels) != len(segments):
        raise Unusable(
            f"expected one of `labels` for each segment, found {len(labels)} for {len(segments)}"
        )
    left_out: list[str] = []
    labelled: list[Record] = []
    for place, label in zip(places_of(segments, text), labels, strict=True):
        if label not in (0, 1):
            left_out.append(NEITHER)
        elif place is None:
            left_out.append(UNPLACED)
        else:
            labelled.append({"start": place.start, "end": place.end, "label": bool(label)})
    known = {
        name: raw[name] for name in ("index", "source", "domain", "type", "ref") if raw.get(name)
    }
    record: Record = {
        "id": f"felm-{file.stem}-{number}",
        "model": "ChatGPT",
        "dataset": "felm",
        "question": text_of(raw, "prompt").strip(),
        "response": text,
        "sentence_labels": labelled,
        "metadata": known,
        LEFT_OUT: left_out,
    }
    if labels and all(label in (0, 1) for label in labels):
        record["label"] = all(labels)
    return record
