"""The question that would settle a claim, for a search engine that counts words.

Where a simple pattern allows it, a real question that leaves out what is asked for ("When was
Albert Einstein born?"): a wrong year in the query would only draw passages with that year. Where
nothing can be asked for, the claim turned into a yes-no question; else its keywords. The subject
always stays.
"""

import re
from typing import Final

from transforms.judges.offline.grammar import (
    ADVERBS,
    CLAUSE_OPENERS,
    DETERMINERS,
    POSSESSIVES,
    PREPOSITIONS,
    STOP_WORDS,
    SUBJECT_PRONOUNS,
    core,
    is_finite,
)
from transforms.judges.offline.verbs import (
    AUXILIARIES,
    BE,
    HAVE,
    PARTICIPLES,
    PAST_TO_BASE,
    THIRD_TO_BASE,
)
from transforms.judges.offline.wording import Wording, wording

_MONTH: Final = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
)
_TIME: Final = re.compile(
    r",? ?\b(?:in|on|around|circa|since|during) (?:the )?(?:(?:early|mid|late)[- ])?"
    rf"(?:\d{{1,2}} {_MONTH},? \d{{3,4}}|{_MONTH}(?: \d{{1,2}}(?:st|nd|rd|th)?)?,? \d{{3,4}}"
    r"|\d{3,4}s?|\d{1,2}(?:st|nd|rd|th) century)(?: (?:BC|BCE|AD|CE))?"
)
_TIME_AT_END: Final = re.compile(_TIME.pattern + "$")
_TIME_ENDS: Final = (*"0123456789", "0s", "century", "BC", "BCE", "AD", "CE")
_TIME_ALONE: Final = re.compile(_TIME.pattern + ",?$")
_NUMBER: Final = re.compile(
    r"(?:(?:about|around|approximately|roughly|nearly|almost|over|more than|exactly|at least|only"
    r"|some|a total of|up to|less than|fewer than) )*"
    r"(?:[$€£]?\d[\d,.]*(?: (?:hundred|thousand|million|billion|trillion))?|two|three|four|five|six"
    r"|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    r"|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)\b"
    r"(?: (?:hundred|thousand|million|billion|trillion))?(?! percent|%) (?=[a-z])"
)
_MAY_COUNT: Final = re.compile(
    r"[\d$€£]|(?:about|ab|ap|ro|ne|al|ov|mo|ex|at|on|so|a |up|le|fe|t[ewh]|[fsen])"
)
_MEASURE: Final = re.compile(
    _NUMBER.pattern
    + r"[\w/°²³-]+(?: \([^)]*\))? (tall|high|long|wide|deep|old|thick|heavy|away)\b(.*)$"
)
_PLACED: Final = re.compile(r"(located|situated|based|headquartered) (?:in|on|at|near) .*$")
_BORN: Final = re.compile(r"born\b(.*)$")
_PLACE: Final = re.compile(r"\b(?:in|at|near) (?:the )?[A-Z]")
_AMOUNT: Final = re.compile(
    r"an? ((?:[a-z]+ )*(?:population|area|length|height|depth|mass|weight|diameter|width|elevation"
    r"|capacity|budget|speed|temperature)) of (?=.*\d).*$"
)
_END: Final = re.compile(_TIME.pattern + "$")
_TIME_ENDS: Final = (*"0123456789", "0s", "century", "BC", "BCE", "AD", "CE")
_TIME_ALONE: Final = re.compile(_TIME.pattern + ",?$")
_NUMBER: Final = re.compile(
    r"(?:(?:about|around|approximately|roughly|nearly|almost|over|more than|exactly|at least|only"
    r"|some|a total of|up to|less than|fewer than) )*"
    r"(?:[$€£]?\d[\d,.]*(?: (?:hundred|thousand|million|billion|trillion))?|two|three|four|five|six"
    r"|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    r"|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)\b"
    r"(?: (?:hundred|thousand|million|billion|trillion))?(?! percent|%) (?=[a-z])"
)
_MAY_COUNT: Final = re.compile(
    r"[\d$€£]|(?:about|ab|ap|ro|ne|al|ov|mo|ex|at|on|so|a |up|le|fe|t[ewh]|[fsen])"
)
_MEASURE: Final = re.compile(
    _NUMBER.pattern
    + r"[\w/°²³-]+(?: \([^)]*\))? (tall|high|long|wide|deep|old|thick|heavy|away)\b(.*)$"
)
_PLACED: Final = re.compile(r"(located|situated|based|headquartered) (?:in|on|at|near) .*$")
_BORN: Final = re.compile(r"born\b(.*)$")
_PLACE: Final = re.compile(r"\b(?:in|at|near) (?:the )?[A-Z]")
_AMOUNT: Final = re.compile(
    r"an? ((?:[a-z]+ )*(?:population|area|length|height|depth|mass|weight|diameter|width|elevation|capacity|budget|surface area|speed|temperature)) of (?=.*\d).*$"
)
_END: Final = " .!;,:"


def query_of(claim: str) -> str:
    """The search query for a claim: a question ending in "?", else its keywords, never empty for a
    claim that has a letter or a digit."""
    return query_of_wording(wording(claim)) or claim.strip()


def query_of_wording(claim: Wording) -> str:
    """`query_of` for a claim whose wording is known; "" if it has no words."""
    words, lows = claim
    if not words:
        return ""
    words = [*words[:-1], words[-1].rstrip(_END)]
    return _question(words, lows) or keywords(" ".join(words))


def keywords(text: str) -> str:
    """The words that carry what a text says, in order and each once; all of it if none does."""
    kept: dict[str, str] = {}
    for word in text.split():
        low = core(word)
        if low and low not in STOP_WORDS:
            kept.setdefault(low, word.strip('.,;:!?"“”()[]'))
    return " ".join(kept.values()) or text


def _question(words: list[str], lows: list[str]) -> str | None:
    opening, start = _opening(words, lows)
    verb = next((at for at in range(start + 1, len(words)) if _is_verb(words, lows, at)), -1)
    if verb < 0 or verb + 1 >= len(words):
        return None
    subject_lows = lows[start:verb]
    if (
        verb - start > 12
        or subject_lows[0] in SUBJECT_PRONOUNS
        or subject_lows[0] in POSSESSIVES
        or subject_lows[0] in PREPOSITIONS
        or subject_lows[0] == "there"
        or any(low in CLAUSE_OPENERS for low in subject_lows)
    ):
        return None
    adverb = []
    while verb - 1 > start and lows[verb - 1] in ADVERBS:
        verb -= 1
        adverb.append(words[verb])
    at = verb + len(adverb)
    first = words[start]
    if lows[start] in DETERMINERS and first[:1].isupper() and first not in ("A",):
        first = first.lower()
    subject = " ".join([first, *words[start + 1 : verb]]).rstrip(",")
    rest = " ".join(words[at + 1 :])
    low = lows[at]
    if opening and not _TIME_ALONE.match(opening):
        rest, opening = f"{rest} {opening.rstrip(',')}", ""
    asked: str | None
    if low in BE:
        asked = _of_being(subject, low, rest, bool(opening))
    elif low in AUXILIARIES and not (
        low in HAVE and lows[at + 1] not in PARTICIPLES and lows[at + 1] not in ADVERBS
    ):
        asked = f"{low.capitalize()} {subject} {rest}{_lowered(opening)}?"
    elif low in HAVE:
        asked = _of_having(subject, low, rest, opening)
    else:
        asked = _of_doing(subject, low, lows[verb] if not adverb else low, rest, opening)
    return asked


def _is_verb(words: list[str], lows: list[str], at: int) -> bool:
    low = lows[at]
    if is_finite(words[at]):
        return low in AUXILIARIES or lows[at - 1] not in DETERMINERS
    # "The Danube flows through": a noun by its look, a verb by the preposition or article after it.
    return (
        low in THIRD_TO_BASE
        and words[at].islower()
        and at + 1 < len(words)
        and (
            lows[at + 1] in PREPOSITIONS - {"of"}
            or lows[at + 1] in DETERMINERS
            or lows[at + 1][:1].isdigit()
        )
        and words[at - 1][:1].isupper()
    )


def _opening(words: list[str], lows: list[str]) -> tuple[str, int]:
    """An adverbial before the subject, "" if none, and where the subject begins."""
    if lows[0] in PREPOSITIONS:
        for at in range(min(8, len(words) - 1)):
            if words[at][-1] == ",":
                return " ".join(words[: at + 1]), at + 1
    return "", 0


def _lowered(opening: str) -> str:
    return f" {opening[0].lower()}{opening[1:].rstrip(',')}" if opening else ""


def _time_at_end(text: str) -> re.Match[str] | None:
    """The date that a text ends with; one look at its end says mostly that there is none."""
    return _TIME_AT_END.search(text) if text.endswith(_TIME_ENDS) else None


def _of_being(subject: str, be: str, rest: str, dated: bool) -> str:
    born = _BORN.match(rest)
    if born and be in ("was", "were"):
        when, where = _TIME.search(born[1]), _PLACE.search(born[1])
        if when and where:
            return f"When and where {be} {subject} born?"
        if when or dated:
            return f"When {be} {subject} born?"
        if where:
            return f"Where {be} {subject} born?"
    placed = _PLACED.match(rest)
    if placed:
        return f"Where {be} {subject} {placed[1]}?"
    measure = _MEASURE.match(rest) if _MAY_COUNT.match(rest) else None
    if measure:
        return f"How {measure[1]} {be} {subject}{measure[2]}?"
    time = _time_at_end(rest)
    if time and time.start() > 0 and rest.split()[0].lower() in PARTICIPLES:
        return f"When {be} {subject} {rest[: time.start()].rstrip()}?"
    if dated and rest.split()[0].lower() in PARTICIPLES:
        return f"When {be} {subject} {rest}?"
    return f"{be.capitalize()} {subject} {rest}?"


def _of_having(subject: str, have: str, rest: str, opening: str) -> str:
    amount = _AMOUNT.match(rest)
    do = {"has": "does", "have": "do", "had": "did"}.get(have, "does")
    if amount:
        be = {"has": "is", "have": "is", "had": "was"}.get(have, "is")
        return f"What {be} the {amount[1]} of {subject}?"
    number = _NUMBER.match(rest)
    if number:
        noun, _, more = _noun_phrase(rest[number.end() :])
        return f"How many {noun} {do} {subject} have{more}?"
    return f"{do.capitalize()} {subject} have {rest}{_lowered(opening)}?"


def _noun_phrase(text: str) -> tuple[str, str, str]:
    """(the words before the first preposition or comma, "", the remainder with its space)."""
    words = text.split()
    for at, word in enumerate(words):
        if at and core(word) in PREPOSITIONS and core(word) != "of":
            return " ".join(words[:at]).rstrip(","), "", " " + " ".join(words[at:])
    return text, "", ""


def _of_doing(subject: str, low: str, first: str, rest: str, opening: str) -> str | None:
    past = PAST_TO_BASE.get(low)
    base = past or THIRD_TO_BASE.get(low)
    if base is None:
        return None
    do = "did" if past else "does"
    number = _NUMBER.match(rest)
    lead = ""
    if not number:
        head, _, tail = rest.partition(" ")
        if head in PREPOSITIONS and _NUMBER.match(tail):
            lead, rest, number = f" {head}", tail, _NUMBER.match(tail)
    if number and lead.strip() not in (
        "in",
        "at",
        "on",
        "for",
        "from",
        "by",
        "to",
        "until",
        "since",
    ):
        noun, _, more = _noun_phrase(rest[number.end() :])
        return f"How many {noun} {do} {subject} {base}{lead}{more}{_lowered(opening)}?"
    if lead:
        rest = f"{lead.strip()} {rest}"
    time = _time_at_end(rest) if past else None
    if time:
        before = rest[: time.start()].rstrip(" ,")
        return f"When {do} {subject} {base}{' ' + before if before else ''}?"
    if opening and past:
        return f"When {do} {subject} {base} {rest}?"
    return f"{do.capitalize()} {subject} {base} {rest}?"
