"""Complete the parts of a sentence that leave out a verb: "Ada was born in 1867 and Jan in 1859".

The words after the verb are cut into parts, and each part into phrases. A part without a verb is
completed only if its phrases are of the same kinds as those of the first part. It has a subject of
its own ("and Jan in 1859") or shares it ("in Oslo in 1867 and in Rome in 1868"). If a part only looks
like one of these, the sentence stays whole, because a wrong pair makes a wrong claim.
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

_JOINTS: Final = frozenset({"and", "but", "while", "whereas"})
_GROUP: Final = en.ADVERBS | en.AUXILIARIES | {"been", "up", "out", "away"}
_BEFORE_EXAMPLES: Final = frozenset({"such", "including", "include", "includes", "included"})
_PARTS_OF_TIME: Final = frozenset({"early", "mid", "late"})
_NO: Final = frozenset({"not", "never", "no", "neither", "nor", "or"})
_NUMERALS: Final = LISTS.words("numerals")
_ORDINALS: Final = LISTS.words("ordinals")
_TIME: Final = re.compile(
    rf"\b(?:1\d|20)\d\ds?\b(?![,.]\d| [a-z])|\b(?:{'|'.join(sorted(NAMES_OF_DAYS))})\b"
    r"|\b(?:century|later|earlier|afterwards|BCE?|AD|CE)\b"
)
_NAME, _NOUN, _NUMBER, _POINT = "name", "noun", "number", "time"
_EXACT: Final = frozenset({_NUMBER, _POINT})


class Phrase(NamedTuple):
    """A noun phrase with its preposition, if it has one."""

    words: Words
    preposition: str
    kind: str


def completed(clause: Clause) -> list[Words]:
    """Return a clause for each part; only the whole sentence if a part is unclear, and nothing if
    no part leaves out its verb."""
    words, lows, _, verb, _ = clause
    listed = not _BEFORE_EXAMPLES.isdisjoint(lows) or any(word[0] == "(" for word in words)
    heads = [
        low if low in en.PREPOSITIONS else "number"
        for low in lows[verb + 1 :]
        if low in en.PREPOSITIONS or low in _NUMERALS or low[:1].isdigit()
    ]
    if listed or len(set(heads)) == len(heads):
        return []  # no phrase like another: cheaper than to read the phrases
    found = _completed(clause, "")
    if not found and heads.count("of") > 1:
        # "Paris is the capital of France and Berlin of Germany"
        of_phrases = _completed(clause, "of")
        return of_phrases if len(of_phrases) > 1 else []
    return found


def _completed(clause: Clause, of: str) -> list[Words]:
    """`completed` where "of" begins a phrase ("Berlin | of Germany"), or is inside one for ""."""
    words, lows, start, verb, _ = clause
    begin = _after_verb(lows, verb)
    parts, verbal = _parts(words, lows, begin, of)
    if len(parts) == 1:
        return []
    first = parts[0]
    gaps = [part for part in parts[1:] if _repeats(part, first)]
    if not gaps:
        return []
    subject = phrase_of(words[start:verb])
    opening = phrase_of(words[:start]) if start else None
    added = [_complete(part, first, subject, opening, words[verb:begin]) for part in parts[1:]]
    if not verbal and all(added) and not _NO & set(lows):
        head = [*words[:begin], *(word for phrase in first for word in phrase.words)]
        return [without_comma(head), *map(without_comma, added)]
    # "He lived in Oslo in 1990 and in Rome in 1995, and died": all of it is about one subject.
    return [words] if not verbal or any(not part[0].preposition for part in gaps) else []


def _after_verb(lows: Words, verb: int) -> int:
    """Return the index after the verb and its participle, adverbs and particle."""
    at = verb + 1
    while at < len(lows) and (lows[at] in _GROUP or lows[at].endswith("ly")):
        at += 1
    passive = lows[verb] in en.AUXILIARIES and en.is_participle("".join(lows[at : at + 1]))
    return _after_verb(lows, at) if passive else at


def _parts(words: Words, lows: Words, begin: int, of: str) -> tuple[list[list[Phrase]], bool]:
    """Return the parts from `begin` on up to one with a verb, and whether there is such a part.

    A part of one phrase belongs to the part before it: "Oslo, Norway", "May 3, 1990".
    """
    cuts = [
        at
        for at in range(begin + 1, len(words))
        if words[at - 1][-1] in ",;" or lows[at] in _JOINTS
    ]
    parts: list[list[Phrase]] = []
    for first, end in pairwise([min(begin, len(words) - 1), *cuts, len(words)]):
        at = first + (lows[first] in _JOINTS)
        if at == end:
            continue  # the comma before "and"
        if parts and _has_verb(words[at:end], lows[at:end]):
            return parts, True
        phrases = _phrases(words[at:end], lows[at:end], of)
        if parts and len(phrases) == 1:
            last = parts[-1].pop()
            parts[-1].append(last._replace(words=[*last.words, *words[first:end]]))
        else:
            parts.append(phrases)
    return parts or [[]], False


def _has_verb(words: Words, lows: Words) -> bool:
    first = next((low for low in lows if low not in en.ADVERBS), "")
    return (
        any(map(en.is_finite, words))
        or en.is_participle(first)
        or (first.endswith("ing") and len(first) > 5)
        or not en.CLAUSE_OPENERS.isdisjoint(lows)
    )


def _phrases(words: Words, lows: Words, of: str) -> list[Phrase]:
    starts = [at for at in range(len(words)) if not at or _begins(words, lows, at, of)]
    return [phrase_of(words[a:b]) for a, b in pairwise([*starts, len(words)])]


def _begins(words: Words, lows: Words, at: int, of: str) -> bool:
    """Return whether a phrase begins at this word."""
    word, low, before = words[at], lows[at], lows[at - 1]
    if low in en.PREPOSITIONS:
        return low != "of" or low == of
    if before in en.PREPOSITIONS or before in en.DETERMINERS:
        return False
    if low in en.DETERMINERS or _is_number(word):
        return not (_is_number(words[at - 1]) or words[at - 1] in NAMES_OF_DAYS | _PARTS_OF_TIME)
    return word[0].islower() and low not in _ORDINALS | PARTICLES and en.is_capital(words[at - 1])


def phrase_of(words: Words) -> Phrase:
    """Return these words as one phrase."""
    lows = en.lower(words)
    preposition = lows[0] if lows[0] in en.PREPOSITIONS else ""
    content = [w for w, low in zip(words, lows, strict=True) if low not in _BEFORE_CONTENT] or words
    if _TIME.search(" ".join(words)):
        return Phrase(words, "", _POINT)
    kind = _NAME if en.is_capital(content[0]) else _NOUN
    return Phrase(words, preposition, _NUMBER if _is_number(content[0]) else kind)


_BEFORE_CONTENT: Final = en.PREPOSITIONS | (en.DETERMINERS - _NUMERALS)


def _is_number(word: str) -> bool:
    return word.lstrip("$€£(-−")[:1].isdigit() or en.core(word) in _NUMERALS


def _repeats(part: Sequence[Phrase], first: Sequence[Phrase]) -> bool:
    """Return whether the part has a phrase that can stand in the place of one of the first part."""
    alike = {place_of(phrase) for phrase in first}
    own = part if part[0].preposition else part[1:]
    clear = (phrase for phrase in own if phrase.preposition or phrase.kind in _EXACT)
    return len(part) > 1 and any(place_of(phrase) in alike for phrase in clear)


def place_of(phrase: Phrase) -> tuple[str, str]:
    """Return what phrases have in common that can stand in one another's place."""
    kind = phrase.kind if phrase.kind in _EXACT else _NOUN
    return phrase.preposition, kind


def _complete(
    part: list[Phrase],
    first: list[Phrase],
    subject: Phrase,
    opening: Phrase | None,
    verb: Words,
) -> Words:
    """Return the part with its subject and verb, nothing if it is unclear which it has."""
    if opening:  # "In 1990 he moved to Oslo, in 1995 to Rome"
        fits = opening.kind == _POINT == part[0].kind and _same(part[1:], first)
        return [*part[0].words, *subject.words, *verb, *_said(part[1:], first)] if fits else []
    kept = first[: len(first) - len(part)]
    if _same(part, first[len(kept) :]) and _shares_subject(part, first[len(kept)], subject):
        plain = all(phrase.kind == _NOUN for phrase in kept)
        said = [*_words(kept), *_said(part, first[len(kept) :])]
        return [*subject.words, *verb, *said] if plain else []
    kept = first[: len(first) - len(part) + 1]
    own, rest = part[0], part[1:]
    named = own.kind == subject.kind == _NAME
    plain = all(phrase.kind == _NOUN and not phrase.preposition for phrase in kept)
    if own.preposition or own.kind not in (_NAME, _NOUN) or not _same(rest, first[len(kept) :]):
        return []
    if kept and not (plain and named and verb[0] in en.BE):
        return []  # "won the prize in 1990 and Jan in 1991" may be about one who won Jan
    exact = [phrase.kind for phrase in rest] == [phrase.kind for phrase in first[len(kept) :]]
    # "He served in Oslo and Rome in the army": Rome did not.
    alike = (len(own.words) > 1) == (len(subject.words) > 1) and own.kind == subject.kind
    alike = alike and subject.words[0].lower() not in en.SUBJECT_PRONOUNS
    placed = alike and all(phrase.kind == _NAME and phrase.preposition for phrase in rest)
    sure = any(phrase.kind in _EXACT for phrase in rest)
    if not (exact and (sure or placed)):
        return []
    return [
        *_filled(own.words, subject.words),
        *verb,
        *_words(kept),
        *_said(rest, first[len(kept) :]),
    ]


def _same(part: Sequence[Phrase], first: Sequence[Phrase]) -> bool:
    return bool(part) and sorted(map(place_of, part)) == sorted(map(place_of, first))


def _shares_subject(part: Sequence[Phrase], replaced: Phrase, subject: Phrase) -> bool:
    """Return whether the part can only begin with what replaces a phrase, not with a subject."""
    own = part[0]
    if own.preposition or own.kind == _POINT:
        return True
    if own.kind == _NUMBER:
        return subject.kind != _NUMBER
    last, first = en.core(own.words[-1]), en.core(own.words[0])
    bare = own.kind == replaced.kind == _NOUN and first not in en.DETERMINERS
    bare = bare and any(phrase.kind != _NOUN for phrase in part)
    names = en.is_capital(subject.words[0]) or subject.words[0] in en.SUBJECT_PRONOUNS
    return last == en.core(replaced.words[-1]) or (bare and names)


def _said(part: Sequence[Phrase], first: Sequence[Phrase]) -> Words:
    """Return the words of the part's phrases, each with the noun that it leaves out."""
    return [
        word
        for own, other in zip(part, first, strict=True)
        for word in _filled(own.words, other.words)
    ]


def _words(phrases: Sequence[Phrase]) -> Words:
    return [word for phrase in phrases for word in phrase.words]


def _filled(own: Words, other: Words) -> Words:
    """Return "83 million" as "83 million inhabitants" beside "67 million inhabitants", and "the
    second" as "the second film" beside "the first film"."""
    counts = [_counts(word) for word in other]
    if not all(map(_counts, own)) or True not in counts or any(word[0] in "$€£" for word in own):
        return own
    tail = other[len(counts) - counts[::-1].index(True) :]
    return [*own[:-1], own[-1].rstrip(",;."), *tail] if all(map(str.islower, tail)) else own


def _counts(word: str) -> bool:
    low = en.core(word)
    return _is_number(word) or low in _ORDINALS or low in en.DETERMINERS or low in en.PREPOSITIONS
