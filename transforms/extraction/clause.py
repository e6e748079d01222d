"""Analyse a sentence: its opening, subject, verb and names, and whether it makes a claim.

Questions, greetings, refusals, instructions, opinions and hedges make no claim that can be checked.
Such a sentence is recognised only by its form. A belief ("is believed to have been born in 1564")
can be checked and stays; a mere possibility ("may have been born in 1564") is a hedge.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import islice
from typing import Final, NamedTuple

from ufo.transforms.english import grammar as en
from ufo.transforms.english.grammar import (
    AUXILIARIES,
    BE,
    PRESENT,
    Lists,
    core,
    is_capital,
    is_finite,
    is_participle,
    lower,
    word_set,
)
from ufo.transforms.sentences import ITEM_MARK

LISTS: Final = Lists("ufo.transforms.extraction", "lists.toml")
"""The word lists and phrases of the rules."""

Words = list[str]

# The participles that stand for a relative clause: "a city located in", "an actor known for".
REDUCED: Final = LISTS.words("reduced")
_OPENINGS: Final = en.PREPOSITIONS | REDUCED | {"raised", "educated", "later", "today"}
_MAX_SUBJECT: Final = 12
_MAX_OPENING: Final = 14
# Subjects that mean something else, or nothing, in front of another predicate.
UNREPEATABLE: Final = LISTS.words("unrepeatable")
_NO_SUBJECTS: Final = UNREPEATABLE | word_set("after before since until")
_NOT_IN_SUBJECTS: Final = en.CLAUSE_OPENERS | BE
PARTICLES: Final = LISTS.words("particles")
# Words that are capitalised at the start of a sentence, or always, but are not names alone.
_FUNCTION_WORDS: Final = en.STOP_WORDS | en.PREPOSITIONS | en.ADVERBS | en.DETERMINERS
NO_NAMES: Final = _FUNCTION_WORDS - {"the", "per"} | LISTS.words("no_names")
_ADVERB_ENDINGS: Final = tuple(word_set("ally ously ently antly ately ively fully arly rely"))
# Words that make a capitalised name the name of a thing.
NAMES_OF_DAYS: Final = LISTS.words("names_of_days")
_THING_WORDS: Final = LISTS.words("thing_words")
_PLACE_PREPOSITIONS: Final = word_set("in at from near across on the a an")
_ABBREVIATION: Final = re.compile(r"\b(?:\w|[JS]r|Inc|Co|Ltd|St)\.$")
_ASKS_FOR_PERSON: Final = re.compile(
    r"\b(?:bio|biography|who|whom|whose|born|die|died|married|he|she|his|her|him)\b", re.IGNORECASE
)


def without_comma(words: Words) -> Words:
    """Return the words without a comma at their end."""
    last = words[-1].rstrip(",") if words else ""
    return [*words[:-1], last] if last else words[:-1]


class Clause(NamedTuple):
    """A clause: `words[start:verb]` is its subject, `words[verb]` its finite verb.

    `lows` are the words in lower case without punctuation. `subject` is empty if no other claim may
    repeat it."""

    words: Words
    lows: Words
    start: int
    verb: int
    subject: Words


def parse(words: Words, lows: Words) -> Clause | None:
    """Return a clause with its subject and verb, or None if it has no verb."""
    start = subject_start(words, lows)
    verb = first_verb(words, lows, start)
    if verb < 0:
        return None
    end = en.subject_end(lows, start, verb)
    repeatable = (
        0 < end - start <= _MAX_SUBJECT
        and words[end - 1][-1] not in ",;:"
        and lows[start] not in _NO_SUBJECTS
        and _NOT_IN_SUBJECTS.isdisjoint(lows[start:end])
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
        elif not (length and word in PARTICLES):
            break
    return length


def is_name(words: Words) -> bool:
    """Return whether the words are one capitalised name."""
    return bool(words) and name_length(words) == len(words)


def only_opens(low: str) -> bool:
    """Return whether the first word of a sentence is an adverb or function word, not a name."""
    return low in NO_NAMES or low.endswith(_ADVERB_ENDINGS)


def opening_name_length(words: Sequence[str], lows: Sequence[str], start: int = 0) -> int:
    """Return the length of the name at the beginning of a sentence's subject.

    It is 0 for a word with a capital only as the first of the sentence ("Then", "Originally")."""
    length = name_length(words, start)
    low = lows[start]
    opens = only_opens(low) or (low == "the" and length == 1)
    return 0 if opens and words[start][0].isalpha() else length


def names_in(words: Sequence[str], lows: Sequence[str], start: int) -> list[tuple[int, int]]:
    """Return the names from `start` on as half-open ranges of words.

    Names in quotation marks and words that only open a sentence are left out."""
    ranges = []
    end = start
    for first in [at for at in range(start, len(words)) if is_capital(words[at])]:
        if first < end:
            continue
        end = first + name_length(words, first)
        while first < end and lows[first] in NO_NAMES:
            first += 1
        if first < end and is_capital(words[first]) and words[first][0] not in "\"“'‘«":
            ranges.append((first, end))
    return ranges


def may_be_person(lows: Sequence[str], before: str = "") -> bool:
    """Return whether these lower-case words, after the word `before`, may name a person."""
    thing = before in _PLACE_PREPOSITIONS or not _THING_WORDS.isdisjoint(lows)
    several = "and" in lows or "&" in lows
    return not (thing or several or lows[0] == "the" or any(map(str.isdigit, lows)))


def bare_name(words: Sequence[str]) -> str:
    """Return the name without the punctuation around it and without a possessive ending."""
    name = " ".join(words).partition(" (")[0].strip(' ,;:!?"“”()[]')
    name = name.removesuffix("'s").removesuffix("’s")
    return name[:-1] if name.endswith(".") and not _ABBREVIATION.search(name) else name


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
    """Return whether the question asks about a person ("Who was …", "a bio of …")."""
    return _ASKS_FOR_PERSON.search(question or "") is not None


def opening_name(words: Sequence[str]) -> str:
    """Return the full name that is the subject of a sentence ("Marie Curie was …"), else ""."""
    length = opening_name_length(words, [core(words[0])]) if words else 0
    if not 1 < length < len(words):
        return ""
    opens = words[length - 1][-1] == "," or words[length][0] == "(" or is_finite(words[length])
    return bare_name(words[:length]) if opens else ""


_SYMBOLS: Final = r"\u2190-\u21ff\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_MARKER: Final = re.compile(
    rf"\s*(?:(?:{ITEM_MARK}|#{{1,6}}|>+"
    # An arrow or an emoji, with what joins and colours these.
    r"|[" + _SYMBOLS + r"][" + _SYMBOLS + r"\u200d\ufe0f]*)\s+)+"
)
_CITATION: Final = re.compile(r"\s?\[(?:\d+(?:\s*[,–-]\s*\d+)*|citation needed)\]")
_LINK: Final = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_MARKUP: Final = re.compile(r"[\[*_`~]")
_EMPHASIS: Final = re.compile(r"\*\*|__|~~|(?<!\w)[*_`](?=\S)|(?<=\S)[*_`](?!\w)|`")
_DISCOURSE: Final = re.compile(
    rf"(?:(?:{LISTS.phrases('openers')}),\s+|{LISTS.phrases('lead_ins')})+", re.IGNORECASE
)
_QUESTION_MARKS: Final = ("?", "？", "؟")
_POLITE: Final = word_set("please and but so also then next finally lastly first")
_DEMANDS: Final = re.compile(LISTS.phrases("demands"), re.IGNORECASE)
_TALK: Final = re.compile(LISTS.phrases("talk"), re.IGNORECASE)
_FIRST_WORDS: Final = LISTS.words("first_words")
_is_marked: Final = en.Memo(
    lambda low: low.endswith("ly") or re.split("['’]", low)[0] in _FIRST_WORDS
).__getitem__
"""Whether a sentence that begins with this word may have discourse words there, or be talk."""
_HEADING: Final = re.compile("#+ ")
_LETTER: Final = re.compile(r"[^\W\d_]")
_ABSTAINING: Final = word_set(
    LISTS.texts["abstaining"] + LISTS.texts["abstaining"].replace("'", "’")
)
_MAX_CONTRASTS: Final = 4  # keeps the search linear
_BUT: Final = re.compile(
    r"[,;] and |; |[,;]? (?:but|although|though|however|yet)\b,? ", re.IGNORECASE
)
# "We accept cards": a word that is no known verb is one behind these.
_SPEAKERS: Final = re.compile(r"(?:we|you|they|i|our|your)(?:['’](?:re|ve|ll|d))?")
_IMPERATIVES: Final = PRESENT | LISTS.words("imperatives")
_AFTER_IMPERATIVE: Final = en.DETERMINERS | LISTS.words("after_imperative")
_TASTE: Final = LISTS.words("taste")
_MATTERS: Final = frozenset({"subjective", "personal", "taste", "opinion"})
_VERY: Final = LISTS.words("very")
_SPECIFIC: Final = re.compile(r"\d|[a-z,] [A-Z]")
# "may have died" and "might be" are hedges; "may be used" and "may cause" say what is usual.
_HEDGE: Final = re.compile(
    r"\b(?:(?:may|might|could)(?: (?:\w+ly|or|may|might|not|also|perhaps|well|very))* have"
    r"(?: \w+ly)*(?P<been> been)? (?P<done>\w+)|might be (?P<is>\w+))"
)
_OWN: Final = frozenset({"me", "myself"})
_OWN_VIEW: Final = re.compile(r'^[^"”]*\b(?:me|myself)\b[^"”]*$')
_VERB_LIKE: Final = re.compile(r"\b[a-z]{2,}(?:ed|[^s]s|ing|n't)\b|=")


class Wording(NamedTuple):
    """A statement's words with punctuation, and the same words in lower case without it.

    Several steps share it, so the lists must not be changed.
    """

    words: list[str]
    lows: list[str]


def wording(sentence: str) -> Wording:
    """Return a sentence's words without list markers, Markdown, citations and discourse words."""
    text = sentence
    if marker := _MARKER.match(text):
        text = text[marker.end() :]
    if _MARKUP.search(text):
        text = _EMPHASIS.sub("", _CITATION.sub("", _LINK.sub(r"\1", text)))
    words = text.split()
    lows = en.lower(words)
    if not lows or not (_is_marked(lows[0]) or not _ABSTAINING.isdisjoint(lows)):
        return Wording(words, lows)
    words = _remove_abstention(_remove_opening(" ".join(words))).split()
    return Wording(words, en.lower(words))


def _remove_opening(text: str) -> str:
    """Return the text without discourse words at its beginning."""
    opening = _DISCOURSE.match(text)
    if opening:  # it ends with white space, so something follows
        text = text[opening.end() :]
        text = text[0].upper() + text[1:]
    return text


def _remove_abstention(text: str) -> str:
    """Return the text without "I do not know the date, but …" or "…, but I am not sure"."""
    for joint in islice(_BUT.finditer(text), _MAX_CONTRASTS):
        if abstains(text[joint.end() :]):
            return text[: joint.start()]
        if abstains(text[: joint.start()]):
            return _remove_opening(text[joint.end() :])
    return text


def abstains(text: str, english: bool = True) -> bool:
    """Return whether a sentence only says that the answer is not known or not in the passages."""
    text = text.strip()
    if not english and _pattern("abstentions_elsewhere").match(text):
        return True
    if _ABSTAINING.isdisjoint(lower(text.split())):
        return False
    while opening := _pattern("abstention_lead_ins").match(text):
        text = text[opening.end() :]
    return bool(_pattern("abstentions").match(text) or _pattern("abstentions_inside").search(text))


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of a list of phrases, compiled when it is first needed."""
    return re.compile(LISTS.phrases(name), re.IGNORECASE)


def is_claim(sentence: str, statement: Wording) -> bool:
    """Return whether a sentence with this wording makes a claim that can be checked."""
    text = sentence.strip()
    words, lows = statement
    if text.startswith(("```", "~~~", "|")) or _HEADING.match(text):
        return False  # code, a table, a heading
    if not words or not _LETTER.search(text) or _asks(words):
        return False
    if words[0][-1] == ":" and len(words) > 1 and words[1][0].isupper():
        words, lows = words[1:], lows[1:]  # "Budget: Determine your budget."
    introduces = en.is_finite(words[-1]) or lows[-1] in ("following", "by", "as")
    if text[-1] == ":" and (introduces or not any(map(en.is_finite, words[1:]))):
        return False  # "The four presidents were:"
    # A fragment: no word that could be a verb, and no formula.
    verb = any(map(en.is_finite, words[1:])) or any(
        low in PRESENT and word[0].islower() for word, low in zip(words, lows, strict=True)
    )
    speaks = _SPEAKERS.fullmatch(lows[0]) and text[-1] in ".!" and len(words) > 2
    verb = verb or bool(speaks or _VERB_LIKE.search(" ".join(words)))
    return verb and not is_talk(Wording(words, lows))


def is_talk(statement: Wording, opens: bool = True) -> bool:
    """Return whether a sentence or a part of one greets, instructs, judges or only supposes.

    `opens` is False for a part that begins as its sentence does, which makes a claim.
    """
    words, lows = statement
    if lows[0] in _POLITE and len(words) > 1:
        words, lows = words[1:], lows[1:]
    text = " ".join(words)
    return bool(
        (opens and ((_is_marked(lows[0]) and _TALK.match(text)) or _instructs(words, lows)))
        or (not _ABSTAINING.isdisjoint(lows) and abstains(text))
        or ("ould" in text and _DEMANDS.search(text) is not None)
        or (_judges(lows) and not _SPECIFIC.search(text))
        or (not _OWN.isdisjoint(lows) and _OWN_VIEW.search(text) is not None)
        or _leaves_open(text, lows)
    )


def _judges(lows: list[str]) -> bool:
    """Return whether the words express taste: beautiful, boring and the like."""
    for at, low in enumerate(lows) if not _TASTE.isdisjoint(lows) else ():
        be = at - 1
        while be > 0 and lows[be] in _VERY:
            be -= 1
        if low in _TASTE and lows[be] in BE:
            return True
    return lows[-1] in _MATTERS and not BE.isdisjoint(lows[-5:])


def _instructs(words: list[str], lows: list[str]) -> bool:
    """Return whether the words begin with an imperative ("Preheat the oven", "Mix well")."""
    low, following = lows[0], "".join(lows[1:2])
    if low == "to":  # "To reset your password, open the settings"
        at = next((at for at, word in enumerate(words[:-2], 1) if word[-1] == ","), 0)
        return at > 0 and lows[at] in _IMPERATIVES and lows[at + 1] in _AFTER_IMPERATIVE
    if low in _IMPERATIVES:
        return following in _AFTER_IMPERATIVE
    # "Ivan the Terrible", "Despite the rain", "Vitamin A", "Painted the wall" and "Is the" are not.
    return (
        following in ("the", "your", "a", "an")
        and words[1].islower()
        and len(words) > 2
        and words[2][0].islower()
        and en.is_noun(low)
        and not low.endswith(("ed", "ing", "ly", "s"))
    )


def _asks(words: list[str]) -> bool:
    """Return whether the words end with a question mark that is not part of a quoted title."""
    end = words[-1].rstrip("\"'”’»)_")
    return end.endswith(_QUESTION_MARKS) and (end == words[-1] or words[0][0] in "\"'“‘«(")


def _leaves_open(text: str, lows: list[str]) -> bool:
    """Return whether the words only say what may or might be: they have no other verb."""
    if "may" not in lows and "might" not in lows and "could" not in lows:
        return False
    hedge = _HEDGE.search(text)
    if hedge is None or not en.CLAUSE_OPENERS.isdisjoint(lows):
        return False
    done = (hedge["done"] or hedge["is"]).lower()
    participle = bool(hedge["been"]) or is_participle(done)
    if participle == bool(hedge["is"]) or done == "need":
        return False
    return not any(map(en.is_finite, (text[: hedge.start()] + text[hedge.end() :]).split()))
