"""Pairs about who did what to whom: two names in a relation, exchanged, or one of them another.

The relations, verbs, nouns and names are in `texts.txt`. A relation is several wordings that
say the same of A and B. A wording of the passage and another one (or the same) of the claim make a
supported pair, its twin with A and B exchanged, and one with a third name. Real sentences of other
pages stand around them.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from benchmarks.verifier_training.pairs import Labelled
from benchmarks.verifier_training.texts import COUNTRIES, FAMILIES, FIRST, LINES, TOWNS, words_of
from ufo.transforms.verifiers.verifier import Pair

_NAMES: Mapping[str, Sequence[str]] = {
    "P": [f"{one} {other}" for one in FIRST for other in FAMILIES],
    "T": [f"{town} {of}" for town in TOWNS for of in ("United", "Rovers", "Athletic")],
    "C": [f"{name} {of}" for name in FAMILIES for of in ("Motors", "Group", "Foods", "Steel")],
    "K": COUNTRIES,
    "Y": TOWNS,
    "M": [f"the {name} {of}" for name in FAMILIES for of in ("River", "Canal", "Lake")],
    "N": [f"the {name}" for name in words_of("N")],
} | {kind: words_of(kind) for kind in "ZS"}
_ROLES = words_of("roles")
_BEFORE = (
    "in {y}, ", "according to the chronicle, ", "two years later, ", "reports say that ",
    "at a meeting in {p}, ", "that winter, ", "in the spring of {y}, ", "it is known that ",
    "as the article says, ", "during a stay in {p}, ", "when the season ended, ", "for years, ",
    "the record shows that ", "to this day people tell how ", "once the doors had closed, ",
)  # fmt: skip
_AFTER = (
    " in {y}", ", as the papers reported", ", according to several sources", " in {p} in {y}",
    ", to everybody's surprise", ", which few people know", " after a long dispute", " that year",
    " and then went back to {p}", ", a fact that {c} later denied", " in front of {c}",
    " for more than thirty years", " while {c} looked on", ", and nothing more was heard of it",
    " on the last day of the fair in {p}",
)  # fmt: skip
_LATER = (
    "later moved to {p}", "retired in {y}", "was born in {p}", "wrote about it in {y}",
    "had grown up in {p}", "also worked in {p}", "turned forty in {y}", "was a friend of {c}",
)  # fmt: skip


class Relation(NamedTuple):
    """What both names may be, what the exchanged claim is, wordings, and how many passages."""

    kinds: str
    exchanged: str
    wordings: list[str]
    passages: int


def relations() -> Iterator[Relation]:
    """Yield all relations."""
    for line in LINES["relations"]:
        head, _, text = line.partition(" ")
        label = {"~": "not", "=": "supported"}.get(head[0], "refuted")
        yield Relation(head.lstrip("~="), label, text.split(" / "), 40)
    for verb in words_of("verbs"):
        past, _, done = verb.partition("/")
        active = f"A {past} B"
        wordings = [active, active, f"B was {done or past} by A", f"it was A who {past} B"]
        yield Relation("P", "not", [*wordings, f"B is the one whom A {past}"], 24)
    for noun in words_of("nouns"):
        yield Relation("P", "not", [f"A was the {noun} of B", f"B's {noun} was A"], 24)
    for line in LINES["comparatives"]:
        kinds, _, rest = line.partition(" ")
        for more, less in _comparatives(rest):
            yield Relation(kinds, "refuted", [f"A is {more} than B", f"B is {less} than A"], 24)


def _comparatives(text: str) -> Iterator[tuple[str, str]]:
    """Yield both sides of each comparative: "more" and "less" belong to the word behind them."""
    joined = text.replace("more ", "more_").replace("less ", "less_")
    for both in joined.replace("farther ", "farther_").split():
        more, _, less = both.replace("_", " ").partition("/")
        yield more, less


def role_pairs(others: Sequence[str], seed: int) -> Iterator[Labelled]:
    """Yield the pairs of every relation.

    Args:
        others: Sentences to stand around those that are made.
    """
    known = list(relations())
    same = [one for one in known if one.exchanged == "supported"]
    for relation in known:
        text = " / ".join(relation.wordings)
        chance = random.Random(f"{seed} {text}")
        for _ in range(relation.passages):
            kind = chance.choice(relation.kinds)
            one, other, third = _names(kind, chance)
            beside = [of for of in same if of.kinds == kind] if chance.random() < 0.15 else []
            around = chance.choices(others, k=chance.choice((0, 0, 1, 1, 2, 3)))
            if beside:
                wording = chance.choice(chance.choice(beside).wordings)
                around.append(_filled(wording, (other, one)) + ".")
            wording = chance.choice(relation.wordings)
            passage = _passage(wording, (one, other, third), kind, around, chance)
            claim = chance.choice(relation.wordings)
            score = f"{chance.randrange(2, 7)}–{chance.randrange(0, 2)}"
            passage, claim = (of.replace("{s}", score) for of in (passage, claim))
            if kind == "P" and chance.random() < 0.2:
                one, other, third = (name.split()[-1] for name in (one, other, third))
            swapped = (third, other) if chance.random() < 0.5 else (one, third)
            made = [((one, other), "supported"), ((other, one), relation.exchanged)]
            made += [(swapped, "noans")] if chance.random() < 0.3 else []
            origin = "made_symmetric" if relation.exchanged == "supported" else "made_roles"
            for names, label in made:
                said = Pair(_sentence(_filled(claim, names)) + ".", passage)
                yield Labelled(said, label, origin, f"relation-{text}")


def _names(kind: str, chance: random.Random) -> list[str]:
    """Return three names of a kind that share no word but "the" and what they are of."""
    while True:
        names = chance.sample(_NAMES[kind], 3)
        first = {name.removeprefix("the ").split()[0] for name in names}
        last = {name.split()[-1] for name in names}
        if len(first) == 3 and (kind != "P" or len(last) == 3):
            return names


def _passage(
    wording: str, names: Sequence[str], kind: str, around: Sequence[str], chance: random.Random
) -> str:
    """Return a text that says the relation of the first two names, among other sentences."""
    shown = [_presented(name, chance) if kind == "P" else name for name in names[:2]]
    said = _filled(wording, shown)
    if kind == "P" and wording.startswith("A ") and chance.random() < 0.2:
        rest = said.removeprefix(shown[0]).lstrip(", ")
        said = f"{names[0]}, who {rest}, {chance.choice(_LATER)}"
    else:
        said = chance.choice(_BEFORE) * (chance.random() < 0.4) + said
        said += chance.choice(_AFTER) * (chance.random() < 0.5)
    towns = [town for town in TOWNS if town not in names]
    for slot, value in (
        ("{y}", str(chance.randrange(1820, 2020))),
        ("{p}", chance.choice(towns)),
        ("{c}", names[2] if chance.random() < 0.3 else chance.choice(_NAMES["P"])),
    ):
        said = said.replace(slot, value)
    at = chance.randrange(len(around) + 1)
    said = f"{said}.".replace(",,", ",").replace(",.", ".")
    return " ".join(_sentence(text) for text in (*around[:at], said, *around[at:]))


def _presented(name: str, chance: random.Random) -> str:
    """Return a name, often with what the person is."""
    role, town = chance.choice(_ROLES), chance.choice(TOWNS)
    ways = (f"the {role} {name}", f"{name}, a {role} from {town},", f"the {town} {role} {name}")
    return chance.choice(ways) if chance.random() < 0.45 else name


def _filled(wording: str, names: Sequence[str]) -> str:
    """Return a wording with the names in the places of A and B."""
    of = {"A": names[0], "B": names[1]}
    of |= {f"{letter}'s": f"{name.split(',')[0]}'s" for letter, name in of.items()}
    return " ".join(of.get(word, word) for word in wording.split())


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
