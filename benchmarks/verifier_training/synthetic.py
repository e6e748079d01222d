"""Pairs made from Wikipedia text: claims of its own sentences, and the same with one fact changed.

The claims are those that our extractor makes of a passage's sentences. Each is paired with

- its passage: supported;
- its passage, after one fact of it was changed: refuted (a number, a month, a name of the same
  kind, a negation, an antonym, or the two names around the verb exchanged);
- its passage without the sentence that says it: noans;
- the passage of another page that is most like it: noans;
- two claims joined, both said: supported; one of them no longer said: noans.

Pairs that differ in one fact are what MiniCheck (Tang et al. 2024) trains on; theirs are written by
a language model, these by rules.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rank_bm25 import BM25Okapi

from benchmarks.verifier_training.pairs import Labelled
from ufo.transforms.english.lexicon import ANTONYMS, STOP_WORDS
from ufo.transforms.extraction.extract import extract
from ufo.transforms.sentences import segment
from ufo.transforms.verifiers.base import Pair
from ufo.transforms.verifiers.bundled.focus import content


def _words(text: str) -> list[str]:
    return text.split()


_CLAIMS = 3
"""Of a passage, at most."""
_WORDS = (4, 40)
_SAID = 0.75
"""Share of a claim's content from which a passage may well say it: no pair is made with it."""
_MONTHS = _words(
    "January February March April May June July August September October November December"
)
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)})\b")
_NUMBER = re.compile(r"\b\d+(?:,\d{3})*(?:\.\d+)?\b")
_NUMBER_WORDS = _words("two three four five six seven eight nine ten eleven twelve")
_ORDINALS = _words("first second third fourth fifth sixth seventh eighth ninth tenth")
_COUNTED = re.compile(rf"\b({'|'.join([*_NUMBER_WORDS, *_ORDINALS])})\b")
_NAME = re.compile(r"\b(?:[A-Z][\w'’-]+)(?: (?:of |de |von |the )?[A-Z][\w'’-]+)*")
_BE = re.compile(r"\b(is|was|are|were|has|had|can|will)\b(?! not\b)")
_DENIED = re.compile(r"\b(is|was|are|were|has|had|can|will) not\b")
_PAST = re.compile(r"\b([a-z]{3,}ed)\b")
_ROLES = re.compile(rf"^({_NAME.pattern}) ([a-z]+ed(?: [a-z]+)?) ({_NAME.pattern})(.*)$")
_RARER = {"negation": 0.25, "roles": 2.0}
"""How much more often than others a change is taken where several can be made."""
_PRONOUNS = _words("he she it they his her its their this that these those there")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Article:
    """A passage with the title of its page."""

    title: str
    text: str


def synthetic(articles: Sequence[Article], seed: int) -> list[Labelled]:
    """Return the pairs of all passages, the same for the same seed."""
    names = _names_by_kind(articles)
    neighbours = _Neighbours(articles)
    found: list[Labelled] = []
    for row, article in enumerate(articles):
        chance = random.Random(f"{seed} {row} {article.title}")
        found += _of_passage(article, row, names, neighbours, chance)
    return found


def _of_passage(
    article: Article,
    row: int,
    names: dict[str, list[str]],
    neighbours: "_Neighbours",
    chance: random.Random,
) -> Iterator[Labelled]:
    sentences = [article.text[span.start : span.end] for span in segment(article.text)]
    claims = [
        (unit.sentence_index, unit.claim)
        for unit in extract(sentences, f"Tell me about {article.title}.")
        if _WORDS[0] <= len(unit.claim.split()) <= _WORDS[1]
        and unit.claim.split()[0].lower() not in _PRONOUNS
    ]
    text = " ".join(sentences)
    chosen = chance.sample(claims, min(_CLAIMS, len(claims)))

    def made(claim: str, passage: str, label: str, how: str) -> Labelled:
        pair = Pair(claim, passage, article.title if chance.random() < 0.5 else "")
        return Labelled(pair, label, f"made_{how}", f"wiki-{article.title}")

    for index, claim in chosen:
        rest = " ".join(text for at, text in enumerate(sentences) if at != index)
        unsaid = rest and _share(claim, rest) < _SAID
        if chance.random() < 0.6:
            yield made(claim, text, "supported", "claim")
        changed = changes(claim, article.text, names, chance)
        if changed:
            kinds = sorted(changed)
            how = chance.choices(kinds, [_RARER.get(kind, 1.0) for kind in kinds])[0]
            yield made(changed[how], text, "refuted", how)
        if unsaid and chance.random() < 0.5:
            yield made(claim, rest, "noans", "removed")
        if chance.random() < 0.4:
            other = neighbours.like(claim, row)
            if other and _share(claim, other.text) < _SAID:
                yield Labelled(
                    Pair(claim, other.text, other.title if chance.random() < 0.5 else ""),
                    "noans",
                    "made_other",
                    f"wiki-{article.title}",
                )
        others = [(at, one) for at, one in claims if at != index and one != claim]
        if others and chance.random() < 0.4:
            at, second = chance.choice(others)
            joined = _joined(claim, second)
            without = " ".join(text for place, text in enumerate(sentences) if place != at)
            if joined and chance.random() < 0.5:
                yield made(joined, text, "supported", "joined")
            elif joined and _share(second, without) < _SAID:
                yield made(joined, without, "noans", "half")


def changes(
    claim: str, passage: str, names: dict[str, list[str]], chance: random.Random
) -> dict[str, str]:
    """Return the claim with one fact changed, by the kind of change; none that cannot be made."""
    made = {
        "number": _other_number(claim, chance),
        "month": _swapped(_MONTH, claim, _MONTHS, chance),
        "counted": _other_count(claim, chance),
        "name": _other_name(claim, passage, names, chance),
        "negation": _negated(claim),
        "antonym": _opposite(claim, chance),
        "roles": _exchanged(claim),
    }
    return {how: text for how, text in made.items() if text and text != claim}


def _other_number(claim: str, chance: random.Random) -> str:
    found = list(_NUMBER.finditer(claim))
    if not found:
        return ""
    number = chance.choice(found)
    digits = number[0].replace(",", "")
    value = float(digits)
    if re.fullmatch(r"1\d{3}|20\d{2}", number[0]):
        other = str(int(value) + chance.choice((-1, 1)) * chance.choice((1, 2, 3, 5, 10, 20, 40)))
    elif "." in digits:
        other = f"{value * chance.choice((0.5, 0.8, 1.2, 2)):.1f}"
    elif value <= 31:
        other = str(chance.choice([n for n in range(1, 32) if n != value]))
    else:
        other = f"{int(value * chance.choice((0.1, 0.5, 0.8, 1.3, 2, 10))) + 1:,}"
    return claim[: number.start()] + other + claim[number.end() :]


def _swapped(
    pattern: re.Pattern[str], claim: str, words: Sequence[str], chance: random.Random
) -> str:
    found = pattern.search(claim)
    if not found:
        return ""
    other = chance.choice([word for word in words if word != found[0]])
    return claim[: found.start()] + other + claim[found.end() :]


def _other_count(claim: str, chance: random.Random) -> str:
    found = _COUNTED.search(claim)
    if not found:
        return ""
    return _swapped(_COUNTED, claim, _ORDINALS if found[0] in _ORDINALS else _NUMBER_WORDS, chance)


def _kind(text: str, start: int) -> str:
    before = _WORD.findall(text[max(0, start - 30) : start])
    return before[-1].lower() if before else ""


def _names_by_kind(articles: Sequence[Article]) -> dict[str, list[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for article in articles:
        for name in _NAME.finditer(article.text):
            if name.start() and name[0].lower() not in STOP_WORDS:
                found[f"{_kind(article.text, name.start())} {name[0].count(' ') > 0}"].add(name[0])
    return {kind: sorted(values) for kind, values in found.items() if len(values) > 4}


def _other_name(
    claim: str, passage: str, names: dict[str, list[str]], chance: random.Random
) -> str:
    found = [name for name in _NAME.finditer(claim) if name.start() and name[0] not in _MONTHS]
    if not found:
        return ""
    name = chance.choice(found)
    kind = f"{_kind(claim, name.start())} {name[0].count(' ') > 0}"
    near = [n[0] for n in _NAME.finditer(passage) if n.start() and n[0] not in claim]
    like = names.get(kind, [])
    known = chance.sample(like, min(5, len(like)))
    # A name of the passage itself is the harder change.
    pool = near if near and chance.random() < 0.4 else [o for o in known if o not in passage]
    pool = [o for o in pool if o.lower() not in STOP_WORDS and o not in _MONTHS]
    if not pool:
        return ""
    return claim[: name.start()] + chance.choice(pool) + claim[name.end() :]


def _negated(claim: str) -> str:
    denied = _DENIED.search(claim)
    if denied:
        return claim[: denied.start()] + denied[1] + claim[denied.end() :]
    found = _BE.search(claim)
    if found:
        return f"{claim[: found.end()]} not{claim[found.end() :]}"
    past = _PAST.search(claim)
    return f"{claim[: past.start()]}never {claim[past.start() :]}" if past else ""


def _antonyms() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in ANTONYMS.strip().splitlines():
        sides = [side.split() for side in line.split("/")]
        for side, other in (sides, sides[::-1]):
            for place, word in enumerate(side):
                found.setdefault(word, []).append(other[min(place, len(other) - 1)])
    return found


_OPPOSITES = _antonyms()


def _opposite(claim: str, chance: random.Random) -> str:
    found = [word for word in re.finditer(r"\b[a-z]+\b", claim) if word[0] in _OPPOSITES]
    if not found:
        return ""
    word = chance.choice(found)
    return claim[: word.start()] + chance.choice(_OPPOSITES[word[0]]) + claim[word.end() :]


def _exchanged(claim: str) -> str:
    found = _ROLES.match(claim)
    return f"{found[3]} {found[2]} {found[1]}{found[4]}" if found else ""


def _joined(one: str, other: str) -> str:
    """Return two claims as one: they share the subject, or stand side by side."""
    if not one.endswith(".") or not other.endswith("."):
        return ""
    words, others = one.split(), other.split()
    same = 0
    while same < min(len(words), len(others)) and words[same] == others[same]:
        same += 1
    if same and words[same - 1][0].isupper() and len(others) - same > 2:
        return f"{one[:-1]} and {' '.join(others[same:])}"
    return f"{one[:-1]}, and {other[0].lower() if words[0] == 'The' else other[0]}{other[1:]}"


def _share(claim: str, text: str) -> float:
    weights = content(claim)
    words = {word.lower() for word in _WORD.findall(text)}
    said = sum(weight for word, weight in weights.items() if word in words)
    return said / max(1e-9, sum(weights.values()))


class _Neighbours:
    """Finds the passage of another page that is most like a claim."""

    def __init__(self, articles: Sequence[Article]) -> None:
        self._articles = articles
        documents = [_WORD.findall(f"{one.title} {one.text}".lower()) for one in articles]
        self._index = BM25Okapi(documents)
        self._rows: dict[str, list[int]] = defaultdict(list)
        for row, words in enumerate(documents):
            for word in set(words):
                self._rows[word].append(row)

    def like(self, claim: str, own: int) -> Article | None:
        """Return the best passage of another page by BM25 over the claim's rarer words."""
        words = [word for word in content(claim) if len(self._rows.get(word, ())) < 400]
        candidates = Counter(row for word in words for row in self._rows.get(word, ()))
        title = self._articles[own].title
        rows = [row for row, _ in candidates.most_common(30) if self._articles[row].title != title]
        if not rows:
            return None
        scores = self._index.get_batch_scores(words, rows)
        return self._articles[rows[max(range(len(rows)), key=lambda at: scores[at])]]
