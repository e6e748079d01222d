"""Complete the parts of a sentence that leave out a verb: "Ada was born in 1867 and Jan in 1859".

The words after the verb are cut into parts, and each part into phrases. A part without a verb is
completed only if its phrases are of the same kinds as those of the first part. It has a subject of
its own ("and Jan in 1859") or shares it ("in Oslo in 1867 and in Rome in 1868"). If a part only
looks like one of these, the sentence stays whole, because a wrong pair makes a wrong claim.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from ufo.transforms.english import grammar as en
from ufo.transforms.extraction.clause import (
    LISTS,
    NAMES_OF_DAYS,
    PARTICLES,
    Clause,
    Words,
    without_comma,
)

JOINTS: Final = frozenset({"and", "but", "while", "whereas"})
_GROUP: Final = en.ADVERBS | en.AUXILIARIES | {"been", "up", "out", "away"}
_BEFORE_EXAMPLES: Final = frozenset({"such", "including", "include", "includes", "included"})
_PARTS_OF_TIME: Final = NAMES_OF_DAYS | {"early", "mid", "late"}
_NO: Final = frozenset({"not", "never", "no", "neither", "nor", "or"})
_NUMERALS: Final = LISTS.words("numerals")
_ORDINALS: Final = LISTS.words("ordinals")
_NO_PHRASES: Final = _ORDINALS | PARTICLES
_TIME: Final = re.compile(
    rf"(?:1\d|20)\d\ds?|{'|'.join(sorted(NAMES_OF_DAYS))}"
    r"|century|later|earlier|afterwards|bce?|ad|ce",
    re.IGNORECASE,
)
_is_time: Final = en.Memo(lambda low: _TIME.fullmatch(low) is not None).__getitem__
_NAME, _NOUN, _NUMBER, POINT = "name", "noun", "number", "time"
_EXACT: Final = frozenset({_NUMBER, POINT})


_head: Final = en.Memo(
    lambda low: low if low in en.PREPOSITIONS else _NUMBER * (low[:1].isdigit() or low in _NUMERALS)
).__getitem__
"""The preposition, or the word for a number, that begins a phrase; else ""."""


class Phrase(NamedTuple):
    """A noun phrase with its preposition, if it has one."""

    words: Words
    preposition: str
    kind: str


def complete_parts(clause: Clause) -> list[Words]:
    """Return a clause for each part of a sentence, with the verb that it leaves out.

    Returns only the whole sentence if a part is unclear, nothing if no part leaves out its verb."""
    words, lows, start, verb, _ = clause
    heads = list(filter(None, map(_head, lows[verb + 1 :])))
    if len(set(heads)) == len(heads) or not _BEFORE_EXAMPLES.isdisjoint(lows):
        return []
    begin = _after_verb(lows, verb)
    ranges, verbal = _part_ranges(words, lows, begin)
    again = set(map(_head, lows[ranges[0][1] : ranges[-1][1]])) - {""}
    if again.isdisjoint(map(_head, lows[slice(*ranges[0])])):
        return []  # no phrase like another: cheaper than to read the phrases
    if any(word[0] == "(" for word in words):
        return []
    first, *parts = _parts(words, lows, ranges)
    subject = phrase_of(words[start:verb])
    added = [_complete(part, first, subject, words[verb:begin]) for part in parts]
    one_subject = not start and "and" not in lows[:verb]
    if parts and all(added) and one_subject and not verbal and _NO.isdisjoint(lows):
        return list(map(without_comma, [[*words[:begin], *_words(first)], *added]))
    unclear = [part for part in parts if _repeats(part, first)]
    # "He lived in Oslo in 1990 and in Rome in 1995, and died": all of it is about one subject.
    own_subject = any(not part[0].preposition for part in unclear)
    return [words] if unclear and (own_subject or not verbal) else []


def _after_verb(lows: Words, verb: int) -> int:
    """Return the index after the verb and its participle, adverbs and particle."""
    at = verb + 1
    while at < len(lows) and (lows[at] in _GROUP or lows[at].endswith("ly")):
        at += 1
    passive = lows[verb] in en.AUXILIARIES and en.is_participle("".join(lows[at : at + 1]))
    return _after_verb(lows, at) if passive else at


def _part_ranges(words: Words, lows: Words, begin: int) -> tuple[list[tuple[int, int]], bool]:
    """Return the ranges of the parts up to the first with a verb, and whether there is one."""
    cuts = [
        at for at in range(begin + 1, len(words)) if words[at - 1][-1] in ",;" or lows[at] in JOINTS
    ]
    ranges: list[tuple[int, int]] = []
    for at, end in pairwise([min(begin, len(words) - 1), *cuts, len(words)]):
        content = at + (lows[at] in JOINTS)
        if ranges and content < end and _has_verb(words[content:end], lows[content:end]):
            return ranges, True
        if content < end:  # not the comma before "and"
            ranges.append((at, end))
    return ranges, False


def _parts(words: Words, lows: Words, ranges: list[tuple[int, int]]) -> list[list[Phrase]]:
    """Return the phrases of each part.

    A part of a single phrase belongs to the part before it: "Oslo, Norway", "May 3, 1990"; but not
    "in 1990 and Jan, her brother, to Rome"."""
    parts: list[list[Phrase]] = []
    for first, end in ranges:
        at = first + (lows[first] in JOINTS)
        phrases = _phrases(words[at:end], lows[at:end])
        joined = at > first or words[first - 1][-1] == ";"
        apart = (joined and words[end - 1][-1] == ",") or lows[at] in en.DETERMINERS
        if not parts or len(phrases) > 1 or apart:
            parts.append(phrases)
            continue
        last, more = parts[-1][-1], phrases[0]._replace(words=words[first:end])
        if more.preposition:
            parts[-1].append(more)
        elif last.kind == POINT != more.kind:
            parts.append(phrases)
        else:
            parts[-1][-1] = last._replace(words=[*last.words, *more.words])
    return parts


def _has_verb(words: Words, lows: Words) -> bool:
    first = next((low for low in lows if low not in en.ADVERBS), "")
    return (
        any(map(en.is_finite, words))
        or en.is_participle(first)
        or (first.endswith("ing") and len(first) > 5)
        or not en.CLAUSE_OPENERS.isdisjoint(lows)
    )


def _phrases(words: Words, lows: Words) -> list[Phrase]:
    starts = [at for at in range(len(words)) if not at or _begins(words, lows, at)]
    return [phrase_of(words[a:b]) for a, b in pairwise([*starts, len(words)])]


def _begins(words: Words, lows: Words, at: int) -> bool:
    """Return whether a phrase begins at this word."""
    word, low, before = words[at], lows[at], lows[at - 1]
    if low in en.PREPOSITIONS or before in en.PREPOSITIONS or before in en.DETERMINERS:
        return low in en.PREPOSITIONS
    if low in en.DETERMINERS or _is_number(word):
        return not (_is_number(words[at - 1]) or words[at - 1] in _PARTS_OF_TIME)
    named = en.is_capital(words[at - 1]) and lows[at - 2 : at - 1] != ["the"]  # "the Physics prize"
    return named and word[0].islower() and low not in _NO_PHRASES


def phrase_of(words: Words) -> Phrase:
    """Return these words as one phrase."""
    lows = en.lower(words)
    preposition = lows[0] if lows[0] in en.PREPOSITIONS else ""
    content = [w for w, low in zip(words, lows, strict=True) if low not in _BEFORE_CONTENT] or words
    after = [*words[1:], ""]
    # "2000 men" is no time
    if any(
        _is_time(low) and not (low[0].isdigit() and after[at].islower())
        for at, low in enumerate(lows)
    ):
        return Phrase(words, "", POINT)
    kind = _NAME if en.is_capital(content[0]) else _NOUN
    return Phrase(words, preposition, _NUMBER if _is_number(content[0]) else kind)


_BEFORE_CONTENT: Final = en.PREPOSITIONS | (en.DETERMINERS - _NUMERALS)
_COUNTING: Final = _ORDINALS | _BEFORE_CONTENT


def _is_number(word: str) -> bool:
    return word.lstrip("$€£(-−")[:1].isdigit() or en.core(word) in _NUMERALS


def _repeats(part: Sequence[Phrase], first: Sequence[Phrase]) -> bool:
    """Return whether the part has a phrase that can stand in the place of one of the first part."""
    alike = {place_of(phrase) for phrase in first}
    own = part if part[0].preposition else part[1:]
    clear = (one for one in own if one.preposition not in ("", "of") or one.kind in _EXACT)
    return any(place_of(phrase) in alike for phrase in clear)


def place_of(phrase: Phrase) -> tuple[str, str]:
    """Return the preposition and kind, which phrases share if one can replace the other."""
    kind = phrase.kind if phrase.kind in _EXACT else _NOUN
    return phrase.preposition, kind


def _complete(part: list[Phrase], first: list[Phrase], subject: Phrase, verb: Words) -> Words:
    """Return the part with its subject and verb, or nothing if these are unclear."""
    own, rest, head = part[0], part, subject.words
    if not _shares_subject(part, first, subject):
        rest, head = part[1:], without_comma(own.words)
    elif verb[0] in en.PLURAL:
        return []  # "were born in 1867 in Oslo and in 1869 in Rome": each once
    kept, replaced = first[: -len(rest)], first[-len(rest) :]
    # What is kept has no name: "elected president in 1990 and Jan in 1991".
    if not _match_places(rest, replaced) or any(phrase.kind != _NOUN for phrase in kept):
        return []
    if sum(map(_lacks_noun, part)) > sum(map(_lacks_noun, replaced)):
        return []
    if rest is not part and not _has_subject(own, subject, rest, replaced):
        return []
    # "won the prize in 1990 and Jan in 1991" may be about one who won Jan
    if rest is not part and kept and not (verb[0] in en.BE and own.kind == subject.kind == _NAME):
        return []
    return [*head, *verb, *_words(kept), *_words(rest)]


def _lacks_noun(phrase: Phrase) -> bool:
    """Return whether a phrase leaves out its noun: "83 million", "the second", "Ada's"."""
    counting = all(_is_number(word) or en.core(word) in _COUNTING for word in phrase.words)
    return (counting and phrase.kind != POINT) or en.core(phrase.words[-1])[-2:] in ("'s", "’s")


def _shares_subject(part: Sequence[Phrase], first: Sequence[Phrase], subject: Phrase) -> bool:
    """Return whether the part can only begin with what replaces a phrase, not with a subject."""
    own = part[0]
    if own.preposition or own.kind == POINT:
        return True
    if own.kind == _NUMBER or len(part) > len(first):
        return own.kind == _NUMBER != subject.kind
    # "the Physics prize in 1903 and the Chemistry prize in 1911"
    replaced = first[-len(part)].words
    return en.core(own.words[-1]) == en.core(replaced[-1]) and own.words != replaced


def _has_subject(
    own: Phrase, subject: Phrase, rest: Sequence[Phrase], replaced: Sequence[Phrase]
) -> bool:
    """Return whether the part begins with a subject like that of the first part."""
    # Not "well in Norway but poorly in Sweden".
    determined = own.kind == _NAME or en.core(own.words[0]) in en.DETERMINERS
    if not determined or [a.kind for a in rest] != [b.kind for b in replaced]:
        return False
    if any(phrase.kind in _EXACT for phrase in rest):
        return True
    # "He served in Oslo and Rome in the army": Rome did not.
    alike = own.kind == subject.kind and (len(own.words) > 1) == (len(subject.words) > 1)
    placed = all(phrase.kind == _NAME and phrase.preposition for phrase in rest)
    return alike and placed and en.core(subject.words[0]) not in en.SUBJECT_PRONOUNS


def _match_places(part: Sequence[Phrase], first: Sequence[Phrase]) -> bool:
    return bool(part) and sorted(map(place_of, part)) == sorted(map(place_of, first))


def _words(phrases: Sequence[Phrase]) -> Words:
    return [word for phrase in phrases for word in phrase.words]
