"""Split a sentence into the claims it makes where that is safe, else keep it whole.

Rules over words, no parser: each knows one construction, gives the clauses that replace the one it
is given, and nothing where anything else could be meant. What counts as one claim follows the
atomic facts that people wrote for FActScore (Min et al., 2023), less the splits that only a reader
who understands the sentence could make. What is said is kept: each name and number goes into one of
the claims.
"""

import re
from itertools import pairwise
from typing import Final

from ufo.transforms.english import grammar as en
from ufo.transforms.english import verbs
from ufo.transforms.english.word_set import word_set
from ufo.transforms.extraction import clause as parts
from ufo.transforms.extraction.clause import Clause, Words, is_name, may_be_person, parse
from ufo.transforms.extraction.wording import Wording

# These rules were not made for longer sentences.
_MAX_WORDS: Final = 90
_MAX_DEPTH: Final = 8
_MIN_WORDS: Final = 5
_MAX_ITEM: Final = 6
_SAYS_SOMETHING: Final = re.compile(r"[^\W_]")
_STOPS: Final = (".", "!", "?", "…")
_QUOTES: Final = "\"”'’"
_CLOSERS: Final = frozenset("\"”'’)")
_PAIRS: Final = (("(", ")"), ("[", "]"), ("“", "”"), ("«", "»"))
_PAIRED: Final = re.compile(r"[\"()\[\]“”«»]")

_DATE: Final = r"(?:\d{1,2} [A-Z][a-z]+,? \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}|\d{4})"
_LIFE: Final = re.compile(rf"\((born |b\. )?({_DATE})(?: ?[–—-] ?(?:died )?({_DATE}))?\)")
_ORIGIN: Final = re.compile(r"[A-Z][a-z]+(?:an|ish|ese|ench|utch|wiss|reek|aeli|aqi|zech)")
_EVENTS: Final = word_set("born died away founded established built formed")
_UNSURE: Final = en.CLAUSE_OPENERS | {"not", "or"}
_CONJUNCTIONS: Final = frozenset({"and", "but"})
_SUBORDINATE: Final = word_set("because although though whereas")
_CLAUSE_CONJUNCTIONS: Final = _CONJUNCTIONS | _SUBORDINATE | {"while"}
# After these the predicates may be those of another subject, or a choice.
_ENDS: Final = en.CLAUSE_OPENERS | {"either", "neither", "both", "between", "or"}
_BEFORE_ITEMS: Final = (en.PREPOSITIONS | _ENDS) - {"of"}
_BEFORE_VERB: Final = en.ADVERBS | verbs.AUXILIARIES | {"been"}
_PERSONAL: Final = frozenset({"he", "she", "it", "they"})
_SUBJECT_OPENERS: Final = en.DETERMINERS | _PERSONAL
# "films and animated series": a participle that mostly stands before a noun is not a predicate.
_ADJECTIVES: Final = word_set(
    "acclaimed advanced animated applied associated limited mixed related organized"
)
# What is said of several together is not said of each.
_TOGETHER: Final = word_set(
    "between both either neither among consist consists consisted comprised composed divided"
    " combined together two three four five six seven eight nine ten or nor not of"
)
_ADJECTIVAL: Final = re.compile(r"(?:al|ic|ive|ous|ful|ent|ant|ary|y|ed)$")
_QUANTIFIERS: Final = word_set("numerous several various many other some over few multiple")
_AMOUNTS: Final = word_set("number variety series host range wide few couple dozen")
# "English teacher", "American football player": not who comes from there.
_NOT_OF_ORIGIN: Final = word_set("football rules horn teacher professor scholar translator history")
# ", making it": what the whole clause did, not its subject.
_OF_THE_CLAUSE: Final = word_set(
    "making leading resulting causing allowing killing leaving forcing ensuring giving meaning"
    " marking bringing ranging including being according following during having helping creating"
    " becoming"
)


def split(sentence: Wording) -> list[Wording]:
    """Return the claims of one (resolved) sentence, in order; empty only if it says nothing."""
    text = " ".join(sentence.words)
    if len(sentence.words) <= _MAX_WORDS:
        words = sentence.words
        if ',"' in text or ",”" in text:
            words = [w[:-2] + w[-1] + "," if w.endswith((',"', ",”")) else w for w in words]
        pieces = _split(Wording(words, sentence.lows), 0, 0)
        if len(pieces) > 1:
            return pieces
    return [sentence] if _SAYS_SOMETHING.search(text) else []


def written(words: Words) -> str:
    """Return the words of a claim as a sentence, with a capital and a full stop."""
    text = " ".join(words).lstrip(" ,;:").rstrip(" ,;:—–-")
    if text[-2:-1] == "," and text[-1] in _QUOTES:
        text = text[:-2] + text[-1]  # the comma was that of the sentence
    if not text.endswith(_STOPS) and not (text[-1:] in _CLOSERS and text[-2:-1] in _STOPS):
        text += "."
    return text[0].upper() + text[1:] if text[:2].islower() else text


def _split(clause: Wording, depth: int, tried: int) -> list[Wording]:
    """Split a clause into claims by the first rule that applies, and the parts likewise."""
    words, lows = clause
    parsed = parse(words, lows) if depth < _MAX_DEPTH and len(words) >= _MIN_WORDS else None
    if parsed is None:
        return [clause]
    text = " ".join(words)
    comma, joined = "," in text, "and" in lows or "but" in lows
    stop = comma or joined or ";" in text or ":" in text
    fits = (True, comma, joined, stop, "(" in text, "such as" in text or "inclu" in text or stop)
    for at in range(tried, len(_RULES)):
        needs, rule = _RULES[at]
        parts = rule(parsed) if fits[needs] else ()
        if parts and (not _PAIRED.search(text) or all(map(_is_whole, parts))):
            return [
                claim
                for part in parts
                for claim in _split(Wording(part, en.lower(part)), depth + 1, at)
            ]
    return [clause]


def _is_whole(piece: Words) -> bool:
    """Return whether quotation marks and brackets are closed in the piece that opened them."""
    text = " ".join(piece)
    return text.count('"') % 2 == 0 and all(
        text.count(left) == text.count(right) for left, right in _PAIRS
    )


def _named(second: Words, first: Clause) -> Words:
    """Return the second clause with its opening pronoun named by the subject of the first; empty
    where that is not certain."""
    low = en.core(second[0])
    if low not in _PERSONAL | en.POSSESSIVES or en.core(first.words[first.start]) == low:
        return second
    # Whom a pronoun means is certain where the clause before names one person only.
    named = parts.names_in(first.words, first.lows, first.verb)
    rivals = any(may_be_person(first.lows[a:b], first.lows[a - 1]) for a, b in named)
    if low not in ("he", "she", "his", "her") or rivals or not is_name(first.subject):
        return []
    return [*(_of(first.subject) if low in en.POSSESSIVES else first.subject), *second[1:]]


def _of(name: Words) -> Words:
    return name if name[-1].endswith(("'s", "’s")) else [*name[:-1], name[-1] + "'s"]


def _bracket(clause: Clause) -> list[Words]:
    """Cut "X (born 3 May 1946) is a politician" and "X (1879–1955) was a physicist"."""
    words, lows, start, verb, _ = clause
    opening = next((at for at in range(1, verb) if words[at][0] == "("), 0)
    life = _LIFE.fullmatch(" ".join(words[opening:verb])) if opening and not start else None
    # not the years of a war or a company
    if not life or not (life[1] or life[3]) or not may_be_person(lows[:opening]):
        return []
    name = words[:opening]
    told = [[*name, "was", "born", *_dated(life[2])], [*name, "died", *_dated(life[3] or "")]]
    return [*told[: 2 if life[3] else 1], [*name, *words[verb:]]]


def _dated(date: str) -> Words:
    return ["in" if len(date) == 4 else "on", *date.split()]


def _apposition(clause: Clause) -> list[Words]:
    """Cut "X, a chemist, found Y", "X, also known as Y, is" and "X, who was ill, left"."""
    words, lows, start, _, _ = clause
    end = start + parts.name_length(words, start)
    if end == start or words[end - 1][-1] != ",":  # "Berium, …" or "The old town, also known as …"
        end = (
            next((k for k in range(start, min(len(words), start + 6)) if words[k][-1] == ","), 0)
            + 1
        )
        if lows[end : end + 1] not in (["also"], ["formerly"], ["better"]):
            return []
    if end >= len(words) - 3:
        return []
    close = next((at for at in range(end, len(words) - 2) if words[at][-1] == ","), 0)
    verb = _past_adverbs(lows, close + 1)
    if not close or not en.is_finite(words[verb]) or lows[verb] in verbs.PLURAL:
        return []
    name, said = without_comma(words[start:end]), without_comma(words[end : close + 1])
    be = "was" if verbs.is_past(lows[verb]) or lows[verb] in ("was", "had") else "is"
    known = lows[end] in ("also", "formerly", "better", "best") and lows[end + 1] == "known"
    if lows[end] in ("who", "which") and en.is_finite(words[end + 1]):
        said = said[1:]
    elif lows[end] in ("a", "an", "the") or lows[end] in parts.REDUCED or known:
        said = ["was" if lows[end] == "born" else be, *said]
    else:
        return []
    return [[*name, *said], [*words[:start], *name, *words[close + 1 :]]]


def _relative(clause: Clause) -> list[Words]:
    """Cut "…, which is a city in Germany.", said of the name right before the comma."""
    words, lows, _, verb, subject = clause
    commas = (at for at in range(verb + 1, len(words) - 3) if words[at][-1] == ",")
    at = next((at for at in commas if lows[at + 1] in ("who", "which", "where")), 0)
    # A verb after a later comma may be that of the first subject.
    if not at or any(a[-1] == "," and en.is_finite(b) for a, b in pairwise(words[at + 2 :])):
        return []
    if lows[at + 1] == "where":
        second = _placed(clause, at)
        return [words[: at + 1], second] if second else []
    if not en.is_finite(words[at + 2]) or lows[at + 2] in verbs.PLURAL:
        return []
    end = at + 1
    if lows[at + 1] == "which" and lows[end - 2] in ("in", "on") and lows[end - 1].isdigit():
        end -= 2  # "founded the company in 1936, which"
    first = end
    title = words[end - 1].endswith(('",', "”,"))
    while first > verb + 1 and (
        en.is_capital(words[first - 1]) or words[first - 1] in ("of", "the")
    ):
        first -= 1
    while title and first > verb + 1 and words[first][0] not in '"“':
        first -= 1
    name = without_comma(words[first:end])
    if (
        not name and lows[end - 2] in en.POSSESSIVES and is_name(subject)
    ):  # "his career, which began"
        name = [*_of(subject), lows[end - 1]]
        return [words[: at + 1], [*name, *words[at + 2 :]]]
    # "The mayor of Paris, who": not of Paris. "Rome and Paris, which": not of Paris alone.
    before = lows[first - 1]
    person = lows[at + 1] == "who" and before in en.PREPOSITIONS
    if (
        person
        or before in ("and", "or", "&", "for")
        or not (title or is_name(name[name[:1] == ["the"] :]))
    ):
        return []
    return [words[: at + 1], [*name, *words[at + 2 :]]]


def _placed(clause: Clause, at: int) -> Words:
    """Return "In Paris, X met Y" for the "…, where he met Y" after the comma at `at`."""
    words, lows, _, verb, subject = clause
    low = lows[at + 2]
    named = [
        (first, end)
        for first, end in parts.names_in(words[: at + 1], lows, verb + 1)
        if not lows[end - 1].isdigit()
    ]
    if not named or not (low in _PERSONAL or en.is_capital(words[at + 2])):
        return []
    first, end = named[-1]
    first -= lows[first - 1] == "the"
    before = lows[first - 1]
    if before not in ("in", "to", "at", "from") and not verbs.is_past(before):
        return []
    place = without_comma(words[first:end])
    second = [*subject, *words[at + 3 :]] if low in ("he", "she") else words[at + 2 :]
    if not is_name(subject) or low in ("it", "they"):
        return []
    return ["In" if before in ("in", "to") else "At", *place[:-1], place[-1] + ",", *second]


def _second_clause(clause: Clause) -> list[Words]:
    """Cut "X was born in Ulm, and Y died in Princeton." before the subject of its own."""
    words, lows, start, verb, _ = clause
    for joint in range(verb + 2, len(words) - 2):
        at = joint + (lows[joint] in _CLAUSE_CONJUNCTIONS)
        stop = words[joint - 1][-1]
        divided = stop in ";:" or (stop == "," and at > joint)
        pronoun = at > joint and lows[at] in ("he", "she", "they", "his", "her")
        if not (divided or pronoun):
            continue
        length = parts.name_length(words, at)
        if not length and lows[at] in _SUBJECT_OPENERS:
            length = next((n for n in range(1, 6) if en.is_finite("".join(words[at + n :][:1]))), 0)
        own = at + length  # the verb of the second subject
        if (
            not 0 < length < 6
            or own >= len(words)
            or words[own - 1][-1] in ",;:"
            or not (lows[own] in verbs.AUXILIARIES or verbs.is_past(lows[own]))
        ):
            continue
        second = _named(words[at:], clause._replace(words=words[:joint], lows=lows[:joint]))
        return [words[:joint], second] if second and _ENDS.isdisjoint(lows[start:joint]) else []
    return []


def _participle(clause: Clause) -> list[Words]:
    """Cut "X began in 1990, appearing in films": X appeared in films."""
    words, lows, _, verb, subject = clause
    past = verbs.is_past(lows[verb]) or lows[verb] in ("was", "has", "had")
    passive = (
        lows[verb] in verbs.BE and verbs.is_participle(lows[verb + 1]) and lows[verb + 1] != "born"
    )
    if not is_name(subject) or not past or passive:
        return []
    for at in range(verb + 2, len(words) - 1):
        if lows[at] in en.CLAUSE_OPENERS:
            return []
        gerund = words[at - 1][-1] == "," and words[at].endswith("ing") and len(words[at]) > 5
        if gerund and words[at] not in _OF_THE_CLAUSE:
            rest = [verbs.past_of_gerund(words[at])]
            for word, after in pairwise([*words[at + 1 :], ""]):
                also = rest[-1] == "and" and word.endswith("ing") and len(word) > 5
                also = also and (
                    en.core(after) in _BEFORE_ITEMS | en.DETERMINERS or en.is_capital(after)
                )
                rest.append(verbs.past_of_gerund(word) if also else word)
            return [without_comma(words[:at]), [*subject, *rest]]
    return []


def _predicates(clause: Clause) -> list[Words]:
    """Cut "X was born in Ulm, studied in Zurich and died in Princeton.", repeating the subject."""
    words, lows, start, verb, subject = clause
    if not subject or not _ENDS.isdisjoint(lows[start:verb]):
        return []
    cuts: list[tuple[int, int]] = []  # (end of the predicate before, beginning of the next)
    listed: list[tuple[int, int]] = []  # commas that count only if an "and" ends the list
    for at in range(verb + 1, len(words) - 1):
        if lows[at] in _ENDS:
            break
        if lows[at] in _CONJUNCTIONS and _is_predicate(words, _past_adverbs(lows, at + 1)):
            cuts += [*listed, (at, at + 1)]
            listed = []
        elif words[at - 1][-1] == "," and _is_predicate(words, at):
            listed.append((at, at))
    ends = [*(end for end, _ in cuts), len(words)]
    begins = [verb, *(begin for _, begin in cuts)]
    if not cuts or not all(map(_says_something, [lows] * len(ends), begins, ends)):
        return []  # "was born and raised in Ulm": what follows belongs to both
    parts = zip(begins[1:], ends[1:], strict=True)
    rest = [[*subject, *_shared(clause, begin), *words[begin:end]] for begin, end in parts]
    return [words[: ends[0]], *rest]


def _past_adverbs(lows: Words, at: int) -> int:
    return next((k for k in range(at, len(lows) - 1) if lows[k] not in en.ADVERBS), len(lows) - 1)


def _is_predicate(words: Words, at: int) -> bool:
    """Return whether a predicate can begin here: a finite verb or participle before other words."""
    low = words[at]
    verb = en.is_finite(low) or verbs.is_participle(low)
    if not verb or at + 1 >= len(words) or low in _ADJECTIVES:
        return False
    # "a grumpy and opinionated woman"
    described = en.core(words[at - 3]) in ("a", "an") and _ADJECTIVAL.search(words[at - 2])
    return not (described and en.is_noun(words[at + 1])) and words[at + 1] not in ("and", "or")


def _says_something(lows: Words, begin: int, end: int) -> bool:
    """Return whether anything follows the verb of the predicate."""
    at = next((k for k in range(begin, end) if lows[k] not in _BEFORE_VERB), end)
    return (
        at + (verbs.is_participle(lows[min(at, end - 1)]) or verbs.is_past(lows[min(at, end - 1)]))
        < end
    )


def _shared(clause: Clause, begin: int) -> Words:
    """Return the "was", "has" or "has been" that a participle at `begin` shares with the first."""
    words, lows, verb = clause.words, clause.lows, clause.verb
    at = _past_adverbs(lows, begin)
    shared = [words[verb], *(["been"] if "been" in lows[verb : verb + 3] else [])]
    first = next((k for k in range(verb + 1, begin) if lows[k] not in _BEFORE_VERB), begin)
    if lows[verb] not in verbs.BE | verbs.HAVE or not (
        verbs.is_participle(lows[first]) and verbs.is_participle(lows[at])
    ):
        return []
    if lows[at] in verbs.PARTICIPLE_ONLY or shared in (["has"], ["have"], ["had"]):
        return shared
    # "was elected and received the prize" has an object of its own, "was elected and died" none.
    active = (
        lows[at] in verbs.INTRANSITIVE
        or lows[at + 1] in en.DETERMINERS
        or en.is_capital(words[at + 1])
    )
    return [] if active else shared


def _predicate_noun(clause: Clause) -> list[Words]:
    """Cut "X is an actor known for Y" and "X was a physicist who did Y": both are said of X; and
    "X is a Norwegian actor" into where from and what."""
    words, lows, _, verb, subject = clause
    if not subject or not _is_a(clause):
        return []
    for at in range(verb + 3, len(words) - 1):
        low = lows[at]
        whole = without_comma(words[:at])
        if low in ("who", "that", "which") and en.is_finite(words[at + 1]):
            return [whole, [*subject, *words[at + 1 :]]]
        known = low in ("best", "widely", "well") and lows[at + 1] == "known"
        if (low in parts.REDUCED or known) and lows[at - 1] not in (
            "and",
            "or",
            "also",
            "formerly",
        ):
            return [whole, [*subject, "was" if low == "born" else words[verb], *words[at:]]]
        placed = low in ("from", "in") and en.is_capital(words[at + 1])
        if low in en.CLAUSE_OPENERS or (low in en.PREPOSITIONS and not placed):
            return []
    noun = words[verb + 3 :]
    if (
        0 < len(noun) < 6
        and _ORIGIN.fullmatch(words[verb + 2])
        and en.is_person(lows[-1])
        and not any(map(en.is_capital, noun))
        and lows[verb + 3] not in _NOT_OF_ORIGIN
    ):
        return [[*words[: verb + 1], words[verb + 2]], [*words[: verb + 1], *_with_article(noun)]]
    return []


def _is_a(clause: Clause) -> bool:
    """Return whether the clause says what its subject "is a" or "was an"."""
    lows, verb = clause.lows, clause.verb
    return lows[verb] in ("is", "was") and "".join(lows[verb + 1 : verb + 2]) in ("a", "an")


def _with_article(noun: Words) -> Words:
    if noun[0].lower() in ("a", "an"):
        return noun
    return ["an" if noun[0][:1].lower() in "aeiou" else "a", *noun]


def _examples(clause: Clause) -> list[Words]:
    """Cut "X acted in films such as A and B": X acted in films, in A, in B."""
    words, lows, _, verb, subject = clause
    if words[verb][-1] == ":" or lows[verb] in ("include", "includes", "included"):
        said = words[verb] if words[verb][-1] != ":" else "include"
        found = _listed(words[verb + 1 :])
        return [[*words[:verb], said, *item] for item in found] if len(found) > 1 else []
    at = verb + 2
    while at < len(words) - 2 and not (
        lows[at] == "including" or (lows[at] == "such" and lows[at + 1] == "as")
    ):
        at += 1
    if at >= len(words) - 2 or not subject:
        return []
    rest = words[at + 1 + (lows[at] == "such") :]
    found = _listed(rest)
    kind = _kind_start(clause, at)
    if kind:
        return [without_comma(words[:at]), *([*words[:kind], *item] for item in found)]
    marked = words[: len(words) - len(rest)]
    return [[*marked, *item] for item in found] if len(found) > 1 else []


def _kind_start(clause: Clause, at: int) -> int:
    """Return where the noun phrase begins of which examples are given at `at`, 0 if unclear:
    an example can stand in its place. "Many prizes for films, including" are prizes; "many prizes
    for films such as" are films."""
    words, lows, _, verb, _ = clause
    such = lows[at] == "such"
    plural = words[at - 1].rstrip(",").endswith("s")
    near = at
    while near - 1 > verb and (
        near == at
        or not (_breaks(words[near - 1]) or words[near - 1][-1] in ",;:" or lows[near - 1] == "of")
    ):
        near -= 1
    counted = next((k for k in range(at - 1, verb, -1) if _quantifies(lows, k)), at)
    while _quantifies(lows, counted - 1) and counted - 1 > verb:
        counted -= 1
    others = any(word.endswith("s") for word in words[verb + 1 : near])
    if counted < at and not (such and plural and near > counted):
        first = counted
    elif plural and lows[near] != "the" and (such or not others):
        first = near
    else:
        return 0
    before = lows[first - 1]
    takes = (
        before in en.PREPOSITIONS or en.is_finite(words[first - 1]) or verbs.is_participle(before)
    )
    broken = any(word[-1] in ",;:" for word in words[first : at - 1])
    usable = verb < first < at and takes and not broken and before not in verbs.BE | verbs.HAVE
    return first if usable and before not in ("of", "than") else 0


def _quantifies(lows: Words, at: int) -> bool:
    amount = lows[at] == "a" and lows[at + 1] in _AMOUNTS
    return lows[at] in _QUANTIFIERS or amount or lows[at].rstrip("+").isdigit()


def _listed(words: Words) -> list[Words]:
    """Return the items of a list that these words are as a whole, one item if that is unsure."""
    found: list[Words] = [[]]
    quoted = False
    for word in words:
        found[-1].append(word)
        quoted ^= word.count('"') % 2 == 1 or ("“" in word) != ("”" in word)
        if word[-1] == "," and not quoted:
            found.append([])
    last = found.pop()
    joint = next((k for k, word in enumerate(last) if word in ("and", "or")), -1)
    if joint < 0 or joint == len(last) - 1:
        return [words]
    found = [*map(without_comma, found), *([last[:joint]] if joint else []), last[joint + 1 :]]
    if not all(found):
        return [words]
    titles = all(item[0][0] in '"“' for item in found)
    plain = all(0 < len(item) <= _MAX_ITEM and not any(map(_breaks, item)) for item in found[:-1])
    several = len(found) > 2 or not any(len(item) == 1 and en.is_capital(item[0]) for item in found)
    capitals = {en.is_capital(item[item[0] in ("the", "a", "an")]) for item in found if item[1:]}
    return found if titles or (plain and several and len(capitals) < 2) else [words]


def _breaks(word: str) -> bool:
    """Return whether the items of a list are before or after this word: a verb or a preposition."""
    low = en.core(word)
    return low in _BEFORE_ITEMS or en.is_finite(word) or verbs.is_participle(low)


def _items(clause: Clause) -> list[Words]:
    """Cut "X was an English actor, director and producer." and "X played in A, B, and C."."""
    words, lows, _, verb, subject = clause
    joint = max((at for at in range(verb + 2, len(words) - 1) if lows[at] == "and"), default=0)
    if not subject or not joint:
        return []
    first = end = joint
    while first - 1 > verb and not _breaks(words[first - 1]):
        first -= 1
    while end < len(words) and not (end > joint + 1 and lows[end] in _BEFORE_ITEMS):
        end += 1
    items, tail = _listed(words[first:end]), words[end:]
    several = sum(map(en.is_finite, words[verb + 1 : first])) > 1  # it would say them again
    if len(items) < 2 or several or not _TOGETHER.isdisjoint(lows[verb:first]):
        return []
    if any(map(_breaks, items[-1])) or items[0][0][0].isdigit():
        return []
    lasts = [en.core(item[-1]) for item in items]
    names = sum(en.is_capital(item[0]) for item in items)
    before, opening = lows[first - 1], lows[first]
    long = len(items) > 2
    is_a = (_is_a(clause) and first == verb + 1) or (opening in ("a", "an") and before == "as")
    if is_a and (long or all(map(en.is_person, lasts))):
        items = list(map(_with_article, items))
    elif before == "for" and opening in en.POSSESSIVES and not en.is_capital(words[first + 1]):
        items = [item if item[0] == words[first] else [words[first], *item] for item in items]
    else:
        plural = all(last.endswith("s") for last in lasts)
        listed = before in en.PREPOSITIONS and opening not in en.DETERMINERS and not names
        listed = names == len(items) or (listed and not _ADJECTIVAL.search(lasts[0]))
        if not (plural and (long or not tail)) and not (long and listed and not tail):
            return []
    return [[*words[:first], *item, *tail] for item in items]


def _event(clause: Clause) -> list[Words]:
    """Cut "X was born on 14 March 1879 in Ulm.": the date and the place are two claims."""
    words, lows, start, verb, _ = clause
    event = verb + (lows[verb] in verbs.BE or lows[verb : verb + 2] == ["passed", "away"])
    known = "".join(lows[event : event + 1]) in _EVENTS and _UNSURE.isdisjoint(lows[event:])
    if not known or any(map(en.is_finite, words[event + 1 :])):
        return []
    before = ("on", "in", "at", "to" if lows[event] == "born" else "by")
    heads = [at for at in range(event + 1, len(words)) if lows[at] in before]
    if len(heads) < 2 or heads[0] > event + 3:
        return []
    ends = [*heads[1:], len(words)]
    return [
        without_comma(
            [*words[start : event + 1], *words[event + 1 if at == heads[0] else at : end]]
        )
        for at, end in zip(heads, ends, strict=True)
    ]


def without_comma(words: Words) -> Words:
    """Return the words without a comma at their end."""
    last = words[-1].rstrip(",") if words else ""
    return [*words[:-1], last] if last else words[:-1]


# In the order in which they are tried, each with what a sentence without cannot have.
_ANY, _COMMA, _AND, _STOP, _BRACKET, _EXAMPLE = range(6)
_RULES: Final = (
    (_BRACKET, _bracket), (_COMMA, _apposition), (_COMMA, _relative), (_STOP, _second_clause),
    (_COMMA, _participle), (_AND, _predicates), (_ANY, _predicate_noun), (_EXAMPLE, _examples),
    (_AND, _items), (_ANY, _event),
)  # fmt: skip
