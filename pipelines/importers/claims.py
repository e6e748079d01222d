"""Align the sentences and claims of annotators with the sentences of a response."""

import re
from collections.abc import Sequence

from ufo.pipelines.importers.reading import Record
from ufo.transforms.align import align
from ufo.transforms.sentences import Span, segment


def places_of(sentences: Sequence[str], text: str) -> list[Span | None]:
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


def claims_of(
    texts: Sequence[str], labels: Sequence[bool | None], place: Span | None, response: str
) -> list[Record]:
    """Return the claims of an annotated sentence with their labels and sentence indexes."""
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
