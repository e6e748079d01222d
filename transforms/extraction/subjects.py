"""Replace pronouns at the beginning of sentences by names: who "he", "she", "it" and "they" are.

Only what is safe is rewritten: "he" and "she" where one person can be meant, "it" and "they" where
the sentence before says what its subject is. All else is left as written, for a wrong name makes
a wrong claim.
"""

import re
from collections.abc import Sequence
from typing import Final

from ufo.transforms.english.grammar import (
    DETERMINERS,
    POSSESSIVES,
    is_finite,
    is_noun,
    lower,
    without_adverbs,
)
from ufo.transforms.english.verbs import BE, PLURAL, is_past
from ufo.transforms.english.word_set import word_set
from ufo.transforms.extraction.clause import (
    NO_NAMES,
    bare_name,
    first_verb,
    may_be_person,
    name_length,
    names_in,
    only_opens,
    opening_name_length,
    subject_start,
)
from ufo.transforms.extraction.wording import Wording

_PRONOUNS: Final = {
    "he": "he", "his": "he", "she": "she", "her": "she",
    "it": "it", "its": "it", "they": "they", "their": "they",
}  # fmt: skip
_GENDERS: Final = {
    "he": word_set("man boy king prince emperor sir mr his him himself"),
    "she": word_set("woman girl queen princess empress lady mrs ms actress her herself"),
}
# "It is believed that", "It was in 1905 that", "It takes", "It rains": refers to nothing.
_EXPLETIVE: Final = re.compile(
    r"it (?:(?:has been|(?:may|can|should|must|would|will) be|is|was) "
    r"(?:(?:\w+ly |not |also )*(?:\w+ (?:that|if|whether|who|when)|\w+(?<!ed) to)\b"
    r"|(?:in|on|at|not|only) .*that\b|because|worth)"
    r"|(?:takes?|took|rains?|rained|snows?|seem|appear|turn|follows|happen))",
    re.IGNORECASE,
)
# A single name after one of these may be a person's: "with Dahl", not "in Oslo".
_BEFORE_PEOPLE: Final = {"with", "by", "and", "to"}
_COUNTING: Final = DETERMINERS | {"over", "more", "about"}  # "Over 500 people"
_PLURAL: Final = PLURAL - {"have"}
_MAX_SUBJECT_WORDS: Final = 7


class _Paragraph:
    """Who was named so far, and what the sentence before was about."""

    def __init__(self, topic: str, person: bool) -> None:
        self.topic = topic
        # The people named, each with the pronoun that is known to be theirs, or "".
        self.people: dict[str, str] = {}
        if topic and (person or may_be_person(lower(topic.split()))):
            self.people[topic] = ""
        self.thing = "" if self.people and (person or " " in topic) else topic
        self.subject = ""
        self.number = ""  # of the thing: "it" or "they"; "it" also for a single name of anything
        self.is_said = False  # whether the sentence before says what its subject is

    def read(self, said: Wording) -> Wording:
        """Return the sentence with its opening named, where that is safe."""
        words, lows = said
        if len(words) < 2:
            return said
        start = subject_start(words, lows)
        name = self._meant(words, lows, start) if start + 1 < len(words) else ""
        self._note(words, lows, start, name)
        if not name:
            return said
        words = [*words[:start], *name.split(), *words[start + 1 :]]
        return Wording(words, lower(words))

    def _meant(self, words: list[str], lows: list[str], start: int) -> str:
        """Return the name to put for the word at `start`, "" where it stays."""
        low = lows[start]
        pronoun = _PRONOUNS.get(low)
        if pronoun is None:
            return self._full_name(words, lows, start)
        if words[start][-1] in ",;:" or _EXPLETIVE.match(" ".join(words[start : start + 10])):
            return ""
        name = self._person(pronoun) if pronoun in _GENDERS else self._thing(pronoun)
        if not name or low not in POSSESSIVES:
            return name
        return name + ("'" if pronoun == "they" and name.endswith("s") else "'s")

    def _person(self, pronoun: str) -> str:
        fitting = [name for name, known in self.people.items() if known in ("", pronoun)]
        if len(fitting) > 1:
            # Who is known to be a "he", else the topic, if the sentence before is not of another.
            known = [name for name in fitting if self.people[name]] or [self.topic]
            fitting = [name for name in known if name in fitting and self.subject in (name, "")]
            fitting = fitting if len(known) == 1 else []
        if len(fitting) != 1:
            return ""
        self.people[fitting[0]] = pronoun
        return fitting[0]

    def _thing(self, pronoun: str) -> str:
        if not self.subject and self.people.keys() <= {self.thing} and pronoun == "it":
            return self.thing  # nothing but the topic was named
        return self.subject if self.number == pronoun and self.is_said else ""

    def _full_name(self, words: list[str], lows: list[str], start: int) -> str:
        """Return the full name that the last name at `start` must stand for."""
        word, following = words[start], words[start + 1]
        bare = word.removesuffix("'s").removesuffix("’s")
        if (
            not word[0].isupper()
            or len(word) < 3
            or name_length(words, start) > 1
            # "Long before that", "Holm disease" and "Holm 2" are not the person
            or (lows[start] in NO_NAMES and not is_finite(following))
            or (bare == word and (following[0].isdigit() or is_noun(following)))
        ):
            return ""
        full = [name for name in self.people if name.endswith(f" {bare}")]
        return full[0] + word[len(bare) :] if len(full) == 1 else ""

    def _note(self, words: list[str], lows: list[str], start: int, name: str) -> None:
        """Remember whom the sentence names, and what it is about."""
        verb = first_verb(words, lows, start)
        self.is_said = verb > start and lows[verb] in BE
        if lows[start] in _PRONOUNS:
            self.subject = name if lows[start] not in POSSESSIVES else ""
        else:
            self.subject = self._subject(words, lows, start, verb) if verb > start else ""
        for first, end in names_in(words, lows, start):
            before = lows[first - 1] if first else ""
            if end < len(words) and is_noun(words[end]) and words[end - 1][-1].isalnum():
                continue  # "a South Korean diplomat" is not a person's name
            opened = first == start + 1 and lows[start] in NO_NAMES  # "When Holm left"
            single = before in _BEFORE_PEOPLE or is_past(before) or opened
            if (single or end - first > 1) and may_be_person(lows[first:end], before):
                self.people.setdefault(self._known(bare_name(words[first:end])), "")
        if self.people.get(self.subject) == "":
            found = [gender for gender, said in _GENDERS.items() if not said.isdisjoint(lows)]
            self.people[self.subject] = found[0] if len(found) == 1 else ""

    def _subject(self, words: list[str], lows: list[str], start: int, verb: int) -> str:
        """Return the subject of a sentence, "" if it has none."""
        plural = lows[verb] in _PLURAL
        self.number = "they" if plural else "it"
        end = start + opening_name_length(words, lows, start)
        verb = without_adverbs(lows, max(start, end), verb)
        if end > start and (words[end - 1][-1] == "," or words[end][0] == "(" or end == verb):
            person = may_be_person(lows[start:end])
        else:
            counted = lows[start] in _COUNTING and verb - start > 1
            opens = end > start or (only_opens(lows[start]) and not counted)
            commas = any(word[-1] in ",;:" for word in words[start:verb])
            long = not 0 < verb - start <= _MAX_SUBJECT_WORDS
            if opens or commas or long or lows[start] in POSSESSIVES:
                return ""
            end = verb
            person = any(not said.isdisjoint(lows[start:verb]) for said in _GENDERS.values())
        name = self._known(bare_name(words[start:end]))
        if person and not plural:
            self.people.setdefault(name, "")
            self.number = "it" if end == start + 1 else ""
        return name

    def _known(self, name: str) -> str:
        """Return the topic for its name with a middle name or only its last name, else the name."""
        first, _, last = self.topic.partition(" ")
        middle = first != "The" and name.startswith(first + " ") and name.endswith(" " + last)
        ends = [known for known in self.people if known.endswith(" " + name)]
        return self.topic if last and middle else ends[0] if len(ends) == 1 else name


def resolve(wordings: Sequence[Wording], topic: str = "", person: bool = False) -> list[Wording]:
    """Return the sentences of one paragraph, their opening pronouns replaced where that is safe.

    Opening means the subject or its possessive ("He was", "In 1905, she published", "Its capital
    is"); a last name there becomes the full name it can only be short for. `topic` is the name
    that the text is about, "" where unknown; `person` says that it is a person's.
    """
    paragraph = _Paragraph(topic, person)
    return [paragraph.read(said) for said in wordings]
