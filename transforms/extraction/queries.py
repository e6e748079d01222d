"""Write the question that would settle a claim, for a search engine that counts words.

Where a simple pattern allows it, a real question that leaves out what is asked for ("When was
Albert Einstein born?"): a wrong year in the query would only draw passages with that year. Where
nothing can be asked for, the claim turned into a yes-no question; else its keywords. The subject
always stays.
"""

import re
from typing import Final

from ufo.transforms.english import grammar as en
from ufo.transforms.english.grammar import AUXILIARIES, BE, HAVE, THIRD, base_of, is_participle
from ufo.transforms.extraction.clause import first_verb, subject_start
from ufo.transforms.extraction.wording import Wording, wording

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
    """Return the search query for a claim: a question ending in "?", else its keywords; never empty
    for a claim with a letter or a digit."""
    return query_of_wording(wording(claim)) or claim.strip()


def query_of_wording(claim: Wording) -> str:
    """`query_of` for a claim whose wording is known; "" if it has no words."""
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
        or not en.CLAUSE_OPENERS.isdisjoint(lows[start:verb])
    ):
        return None
    end = max(start + 1, en.without_adverbs(lows, start, verb))
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
        asks, said = low, rest
    elif base and not rest.startswith("by "):  # "the tools developed by X" is not a clause
        third = "does" if low == "has" or low in THIRD else "did"
        asks = "do" if low in ("have", "include") else third
        said = f"{base} {rest}"
    else:
        return None
    if lows[verb + 1] == "born" and (when_or_where := _asked_of_birth(rest, opening)):
        return f"{when_or_where} {asks} {subject} born?"
    if (base and asks == "did") or (low in BE and is_participle(lows[verb + 1])):
        if _TIME_AT_END.fullmatch(opening):
            return f"When {asks} {subject} {said}?"
        dated = any(map(str.isdigit, said[-12:]))
        if dated and (time := _TIME_AT_END.search(said)):
            return f"When {asks} {subject} {said[: time.start()].rstrip(' ,')}{opening}?"
    return f"{asks.capitalize()} {subject} {said}{opening}?"


def _asked_of_birth(rest: str, opening: str) -> str:
    asked = ["when"] if _TIME.search(rest + opening) else []
    asked += ["where"] if _PLACE.search(rest) else []
    return " and ".join(asked).capitalize()
