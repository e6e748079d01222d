"""Extract the claims of a response's sentences without a model, with a query for each."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from ufo.transforms.english.grammar import lower
from ufo.transforms.extraction.claims import split, written
from ufo.transforms.extraction.markdown import Reader
from ufo.transforms.extraction.clause import asks_for_person, opening_name, topic_of
from ufo.transforms.extraction.queries import query_of_wording
from ufo.transforms.extraction.subjects import resolve
from ufo.transforms.extraction.wording import Wording, wording
from ufo.transforms.extraction.worthiness import is_claim, is_talk
from ufo.transforms.sentences import Span

# A paragraph without end is none; this also keeps the search for names linear.
_MAX_PARAGRAPH: Final = 40


class Extracted(NamedTuple):
    """A fact unit: a claim that can be checked by itself, and the query that would settle it."""

    sentence_index: int
    claim: str
    query: str


def extract(
    sentences: Sequence[str], question: str | None = None, paragraphs: Sequence[int] = ()
) -> list[Extracted]:
    """Return the claims of English sentences, in their order; none for one without checkable claim.

    `question`, which the sentences answer, may name whom a first "he" means. `paragraphs` holds the
    indexes of the sentences that begin a paragraph, empty for one paragraph (`paragraph_starts`).
    Linear in the length of the sentences.
    """
    found = []
    for index, resolved, whole in _worthy(sentences, question, paragraphs):
        claims = [resolved] if whole else split(resolved)
        for claim in claims:
            # "It is in Oslo, and I like it" has a part that makes no claim.
            if len(claims) == 1 or not is_talk(claim):
                found.append(Extracted(index, written(claim.words), query_of_wording(claim)))
    return found


def extract_sentences(
    sentences: Sequence[str], question: str | None = None, paragraphs: Sequence[int] = ()
) -> list[Extracted]:
    """Like `extract`, but every checkable sentence is one claim as a whole."""
    said: dict[int, list[str]] = {}
    for index, resolved, _ in _worthy(sentences, question, paragraphs):
        said.setdefault(index, []).extend(resolved.words)
    return [
        Extracted(index, " ".join(words), query_of_wording(Wording(words, lower(words))))
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
    reader = Reader(topic)
    starts = {*paragraphs, *range(0, len(sentences), _MAX_PARAGRAPH)}
    found = []
    for first, last in pairwise(sorted({0, *starts, len(sentences)})):
        wordings = [wording(sentence) for sentence in sentences[first:last]]
        resolved = resolve(wordings, topic, person)
        for index, said in enumerate(wordings, first):
            statements = reader.read(sentences[index])
            if statements is not None:
                found += [(index, wording(one), True) for one in statements]
                topic = topic or reader.topic
            elif is_claim(sentences[index], said):
                found.append((index, resolved[index - first], False))
                # What the text opens with is what an opening "he" later on is about.
                topic = topic or opening_name(said.words)
                reader.name(topic)
    return found
