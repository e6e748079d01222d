"""A sentence split into the claims it makes, where that is safe; otherwise the sentence itself.

Rules over words, no parser: each rule knows one construction (coordinated predicates, a second
clause, a relative clause, an apposition, a date and a place of birth, a list of occupations) and
applies only where nothing else could be meant. No name and no number is lost: what a rule takes
apart goes into one of its claims. Splitting follows what people wrote as atomic facts for FActScore
(Min et al. 2023), less the splits that only a reader could make.
"""

from dataclasses import dataclass
from typing import Final

from transforms.judges.offline.grammar import (
    ADVERBS,
    CLAUSE_OPENERS,
    DETERMINERS,
    OCCUPATIONS,
    PREPOSITIONS,
    core,
    is_capital,
    is_finite,
    name_length,
)
from transforms.judges.offline.verbs import (
    AUXILIARIES,
    BE,
    HAVE,
    INTRANSITIVE,
    MODALS,
    DO,
    PARTICIPLE_ONLY,
    PARTICIPLES,
    PAST,
    PAST_ONLY,
    PLURAL,
    SINGULAR,
)
from transforms.judges.offline.wording import plain, without_discourse

# Longer than this is no sentence that these rules were made for.
_MAX_WORDS: Final = 90
_MAX_SUBJECT: Final = 12
_MAX_CLAIMS: Final = 12
_PAIRED: Final = (("(", ")"), ("[", "]"), ("“", "”"), ("«", "»"))

# The participles that begin a shortened relative clause: "a city located in", "an actor known for".
_REDUCED: Final = frozenset(
    """born known located situated founded based released published directed written established built
    named called produced created developed composed designed launched recorded owned operated
    headquartered""".split()
)
_OPENING_PARTICIPLES: Final = _REDUCED | {"raised", "educated"}

Words = list[str]


@dataclass(slots=True)
class _Clause:
    """One clause: its words, the same bare and in lower case, and where its parts begin.

    `subject` is empty where the subject cannot be repeated in front of another predicate.
    """

    words: Words
    lows: Words
    start: int
    verb: int
    subject: Words


def claims_of(sentence: str) -> list[str]:
    """The claims of one (resolved) sentence, in its order; empty only where it has no letter or digit.

    List markers, Markdown emphasis, citations and discourse words are taken off.
    """
    text = without_discourse(plain(sentence))
    if not any(char.isalnum() for char in text):
        return []
    words = text.split()
    if len(words) > _MAX_WORDS:
        return [text]
    pieces = [claim for clause in _clauses(words) for claim in _split(clause)]
    if len(pieces) == 1 or not all(_whole(piece) for piece in pieces):
        return [text]
    return list(dict.fromkeys(_written(piece) for piece in pieces))


def _written(words: Words) -> str:
    text = " ".join(words).strip(" ,;:—–-")
    if text and text[-1] not in ".!?…":
        text += "." if text[-1] not in "\"”'’" or text[-2:-1] not in ".!?" else ""
    return text[:1].upper() + text[1:] if text[:2].islower() or len(text) < 2 else text


def _whole(words: Words) -> bool:
    """Quotation marks and brackets are closed in the piece that opened them, and it has a verb."""
    text = " ".join(words)
    return (
        len(words) >= 2
        and text.count('"') % 2 == 0
        and all(text.count(left) == text.count(right) for left, right in _PAIRED)
    )


def _clauses(words: Words) -> list[Words]:
    """Cut at semicolons, where each side has a verb of its own."""
    clauses: list[Words] = []
    start = 0
    for at, word in enumerate(words):
        if word[-1] == ";" or word in ("—", "–", "--"):
            clauses.append(words[start : at + 1])
            start = at + 1
    clauses.append(words[start:])
    if len(clauses) == 1:
        return clauses
    for index, clause in enumerate(clauses):
        verb = _first_verb(clause, 0)
        if verb < 1 or len(clause) < 3 or (index and core(clause[0]) in CLAUSE_OPENERS):
            return [words]
    return [clauses[0], *(without_discourse(" ".join(clause)).split() for clause in clauses[1:])]


def _split(words: Words, depth: int = 0) -> list[Words]:
    """The claims of one clause: the first rule that fits, and the same for what it gives."""
    if depth < _MAX_CLAIMS and len(words) > 4:
        lows = [core(word) for word in words]
        if _SIGNS.isdisjoint(lows):
            return [words]
        start = _subject_start(words, lows)
        verb = _first_verb(words, start, lows)
        if verb > start:
            clause = _Clause(words, lows, start, verb, _subject(words, lows, start, verb))
            for rule in _RULES:
                parts = rule(clause)
                if parts:
                    return [claim for part in parts for claim in _split(part, depth + 1)]
    return [words]


def _first_verb(words: Words, start: int, lows: Words | None = None) -> int:
    """Where the first word stands that can be a clause's verb, -1 if there is none."""
    for at in range(start + 1, len(words)):
        low = lows[at] if lows else core(words[at])
        if is_finite(words[at], low):
            before = lows[at - 1] if lows else core(words[at - 1])
            if low in AUXILIARIES or before not in DETERMINERS:
                return at
    return -1


def _subject_start(words: Words, lows: Words) -> int:
    """Past an opening like "In 1905, at the age of 26, " or "Born in Ulm, "."""
    if lows[0] not in PREPOSITIONS and lows[0] not in _OPENING_PARTICIPLES:
        return 0
    for at in range(min(len(words) - 1, 14)):
        if at and is_finite(words[at], lows[at]):
            return 0
        if words[at][-1] == ",":
            following = lows[at + 1]
            # "In Ulm, Germany, he" goes on to the last comma; "In 2001, Wales founded" ends here.
            if following in PREPOSITIONS or following[:1].isdigit():
                continue
            length = name_length(words, at + 1)
            if length and words[at + length][-1] == "," and at + length + 1 < len(words):
                continue
            return at + 1
    return 0


def _subject(words: Words, lows: Words, start: int, verb: int) -> Words:
    """The words of a subject that can be repeated, empty if it cannot."""
    subject = words[start:verb]
    while subject and core(subject[-1]) in ADVERBS:
        subject = subject[:-1]
    bad = not subject or len(subject) > _MAX_SUBJECT or subject[-1][-1] in ",;:"
    if bad or any(low in CLAUSE_OPENERS or low in BE for low in lows[start:verb]):
        return []
    if lows[start] in ("there", "it", "neither", "either", "both", "what", "not", "no", "nobody"):
        return []
    return subject


# --- rules: each gives the parts that replace the clause, or nothing ----------------------------


def _opening_participle(clause: _Clause) -> list[Words]:
    """ "Born in Ulm, X moved to Munich." """
    subject = _subject(words, lows, start, verb)
    if not start or lows[0] not in _OPENING_PARTICIPLES or not subject or not is_capital(subject[0]):
        return []
    be = "are" if lows[verb] == "are" else ("is" if lows[0] in ("located", "known") else "was")
    return [[*subject, be, lows[0], *words[1:start]], words[start:]]


def _inserted(clause: _Clause) -> list[Words]:
    """A relative clause or an apposition after a name that is the subject.

    "X, who was born in Ulm, moved to Munich." and "X, a German physicist, moved to Munich."
    """
    comma = next((at for at in range(start, min(verb, start + 9)) if words[at][-1] == ","), -1)
    if comma < 0 or comma + 2 >= len(words):
        return []
    subject = [*words[start:comma], words[comma].rstrip(",")]
    opener = lows[comma + 1]
    simple = name_length(words, start) == len(subject) or (
        len(subject) <= 4 and PREPOSITIONS.isdisjoint(lows[start : comma + 1])
    )
    relative = opener in ("who", "which")
    if not simple or not (relative or opener in ("a", "an", "the")):
        return []
    close = next(
        (
            at
            for at in range(comma + 2, len(words) - 1)
            if words[at][-1] == "," and is_finite(words[at + 1], lows[at + 1])
        ),
        -1,
    )
    if close < 0:
        return []
    inner = [*words[comma + 1 : close], words[close].rstrip(",")]
    main = [*words[:start], *subject, *words[close + 1 :]]
    if relative:
        if is_finite(inner[1], core(inner[1])) or core(inner[1]) in ADVERBS:
            return [[*subject, *inner[1:]], main]
        return []
    if verb != close + 1 or (lows[verb] in PLURAL and "and" in lows[comma:close]):
        return []
    past = lows[verb] in PAST or lows[verb] in ("was", "were", "had", "did")
    many = lows[verb] in PLURAL and lows[verb] != "had"
    be = ("were" if past else "are") if many else ("was" if past else "is")
    return [[*subject, be, *inner], main]


def _trailing_relative(clause: _Clause) -> list[Words]:
    """ "…, which is a city in Germany.", of the name right before the comma."""
    for at in range(verb + 1, len(words) - 2):
        if words[at][-1] == "," and lows[at + 1] in ("which", "who"):
            break
    else:
        return []
    after = at + 2
    if not is_finite(words[after], lows[after]) or lows[after] in PLURAL - {"had"}:
        return []
    first = at
    while first > verb and (is_capital(words[first - 1]) or words[first - 1] in ("of", "the")):
        first -= 1
        if words[first][-1] in ",;:)":
            return []
    while first <= at and not is_capital(words[first]):
        first += 1
    if first > at or first == verb:
        return []
    before = lows[first - 1]
    if before == "the":
        first, before = first - 1, lows[first - 2]
    if before in ("and", "or", "&", "of") or (before in PREPOSITIONS and lows[at + 1] == "who"):
        return []
    if _later_predicate(words, lows, after):
        return []
    antecedent = [*words[first:at], words[at].rstrip(",")]
    return [[*words[: at + 1]], [*antecedent, *words[after:]]]


def _later_predicate(words: Words, lows: Words, start: int) -> bool:
    """Whether ", and" with a verb follows, which may belong to what stands before."""
    return any(
        words[at][-1] == ","
        and (
            is_finite(words[at + 1], lows[at + 1])
            or (lows[at + 1] in ("and", "but") and is_finite(words[at + 2], lows[at + 2]))
        )
        for at in range(start, len(words) - 2)
    )


def _second_clause(clause: _Clause) -> list[Words]:
    """ "X was born in Ulm, and he died in Princeton.": a clause with a subject of its own."""
    for at in range(verb + 1, len(words) - 2):
        if lows[at] not in ("and", "but", "while", "whereas") or words[at][-1] == ",":
            continue
        comma = words[at - 1][-1] == ","
        own = _own_subject(words, lows, at + 1, comma)
        if not own or not _plain_stretch(lows, start, at):
            continue
        second = words[at + 1 :]
        pronoun = lows[at + 1]
        if pronoun in ("he", "she", "it", "they"):
            subject = _subject(words, lows, start, verb)
            if not subject:
                return []
            if core(subject[0]) != pronoun:
                named = name_length(subject) == len(subject) and len(subject) > 1
                rivals = any(
                    is_capital(words[k]) and lows[k - 1] not in _NO_RIVAL and not is_capital(words[k - 1])
                    for k in range(verb + 1, at)
                )
                if pronoun in ("it", "they") or not named or rivals:
                    return []
                second = [*subject, *second[1:]]
        return [words[:at], second]
    return []


_NO_RIVAL: Final = frozenset("in at from on since until during near a an and by".split())


def _own_subject(words: Words, lows: Words, start: int, comma: bool) -> bool:
    if lows[start] in ("he", "she", "they", "it"):
        return is_finite(words[start + 1], lows[start + 1]) and (comma or lows[start] != "it")
    if not comma:
        return False
    length = name_length(words, start)
    if not length and lows[start] in ("the", "its", "his", "her", "their", "this"):
        length = next(
            (n for n in range(2, 5) if start + n < len(words) and is_finite(words[start + n], lows[start + n])), 0
        )
    verb = start + length
    return (
        0 < length < 6
        and verb < len(words)
        and words[verb - 1][-1] not in ",;:"
        and lows[verb] in AUXILIARIES | PAST
        and words[verb].islower()
    )


def _plain_stretch(lows: Words, start: int, end: int) -> bool:
    """No clause inside clause in between: then who did what is not open."""
    return not any(low in CLAUSE_OPENERS or low in ("either", "neither", "both", "between") for low in lows[start:end])


def _coordinated(clause: _Clause) -> list[Words]:
    """ "X was born in Ulm, studied in Zurich and died in Princeton.": predicates of one subject."""
    subject = _subject(words, lows, start, verb)
    if not subject or not _plain_stretch(lows, start, verb):
        return []
    cuts: list[tuple[int, int]] = []  # (end of the predicate before, beginning of the next)
    pending: list[tuple[int, int]] = []
    for at in range(verb + 1, len(words) - 1):
        if lows[at] in CLAUSE_OPENERS or lows[at] in ("either", "neither", "both", "between", "or"):
            break
        if words[at - 1] and lows[at] in ("and", "but") and words[at][-1] != ",":
            begin = at + 1
            while begin < len(words) - 1 and lows[begin] in ADVERBS:
                begin += 1
            if _predicate(words, lows, begin):
                cuts += [*pending, (at, at + 1)]
                pending = []
            continue
        if words[at - 1][-1] == "," and lows[at - 1] not in ("and", "but") and _predicate(words, lows, at):
            pending.append((at, at))
    if not cuts or len(cuts) > _MAX_CLAIMS:
        return []
    starts = [verb, *(begin for _, begin in cuts)]
    ends = [*(end for end, _ in cuts), len(words)]
    if _unsafe(words, lows, verb, starts, ends):
        return []
    auxiliary = _shared_auxiliary(words, lows, verb)
    parts = [words[: ends[0]]]
    for begin, end in zip(starts[1:], ends[1:], strict=True):
        parts.append([*subject, *_with_auxiliary(auxiliary, words, lows, begin), *words[begin:end]])
    return parts


def _predicate(words: Words, lows: Words, at: int) -> bool:
    """Whether a predicate can begin here: a finite verb or a participle, and something after it."""
    low = lows[at]
    if words[at] != low or at + 1 >= len(words):
        return False
    if low in BE or low in HAVE or low in MODALS or low in DO:
        return True
    if low not in PAST and low not in PARTICIPLES and not is_finite(words[at], low):
        return False
    # "related fields", "animated films": a participle before a noun is no predicate.
    following = lows[at + 1]
    return (
        low in PAST_ONLY
        or following in DETERMINERS
        or following in PREPOSITIONS
        or following in ADVERBS
        or is_capital(words[at + 1])
        or following[:1].isdigit()
        or (not low.endswith("ed") and low not in PARTICIPLE_ONLY)
        or following.endswith("ly")
    )


def _unsafe(words: Words, lows: Words, verb: int, starts: list[int], ends: list[int]) -> bool:
    """A predicate without a complement of its own, or with a verb that may be somebody else's."""
    singular = lows[verb] in SINGULAR
    for index, (begin, end) in enumerate(zip(starts, ends, strict=True)):
        at = begin
        while at < end and (lows[at] in ADVERBS or lows[at] in AUXILIARIES or lows[at] == "been"):
            at += 1
        # The verb itself; "was born and raised in Ulm" shares what comes after.
        if at < end and (lows[at] in PARTICIPLES or lows[at] in PAST):
            at += 1
        if at >= end:
            return True
        if index + 1 < len(starts) and any(
            is_finite(words[k], lows[k]) and lows[k - 1] not in DETERMINERS for k in range(at, end)
        ):
            return True
        first = lows[begin] if lows[begin] not in ADVERBS or begin + 1 >= end else lows[begin + 1]
        if (singular and first in PLURAL - {"had"}) or (lows[verb] in ("are", "were") and first in SINGULAR):
            return True
    return False


def _shared_auxiliary(words: Words, lows: Words, verb: int) -> list[str]:
    """The auxiliaries that a participle after "and" may share: "was", "has", "has been"."""
    if lows[verb] not in BE and lows[verb] not in HAVE:
        return []
    at = verb + 1
    shared = [words[verb]]
    while at < len(words) and (lows[at] in ADVERBS or lows[at] == "been"):
        if lows[at] == "been":
            shared.append("been")
        at += 1
    return shared if at < len(words) and lows[at] in PARTICIPLES else []


def _with_auxiliary(auxiliary: list[str], words: Words, lows: Words, begin: int) -> list[str]:
    at = begin
    while lows[at] in ADVERBS and at + 1 < len(words):
        at += 1
    low = lows[at]
    if not auxiliary or low in PAST_ONLY or low not in PARTICIPLES:
        return []
    if len(auxiliary) == 1 and auxiliary[0] in HAVE:
        return auxiliary
    following = lows[at + 1] if at + 1 < len(words) else ""
    if low in PARTICIPLE_ONLY:
        return auxiliary
    if low in INTRANSITIVE or following in DETERMINERS or is_capital(words[at + 1]):
        return []
    return auxiliary


def _predicate_noun(clause: _Clause) -> list[Words]:
    """ "X is an actor known for Y" and "X was a physicist who did Y": both say it of X."""
    subject = _subject(words, lows, start, verb)
    if not subject or lows[verb] not in ("is", "was") or lows[verb + 1] not in ("a", "an"):
        return []
    prepositions = False
    for at in range(verb + 3, len(words) - 1):
        low = lows[at]
        if low in ("who", "that", "which"):
            if prepositions and low != "who":
                return []
            main = words[:at]
            return [main, [*subject, *words[at + 1 :]]] if is_finite(words[at + 1], lows[at + 1]) else []
        if low in _REDUCED or (low in ("best", "widely", "well") and lows[at + 1] == "known"):
            before = words[at - 1]
            if prepositions or lows[at - 1] in ("and", "or", "also", "previously", "formerly"):
                return []
            be = "was" if low == "born" else lows[verb]
            main = [*words[: at - 1], before.rstrip(",")]
            return [main, [*subject, be, *words[at:]]]
        if low in PREPOSITIONS:
            if low not in ("from", "in") or not is_capital(words[at + 1]):
                return []
            prepositions = True
        if is_finite(words[at], low) or low in CLAUSE_OPENERS or low.endswith("ing"):
            return []
    return []


def _occupations(clause: _Clause) -> list[Words]:
    """ "X was an English actor, director and producer." """
    subject = _subject(words, lows, start, verb)
    if not subject or lows[verb] not in ("is", "was") or lows[verb + 1] not in ("a", "an"):
        return []
    items: list[Words] = []
    item: Words = []
    for at in range(verb + 1, len(words)):
        low = lows[at]
        if low == "and":
            joined = True
        else:
            item = [*item, words[at].rstrip(",.;")]
            joined = words[at][-1] == "," or at + 1 == len(words)
        if low in PREPOSITIONS or low in CLAUSE_OPENERS:
            return []
        if joined and item:
            if core(item[-1]) not in OCCUPATIONS:
                return []
            items.append(item)
            item = []
    if len(items) < 2 or "and" not in lows[verb:]:
        return []
    parts = [[*words[: verb + 1], *items[0]]]
    for item in items[1:]:
        noun = item if core(item[0]) in ("a", "an") else [_article(item[0]), *item]
        parts.append([*subject, words[verb], *noun])
    return parts


def _article(word: str) -> str:
    return "an" if word[0].lower() in "aeio" or word.lower().startswith("un") else "a"


def _birth(clause: _Clause) -> list[Words]:
    """ "X was born on 14 March 1879 in Ulm.": the date and the place are two claims."""
    event = verb + 1 if lows[verb] in BE else verb
    if event + 3 >= len(words) or lows[event] not in ("born", "died", "founded", "established"):
        return []
    heads = [at for at in range(event + 1, len(words)) if lows[at] in ("on", "in", "at")]
    if len(heads) < 2 or heads[0] != event + 1 or verb - start > _MAX_SUBJECT:
        return []
    first, second = heads[0], heads[1]
    dated = [_is_date(lows[first + 1 : second]), _is_date(lows[second + 1 :])]
    if dated[0] == dated[1] or any(is_finite(w, low) for w, low in zip(words[second:], lows[second:], strict=True)):
        return []
    head = words[start : event + 1]
    return [[*words[: event + 1], *words[first:second]], [*head, *words[second:]]]


def _is_date(lows: Words) -> bool:
    return bool(lows) and any(len(low) == 4 and low.isdigit() for low in lows) and len(lows) <= 4


_RULES: Final = (
    _opening_participle,
    _inserted,
    _second_clause,
    _coordinated,
    _trailing_relative,
    _predicate_noun,
    _occupations,
    _birth,
)

