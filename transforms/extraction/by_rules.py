"""Extract the claims of a response's sentences without a model, with a query for each.

The query is for a search engine that counts words. It has one of three forms:

- a question that leaves out the answer ("When was Albert Einstein born?"), where a simple pattern
  allows it; a wrong year in the query would only find passages with that year
- the claim as a yes-no question, where it has nothing to ask for
- the keywords of the claim otherwise

The subject is always kept.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from ufo.schemas.records import InputRecord
from ufo.transforms.english import grammar as en
from ufo.transforms.english.grammar import (
    AUXILIARIES,
    BE,
    HAVE,
    THIRD,
    base_of,
    is_participle,
    lower,
)
from ufo.transforms.english.words import is_english
from ufo.transforms.extraction.claims import as_sentence, split
from ufo.transforms.extraction.clause import (
    Wording,
    abstains,
    asks_for_person,
    first_verb,
    is_claim,
    is_talk,
    opening_name,
    subject_start,
    topic_of,
    wording,
)
from ufo.transforms.extraction.markdown import LineReader
from ufo.transforms.extraction.marks import Line, stated_lines
from ufo.transforms.extraction.subjects import Subjects
from ufo.transforms.sentences import Span, segment

_DATE: Final = (
    r",? ?\b(?:in|on|around|circa|since|during) (?:the )?(?:(?:early|mid|late)[- ])?(?:\d{1,2} )?"
    r"(?:(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*,? (?:\d{1,2}[a-z]{0,2},? )?)?"
    r"(?:\d{3,4}s?|\d{1,2}[a-z]{2} century)(?: (?:BC|BCE|AD|CE))?"
)
_TIME: Final = re.compile(_DATE, re.IGNORECASE)
_TIME_AT_END: Final = re.compile(_DATE + ",?$", re.IGNORECASE)
_PLACE: Final = re.compile(r"\b(?:in|at|near) (?:the )?[A-Z]")
_NO_SUBJECTS: Final = en.SUBJECT_PRONOUNS | en.POSSESSIVES | en.PREPOSITIONS | {"there"}
_MAX_SUBJECT: Final = 12


def query_of(claim: str) -> str:
    """Return the search query for a claim: a question ending in "?", else its keywords.

    It is never empty for a claim with a letter or a digit."""
    return query_of_wording(wording(claim)) or claim.strip()


def query_of_wording(claim: Wording) -> str:
    """Return the search query for a claim in this wording; "" if it has no words."""
    words, lows = claim
    if not words:
        return ""
    words = [*words[:-1], words[-1].rstrip(" .!;,:")]
    return _question(words, lows) or _keywords(words)


def _keywords(words: list[str]) -> str:
    """Return the distinct content words in order; all words if there is none."""
    kept: dict[str, str] = {}
    for word in words:
        low = en.core(word)
        if low and low not in en.STOP_WORDS:
            kept.setdefault(low, word.strip('.,;:!?"“”()[]'))
    return " ".join(kept.values() if kept else words)


def _question(words: list[str], lows: list[str]) -> str | None:
    start = subject_start(words, lows)
    verb = first_verb(words, lows, start)
    if (
        not start < verb < min(start + _MAX_SUBJECT, len(words) - 1)
        or lows[start] in _NO_SUBJECTS
        or words[verb - 1][-1] == ":"
        or not en.CLAUSE_OPENERS.isdisjoint(lows[start:verb])
    ):
        return None
    end = en.subject_end(lows, start, verb)
    # The "A." of an initial keeps its capital.
    head = words[start].lower() if words[start].lower() in en.DETERMINERS else words[start]
    subject = " ".join([head, *words[start + 1 : end]]).rstrip(",")
    rest = " ".join(words[verb + 1 :])
    opening = " ".join(words[:start]).rstrip(",")
    opening = f" {opening[0].lower()}{opening[1:]}" if opening else ""
    low = lows[verb]
    has = low in HAVE and not any(map(is_participle, lows[verb + 1 : verb + 4]))
    base = "have" if has else low not in AUXILIARIES and base_of(low)
    if low in AUXILIARIES and not has:
        asks, predicate = low, rest
    elif base and not rest.startswith("by "):  # "the tools developed by X" is not a clause
        third = "does" if low == "has" or low in THIRD else "did"
        asks = "do" if low in ("have", "include") else third
        predicate = f"{base} {rest}"
    else:
        return None
    if lows[verb + 1] == "born" and (when_or_where := _birth_question(rest, opening)):
        return f"{when_or_where} {asks} {subject} born?"
    if (base and asks == "did") or (low in BE and is_participle(lows[verb + 1])):
        if _TIME_AT_END.fullmatch(opening):
            return f"When {asks} {subject} {predicate}?"
        dated = any(map(str.isdigit, predicate[-12:]))
        if dated and (time := _TIME_AT_END.search(predicate)):
            return f"When {asks} {subject} {predicate[: time.start()].rstrip(' ,')}{opening}?"
    return f"{asks.capitalize()} {subject} {predicate}{opening}?"


def _birth_question(rest: str, opening: str) -> str:
    asked = ["when"] if _TIME.search(rest + opening) else []
    asked += ["where"] if _PLACE.search(rest) else []
    return " and ".join(asked).capitalize()


class ExtractedUnit(NamedTuple):
    """A fact unit: a claim that can be checked by itself, and the query that would settle it."""

    sentence_index: int
    claim: str
    query: str


def extract_record(
    record: InputRecord, spans: Sequence[Span], whole: bool = False
) -> list[ExtractedUnit]:
    """Return the claims of a response in any language, in order.

    With `whole` there is one for each checkable sentence. The question may name the person that a
    first "he" means. A sentence without a checkable claim has none. Takes time linear in the length
    of the text.
    """
    lines = stated_lines(record.text, spans)
    if not is_english(record.text, record.language):
        # Its checkable parts are unknown, so every sentence is one claim, except abstentions.
        return [
            ExtractedUnit(line.sentence, line.text, line.text)
            for line in lines
            if not abstains(line.text, english=False)
        ]
    worthy = _statements(lines, record.question)
    if whole:
        return _whole_sentences(worthy)
    return [
        ExtractedUnit(index, as_sentence(claim.words), query_of_wording(claim))
        for index, resolved, stays_whole in worthy
        for claim in ([resolved] if stays_whole else _claims(resolved))
    ]


def _claims(statement: Wording) -> list[Wording]:
    claims = split(statement)
    if len(claims) > 1:  # "It is in Oslo, and I like it" has a part that makes no claim
        first = statement.words[0]
        claims = [claim for claim in claims if not is_talk(claim, claim.words[0] != first)]
    return claims


def _whole_sentences(worthy: Sequence[tuple[int, Wording, bool]]) -> list[ExtractedUnit]:
    words_of: dict[int, list[str]] = {}
    for index, resolved, _ in worthy:
        words_of.setdefault(index, []).extend(resolved.words)
    return [
        ExtractedUnit(index, " ".join(words), query_of_wording(Wording(words, lower(words))))
        for index, words in words_of.items()
    ]


def only_abstains(text: str, language: str | None = None) -> bool:
    """Return whether a text makes no claim, and says that the answer is not known or not there."""
    spans = segment(text, language or "en")
    abstaining = any(abstains(text[start:end], english=False) for start, end in spans)
    return abstaining and not extract_record(InputRecord("", "", text, language=language), spans)


def _statements(lines: Sequence[Line], question: str | None) -> list[tuple[int, Wording, bool]]:
    """Return the statements of each sentence with a claim, with opening pronouns resolved.

    A statement has the index of its sentence, its wording, and whether it is one claim already, as
    a statement of Markdown without a sentence is."""
    topic = topic_of(question)
    person = topic != "" and asks_for_person(question)
    reader, subjects = LineReader(topic), Subjects()
    subjects.section(topic, person)
    worthy = []
    for number, line in enumerate(lines):
        following = lines[number + 1 : number + 3]
        heads = reader.heading(line, *following[:1])
        if reader.moved:
            known = bool(topic) and reader.is_own
            subjects.section(reader.topic, person and not reader.is_own, reader.is_own, known)
        if heads:
            continue
        if line.is_paragraph:
            subjects.paragraph()
        if reader.opens(line, following):
            continue
        statements = reader.read(line, following)
        if statements is not None:
            worthy += [(line.sentence, wording(one), True) for one in statements]
            continue
        completed = reader.complete(line)
        statement = wording(completed)
        resolved = subjects.read(statement)
        if is_claim(completed, statement):
            worthy.append((line.sentence, resolved, False))
            # The name that opens the text is the one that a later opening "he" means.
            if not topic and (topic := opening_name(statement.words)):
                reader.name(topic)
                subjects.name(topic)
    return worthy
