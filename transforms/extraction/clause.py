"""Find the parts of a sentence: its opening, subject and verb, and the names in it."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from ufo.transforms.english import grammar as en
from ufo.transforms.english.grammar import (
    AUXILIARIES,
    BE,
    Lists,
    core,
    is_capital,
    is_finite,
    lower,
    word_set,
)

LISTS: Final = Lists("ufo.transforms.extraction", "lists.toml")
"""The word lists and phrases of the rules."""

Words = list[str]

# The participles that stand for a relative clause: "a city located in", "an actor known for".
REDUCED: Final = LISTS.words("reduced")
_OPENINGS: Final = en.PREPOSITIONS | REDUCED | {"raised", "educated", "later", "today"}
_MAX_SUBJECT: Final = 12
_MAX_OPENING: Final = 14
# Subjects that mean something else, or nothing, in front of another predicate.
_UNREPEATABLE: Final = LISTS.words("unrepeatable")
_PARTICLES: Final = LISTS.words("particles")
# Words that are capitalised at the start of a sentence, or always, and are no name by themselves.
_FUNCTION_WORDS: Final = en.STOP_WORDS | en.PREPOSITIONS | en.ADVERBS | en.DETERMINERS
NO_NAMES: Final = _FUNCTION_WORDS - {"the", "per"} | LISTS.words("no_names")
_IS_ADVERB: Final = re.compile(r".*(?:al|ous|ent|ant|ate|ive|ful|ar|re)ly")
# Words that make a capitalised name that of a thing.
_THING_WORDS: Final = LISTS.words("thing_words")
_PLACE_PREPOSITIONS: Final = word_set("in at from near across on the a an")
_ABBREVIATION: Final = re.compile(r"\b(?:\w|[JS]r|Inc|Co|Ltd|St)\.$")
_ASKS_FOR_PERSON: Final = re.compile(
    r"\b(?:bio|biography|who|whom|whose|born|die|died|married|he|she|his|her|him)\b", re.IGNORECASE
)


class Clause(NamedTuple):
    """`words[start:verb]` is the subject and `words[verb]` the finite verb; `lows` are the words
    bare and in lower case. `subject` is empty where it must not be repeated in another claim."""

    words: Words
    lows: Words
    start: int
    verb: int
    subject: Words


def parse(words: Words, lows: Words) -> Clause | None:
    """Find the subject and the verb of a clause; None where there are none."""
    start = subject_start(words, lows)
    verb = first_verb(words, lows, start)
    if verb < 0:
        return None
    end = en.without_adverbs(lows, start, verb)
    repeatable = (
        0 < end - start <= _MAX_SUBJECT
        and words[end - 1][-1] not in ",;:"
        and lows[start] not in _UNREPEATABLE
        and not any(low in en.CLAUSE_OPENERS or low in BE for low in lows[start:end])
    )
    return Clause(words, lows, start, verb, words[start:end] if repeatable else [])


def first_verb(words: Words, lows: Words, start: int) -> int:
    """Return the index of the first word after `start` that can be a clause's verb, else -1."""
    for at in range(start + 1, len(words)):
        if is_finite(words[at]) and (lows[at] in AUXILIARIES or lows[at - 1] not in en.DETERMINERS):
            return at
    return -1


def subject_start(words: Words, lows: Words) -> int:
    """Return the index after an opening such as "In 1905, at the age of 26, "."""
    if lows[0] not in _OPENINGS or lows[:2] == ["based", "on"]:
        return 0
    if len(words) > 2 and words[1].isdigit() and lows[2] in en.SUBJECT_PRONOUNS:
        return 2  # "In 1891 she moved"
    for at in range(min(len(words) - 1, _MAX_OPENING)):
        if at and is_finite(words[at]):
            return 0
        following = lows[at + 1]
        if words[at][-1] != "," or following in en.PREPOSITIONS or following[:1].isdigit():
            continue
        end = at + 1 + name_length(words, at + 1)
        apposition = lows[end : end + 1] in (["a"], ["an"], ["the"], ["who"], ["which"])
        if end > at + 1 and words[end - 1][-1] == "," and not apposition:
            continue  # "Germany," still belongs to "Born in Ulm, Germany, Einstein moved".
        return at + 1
    return 0


def name_length(words: Sequence[str], start: int = 0) -> int:
    """Return how many words from `start` on are one capitalised name ("University of Zurich" is 3).

    The name ends with a comma or other punctuation, but for the dot of an initial or a title.
    """
    length = 0
    for at in range(start, len(words)):
        word = words[at]
        if is_capital(word):
            length = at + 1 - start
            if word[-1] in ",;:)!?" or (word[-1] == "." and len(word) > 4):
                break
        elif not (length and word in _PARTICLES):
            break
    return length


def is_name(words: Words) -> bool:
    """Return whether the words are one capitalised name."""
    return bool(words) and is_capital(words[0]) and name_length(words) == len(words)


def only_opens(low: str) -> bool:
    """Return whether the first word of a sentence is an adverb or function word, not a name."""
    return low in NO_NAMES or _IS_ADVERB.fullmatch(low) is not None


def opening_name_length(words: Sequence[str], lows: Sequence[str], start: int = 0) -> int:
    """Return the length of the name that a sentence's subject begins with; 0 for a word that has a
    capital only because it opens the sentence ("Then", "Originally")."""
    length = name_length(words, start)
    low = lows[start]
    opens = only_opens(low) or (low == "the" and length == 1)
    return 0 if opens and words[start][0].isalpha() else length


def names_in(words: Sequence[str], lows: Sequence[str], start: int) -> list[tuple[int, int]]:
    """Return the names from `start` on as half-open ranges of words, without those in quotation
    marks and words that only open a sentence."""
    ranges = []
    end = start
    for first in range(start, len(words)):
        if first < end or not is_capital(words[first]):
            continue
        end = first + name_length(words, first)
        while first < end and lows[first] in NO_NAMES:
            first += 1
        if first < end and is_capital(words[first]) and words[first][0] not in "\"“'‘«":
            ranges.append((first, end))
    return ranges


def may_be_person(lows: Sequence[str], before: str = "") -> bool:
    """Return whether a name of these lower-case words may be a person's; `before` is the word
    before it."""
    thing = before in _PLACE_PREPOSITIONS or not _THING_WORDS.isdisjoint(lows)
    several = "and" in lows or "&" in lows
    return not (thing or several or lows[0] == "the" or any(low.isdigit() for low in lows))


def bare_name(words: Sequence[str]) -> str:
    """Return the name without the punctuation around it and without a possessive ending."""
    name = " ".join(words).partition(" (")[0].strip(' ,;:!?"“”()[]')
    name = name.removesuffix("'s").removesuffix("’s")
    if not name.endswith(".") or _ABBREVIATION.search(name):
        return name
    return name.removesuffix(".")


def topic_of(question: str | None) -> str:
    """Return the one name that a question is about ("Tell me a bio of Marie Curie."), else ""."""
    words = question.split() if question else []
    if not 1 < len(words) <= 40:
        return ""
    lows = lower(words)
    if name_length(words) == len(words) and lows[0] not in NO_NAMES:
        return bare_name(words)
    names = []
    for first, end in names_in(words, lows, 1):
        before = lows[first - 2 if lows[first - 1] == "the" else first - 1]
        person = may_be_person(lows[first:end]) and end - first > 1
        if before not in en.PREPOSITIONS or before == "about" or person or "bio" in lows:
            names.append(bare_name(words[first:end]))
        elif before != "in":
            return ""
    return names[0] if len(names) == 1 else ""


def asks_for_person(question: str | None) -> bool:
    """Return whether what the question names is a person ("Who was …", "a bio of …")."""
    return _ASKS_FOR_PERSON.search(question or "") is not None


def opening_name(words: Sequence[str]) -> str:
    """Return the full name that is the subject of a sentence ("Marie Curie was …"), else ""."""
    length = opening_name_length(words, [core(words[0])]) if words else 0
    if not 1 < length < len(words):
        return ""
    opens = words[length - 1][-1] == "," or words[length][0] == "(" or is_finite(words[length])
    return bare_name(words[:length]) if opens else ""
