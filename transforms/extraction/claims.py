"""Split a sentence into its claims where that is safe.

There is no parser, but rules over words. Each rule knows one construction and returns the clauses
that replace a clause, or nothing where another meaning is possible. Claims are as small as the
atomic facts that people wrote for FActScore (Min et al., 2023), without splits that need an
understanding of the sentence. Nothing is lost: each name and number is in one of the claims.
"""

import re
from itertools import pairwise
from typing import Final

from ufo.transforms.english import grammar as en
from ufo.transforms.english.frames import ASSERTED, FRAME_OPENERS, FRAME_WORDS, read_frame
from ufo.transforms.english.grammar import word_set
from ufo.transforms.extraction import clause as of
from ufo.transforms.extraction.clause import (
    LISTS,
    Clause,
    Wording,
    Words,
    is_name,
    may_be_person,
    without_comma,
)
from ufo.transforms.extraction.gapping import JOINTS, complete_parts

_HEDGES: Final = frozenset({"may", "might", "could", "would"})
_MAX_WORDS: Final = 90  # these rules were not made for longer sentences
_MAX_DEPTH: Final = 8
_MIN_WORDS: Final = 5
_MAX_ITEM: Final = 6
_PAIRED: Final = re.compile(r"[\"()\[\]“”«»]")
_SAYS: Final = re.compile(r"[^\W_]")
_STOPS: Final = (".", "!", "?", "…")
_QUOTES: Final = ('"', "”", "'", "’")

_DATE: Final = r"(?:\d{1,2} [A-Z][a-z]+,? \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}|\d{4})"
_LIFE: Final = re.compile(
    rf"\((born |b\. )?({_DATE}(?:,? in [^()–]+)?)(?: ?[–—-] ?(?:died )?({_DATE}))?\)"
)
_ORIGIN: Final = re.compile(rf"[A-Z][a-z]+(?:an|ish|ese|aeli|aqi)|{LISTS.phrases('origins')}")
_OF_NAME: Final = re.compile(rf"{_ORIGIN.pattern}|[A-Z]\w+ic")  # "Islamic studies"
_ADJECTIVAL: Final = re.compile(r"(?:al|ic|ive|ous|ful|ent|ant|ary|y|ed|long|rich|strong|old)$")
_EVENTS: Final = word_set("born died away founded established built formed")
# After these words the predicates may belong to another subject, or be a choice.
_ENDS: Final = en.CLAUSE_OPENERS | {"either", "neither", "both", "between", "or"}
_UNSURE: Final = en.CLAUSE_OPENERS | {"not", "or"}
_BEFORE_ITEMS: Final = (en.PREPOSITIONS | _ENDS) - {"of"}
_BEFORE_VERB: Final = en.ADVERBS | en.AUXILIARIES | {"been"}
_PRONOUNS: Final = word_set("he she it they")
_OWN_SUBJECTS: Final = en.DETERMINERS | _PRONOUNS
_REFERRING: Final = en.POSSESSIVES | _PRONOUNS
# "films and animated series": a participle that mostly stands before a noun is not a predicate.
_ADJECTIVES: Final = word_set("acclaimed advanced animated applied limited mixed related organized")
# A statement about several together is not about each of them.
_TOGETHER: Final = _UNSURE | LISTS.words("together")
_QUANTIFIERS: Final = word_set("numerous several various many other some over few multiple")
_AMOUNTS: Final = word_set("number variety series host range wide few couple dozen multitude")
_POSTS: Final = word_set("positions roles posts offices capacities")  # nobody serves in a Minister
# "English teacher", "American football player": not people from there.
_NOT_OF_ORIGIN: Final = word_set("football rules horn teacher professor scholar translator history")
_MODALS: Final = en.LISTS.words("modals")
_BINDING: Final = word_set("hardly barely scarcely seldom rarely almost nearly")
_REPORTS: Final = LISTS.words("reports")
_FICTION: Final = LISTS.words("fiction")
_SECOND: Final = word_set("and but while whereas although because")
_WHOLE: Final = LISTS.words("whole")
# ", making it": the whole clause did this, not its subject.
_OF_THE_CLAUSE: Final = LISTS.words("of_the_clause")


def split(sentence: Wording) -> list[Wording]:
    """Return the claims of one (resolved) sentence, in order; empty only if it says nothing."""
    words, lows = sentence
    text = " ".join(words)
    if len(words) <= _MAX_WORDS:
        if ',"' in text or ",”" in text:
            words = [w[:-2] + w[-1] + "," if w.endswith((',"', ",”")) else w for w in words]
        claims = _split(Wording(words, lows), 0, 0)
        if len(claims) > 1 and _may_split(sentence, text):
            return claims
    return [sentence] if _SAYS.search(text) else []


def _may_split(sentence: Wording, text: str) -> bool:
    """Return whether no words bind the parts of a sentence: "respectively", "Some say that"."""
    words, lows = sentence
    if not _FICTION.isdisjoint(lows[: of.subject_start(words, lows)]):
        return False  # "In the novel, she moves to Oslo and dies"
    if not (_WHOLE.isdisjoint(lows) and _WHOLE.isdisjoint(map("_".join, pairwise(lows)))):
        return False
    if (
        FRAME_WORDS.isdisjoint(lows)
        and lows[0] not in FRAME_OPENERS
        and "n't" not in text
        and "n’t" not in text
    ):
        return True
    stance, statement = read_frame(text)
    # A part that "may have been" is recognised as a hedge by itself.
    return stance == ASSERTED or (statement == text and not _HEDGES.isdisjoint(lows))


def as_sentence(words: Words) -> str:
    """Return the words of a claim as a sentence, with a capital and a full stop."""
    text = " ".join(words).lstrip(" ,;:").rstrip(" ,;:—–-")
    if text[-2:-1] == "," and text[-1] in _QUOTES:
        text = text[:-2] + text[-1]  # the comma belonged to the sentence
    if not text.endswith(_STOPS) and not (text.endswith((*_QUOTES, ")")) and text[-2:-1] in _STOPS):
        text += "."
    return text[0].upper() + text[1:] if text[:2].islower() else text


def _split(clause: Wording, depth: int, tried: int) -> list[Wording]:
    """Split a clause into claims by the first rule that applies, and the parts likewise."""
    words, lows = clause
    parsed = of.parse(words, lows) if depth < _MAX_DEPTH and len(words) >= _MIN_WORDS else None
    if parsed is None:
        return [clause]
    text = " ".join(words)
    comma, joined = "," in text, "and" in lows or "but" in lows
    stop = comma or joined or ";" in text or ":" in text
    fits = (True, comma, joined, stop, "(" in text, "such as" in text or "inclu" in text or stop)
    for at in range(tried, len(_RULES)):
        needs, rule = _RULES[at]
        parts = rule(parsed) if fits[needs] else ()
        if len(parts) == 1:
            return [clause]  # it is known to have no safe split
        if parts and (not _PAIRED.search(text) or all(map(_is_whole, parts))):
            wordings = [Wording(part, en.lower(part)) for part in parts]
            # Each verb of a subject may have a part that leaves it out.
            again = _GAPPING if rule is _predicates else at
            return [claim for part in wordings for claim in _split(part, depth + 1, again)]
    return [clause]


def _is_whole(piece: Words) -> bool:
    """Return whether all quotation marks and brackets of the piece are opened and closed in it."""
    text = " ".join(piece)
    pairs = ("()", "[]", "“”", "«»")
    return text.count('"') % 2 == 0 and all(
        text.count(pair[0]) == text.count(pair[1]) for pair in pairs
    )


def _bracket(clause: Clause) -> list[Words]:
    """Cut "X (born 3 May 1946) is a politician" and "X (1879–1955) was a physicist"."""
    words, lows, start, verb, _ = clause
    opening = next((at for at in range(1, verb) if words[at][0] == "("), 0)
    life = _LIFE.fullmatch(" ".join(words[opening:verb])) if opening and not start else None
    # not the years of a war or a company
    if not life or not (life[1] or life[3]) or not may_be_person(lows[:opening]):
        return []
    events = [("was born", life[2]), ("died", life[3])] if life[3] else [("was born", life[2])]
    dated = [f"{verb} {'in' if date[:4].isdigit() else 'on'} {date}" for verb, date in events]
    return [*([*words[:opening], *said.split()] for said in dated), words[:opening] + words[verb:]]


def _apposition(clause: Clause) -> list[Words]:
    """Cut "X, a chemist, found Y", "X, also known as Y, is" and "X, who was ill, left"."""
    words, lows, start, _, _ = clause
    end = start + of.name_length(words, start)
    if end == start or words[end - 1][-1] != ",":  # "The old town, also known as …"
        end = next((k for k in range(start, min(len(words), start + 6)) if words[k][-1] == ","), 0)
        end += 1
        if lows[end : end + 1] not in (["also"], ["formerly"], ["better"]):
            return []
    close = next((at for at in range(end, len(words) - 2) if words[at][-1] == ","), 0)
    verb = _past_adverbs(lows, close + 1)
    if end >= len(words) - 3 or not close or not en.is_finite(words[verb]):
        return []
    name = without_comma(words[start:end])
    predicate = without_comma(words[end : close + 1])
    low = lows[end]
    past = en.is_past(lows[verb]) or lows[verb] in ("was", "had")
    if "and" in name and lows[end + 1] not in en.PLURAL:
        return []  # "Ada and Jan, a poet,": not both
    if low in ("who", "which") and en.is_finite(words[end + 1]):
        predicate = predicate[1:]
    elif low in ("a", "an", "the") or low in of.REDUCED or lows[end + 1] == "known":
        predicate = ["was" if past or low == "born" else "is", *predicate]
    else:
        return []
    return [[*name, *predicate], [*words[:start], *name, *words[close + 1 :]]]


def _relative(clause: Clause) -> list[Words]:
    """Cut "…, which is a city in Germany.", said of the name or title right before the comma."""
    words, lows, _, verb, _ = clause
    commas = (at for at in range(verb + 1, len(words) - 3) if words[at][-1] == ",")
    at = next((at for at in commas if lows[at + 1] in ("who", "which")), 0)
    # A verb after a later comma may belong to the first subject.
    later = any(a[-1] == "," and en.is_finite(b) for a, b in pairwise(words[at + 2 :]))
    if not at or later or not en.is_finite(words[at + 2]) or lows[at + 2] in en.PLURAL:
        return []
    first = end = at + 1
    if lows[at + 1] == "which" and lows[end - 2] in ("in", "on") and lows[end - 1].isdigit():
        first = end = end - 2  # "founded the company in 1936, which"
    title = words[end - 1].endswith(('",', "”,"))
    while first > verb + 1 and (
        en.is_capital(words[first - 1]) or words[first - 1] in ("of", "the")
    ):
        first -= 1
    while title and first > verb + 1 and words[first][0] not in '"“':
        first -= 1
    name, before = without_comma(words[first:end]), lows[first - 1]
    # "The mayor of Paris, who": not of Paris. "Rome and Paris, which": not of Paris alone.
    shared = before in ("and", "or", "&", "for") or (
        before in en.PREPOSITIONS and lows[at + 1] == "who"
    )
    role = name[name[:1] == ["the"] :][:1]  # "the Chairman of the Bank, which"
    shared = shared or any(map(en.is_person, en.lower(role)))
    if shared or not (title or is_name(name[name[:1] == ["the"] :])):
        return []
    return [words[: at + 1], [*name, *words[at + 2 :]]]


def _second_clause(clause: Clause) -> list[Words]:
    """Cut "X was born in Ulm, and Y died in Princeton." before the second subject."""
    words, lows, start, verb, subject = clause
    for joint in range(verb + 2, len(words) - 2):
        at, stop = joint + (lows[joint] in _SECOND), words[joint - 1][-1]
        if at == joint and stop not in ";:":
            continue
        low = lows[at]
        pronoun = low in ("he", "she", "his", "her")
        # "was founded by Ada Berg in 1998 and Jan Holm joined in 1999"
        dated = stop.isdigit() and (lows[verb] in en.AUXILIARIES or is_name(subject))
        dated = dated and en.is_capital("".join(words[at : at + 1]))
        if not (stop in ",;:" or pronoun or dated):
            continue
        length = of.name_length(words, at)
        if not length and low in _OWN_SUBJECTS:
            length = next((n for n in range(1, 6) if en.is_finite("".join(words[at + n :][:1]))), 0)
        own = at + length  # the verb of the second subject
        if low in ("both", "each", "all"):
            return []  # of the first clause
        if not 0 < length < 6 or own >= len(words) or lows[own - 1] in JOINTS:
            continue
        if any(word[-1] in ",;:" for word in words[at:own]):
            continue
        if not (lows[own] in en.AUXILIARIES or en.is_past(lows[own])):
            continue
        named = words[at : at + 1]
        if low in _REFERRING and lows[start] != low:
            # Whom a pronoun means is certain where the clause before names one person only.
            names = of.names_in(words[:joint], lows, verb)
            rivals = any(may_be_person(lows[a:b], lows[a - 1]) for a, b in names)
            sure = low == "its" or (pronoun and not rivals)
            if not sure or not is_name(subject):
                return []
            name = " ".join(subject)
            named = [name + ("'s" if low in en.POSSESSIVES and not name.endswith("'s") else "")]
        second = [*" ".join(named).split(), *words[at + 1 :]]
        return [words[:joint], second] if _ENDS.isdisjoint(lows[start:joint]) else []
    return []


def _participle(clause: Clause) -> list[Words]:
    """Cut "X began in 1990, appearing in films": X appeared in films."""
    words, lows, _, verb, subject = clause
    past = en.is_past(lows[verb]) or lows[verb] in ("was", "has", "had")
    following = "".join(lows[verb + 1 : verb + 2])
    passive = lows[verb] in en.BE and en.is_participle(following) and following != "born"
    if not is_name(subject) or not past or passive:
        return []
    for at in range(verb + 2, len(words) - 1):
        if lows[at] in en.CLAUSE_OPENERS:
            return []
        if words[at - 1][-1] == "," and _is_gerund(words[at]):
            rest = [en.past_of_gerund(words[at])]
            for word, after in pairwise([*words[at + 1 :], ""]):
                also = rest[-1] == "and" and _is_gerund(word) and not en.is_noun(after or "a")
                rest.append(en.past_of_gerund(word) if also else word)
            return [without_comma(words[:at]), [*subject, *rest]]
    return []


def _is_gerund(word: str) -> bool:
    return word.endswith("ing") and len(word) > 5 and word not in _OF_THE_CLAUSE


def _predicates(clause: Clause) -> list[Words]:
    """Cut "X was born in Ulm, studied in Zurich and died in Princeton.", repeating the subject."""
    words, lows, start, verb, subject = clause
    supposed = lows[verb] in _MODALS and "have" in lows[verb : verb + 4]
    denied = lows[verb] in en.HAVE and "never" in lows[verb : verb + 3]
    bound = supposed or denied or not _BINDING.isdisjoint(lows[start : verb + 3])
    if bound or not subject or not _ENDS.isdisjoint(lows[start:verb]):
        return []  # "may have moved to Oslo and married"
    reports = lows[verb] in _REPORTS
    cuts: list[tuple[int, int]] = []  # (end of the predicate before, beginning of the next)
    listed: list[tuple[int, int]] = []  # commas that count only if an "and" ends the list
    for at in range(verb + 1, len(words) - 1):
        if lows[at] in _ENDS or lows[at : at + 2] == ["to", "have"]:
            break
        if lows[at : at + 2] == ["to", "be"] and at < verb + 3:
            break  # "claimed to be born in Oslo and raised in Rome"
        after = at + of.name_length(words, at) if words[at - 1][-1] == "," else at
        own_subject = reports or after > at
        if own_subject and after < len(words) and en.is_finite(words[after]):
            return []  # "Jan said Ada sang and died", "Jan sings, Ada sang and died"
        if lows[at] in ("and", "but") and _is_predicate(words, _past_adverbs(lows, at + 1)):
            cuts += [*listed, (at, at + 1)]
            listed = []
        elif words[at - 1][-1] == "," and _is_predicate(words, at):
            listed.append((at, at))
    ends = [*(end for end, _ in cuts), len(words)]
    begins = [verb, *(begin for _, begin in cuts)]
    if not cuts or not all(map(_says_something, [lows] * len(ends), begins, ends)):
        return []  # "was born and raised in Ulm": what follows belongs to both
    parts = zip(begins[1:], ends[1:], strict=True)
    rest = [
        [*subject, *_shared_auxiliary(clause, begin), *words[begin:end]] for begin, end in parts
    ]
    return [words[: ends[0]], *rest]


def _past_adverbs(lows: Words, at: int) -> int:
    return next((k for k in range(at, len(lows) - 1) if lows[k] not in en.ADVERBS), len(lows) - 1)


def _is_predicate(words: Words, at: int) -> bool:
    """Return whether a predicate can begin here: a finite verb or participle before other words."""
    low = words[at]
    verb = en.is_finite(low) or en.is_participle(low)
    if not verb or at + 1 >= len(words) or low in _ADJECTIVES or words[at + 1] in ("and", "or"):
        return False
    # "a grumpy and opinionated woman", "a Polish and naturalised French physicist"
    adjective, following = words[at - 2], words[at + 1]
    described = _ADJECTIVAL.search(adjective) or _ORIGIN.fullmatch(adjective)
    noun = en.is_noun(following) or _ORIGIN.fullmatch(following)
    return not (en.core(words[at - 3]) in ("a", "an") and described and noun)


def _says_something(lows: Words, begin: int, end: int) -> bool:
    """Return whether anything follows the verb of the predicate."""
    at = next((k for k in range(begin, end) if lows[k] not in _BEFORE_VERB), end)
    low = lows[min(at, end - 1)]
    return at + (en.is_participle(low) or en.is_past(low)) < end


def _shared_auxiliary(clause: Clause, begin: int) -> Words:
    """Return the "was", "has" or "has been" of the first predicate for a participle at `begin`."""
    words, lows, _, verb, _ = clause
    at = _past_adverbs(lows, begin)
    first = next((k for k in range(verb + 1, begin) if lows[k] not in _BEFORE_VERB), begin)
    alike = en.is_participle(lows[first]) and en.is_participle(lows[at])
    if lows[verb] not in en.BE | en.HAVE or not alike:
        return []
    shared = [words[verb], *(["been"] if "been" in lows[verb : verb + 3] else [])]
    # "was elected and received the prize" has an object of its own, "was elected and died" none.
    objects = lows[at + 1] in en.DETERMINERS or en.is_capital(words[at + 1])
    active = lows[at] in en.INTRANSITIVE or objects
    perfect = lows[verb] in en.HAVE and len(shared) == 1
    return shared if perfect or lows[at] in en.PARTICIPLE_ONLY or not active else []


def _predicate_noun(clause: Clause) -> list[Words]:
    """Cut "X is an actor known for Y", "X was a poet who did Y" and "X is a Norwegian actor"."""
    words, lows, _, verb, subject = clause
    if not subject or not _is_a(clause):
        return []
    for at in range(verb + 3, len(words) - 1):
        low = lows[at]
        if low in ("who", "that", "which") and en.is_finite(words[at + 1]):
            return [without_comma(words[:at]), [*subject, *words[at + 1 :]]]
        known = low in ("best", "widely", "well") and lows[at + 1] == "known"
        if (low in of.REDUCED or known) and lows[at - 1] not in ("and", "or", "also", "formerly"):
            be = "was" if low == "born" else words[verb]
            return [without_comma(words[:at]), [*subject, be, *words[at:]]]
        placed = low in ("from", "in") and en.is_capital(words[at + 1])
        if low in en.CLAUSE_OPENERS or (low in en.PREPOSITIONS and not placed):
            return []
    noun = words[verb + 3 :]
    origin = 0 < len(noun) < 6 and _ORIGIN.fullmatch(words[verb + 2]) and en.is_person(lows[-1])
    if (
        not origin
        or noun[0] == "and"
        or any(map(en.is_capital, noun))
        or lows[verb + 3] in _NOT_OF_ORIGIN
    ):
        return []
    head = words[: verb + 1]
    return [[*head, words[verb + 2]], [*head, *_with_article(noun)]]


def _is_a(clause: Clause) -> bool:
    """Return whether the clause has the form "X is a …" or "X was an …"."""
    lows, verb = clause.lows, clause.verb
    return lows[verb] in ("is", "was") and lows[verb + 1 : verb + 2] in (["a"], ["an"])


def _with_article(noun: Words) -> Words:
    if noun[0].lower() in ("a", "an"):
        return noun
    return ["an" if noun[0][:1].lower() in "aeiou" else "a", *noun]


def _examples(clause: Clause) -> list[Words]:
    """Cut "X acted in films such as A and B": X acted in films, in A, in B."""
    words, lows, _, verb, subject = clause
    if words[verb][-1] == ":" or lows[verb] in ("include", "includes", "included"):
        verb_word = words[verb] if words[verb][-1] != ":" else "include"
        items = _list_items(words[verb + 1 :])
        return [[*words[:verb], verb_word, *item] for item in items] if len(items) > 1 else []
    marks = (k for k in range(verb + 2, len(words) - 2) if lows[k] in ("including", "such"))
    at = next(marks, 0)
    if not at or not subject or (lows[at] == "such" and lows[at + 1] != "as"):
        return []
    begin = at + 1 + (lows[at] == "such")
    items = _list_items(words[begin:])
    unclear = len(items) == 1 and any(word[-1] == "," for word in items[0][:-1])
    if unclear or items[0][0] in en.PREPOSITIONS:
        return []
    if kind := _kind_start(clause, at):
        return [without_comma(words[:at]), *([*words[:kind], *item] for item in items)]
    return [[*words[:begin], *item] for item in items] if len(items) > 1 else []


def _kind_start(clause: Clause, at: int) -> int:
    """Return the beginning of the noun phrase whose examples begin at `at`, 0 if unclear.

    An example can replace this phrase. "Many prizes for films, including" gives prizes; "many
    prizes for films such as" gives films."""
    words, lows, _, verb, _ = clause
    such = lows[at] == "such"
    near = at - 1
    while near - 1 > verb and not (_breaks(words[near - 1]) or words[near - 1][-1] in ",;:"):
        if lows[near - 1] == "of":
            break
        near -= 1
    counted = next((k for k in range(at - 1, verb, -1) if _quantifies(lows, k)), at)
    while _quantifies(lows, counted - 1) and counted - 1 > verb:
        counted -= 1
    plural = words[at - 1].rstrip(",").endswith("s")
    others = any(word.endswith("s") for word in words[verb + 1 : near])
    first = counted
    if counted == at or (such and plural and near > counted):
        first = near if plural and lows[near] != "the" and (such or not others) else at
    before = lows[first - 1]
    takes = before in en.PREPOSITIONS or _breaks(words[first - 1])
    refused = before in en.BE | en.HAVE | {"of", "than"} or lows[at - 1] in _POSTS
    inner = pairwise(words[first:at])  # not "cases involving issues"
    broken = any(a[-1] in ",;:" or (a[-1] == "s" and b.endswith("ing")) for a, b in inner)
    return first if verb < first < at and takes and not broken and not refused else 0


def _quantifies(lows: Words, at: int) -> bool:
    amount = lows[at] == "a" and lows[at + 1] in _AMOUNTS
    return lows[at] in _QUANTIFIERS or amount or lows[at].rstrip("+").isdigit()


def _list_items(words: Words) -> list[Words]:
    """Return the items of a list in these words, or one item if they may not be a list."""
    items: list[Words] = [[]]
    quoted = False
    for word in words:
        items[-1].append(word)
        quoted ^= word.count('"') % 2 == 1 or ("“" in word) != ("”" in word)
        if word[-1] == "," and not quoted:
            items.append([])
    last = items.pop()
    joint = next((k for k, word in enumerate(last) if word in ("and", "or")), -1)
    items = [*map(without_comma, items), *([last[:joint]] if joint else []), last[joint + 1 :]]
    if joint < 0 or not all(items):
        return [words]
    titles = all(item[0][0] in '"“' for item in items)
    plain = all(len(item) <= _MAX_ITEM and not any(map(_breaks, item)) for item in items[:-1])
    single = any(len(item) == 1 and en.is_capital(item[0]) for item in items)
    capitals = {en.is_capital(item[item[0] in ("the", "a", "an")]) for item in items if item[1:]}
    several = plain and (len(items) > 2 or not single) and len(capitals) < 2
    return items if titles or several else [words]


def _breaks(word: str) -> bool:
    """Return whether this word ends or begins a list: a verb or a preposition."""
    low = en.core(word)
    return low in _BEFORE_ITEMS or en.is_finite(word) or en.is_participle(low)


def _items(clause: Clause) -> list[Words]:
    """Cut "X was an English actor, director and producer." and "X played in A, B, and C."."""
    words, lows, start, verb, subject = clause
    joint = max((at for at in range(verb + 2, len(words) - 1) if lows[at] == "and"), default=0)
    if not subject or not joint:
        return []
    first = end = joint
    while first - 1 > verb and not _breaks(words[first - 1]):
        first -= 1
    while end < len(words) and not (end > joint + 1 and lows[end] in _BEFORE_ITEMS):
        end += 1
    items, tail = _list_items(words[first:end]), words[end:]
    # "Ada and Jan were born in Oslo and Rome": each in one of them.
    paired = "and" in lows[start:verb]
    if len(items) < 2 or paired or not _TOGETHER.isdisjoint(lows[verb:first]):
        return []
    before_list = words[verb + 1 : first]
    several = sum(map(en.is_finite, before_list)) > 1  # it would say them again
    opens = [item[0].lower() for item in items]
    gerunds = any(low.endswith("ing") for low in opens[1:]) and not opens[0].endswith("ing")
    # "married Ada Berg in 1990, Eva Lund, and Gro Li", "met Ada Berg, Jan Holm in Oslo and Vik"
    dated = {item[-1][0].isdigit() for item in items}
    named_before = any(map(en.is_capital, before_list))
    if several or gerunds or named_before or len(dated) > 1:
        return []
    # "wrote novels and Ada Berg plays"
    capitals = [en.is_capital(item[0]) for item in items]
    named = any(en.is_capital(item[0]) and not en.is_capital(item[-1]) for item in items)
    if named and any(not _OF_NAME.fullmatch(item[0]) for item in items) and len(set(capitals)) > 1:
        return []
    mixed = not {"a", "an"}.isdisjoint(opens[1:]) and opens[0] not in ("a", "an", "the")
    if mixed or any(map(_breaks, items[-1])) or opens[0][0].isdigit() or opens[-1][0].isdigit():
        return []
    lasts = [en.core(item[-1]) for item in items]
    names = sum(capitals)
    before, opening, long = lows[first - 1], lows[first], len(items) > 2
    is_a = (_is_a(clause) and first == verb + 1) or (opening in ("a", "an") and before == "as")
    if is_a and (long or all(map(en.is_person, lasts))):
        items = list(map(_with_article, items))
    elif before == "for" and opening in en.POSSESSIVES and "to" not in tail[:1]:
        items = [item if item[0] == words[first] else [words[first], *item] for item in items]
    else:
        plural = all(last.endswith("s") for last in lasts) and (long or not tail)
        listed = before in en.PREPOSITIONS and opening not in en.DETERMINERS and not names
        listed = names == len(items) or (listed and not _ADJECTIVAL.search(lasts[0]))
        if not plural and (tail or not long or not listed):
            return []
    return [[*words[:first], *item, *tail] for item in items]


def _event(clause: Clause) -> list[Words]:
    """Cut "X was born on 14 March 1879 in Ulm.": the date and the place are two claims."""
    words, lows, start, verb, _ = clause
    if _EVENTS.isdisjoint(lows):
        return []
    event = verb + (lows[verb] in en.BE or lows[verb : verb + 2] == ["passed", "away"])
    born = "born" in lows[event : event + 1]
    known = "".join(lows[event : event + 1]) in _EVENTS and _UNSURE.isdisjoint(lows[event:])
    if (
        not known
        or (not born and "to" in lows[event:])
        or any(map(en.is_finite, words[event + 1 :]))
    ):
        return []
    before = ("on", "in", "at", "to" if born else "by")
    heads = [at for at in range(event + 1, len(words)) if lows[at] in before]
    if len(heads) < 2 or heads[0] > event + 3:
        return []
    ranges = list(pairwise([*heads, len(words)]))
    if _is_gapped(words, lows, ranges):
        return []  # "was born in Oslo, and Jan, her brother, in Bergen"
    rest = [words[start : event + 1] + words[a:b] for a, b in ranges[1:]]
    return list(map(without_comma, [words[: heads[1]], *rest]))


def _is_gapped(words: Words, lows: Words, ranges: list[tuple[int, int]]) -> bool:
    """Return whether a subject may stand between two phrases: "in Oslo, Jan Holm in Bergen"."""
    kinds = [(lows[a], any(low[:1].isdigit() for low in lows[a:b])) for a, b in ranges]
    for at, (a, b) in enumerate(ranges[:-1]):
        listed = lows[a] in ("by", "to")  # "by Ada Berg and Jan Holm in 1990"
        twice = kinds[at][1] and kinds[at] in kinds[at + 1 :]  # one event has one date
        if twice or lows[b - 1] in JOINTS or not (listed or JOINTS.isdisjoint(lows[a:b])):
            return True
        after = [lows[k + 1] for k in range(a, b - 1) if words[k][-1] in ",;"]
        again = words[b - 1][-1] != "," and kinds[at] in kinds[at + 1 :]
        dated = kinds[at][1] and any(
            not low[:1].isdigit() and low not in en.PREPOSITIONS for low in after
        )
        if after and (again or dated or not en.DETERMINERS.isdisjoint(after)):
            return True
    return False


# In the order in which they are tried, each with the mark without which it cannot apply.
_ANY, _COMMA, _AND, _STOP, _BRACKET, _EXAMPLE = range(6)
_RULES: Final = (
    (_BRACKET, _bracket), (_COMMA, _apposition), (_COMMA, _relative), (_STOP, _second_clause),
    (_STOP, complete_parts), (_COMMA, _participle), (_AND, _predicates), (_ANY, _predicate_noun),
    (_EXAMPLE, _examples), (_AND, _items), (_ANY, _event),
)  # fmt: skip
_GAPPING: Final = [rule for _, rule in _RULES].index(complete_parts)
