"""Pairs about who did what to whom: two names in a relation, exchanged, or one of them another.

A line of `RELATIONS` is one relation in several wordings that say the same of A and B, by `/`.
Before them stands of what the names are, a key of `_NAMES`, and

- nothing more where the exchanged claim is refuted,
- `~` where it is only not supported: somebody who praised may be praised,
- `=` where it stays supported.

A wording of the passage and another one (or the same) of the claim make a supported pair, its twin
with A and B exchanged, and one with a third name. Real sentences of other pages stand around them.
"""

import random
from collections.abc import Iterator, Sequence

from benchmarks.verifier_training.pairs import Labelled
from ufo.transforms.verifiers.base import Pair

RELATIONS = """
P A beat B / A defeated B / B lost to A / B was beaten by A / the winner against B was A
P A beat B {s} / A won {s} against B / B lost {s} to A
P A defeated B in the final / B lost the final to A / A won the final against B
P A knocked B out in the semi-final / B was knocked out by A in the semi-final
P A lost the election to B / B won the election against A / B was elected over A
P A succeeded B as mayor / B was succeeded by A as mayor / A became mayor after B
P A replaced B as head coach / B was replaced as head coach by A / A took over from B as head coach
P A is the father of B / B's father is A / B is a child of A
P A was the mother of B / B's mother was A / B was born to A
P A is a grandparent of B / B is a grandchild of A
P A was the uncle of B / B's uncle was A / B had an uncle named A
P A adopted B / B was adopted by A / B's adoptive parent was A
P A is older than B / B is younger than A
P A was born before B / B was born after A / B is younger than A
P A died before B / B died after A
P A taught B / B was taught by A / B was a pupil of A / B's teacher was A
P A supervised the thesis of B / B wrote a thesis under A / B's supervisor was A
P A hired B / B was hired by A / B got the job from A
P A dismissed B / B was fired by A / B lost the post when A stepped in
P A employed B / B worked for A / B was employed by A / B's employer was A
P A killed B / B was killed by A / B died by the hand of A
P A shot B / B was shot by A
~P A injured B / B was injured by A
P A arrested B / B was arrested by A
~P A sued B / B was sued by A / A took B to court
~P A accused B of fraud / B was accused of fraud by A
P A defended B in court / B was defended in court by A / B's lawyer was A
~P A voted for B / B got the vote of A
~P A criticised B / B was criticised by A / B drew criticism from A
~P A praised B / B was praised by A / B earned praise from A
~P A interviewed B / B was interviewed by A / B gave an interview to A
P A directed the film in which B starred / B starred in a film directed by A
P A produced the first album of B / B's first album was produced by A
~P A wrote a biography of B / B is the subject of a biography by A
~P A wrote songs for B / B sang songs written by A
~P A influenced B / B was influenced by A / B took ideas from A
~P A inspired B / B was inspired by A
P A discovered the talent of B / B's talent was discovered by A
~P A nominated B / B was nominated by A
P A appointed B as minister / B was appointed minister by A / B became minister under A
P A promoted B to captain / B was promoted to captain by A
P A commanded the regiment in which B served / B served in the regiment commanded by A
P A crowned B / B was crowned by A
P A overthrew B / B was overthrown by A / B lost power to A
P A sent B into exile / B was exiled by A
~P A rescued B / B was rescued by A / B was saved by A
P A treated B in hospital / B was a patient of A / B's doctor was A
~P A followed B to the city / B was followed to the city by A
~P A visited B / B received a visit from A / B was visited by A
~P A wrote a letter to B / B received a letter from A
~P A dedicated a book to B / B had a book dedicated to by A
~P A proposed to B / B received a proposal of marriage from A
P A left the estate to B / B inherited the estate from A / B was the heir of A
P A sold the farm to B / B bought the farm from A
~P A lent money to B / B borrowed money from A / B owed money to A
P A finished ahead of B / B finished behind A / B came in after A
P A scored more goals than B / B scored fewer goals than A
P A earns more than B / B earns less than A
P A arrived before B / B arrived after A
P A ranks above B / B ranks below A
P A received more votes than B / B received fewer votes than A
P A won more titles than B / B won fewer titles than A
~P A scored after a pass from B / B gave the pass for a goal of A
P A coached B / B was coached by A / B trained under A / B's coach was A
~P A betrayed B / B was betrayed by A
P A imprisoned B / B was imprisoned by A
~P A recorded a song by B / B's song was recorded by A
P A played the part of B in a film / B was portrayed in a film by A
~P A challenged B to a duel / B was challenged to a duel by A
~P A helped B / B was helped by A / B had help from A
~P A advised B / B was advised by A / B sought advice from A
P A represents B as an agent / B's agent is A
P A worked as assistant to B / B employed A as an assistant / A assisted B
P A spoke after B / B spoke before A
~P A invited B to the palace / B was invited to the palace by A
P A inspected the work of B / B's work was inspected by A
T A beat B {s} / A defeated B {s} / B lost {s} to A / A won {s} against B
T A defeated B on penalties / B lost to A on penalties / B went out to A on penalties
T A eliminated B / B was eliminated by A / B was knocked out by A
T A signed the striker from B / B sold the striker to A / the striker left B for A
T A finished above B in the table / B finished below A in the table
T A hosted B / B played away at A / B travelled to A
T A has won more cups than B / B has won fewer cups than A
T A was founded earlier than B / B was founded later than A
~T A scored first against B / B went behind against A
C A acquired B / A bought B / B was acquired by A / B was taken over by A
C A is a subsidiary of B / B is the parent company of A / B owns A
C A supplies engines to B / B buys engines from A / B's engines come from A
~C A licensed a patent to B / B licensed a patent from A
~C A invested in B / B received an investment from A
C A is larger than B / B is smaller than A
C A employs more people than B / B employs fewer people than A
C A was founded before B / B was founded after A
C A was spun off from B / B spun off A
C A sells more phones than B / B sells fewer phones than A
C A was absorbed by B / B absorbed A
K A invaded B / B was invaded by A / the troops of A entered B
K A colonised B / B was a colony of A / B was ruled by A
~K A declared war on B / B received a declaration of war from A
K A exports more than B / B exports less than A
K A has a larger population than B / B has a smaller population than A
K A gained independence from B / B granted independence to A
K A occupied B / B was occupied by A / B was under the occupation of A
K A annexed B / B was annexed by A / B became part of A
K A imports oil from B / B exports oil to A / B sells oil to A
K A joined the union before B / B joined the union after A
K A ceded the island to B / B received the island from A
~K A recognised B / B was recognised by A
KY A lies north of B / B lies south of A / A is to the north of B
KY A lies east of B / B lies west of A / A is to the east of B
Y A is a suburb of B / B has a suburb called A
Y A is part of B / B includes A / A belongs to B
Y A is older than B / B is younger than A / B was founded later than A
Y A has more inhabitants than B / B has fewer inhabitants than A / fewer people live in B than in A
Y A lies higher than B / B lies lower than A
Y A was formerly called B / B is the former name of A / B was renamed A
Y A replaced B as the capital / B lost the seat of government to A / the capital moved from B to A
Y A is closer to the coast than B / B is farther from the coast than A
Y the railway was extended from A to B / B was reached by the railway from A
M A is higher than B / B is lower than A
M A is longer than B / B is shorter than A
M A flows into B / B receives the water of A / B is fed by A
M A is a tributary of B / B has a tributary named A
M A is deeper than B / B is shallower than A
M A is wider than B / B is narrower than A
N A hunts B / B is hunted by A / B is prey of A
N A is faster than B / B is slower than A
N A lives longer than B / B has a shorter life than A
N A is rarer than B / B is more common than A
Z A causes B / B is caused by A / B results from A
Z A leads to B / B follows from A / B comes from A
Z A comes before B / B comes after A
Z A is more dangerous than B / B is less dangerous than A
Z A raises the risk of B / B becomes likelier with A
S A is denser than B / B is less dense than A
S A is obtained from B / B is the source of A / B yields A
S A contains B / B is found in A
S A melts at a higher temperature than B / B melts at a lower temperature than A
=P A married B / A and B were married / B was the spouse of A
=P A is a cousin of B / A and B are cousins
=P A is a sibling of B / A and B are siblings
=P A met B / A and B met each other
=P A shared the prize with B / A and B shared the prize
=P A was a friend of B / A and B were friends
=P A wrote the book together with B / A and B wrote the book together / A and B were co-authors
=P A sang a duet with B / A and B sang a duet
=T A drew with B / A and B drew / the match between A and B ended in a draw
=C A competes with B / A and B are competitors
=K A borders on B / A and B share a border
=K A signed a treaty with B / A and B signed a treaty
=Y A is twinned with B / A and B are twin towns
=M A is as long as B / A and B have the same length
"""


def _words(text: str) -> list[str]:
    return text.split()


FIRST = _words(
    """
    Amara Anton Arjun Astrid Beatriz Bruno Camille Carlos Chidi Daria Dmitri Edith Elias Emeka
    Farah Fiona Gustav Hana Harold Ingrid Isaac Ivan Jamila Joan Joaquin Kofi Lars Laura Leila
    Lucas Magda Marcus Mei Miguel Naomi Nadia Oscar Paula Pedro Petra Rafael Rosa Ruth Samuel
    Sigrid Soren Tariq Teresa Thomas Umar Vera Viktor Walter Wei Yara Yusuf Zoe Agnes Alan Helen
    """
)
LAST = _words(
    """
    Abara Almeida Andersen Bauer Bellini Bishop Brandt Carver Castro Chen Cole Costa Dalton Diaz
    Dufour Eriksen Falk Fischer Gallo Garcia Grant Hale Hassan Hoffman Iqbal Jensen Kato Kaur
    Keller Kim Kowalski Lang Larsen Lopez Marsh Mbeki Mendes Moreau Murphy Nagy Novak Okafor Olsen
    Park Pereira Popov Quinn Rahman Reyes Rossi Sato Schmidt Silva Singh Stone Tanaka Torres Varga
    Vogel Wagner Walsh Weber Wong Young Zeller
    """
)
TOWNS = _words(
    """
    Aarhus Bergen Bilbao Bologna Bristol Brno Cardiff Cork Debrecen Dijon Dundee Freiburg Galway
    Gdansk Geneva Ghent Graz Halifax Innsbruck Izmir Kaunas Kyoto Leeds Leipzig Linz Lodz Lyon Malmo
    Mombasa Nantes Oulu Parma Pilsen Porto Pune Quito Recife Reims Riga Salta Sapporo Seville
    Tampere Tartu Toledo Trieste Turku Utrecht Uppsala Vilnius Zagreb Zurich Windhoek Accra
    """
)
COUNTRIES = _words(
    """
    Argentina Austria Belgium Bolivia Brazil Bulgaria Canada Chile Colombia Croatia Cuba Denmark
    Ecuador Egypt Ethiopia Finland France Ghana Greece Hungary Iceland India Indonesia Iran
    Ireland Italy Japan Jordan Kenya Latvia Libya Mexico Morocco Nepal Nigeria Norway Pakistan
    Paraguay Peru Poland Portugal Romania Russia Serbia Spain Sudan Sweden Syria Thailand
    Tunisia Turkey Uganda Ukraine Uruguay Vietnam Zambia
    """
)
_NAMES = {
    "P": [f"{one} {other}" for one in FIRST for other in LAST[:40]],
    "T": [f"{town} {of}" for town in TOWNS for of in _words("United Rovers Tigers Athletic")],
    "C": [f"{name} {of}" for name in LAST for of in _words("Motors Industries Group Foods")],
    "K": COUNTRIES,
    "Y": TOWNS,
    "M": [f"the {name} {of}" for name in LAST for of in ("River", "Canal", "Valley", "Lake")],
    "N": [
        f"the {animal}"
        for animal in _words(
            """
            badger bear beaver buzzard cheetah crane eagle falcon ferret fox gecko goat hare heron
            hyena jackal leopard lizard lynx marten mole newt otter owl perch pike seal shark stoat
            stork tiger toad trout vole weasel wolf
            """
        )
    ],
    "Z": _words(
        """
        anaemia anxiety arthritis asthma bronchitis cholera dehydration depression diabetes
        dizziness erosion exhaustion famine fatigue fever flooding hunger hypertension infection
        inflammation inflation insomnia malaria migraine nausea obesity pneumonia poverty smoking
        stress stroke unemployment unrest
        """
    ),
    "S": _words(
        """
        alcohol aluminium ammonia bronze calcium carbon cement chlorine clay copper cotton ethanol
        glass glucose glycerine gold graphite iodine iron lead lime magnesium mercury nickel nylon
        petroleum platinum potash rubber salt silicon silver starch sulphur tin titanium wax zinc
        """
    ),
}
_BEFORE = (
    "in {y}, ", "according to the chronicle, ", "two years later, ", "reports say that ",
    "the record shows that ", "in {p}, ", "that winter, ", "it is known that ",
    "as the article says, ",
)  # fmt: skip
_AFTER = (
    " in {y}", ", as the papers reported", ", according to several sources", " in {p} in {y}",
    ", to everybody's surprise", ", which few people know", " after a long dispute", " that year",
)  # fmt: skip
_LATER = (
    "later moved to {p}", "retired in {y}", "was born in {p}", "wrote about it in {y}",
    "had grown up in {p}", "also worked in {p}", "turned forty in {y}",
)  # fmt: skip


def role_pairs(others: Sequence[str], each: int, seed: int) -> Iterator[Labelled]:
    """Yield the pairs of every relation, made from `each` passages.

    Args:
        others: Sentences to stand around those that are made.
    """
    lines = RELATIONS.strip().splitlines()
    same: dict[str, list[list[str]]] = {kind: [] for kind in _NAMES}
    for line in lines:
        if line.startswith("="):
            same[line[1]].append(line[3:].split(" / "))
    for line in lines:
        head, _, text = line.partition(" ")
        wordings = text.split(" / ")
        label = {"~": "not", "=": "supported"}.get(head[0], "refuted")
        chance = random.Random(f"{seed} {line}")
        for _ in range(each // 2 if label == "supported" else each):
            kind = chance.choice(head.lstrip("~="))
            one, other, third = _names(kind, chance)
            passage = _passage(chance.choice(wordings), (one, other), kind, same, others, chance)
            claim = chance.choice(wordings)
            score = f"{chance.randrange(2, 7)}–{chance.randrange(0, 2)}"
            passage, claim = (text.replace("{s}", score) for text in (passage, claim))
            if kind == "P" and chance.random() < 0.15:
                one, other, third = (name.split()[-1] for name in (one, other, third))
            swapped = (third, other) if chance.random() < 0.5 else (one, third)
            made = [((one, other), "supported"), ((other, one), label)]
            made += [(swapped, "noans")] if chance.random() < 0.4 else []
            for names, says in made:
                yield Labelled(
                    Pair(_sentence(_filled(claim, names)), passage),
                    says,
                    "made_symmetric" if label == "supported" else "made_roles",
                    f"relation-{text}",
                )


def _names(kind: str, chance: random.Random) -> list[str]:
    """Return three names of a kind that share no word but "the" and what they are of."""
    while True:
        names = chance.sample(_NAMES[kind], 3)
        first = {name.removeprefix("the ").split()[0] for name in names}
        last = {name.split()[-1] for name in names}
        if len(first) == 3 and (kind != "P" or len(last) == 3):
            return names


def _passage(
    wording: str,
    names: tuple[str, str],
    kind: str,
    same: dict[str, list[list[str]]],
    others: Sequence[str],
    chance: random.Random,
) -> str:
    """Return a text that says the relation of the names, among other sentences."""
    said = _filled(wording, names)
    if kind == "P" and wording.startswith("A ") and chance.random() < 0.2:
        said = f"{names[0]}, who {said.removeprefix(names[0] + ' ')}, {chance.choice(_LATER)}"
    else:
        said = chance.choice(_BEFORE) * (chance.random() < 0.35) + said
        said += chance.choice(_AFTER) * (chance.random() < 0.35)
    around = chance.choices(others, k=chance.choice((0, 0, 1, 1, 2, 3)))
    if same[kind] and chance.random() < 0.15:
        around.append(_filled(chance.choice(chance.choice(same[kind])), names[::-1]) + ".")
    at = chance.randrange(len(around) + 1)
    sentences = [*around[:at], said + ".", *around[at:]]
    filled = [
        text.replace("{y}", str(chance.randrange(1820, 2020))).replace(
            "{p}", chance.choice([town for town in TOWNS if town not in names])
        )
        if text not in others
        else text
        for text in sentences
    ]
    return " ".join(text[0].upper() + text[1:] for text in filled)


def _filled(wording: str, names: tuple[str, str]) -> str:
    """Return a wording with the names in the places of A and B."""
    of = {"A": names[0], "B": names[1], "A's": f"{names[0]}'s", "B's": f"{names[1]}'s"}
    return " ".join(of.get(word, word) for word in wording.split())


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."
