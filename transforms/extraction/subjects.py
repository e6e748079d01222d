"""Replace the opening of a sentence ("he", "her work", "the film") by the name that it means.

Only safe cases are rewritten, with names from the section of the sentence:

- "he" and "she", if only one person can be meant
- "it" and "they", if the sentence before says what its subject is
- "the film", if one film was named

All else is left as written, since a wrong name makes a wrong claim.
"""

import re
from typing import Final

from ufo.transforms.english import grammar as en
from ufo.transforms.english.grammar import BE, PLURAL, is_past
from ufo.transforms.extraction import clause
from ufo.transforms.extraction.clause import LISTS, NO_NAMES, Wording, bare_name, may_be_person

_PRONOUNS: Final = {
    "he": "he", "his": "he", "she": "she", "her": "she",
    "it": "it", "its": "it", "they": "they", "their": "they",
}  # fmt: skip
_GENDERS: Final = {pronoun: LISTS.words(f"of_{pronoun}") for pronoun in ("he", "she")}
_RELATIVES: Final = {
    pronoun: LISTS.words(f"relatives_{pronoun}".rstrip("_")) for pronoun in ("he", "she", "")
}
_KIN: Final = frozenset[str]().union(*_RELATIVES.values())
# "It is believed that", "It was in 1905 that", "It takes", "It rains": refers to nothing.
_EXPLETIVE: Final = re.compile(f"it (?:{LISTS.phrases('expletive')})", re.IGNORECASE)
# A single name after one of these may be a person's: "with Dahl", not "in Oslo".
_BEFORE_PEOPLE: Final = {"with", "by", "and", "to"}
_SHARES: Final = en.DETERMINERS | {"one"}  # "Some of his works"
_PARTS: Final = clause.UNREPEATABLE - {"it"}
_COUNTING: Final = en.DETERMINERS | {"over", "more", "about"}  # "Over 500 people"
_ARTICLES: Final = frozenset({"a", "an", "the"})
_PLURAL: Final = PLURAL - {"have"}
_MAX_SUBJECT_WORDS: Final = 7
_MAX_PEOPLE: Final = 40  # earlier names are not meant; this also keeps the search linear
_SOMEBODY: Final = "?"  # a subject without a name, before its known pronoun


class Subjects:
    """The people named so far in a text, and the subject of the sentence before."""

    def __init__(self) -> None:
        # The people named, each with their known pronoun, or "".
        self._people: dict[str, str] = {}
        self.section("", False)

    def section(self, topic: str, person: bool, own: bool = False, doubted: bool = False) -> None:
        """Begin a section about `topic`, "" if unknown; `person` says whether it is a person.

        A heading in a text about a person may name another person, or a thing. If that is
        `doubted`, a "he" means the heading only where the sentence introduces a person.
        """
        self._topic = topic
        self._doubted = topic if doubted else ""
        self._own = own
        self._fresh = True  # at the beginning of a paragraph
        self._here: set[str] = set()  # the people that the section names
        self._kinds: dict[str, str] = {}  # "film" -> the one film that was named, "" for several
        if topic and not doubted and (person or may_be_person(en.lower(topic.split()))):
            self._meet(topic)
        self._thing = "" if topic in self._here and (person or " " in topic) else topic
        self._subject = ""
        self._number = ""  # pronoun of the thing: "it" or "they"; "it" for any single name
        self._is_said = False  # whether the sentence before says what its subject is
        self._alone = False  # whether the sentence before names only its subject

    def paragraph(self) -> None:
        """Begin a paragraph of the section."""
        self._fresh, self._alone = True, False

    def name(self, topic: str) -> None:
        """Set the topic of the text, from its first sentence."""
        self._topic = topic

    def read(self, statement: Wording) -> Wording:
        """Return the sentence with its opening replaced by the name that it means, where safe."""
        words, lows = statement
        if len(words) < 2:
            return statement
        start = clause.subject_start(words, lows)
        if (
            lows[start] in _SHARES
            and lows[start + 1 : start + 2] == ["of"]
            and len(words) > start + 3
        ):
            start += 2  # "Some of his works"
        kind, _, of = "".join(lows[start + 1 : start + 2]).replace("’", "'").partition("'")
        name, end = self._kinds.get(kind, "") if lows[start] == "the" else "", start + 2
        if name and len(words) > end and (of or en.is_finite(words[end])):
            name += "'s" if of else ""
        else:
            end = start + 1
            name = self._name_for(words, lows, start) if len(words) > end else ""
        self._note(words, lows, start, name)
        if not name:
            return statement
        words = [*words[:start], *name.split(), *words[end:]]
        return Wording(words, en.lower(words))

    def _meet(self, name: str) -> None:
        if len(self._people) > _MAX_PEOPLE:
            self._people = {self._topic: self._people.get(self._topic, "")}
            self._here &= {self._topic}
        self._people.setdefault(name, "")
        self._here.add(name)

    def _name_for(self, words: list[str], lows: list[str], start: int) -> str:
        """Return the name that replaces the word at `start`, "" if the word stays."""
        low = lows[start]
        pronoun = _PRONOUNS.get(low)
        if pronoun is None:
            return self._full_name(words, lows, start)
        if words[start][-1] in ",;:" or _EXPLETIVE.match(" ".join(words[start : start + 10])):
            return ""
        if pronoun in _GENDERS and self._doubted:
            is_a = lows[start + 1] in BE and any(map(en.is_person, lows[start + 2 :]))
            if not is_a and "born" not in lows[start : start + 4]:
                return ""
            self._meet(self._doubted)
            self._doubted = ""
        name = self._person(pronoun) if pronoun in _GENDERS else self._it(pronoun)
        if not name or low not in en.POSSESSIVES:
            return name
        return name + ("'" if pronoun == "they" and name.endswith("s") else "'s")

    def _person(self, pronoun: str) -> str:
        """Return the only person of this section who can be meant, "" if that is uncertain."""
        subject = self._subject
        if subject[:1] == _SOMEBODY:
            if subject[1:] in ("", pronoun):
                return ""
            subject = ""
        people = self._here if self._own else self._people
        fitting = [name for name in people if self._people[name] in ("", pronoun)]
        name = fitting[0] if len(fitting) == 1 else ""
        if len(fitting) > 1 and self._alone and subject in fitting and " " in subject:
            name = subject
        elif len(fitting) > 1:
            # A person known to be a "he", else the topic, unless the sentence before is about
            # another.
            known = [name for name in fitting if self._people[name]] or [self._topic]
            if self._topic in known:
                known = [name for name in known if name[:1] != _SOMEBODY]
            thing = subject.startswith("The ") and not en.is_person(subject.split()[-1])
            other = subject not in (known[0], "") and (not thing or subject in self._people)
            alone = len(known) == 1 and known[0] in fitting and not other
            name = known[0] if alone and (not self._fresh or known[0] == self._topic) else ""
        if name not in self._here or name[:1] == _SOMEBODY:
            return ""
        self._people[name] = pronoun
        return name

    def _it(self, pronoun: str) -> str:
        if not self._subject and self._here <= {self._thing} and pronoun == "it":
            return self._thing  # only the topic was named
        known = self._number == pronoun and self._is_said and self._subject[:1] != _SOMEBODY
        return self._subject if known else ""

    def _full_name(self, words: list[str], lows: list[str], start: int) -> str:
        """Return the full name that the last name at `start` must stand for."""
        word, following = words[start], words[start + 1]
        bare = word.removesuffix("'s").removesuffix("’s")
        if (
            not word[0].isupper()
            or len(word) < 3
            or clause.name_length(words, start) > 1
            # "Long before that", "Holm disease" and "Holm 2" are not the person
            or (lows[start] in NO_NAMES and not en.is_finite(following))
            or (bare == word and (following[0].isdigit() or en.is_noun(following)))
        ):
            return ""
        last = f" {bare}"
        full = [name for name in self._people if name.endswith(last)]
        return full[0] + word[len(bare) :] if len(full) == 1 else ""

    def _note(self, words: list[str], lows: list[str], start: int, name: str) -> None:
        """Remember the people that the sentence names, and its subject."""
        verb = clause.first_verb(words, lows, start)
        self._fresh = False
        # "One of the songs was a hit": what follows is about that one, not about the songs.
        part = lows[:start][-2:] == ["one", "of"] or lows[start] in _PARTS
        self._is_said = verb > start and lows[verb] in BE and not part
        if lows[start] in en.POSSESSIVES:
            # "His father, Nils Dahl, was a farmer" is about another person.
            relation_words = set(lows[start + 1 : max(verb, start + 3)])
            about = [
                pronoun
                for pronoun, nouns in _RELATIVES.items()
                if not nouns.isdisjoint(relation_words)
            ]
            self._subject = _SOMEBODY + about[0] if about else ""
            if about:  # a later "he" may be the father
                self._people[self._subject] = about[0]
                self._here.add(self._subject)
        elif lows[start] in _PRONOUNS:
            self._subject = name or (_SOMEBODY + lows[start] if lows[start] in _GENDERS else "")
        elif name and lows[start] == "the":
            self._subject = "" if name.endswith("'s") else name
        else:
            self._subject = self._find(words, lows, start, verb) if verb > start else ""
        self._note_kind(words, lows, verb)
        self._alone = True
        for first, end in clause.names_in(words, lows, start):
            before = lows[first - 1] if first else ""
            opened = first == start + 1 and lows[start] in NO_NAMES  # "When Holm left"
            if end - first == 1 and not (before in _BEFORE_PEOPLE or is_past(before) or opened):
                continue
            after = words[end] if end < len(words) and words[end - 1][-1].isalnum() else "."
            if en.is_noun(after) or after[0].isdigit():
                continue  # "a South Korean diplomat" and "Gemini 8" are not people's names
            if en.is_noun(before or "a") and not (en.is_person(before) or before in _KIN):
                continue  # "the film Jan Holm"
            if may_be_person(lows[first:end], before):
                named = self._known(bare_name(words[first:end]))
                self._meet(named)
                self._alone = self._alone and named == self._subject
        if self._alone and self._people.get(self._subject) == "":
            genders = [gender for gender, said in _GENDERS.items() if not said.isdisjoint(lows)]
            self._people[self._subject] = genders[0] if len(genders) == 1 else ""

    def _note_kind(self, words: list[str], lows: list[str], verb: int) -> None:
        """Remember that "The Sea" is the film, until another film is mentioned."""
        for low, word in zip(lows, [*words[1:], " "], strict=True) if self._kinds else ():
            if low in self._kinds and (word[0] in '"“' or en.is_capital(word)):
                self._kinds[low] = ""
            singular = low[:-3] + "y" if low.endswith("ies") else low[:-1]
            if singular in self._kinds:  # "other cities"
                self._kinds[singular] = ""
        if self._is_said and self._subject and "".join(lows[verb + 1 : verb + 2]) in _ARTICLES:
            noun = verb + 1
            for at in range(verb + 2, len(words)):
                if words[at - 1][-1] in ",.;" or not (
                    en.is_noun(words[at]) or not words[at].islower()
                ):
                    break
                noun = at
            kind = lows[noun]
            if noun > verb + 1 and words[noun][0].islower() and not en.is_person(kind):
                known = self._kinds.setdefault(kind, self._subject)
                self._kinds[kind] = known if known == self._subject else ""

    def _find(self, words: list[str], lows: list[str], start: int, verb: int) -> str:
        """Return the subject of a sentence, "" if it has none."""
        plural = lows[verb] in _PLURAL
        self._number = "they" if plural else "it"
        end = start + clause.opening_name_length(words, lows, start)
        verb = en.subject_end(lows, max(start, end), verb)
        if end > start and (words[end - 1][-1] == "," or words[end][0] == "(" or end == verb):
            person = may_be_person(lows[start:end])
        else:
            counted = lows[start] in _COUNTING and verb - start > 1
            opens = end > start or (clause.only_opens(lows[start]) and not counted)
            commas = any(word[-1] in ",;:" for word in words[start:verb])
            commas = commas or any(low.endswith(("'s", "’s")) for low in lows[start:verb])
            if opens or commas or not 0 < verb - start <= _MAX_SUBJECT_WORDS:
                return ""
            end = verb
            person = any(not said.isdisjoint(lows[start:verb]) for said in _GENDERS.values())
        bare = bare_name(words[start:end])
        if not bare:  # a bracket or a quotation mark
            return ""
        name = self._known(bare)
        if person and not plural:
            self._meet(name)
            self._number = "it" if end == start + 1 else ""
        return name

    def _known(self, name: str) -> str:
        """Return the known name that a name with a title, or a last name, means; else the name."""
        if self._topic in self._people:
            if name == self._topic:
                return name
            words, topic = name.split(), self._topic.split()
            alike = bool(topic) and words[-1] == topic[-1] and words[0][:3] == topic[0][:3]
            longer = len(words) < 6 and words[0] != "The" and (alike or set(topic) < set(words))
            if longer and may_be_person(en.lower(words)):
                return name if words[-1] in ("Jr", "Jr.", "II", "III") else self._topic
        part = f" {name} "
        ends = [known for known in self._people if name in known and part in f" {known} "]
        return ends[0] if len(ends) == 1 else name
