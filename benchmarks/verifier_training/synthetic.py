"""Pairs made from Wikipedia text: what it says, and what it does not say, or says of another.

Kinds, by the end of a pair's origin:

- `claim`: a claim that our extractor makes of a passage's sentence; supported;
- `number`, `month`, `counted`, `name`, `negation`, `antonym`: that claim with one fact changed;
  refuted. Pairs that differ in one fact are what MiniCheck (Tang et al. 2024) trains on; theirs are
  written by a language model, these by rules;
- `exchanged`: two names of the claim exchanged, refuted or only not supported; the same claim
  beside a passage in which both are exchanged is supported;
- `removed`, `half`: the sentence that says the claim, or half of it, removed; noans;
- `cut`: a trailing phrase cut from the passage, noans, or from the claim, supported;
- `other`: the passage of the page that is most like the claim; noans;
- `fact`: what a page opens with (birth, year, director, place) in other words, supported; another
  name or year of the page, refuted; the same of a page of the same kind, noans;
- `relative`: what happened to a relative, or to the body or a statue, claimed of the subject;
- `subject`: a page and a sentence on another subject of the same kind, which is claimed of the
  page's subject, noans, or of its own, supported.
"""

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from pathlib import Path

from rank_bm25 import BM25Okapi

from benchmarks.verifier_training.pairs import Labelled, left_to_tests
from benchmarks.verifier_training.relations import role_pairs
from benchmarks.verifier_training.texts import (
    COUNTRIES,
    FAMILIES,
    FIRST,
    TOWNS,
    wordings,
    words_of,
)
from ufo.indexes.blocks import process_block
from ufo.indexes.reader import Slice, read_blocks
from ufo.transforms.english.words import STOP_WORDS
from ufo.transforms.extraction.by_rules import extract
from ufo.transforms.sentences import segment
from ufo.transforms.verifiers.bundled.encoding import content
from ufo.transforms.verifiers.verifier import Pair

_DUMP = "enwiki/enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
_CLAIMS = 3
"""Of a passage, at most."""
_WORDS = (4, 40)
_SAID = 0.75
"""Share of a claim's content from which a passage may well say it: no pair is made with it."""


_MONTHS = [date(2000, month, 1).strftime("%B") for month in range(1, 13)]
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)})\b")
_NUMBER = re.compile(r"\b\d+(?:,\d{3})*(?:\.\d+)?\b")
_YEAR = re.compile(r"\b(?:1[1-9]|20)\d\d\b")
_COUNTS = words_of("counts")
_ORDINALS = words_of("ordinals")
_NAME = re.compile(r"\b(?:[A-Z][\w'’-]+)(?: (?:of |de |von |the )?[A-Z][\w'’-]+)*")
_BE = re.compile(r"\b(is|was|are|were|has|had|can|will)\b( not\b)?")
_PAST = re.compile(r"\b([a-z]{3,}ed)\b")
_VERB = re.compile(
    r"\b(?:[a-z]{2,}(?:ed|ing)|[a-z]+ by|won|lost|beat|led|met|gave|took|wrote|to)\b"
)
_MUTUAL = re.compile(
    r"^,? ?(?:and|or|with|&|,)|\b(?:and|or|both|between|married|marry|met|with|co-\w+|friends?"
    r"|brothers?|sisters?|cousins?|duets?|alongside|versus|opposite|includ\w+|well as)\b"
)
"""Between two names: what holds of both, so that they may be exchanged."""
_PHRASE = re.compile(
    r"(?<!located)(?<!based)(?<!held)(?<!known)(?<!used) "
    r"(?:in|at|on|during|after|before|from|by|until) [^,;()]{4,60}(?=\.$)"
)
_COUNTED = re.compile(rf"\b({'|'.join([*_COUNTS, *_ORDINALS])})\b")
_PRONOUNS = words_of("pronouns")
_WORD = re.compile(r"\w+")
_KIND = re.compile(rf"\b({'|'.join(words_of('kinds'))})\b")
_DATE = rf"((?:(?:{'|'.join(_MONTHS)}) \d{{1,2}}, |\d{{1,2}} (?:{'|'.join(_MONTHS)}) )?\d{{4}})"
_BORN = re.compile(rf"\([^()]{{0,60}}?\b(?:born )?{_DATE}(?:\)| ?[–-])")
_HUMAN = re.compile(
    r"\b(?:[Hh]e|[Ss]he|[Hh]is|[Hh]er)\b|\b(?:is|was) an? [^.]*\w(?:er|or|ist|ian|man|ress)\b"
)
_FACTS = [(re.compile(key.replace("{D}", _DATE)), said) for key, said in wordings("facts")]
_RELATIVES = sorted(wordings("relatives"))
_KIN = words_of("kin")
_KIN_REAL = re.compile(
    rf"^(?:His|Her) (?:\w+ )?(?:{'|'.join(_KIN)}),?(?: [A-Z]\w+| [A-Z]\.)*,? "
    r"((?:was|is|had|won|died|worked|served|played|moved|became|taught|studied) .+)$"
)
_OPPOSITES: dict[str, str] = {}
for _one, _other in (pair.split("/") for pair in words_of("opposites")):
    _OPPOSITES |= {_one: _other, _other: _one}


@dataclass(frozen=True, slots=True)
class Article:
    """A passage with the title of its page."""

    title: str
    text: str

    @property
    def name(self) -> str:
        """Return the title without what it says in brackets."""
        return self.title.split(" (")[0]

    @property
    def kind(self) -> str:
        """Return what the page is about, by its opening; empty where that is not known."""
        opening = self.text[:250]
        of_person = self.name.split()[-1] in opening[:60] and _HUMAN.search(self.text)
        if " " in self.name and of_person and _BORN.search(opening[:150]):
            return "person"
        found = re.search(r"\b(?:is|was|are|were) (?:an?|the) ([^.]*)", opening)
        noun = _KIND.search(found[1]) if found else None
        return noun[1] if noun else ""


def articles_of(data: Path) -> list[Article]:
    """Return the passages of HotpotQA and of the dump, without what is left to the tests."""
    with (data / "hotpotqa" / "passages.jsonl").open(encoding="utf-8") as file:
        found = [Article(row["title"], row["text"]) for row in map(json.loads, file)]
    names = [one.name for one in found if left_to_tests(one.title) and " " in one.name]
    for block in read_blocks(Slice(0, str(data / _DUMP))):
        found += [Article(one.title, one.text) for one in process_block(block).passages]
    return [
        one
        for one in found
        if not left_to_tests(one.title) and not any(name in one.text for name in names)
    ]


def made_pairs(data: Path, seed: int) -> list[Labelled]:
    """Return all pairs that are made, the same for the same seed."""
    articles = articles_of(data)
    spans = [(one.text, segment(one.text)[1:3]) for one in articles[::3]]
    sentences = [text[span.start : span.end] for text, of in spans for span in of]
    others = [text for text in sentences if 5 < len(text.split()) < 25]
    return [*synthetic(articles, seed), *role_pairs(others, seed)]


def synthetic(articles: Sequence[Article], seed: int) -> list[Labelled]:
    """Return the pairs of all passages, the same for the same seed."""
    corpus = _Corpus(articles)
    found: list[Labelled] = []
    for row, article in enumerate(articles):
        chance = random.Random(f"{seed} {row} {article.title}")
        sentences, claims = corpus.read(row)
        for claim, passage, label, how in _of_passage(row, sentences, claims, corpus, chance):
            title = article.title
            if isinstance(passage, Article):
                title, passage = passage.title, passage.text
            pair = Pair(claim, passage, title if chance.random() < 0.5 else "")
            found.append(Labelled(pair, label, f"made_{how}", f"wiki-{article.title}"))
    return found


_Made = Iterator[tuple[str, str | Article, str, str]]
"""Claim, passage (an Article where it is of another page), label and kind."""


def _of_passage(
    row: int,
    sentences: Sequence[str],
    claims: Sequence[tuple[int, str]],
    corpus: "_Corpus",
    chance: random.Random,
) -> _Made:
    article, text = corpus.articles[row], " ".join(sentences)
    for index, claim in chance.sample(claims, min(_CLAIMS, len(claims))):
        yield from _of_claim(row, index, claim, sentences, corpus, chance)
        others = [(at, one) for at, one in claims if at != index and one != claim]
        if others and chance.random() < 0.3:
            at, second = chance.choice(others)
            joined = _joined(claim, second)
            without = " ".join(one for place, one in enumerate(sentences) if place != at)
            if joined and chance.random() < 0.5:
                yield joined, text, "supported", "joined"
            elif joined and _share(second, without) < _SAID:
                yield joined, without, "noans", "half"
    for _, claim in claims:
        for names, label in _exchangeable(claim, corpus.given, corpus.families[article.title]):
            if label == "refuted" or chance.random() < 0.35:
                swapped, crossed = _swap(claim, *names), Article("", _swap(text, *names))
                for of, passage, says in (
                    (claim, text, "supported"),
                    (swapped, text, label),
                    (swapped, crossed, "supported"),
                    (claim, crossed, label),
                ):
                    yield of, passage, says, "exchanged"
    like = corpus.same_kind(row, chance)
    other = None if like is None else corpus.articles[like]
    yield from _facts(article, text, other, corpus.given, chance)
    if article.kind == "person":
        yield from _relatives(article, sentences, chance)
    if like is not None and other is not None:
        others = corpus.read(like)[1]
        yield from _subjects(article, other, claims, others, sentences, corpus, chance)


def _of_claim(
    row: int,
    index: int,
    claim: str,
    sentences: Sequence[str],
    corpus: "_Corpus",
    chance: random.Random,
) -> _Made:
    text = " ".join(sentences)
    rest = " ".join(one for at, one in enumerate(sentences) if at != index)
    if chance.random() < 0.5:
        yield claim, text, "supported", "claim"
    changed = changes(claim, text, corpus.names, chance)
    if changed:
        kinds = sorted(changed)
        how = chance.choices(kinds, [0.25 if kind == "negation" else 1.0 for kind in kinds])[0]
        yield changed[how], text, "refuted", how
    if rest and _share(claim, rest) < _SAID and chance.random() < 0.4:
        yield claim, rest, "noans", "removed"
    if chance.random() < 0.3:
        other = corpus.like(claim, row)
        if other and _share(claim, other.text) < _SAID:
            yield claim, other, "noans", "other"
    phrase = _PHRASE.search(claim)
    if phrase and len(claim[: phrase.start()].split()) > 5 and chance.random() < 0.5:
        shorter = claim[: phrase.start()] + "."
        without = text.replace(phrase[0], "")
        if without != text and _share(phrase[0], without) < 0.5:
            yield claim, without, "noans", "cut"
        yield shorter, text, "supported", "cut"


def _facts(
    article: Article, text: str, like: Article | None, given: Collection[str], chance: random.Random
) -> _Made:
    for pattern, ways in _FACTS:
        found = pattern.search(article.text[:300])
        if not found or found[1] in article.name:
            continue
        value, said = found[1], chance.choice(ways)
        if value[-1].isdigit() and chance.random() < 0.5:
            value = value[-4:]
        yield said.format(t=article.name, v=value), text, "supported", "fact"
        other = _other_value(value, text, given, chance)
        if other:
            yield said.format(t=article.name, v=other), text, "refuted", "fact"
        if like is not None and like.name not in text and article.name not in like.text:
            about = article.name if chance.random() < 0.5 else like.name
            passage = like if about == article.name else article
            yield said.format(t=about, v=value), passage, "noans", "fact"


def _other_value(value: str, text: str, given: Collection[str], chance: random.Random) -> str:
    """Return another year or name, one of the page if it has one."""
    if not value[-1].isdigit():
        pool = [one for one in _people(text, given) if one not in value and value not in one]
        return chance.choice(pool) if pool and " " in value else ""
    years: list[str] = [year for year in _YEAR.findall(text) if year != value[-4:]]
    if not years or chance.random() < 0.4:
        years = [str(int(value[-4:]) + chance.choice((-20, -7, -3, -1, 1, 2, 5, 10, 30)))]
    return value[:-4] + chance.choice(years)


def _relatives(article: Article, sentences: Sequence[str], chance: random.Random) -> _Made:
    opening, rest = sentences[0], list(sentences[1:4])
    name, text = article.name, " ".join(sentences)
    she = len(re.findall(r"\b(?:[Ss]he|[Hh]er)\b", text)) > len(
        re.findall(r"\b[Hh](?:e|is)\b", text)
    )
    for sentence, (of_subject, of_other) in chance.sample(_RELATIVES, 2):
        parts = {
            "g": chance.choice(("Her" if she else "His", f"{name}'s")),
            "r": chance.choice(_KIN),
            "n": f"{chance.choice(FIRST)} {chance.choice([*FAMILIES, name.split()[-1]])}",
            "p": chance.choice(TOWNS),
            "y": str(chance.randrange(1850, 2015)),
            "o": "her" if she else "him",
            "t": name,
        }
        made = f"{sentence.format(**parts)}."
        own = chance.random() < 0.5
        around = [*rest[: chance.randrange(3)], made]
        passage = " ".join([opening, *around] if own or parts["g"] in ("His", "Her") else around)
        born = "was born in {y}" in of_subject and _BORN.search(passage)
        died = "died in {y}" in of_subject and re.search(r"\d{4} ?[–-][^()]*\d{4}\)", passage)
        if parts["y"] not in " ".join([opening, *rest]):
            label = "refuted" if born or died else "noans"
            yield _sentence(of_subject.format(**parts)), passage, label, "relative"
        yield _sentence(of_other.format(**parts)), passage, "supported", "relative"
    for sentence in sentences:
        found = _KIN_REAL.match(sentence)
        if found:
            yield f"{name} {found[1]}", text, "noans", "relative"


def _subjects(
    article: Article,
    like: Article,
    own: Sequence[tuple[int, str]],
    others: Sequence[tuple[int, str]],
    sentences: Sequence[str],
    corpus: "_Corpus",
    chance: random.Random,
) -> _Made:
    """Yield a page with a sentence on another subject among its own."""
    told = [one for at, one in others if at and like.name in one]
    if not told or article.name in like.text or like.name in article.text:
        return
    said = chance.choice(told)
    kept = sentences[: chance.choice((1, 2, 3))]
    at = chance.randrange(1, len(kept) + 1)
    passage = " ".join([*kept[:at], said, *kept[at:]])
    claimed = said.replace(like.name, article.name)
    if _share(claimed.replace(article.name, ""), " ".join(kept)) < 0.5:
        yield claimed, passage, "noans", "subject"
        yield said, passage, "supported", "subject"
        yield claimed, like, "noans", "subject"
    kept_claims = [one for place, one in own if place < len(kept)]
    if kept_claims:
        claim = chance.choice(kept_claims)
        changed = changes(claim, passage, corpus.names, chance)
        changed.pop("negation", None)
        if changed:
            yield changed[chance.choice(sorted(changed))], passage, "refuted", "subject"


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
    }
    return {how: text for how, text in made.items() if text and text != claim}


def _other_number(claim: str, chance: random.Random) -> str:
    found = list(_NUMBER.finditer(claim))
    if not found:
        return ""
    number = chance.choice(found)
    digits = number[0].replace(",", "")
    value = float(digits)
    if _YEAR.fullmatch(number[0]):
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
    return _swapped(_COUNTED, claim, _ORDINALS if found[0] in _ORDINALS else _COUNTS, chance)


def _kind_of(text: str, name: re.Match[str]) -> str:
    """Return the word before a name and whether it has several words, as what it may name."""
    before = _WORD.findall(text[max(0, name.start() - 30) : name.start()])
    return f"{before[-1].lower() if before else ''} {' ' in name[0]}"


def _names_by_kind(articles: Sequence[Article]) -> dict[str, list[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for article in articles:
        for name in _NAME.finditer(article.text):
            if name.start() and name[0].lower() not in STOP_WORDS:
                found[_kind_of(article.text, name)].add(name[0])
    return {kind: sorted(values) for kind, values in found.items() if len(values) > 4}


def _other_name(
    claim: str, passage: str, names: dict[str, list[str]], chance: random.Random
) -> str:
    found = [name for name in _NAME.finditer(claim) if name.start() and name[0] not in _MONTHS]
    if not found:
        return ""
    name = chance.choice(found)
    near = [n[0] for n in _NAME.finditer(passage) if n.start() and n[0] not in claim]
    like = names.get(_kind_of(claim, name), [])
    known = chance.sample(like, min(5, len(like)))
    # A name of the passage itself is the harder change.
    pool = near if near and chance.random() < 0.4 else [o for o in known if o not in passage]
    pool = [o for o in pool if o.lower() not in STOP_WORDS and o not in _MONTHS]
    if not pool:
        return ""
    return claim[: name.start()] + chance.choice(pool) + claim[name.end() :]


def _negated(claim: str) -> str:
    found = _BE.search(claim)
    if found:
        word = found[1] if found[2] else f"{found[1]} not"
        return claim[: found.start()] + word + claim[found.end() :]
    past = _PAST.search(claim)
    return f"{claim[: past.start()]}never {claim[past.start() :]}" if past else ""


def _opposite(claim: str, chance: random.Random) -> str:
    found = [word for word in re.finditer(r"\b[a-z]+\b", claim) if word[0] in _OPPOSITES]
    if not found:
        return ""
    word = chance.choice(found)
    return claim[: word.start()] + _OPPOSITES[word[0]] + claim[word.end() :]


def _people(text: str, given: Collection[str], families: Collection[str] = ()) -> list[str]:
    """Return the people that a text names: in full, by a known given name, or by the family's."""
    names = [name[0].removesuffix("'s").removesuffix("’s") for name in _NAME.finditer(text)]
    return [
        name
        for name in names
        if name in families
        or (name.split()[0] in given and 2 <= name.count(" ") + 1 <= 3 and " the " not in name)
    ]


def _exchangeable(
    claim: str, given: Collection[str], families: Collection[str]
) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield pairs of names that a verb stands between, and what the claim is once they change.

    That is refuted for two people and two countries, and not supported for other names.
    """
    found = [
        name[0].removeprefix("The ")
        for name in _NAME.finditer(claim)
        if name.start() or " " in name[0]
    ]
    countries = [name for name in found if name in COUNTRIES]
    others = [name for name in found if name.lower() not in STOP_WORDS and name not in _MONTHS]
    people = _people(claim, given, families)
    for names, label in ((people, "refuted"), (countries, "refuted"), (others, "not")):
        for one, other in pairwise(names):
            start, end = claim.index(one) + len(one), claim.index(other)
            if claim.count(one) == claim.count(other) == 1 and start < end:
                between = claim[start:end]
                if _VERB.search(between) and not _MUTUAL.search(between):
                    yield (one, other), label
                    return


def _swap(text: str, one: str, other: str) -> str:
    """Return a text with two names exchanged wherever they stand."""
    names = re.compile(rf"\b(?:{re.escape(one)}|{re.escape(other)})\b")
    return names.sub(lambda name: other if name[0] == one else one, text)


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


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


class _Corpus:
    """All passages: their claims, their names, and which are like another."""

    def __init__(self, articles: Sequence[Article]) -> None:
        self.articles = articles
        self.names = _names_by_kind(articles)
        kinds = [article.kind for article in articles]
        self.given = frozenset(FIRST) | {
            one.title.split()[0]
            for one, kind in zip(articles, kinds, strict=True)
            if kind == "person" and " " in one.title
        }
        self.given -= set(words_of("not given"))
        self.families: dict[str, set[str]] = defaultdict(set)
        for one in articles:
            people = _people(one.text, self.given)
            self.families[one.title] |= {name.split()[-1] for name in people} - {*_MONTHS}
        self._by_kind: dict[str, list[int]] = defaultdict(list)
        for row, kind in enumerate(kinds):
            self._by_kind[kind].append(row)
        self._kinds = kinds
        documents = [_WORD.findall(f"{one.title} {one.text}".lower()) for one in articles]
        self._index = BM25Okapi(documents)
        self._rows: dict[str, list[int]] = defaultdict(list)
        for row, words in enumerate(documents):
            for word in set(words):
                self._rows[word].append(row)

    def read(self, row: int) -> tuple[list[str], list[tuple[int, str]]]:
        """Return the sentences of a passage, and its claims with the index of their sentence."""
        article = self.articles[row]
        sentences = [article.text[span.start : span.end] for span in segment(article.text)]
        return sentences, [
            (unit.sentence_index, unit.claim)
            for unit in extract(sentences, f"Tell me about {article.title}.")
            if _WORDS[0] <= len(unit.claim.split()) <= _WORDS[1]
            and unit.claim.split()[0].lower() not in _PRONOUNS
        ]

    def same_kind(self, row: int, chance: random.Random) -> int | None:
        """Return another passage on a subject of the same kind, by chance."""
        kind = self._kinds[row]
        rows = [one for one in self._by_kind[kind] if one != row] if kind else []
        return chance.choice(rows) if rows else None

    def like(self, claim: str, own: int) -> Article | None:
        """Return the best passage of another page by BM25 over the claim's rarer words."""
        words = [word for word in content(claim) if len(self._rows.get(word, ())) < 400]
        candidates = Counter(row for word in words for row in self._rows.get(word, ()))
        title = self.articles[own].title
        rows = [row for row, _ in candidates.most_common(30) if self.articles[row].title != title]
        if not rows:
            return None
        scores = self._index.get_batch_scores(words, rows)
        return self.articles[rows[max(range(len(rows)), key=lambda at: scores[at])]]
