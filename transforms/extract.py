"""Step `extract`: split a response into sentences and fact units.

Sentences are segmented here for all judges. Claims given in the input replace extraction, and are
aligned with the sentences of the response.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain
from operator import itemgetter
from typing import Final

from ufo.indexes.tokens import query_terms
from ufo.schemas.records import (
    FactUnit,
    Failure,
    GivenClaim,
    InputRecord,
    LabelledSpan,
    OpenUnits,
    Response,
    Sentence,
    Usage,
    unit_ids,
)
from ufo.transforms.judges.judge import Draft, Drafts, Judge, Queries
from ufo.transforms.plugin_errors import failure_of, passes
from ufo.transforms.read import record_hash
from ufo.transforms.sentences import Span, segment
from ufo.transforms.thoughts import thought_ranges

CLAIM = "claim"
SENTENCE = "sentence"
EXTRACT = "extract"
UNITS = (CLAIM, SENTENCE)

OUT_OF_RANGE = "sentence_index_out_of_range"
REPEATED = "claims_repeated"
LABELS_LEFT_OUT = "labels_left_out"

_GAP: Final = "\n\n"  # in place of thoughts


@dataclass(slots=True)
class Extracted:
    """The rows of one response, and its open units for the first source."""

    response: Response
    sentences: list[Sentence]
    open_units: OpenUnits
    failures: list[Failure] = field(default_factory=list)
    usage: list[Usage] = field(default_factory=list)
    doubts: dict[str, int] = field(default_factory=dict)
    """The numbers of given claims with each kind of problem (see `given_places`)."""


async def extract(record: InputRecord, judge: Judge, units: str = CLAIM) -> Extracted:
    """Return the response's sentences and fact units.

    The judge sees the answer alone: the sentences of a model's thoughts have no unit, and no given
    claim is aligned with them. Extracted claims are deduplicated, given ones are not. With `units`
    sentence, given claims only label the sentences: one is false if any of its claims is false, and
    true if all of its labelled claims are true.

    Raises only errors that end the run (`ufo.schemas.errors.ends_run`).
    """
    spans = segment(record.text, record.language or "en")
    answer, shown = answer_of(record, spans)
    doubts: Counter[str] = Counter()
    places = given_places(answer, shown, doubts)
    try:
        if record.given and (units == CLAIM or not record.claims):
            extracted = await _drafts_of_record(record, places, judge)
        else:
            extracted = await drafts_of(answer, shown, judge, units)
    except BaseException as error:
        if passes(error):
            raise
        failure = failure_of(EXTRACT, record.response_id, f"judge {judge.name}", error)
        extracted = Drafts(failures=[failure])
    if not record.given or units == SENTENCE:
        extracted.drafts = _distinct(extracted.drafts)
    if units == SENTENCE:
        extracted.drafts = _label_units(extracted.drafts, record.claims, places, doubts)
    return _make_rows(record, spans, answer, shown, extracted, doubts)


def answer_of(record: InputRecord, spans: Sequence[Span]) -> tuple[InputRecord, Sequence[Span]]:
    """Return the response without a model's thoughts, and the spans of its sentences there.

    The sentences keep their indexes: one of the thoughts has an empty span.
    """
    thoughts = thought_ranges(record.text)
    if not thoughts:
        return record, spans
    starts = [start for start, _ in thoughts]
    left_out = [*accumulate((end - start - len(_GAP) for start, end in thoughts), initial=0)]

    def place(span: Span) -> Span:
        before = bisect_right(starts, span.start)
        if before and span.start < thoughts[before - 1][1]:
            gap = starts[before - 1] - left_out[before - 1]
            return Span(gap, gap)
        return Span(span.start - left_out[before], span.end - left_out[before])

    edges = [0, *chain(*thoughts), len(record.text)]
    kept = [record.text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    return replace(record, text=_GAP.join(kept)), [place(span) for span in spans]


async def drafts_of(
    answer: InputRecord, spans: Sequence[Span], judge: Judge, units: str = CLAIM
) -> Drafts:
    """Return the claims that a judge extracts from an answer, but for its empty spans."""
    numbers = [number for number, span in enumerate(spans) if span.start < span.end]
    extraction = judge.extract_sentences if units == SENTENCE else judge.extract
    extracted = await extraction(answer, [spans[number] for number in numbers])
    if len(numbers) < len(spans):
        extracted.drafts = [
            replace(draft, sentence_index=numbers[draft.sentence_index])
            if draft.sentence_index is not None
            else draft
            for draft in extracted.drafts
        ]
    return extracted


def _label_units(
    drafts: Sequence[Draft],
    claims: Sequence[GivenClaim],
    places: Sequence[int | None],
    doubts: Counter[str],
) -> list[Draft]:
    """Return the sentence units with labels from the given claims of each sentence."""
    labels: dict[int | None, float] = {}
    of_units = {draft.sentence_index for draft in drafts}
    for claim, place in zip(claims, places, strict=True):
        if claim.label is not None:
            doubts[LABELS_LEFT_OUT] += place not in of_units
            labels[place] = min(claim.label, labels.get(place, 1.0))
    return [replace(draft, label=labels.get(draft.sentence_index)) for draft in drafts]


def _distinct(drafts: Sequence[Draft]) -> list[Draft]:
    """Return the claims without duplicates, ignoring case, spaces and the full stop."""
    first: dict[str, Draft] = {}
    for draft in drafts:
        first.setdefault(" ".join(draft.claim.split()).rstrip(".").casefold(), draft)
    return list(first.values())


def given_places(
    record: InputRecord, spans: Sequence[Span], doubts: Counter[str]
) -> list[int | None]:
    """Return the sentence index of each given claim, None where it has none.

    Adds to `doubts` the numbers of claims with an invalid sentence index and of repeated claims.
    """
    claims = record.claims
    if not claims:
        return []
    doubts[REPEATED] += len(claims) - len({claim.claim for claim in claims})
    # An index from another segmentation gives the claim no sentence.
    indexes = [claim.sentence_index for claim in claims]
    doubts[OUT_OF_RANGE] += sum(place is not None and place >= len(spans) for place in indexes)
    unplaced = [claim.claim for claim in claims if claim.sentence_index is None]
    texts = [record.text[span.start : span.end] for span in spans] if unplaced else []
    aligned = iter(align(unplaced, texts))
    places = (next(aligned) if place is None else place for place in indexes)
    return [None if place is None or place >= len(spans) else place for place in places]


async def _drafts_of_record(
    record: InputRecord, places: Sequence[int | None], judge: Judge
) -> Drafts:
    claims = record.claims
    missing = [claim.claim for claim in claims if not claim.query]
    written = await judge.queries(missing, record.response_id) if missing else Queries()
    fresh = iter(written.queries)
    drafts = [
        Draft(place, claim.claim, claim.query or next(fresh), claim.label)
        for claim, place in zip(claims, places, strict=True)
    ]
    return Drafts(drafts, failures=written.failures, usage=written.usage)


def _make_rows(
    record: InputRecord,
    spans: Sequence[Span],
    answer: InputRecord,
    shown: Sequence[Span],
    extracted: Drafts,
    doubts: Counter[str],
) -> Extracted:
    ids = unit_ids(record.response_id, [(d.sentence_index, d.claim) for d in extracted.drafts])
    units = [
        FactUnit(
            record.response_id, unit_id, draft.sentence_index, draft.claim, draft.query, draft.label
        )
        for unit_id, draft in zip(ids, extracted.drafts, strict=True)
    ]
    counts = Counter(unit.sentence_index for unit in units)
    sentences = [
        Sentence(
            record.response_id,
            index,
            span.start,
            span.end,
            record.text[span.start : span.end],
            counts[index],
            human_label(span, record.spans, record.spans_are_errors),
        )
        for index, span in enumerate(spans)
    ]
    response = Response(
        record.response_id,
        record.model,
        record.dataset,
        record.question,
        record.language,
        record.text,
        len(record.references),
        record.human_score,
        record.metadata,
        record_hash(record),
    )
    open_units = OpenUnits(
        record.response_id,
        answer.text,
        record.question,
        record.language,
        [offset for span in shown for offset in span],
        record.references,
        units,
    )
    return Extracted(
        response,
        sentences,
        open_units,
        extracted.failures,
        extracted.usage,
        {name: n for name, n in doubts.items() if n},
    )


def human_label(span: Span, labelled: Sequence[LabelledSpan], are_errors: bool) -> int | None:
    """Return the human label of a sentence: 1 correct, 0 wrong, None unlabelled.

    A sentence that overlaps an error span is wrong, others are correct (Facts&Evidence, 2025). From
    labelled sentences, the label of the one with the longest overlap is taken.
    """
    touching = [
        (min(span.end, other.end) - max(span.start, other.start), other.label)
        for other in labelled
        if other.start < span.end and span.start < other.end
    ]
    if are_errors:
        return 0 if touching else 1
    return max(touching, key=itemgetter(0))[1] if touching else None


# The penalty for going back in the text, as a share of the highest similarity.
_BACKWARDS: Final = 0.2


def align(claims: Sequence[str], sentences: Sequence[str]) -> list[int | None]:
    """Return the index of the most similar sentence for each claim, None without a common word.

    Similarity is the weighted share of common content words. A word weighs less the more sentences
    and claims contain it: every claim names the subject of the text, while sentences may use a
    pronoun. Claims mostly follow the order of the text. So a step back in the text needs clearly
    more similarity. Between equal sentences the earlier one wins.
    """
    holders: dict[str, list[int]] = {}
    for index, sentence in enumerate(sentences):
        for word in query_terms(sentence):
            holders.setdefault(word, []).append(index)
    terms = [query_terms(claim) for claim in claims]
    repeated = Counter(word for words in terms for word in words)
    placed: list[int | None] = []
    last = 0
    for words in terms:
        shared = [0.0] * len(sentences)
        total = 0.0
        for word in words:
            having = holders.get(word, ())
            weight = 1.0 / ((len(having) or 1) * repeated[word])
            total += weight
            for index in having:
                shared[index] += weight
        if not any(shared):
            placed.append(None)
            continue
        scores = [one / total - _BACKWARDS * (at < last) for at, one in enumerate(shared)]
        last = scores.index(max(scores))
        placed.append(last)
    return placed
