"""Extract the claims of a response's sentences without a model, with a query for each."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ufo.schemas.records import InputRecord
from ufo.transforms.english.grammar import lower
from ufo.transforms.english.language import is_english
from ufo.transforms.extraction.claims import split, written
from ufo.transforms.extraction.clause import asks_for_person, opening_name, topic_of
from ufo.transforms.extraction.markdown import LineReader, introduced
from ufo.transforms.extraction.queries import query_of_wording
from ufo.transforms.extraction.subjects import Subjects
from ufo.transforms.extraction.wording import Wording, is_claim, is_talk, wording
from ufo.transforms.sentences import Span


class ExtractedUnit(NamedTuple):
    """A fact unit: a claim that can be checked by itself, and the query that would settle it."""

    sentence_index: int
    claim: str
    query: str


def extract_record(
    record: InputRecord, spans: Sequence[Span], whole: bool = False
) -> list[ExtractedUnit]:
    """Return the claims of a response in any language; `whole`: one for each checkable sentence."""
    texts = [record.text[span.start : span.end] for span in spans]
    if is_english(record.text, record.language):
        extractor = extract_sentences if whole else extract
        return extractor(texts, record.question, paragraph_starts(record.text, spans))
    # What of it is checkable is not known, but all of it is said: a claim a sentence.
    return [ExtractedUnit(number, text, text) for number, text in enumerate(texts)]


def extract(
    sentences: Sequence[str], question: str | None = None, paragraphs: Sequence[int] = ()
) -> list[ExtractedUnit]:
    """Return the claims of English sentences, in their order; none for one without checkable claim.

    `question`, which the sentences answer, may name whom a first "he" means. `paragraphs` holds the
    indexes of the sentences that begin a paragraph, empty for one paragraph (`paragraph_starts`).
    Linear in the length of the sentences.
    """
    found = []
    for index, resolved, whole in _worthy(sentences, question, paragraphs):
        claims = [resolved] if whole else split(resolved)
        if len(claims) > 1:  # "It is in Oslo, and I like it" has a part that makes no claim
            first = resolved.words[0]
            claims = [claim for claim in claims if not is_talk(claim, claim.words[0] != first)]
        found += [
            ExtractedUnit(index, written(claim.words), query_of_wording(claim)) for claim in claims
        ]
    return found


def extract_sentences(
    sentences: Sequence[str], question: str | None = None, paragraphs: Sequence[int] = ()
) -> list[ExtractedUnit]:
    """Like `extract`, but every checkable sentence is one claim as a whole."""
    said: dict[int, list[str]] = {}
    for index, resolved, _ in _worthy(sentences, question, paragraphs):
        said.setdefault(index, []).extend(resolved.words)
    return [
        ExtractedUnit(index, " ".join(words), query_of_wording(Wording(words, lower(words))))
        for index, words in said.items()
    ]


def paragraph_starts(text: str, spans: Sequence[Span]) -> list[int]:
    """Return the indexes of the sentences that begin `text` or follow a blank line."""
    starts = [0] if spans else []
    for index, (before, after) in enumerate(pairwise(spans), 1):
        between = text[before.end : after.start]
        if between.count("\n") > 1 or between.count("\r") > between.count("\n") + 1:
            starts.append(index)
    return starts


def _worthy(
    sentences: Sequence[str], question: str | None, paragraphs: Sequence[int]
) -> list[tuple[int, Wording, bool]]:
    """(index, wording with its opening pronoun resolved, whether it is one claim already) of the
    sentences with a claim; what Markdown says without a sentence is one claim a statement."""
    topic = topic_of(question)
    person = topic != "" and asks_for_person(question)
    reader, subjects = LineReader(topic), Subjects()
    subjects.section(topic, person)
    starts = set(paragraphs)
    found = []
    for index, sentence in enumerate(sentences):
        if reader.heading(sentence):
            known = bool(topic) and reader.is_own
            subjects.section(reader.topic, person and not reader.is_own, reader.is_own, known)
            continue
        if index in starts:
            subjects.paragraph()
        statements = reader.read(sentence)
        if statements is not None:
            found += [(index, wording(one), True) for one in statements]
            continue
        said = wording(introduced(sentence))
        resolved = subjects.read(said)
        if is_claim(sentence, said):
            found.append((index, resolved, False))
            # What the text opens with is what an opening "he" later on is about.
            if not topic and (topic := opening_name(said.words)):
                reader.name(topic)
                subjects.name(topic)
    return found
