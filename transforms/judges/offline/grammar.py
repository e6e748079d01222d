"""Word classes and small helpers that the offline extraction shares.

A sentence is handled as its whitespace-separated words, punctuation still attached, so that what
is put together from them reads as it did.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from transforms.judges.offline.verbs import AUXILIARIES, PAST, THIRD

_OUTER: Final = " \t\r\n.,;:!?\"'“”‘’«»()[]{}*_`…"

PERSON_PRONOUNS: Final = frozenset({"he", "she"})
SUBJECT_PRONOUNS: Final = frozenset("he she it they we i you this these that those".split())
POSSESSIVES: Final = frozenset("his her its their".split())
DETERMINERS: Final = frozenset(
    """the a an his her its their this that these those my our your some any no every each several
    many most all both another numerous various two three four five six seven eight nine ten
    """.split()
)
PREPOSITIONS: Final = frozenset(
    """in on at by for with from to into of off over under about after before during since until
    through throughout between among against without within along across around near behind beyond
    above below toward towards upon onto via per as despite alongside amid following including like
    """.split()
)
# What opens a clause of its own: a later verb may then not belong to the first subject.
CLAUSE_OPENERS: Final = frozenset(
    """that which who whom whose where when while because although though if unless whether how why
    what whereas once so""".split()
)
ADVERBS: Final = frozenset(
    """later then also subsequently eventually soon once finally often never always only still now
    even again already currently initially originally previously formerly recently quickly
    immediately permanently briefly successfully ultimately primarily mainly mostly largely widely
    generally usually typically commonly frequently first together thus thereby thereafter
    afterwards afterward nearly almost just further actively not best better well most
    """.split()
)
NAME_PARTICLES: Final = frozenset(
    "of the and & de da di du del della der den van von zu la le el al bin ibn dos das y e".split()
)
MONTHS: Final = frozenset(
    """january february march april may june july august september october november december
    """.split()
)
TITLES: Final = frozenset(
    """mr mrs ms miss dr prof professor sir dame lord lady king queen prince princess emperor empress
    pope president general captain saint st justice judge senator governor rev reverend chancellor
    """.split()
)
OCCUPATIONS: Final = frozenset(
    """academic activist actor actress admiral analyst anthropologist archaeologist architect artist
    astronaut astronomer astrophysicist athlete author bassist biochemist biologist botanist boxer
    broadcaster businessman businessperson businesswoman cartoonist cellist chef chemist
    choreographer cinematographer coach columnist comedian commentator composer conductor
    correspondent cricketer critic cyclist dancer designer diplomat director dj dramatist drummer
    economist editor educator engineer entertainer entrepreneur environmentalist essayist explorer
    farmer filmmaker footballer geologist geographer golfer guitarist gymnast historian host
    humanitarian illustrator industrialist inventor investor journalist judge jurist lawyer lecturer
    linguist lyricist magician manager mathematician merchant meteorologist microbiologist missionary
    model musician naturalist novelist nurse painter personality philanthropist philosopher
    photographer physician physicist pianist pilot playwright poet politician presenter priest
    printer producer professor programmer psychiatrist psychologist publisher racer rapper
    referee researcher saxophonist scholar scientist screenwriter sculptor singer skater skier
    socialite sociologist soldier songwriter singer-songwriter soprano sportsman statesman surgeon
    surveyor swimmer teacher theologian theorist translator trumpeter violinist vocalist wrestler
    writer youtuber zoologist""".split()
)
# Words that make a capitalised name that of a thing.
THING_WORDS: Final = frozenset(
    """academy agency airport alliance army association award awards bank battle bay bridge building
    bureau canal castle cathedral center centre championship church circuit city club coast college
    committee commission company conference congress constitution convention corporation council
    county court crisis cup department desert district division empire enterprise era factory
    federation festival film force foundation fund galaxy games gardens group gulf hall highway
    hospital hotel house inc institute institution island islands kingdom lake league library
    limited llc ltd magazine medal ministry mission mount mountain mountains movement museum nation
    nations network ocean office orchestra organization palace park parliament party peninsula plain
    plateau prize project province railway records region republic revolution river road school sea
    senate series service society station stadium state states street studio studios system symphony
    team telescope temple theater theatre theory times tower town treaty tribunal trophy union
    united university valley village wall war way world zoo""".split()
)
STOP_WORDS: Final = frozenset(
    """a an the this that these those some any such of in on at by for with from to into onto upon
    over under about as than then there here it its he she him her his hers they them their theirs
    we us our you your i me my who whom whose which what when where why how is are was were be been
    being am do does did has have had having can could will would may might must shall should and
    or but nor so if because while although though also not no yet both either neither each every
    all more most very just only even s t isn't aren't wasn't weren't doesn't didn't hasn't haven't
    hadn't can't couldn't won't wouldn't however therefore according
    """.split()
)
CONTENT: Final = re.compile(r"[^\W_]+(?:[.,'’\-][^\W_]+)*")


@lru_cache(maxsize=1 << 16)
def core(word: str) -> str:
    """The word without the punctuation around it, lower case."""
    return word.strip(_OUTER).lower()


def is_capital(word: str) -> bool:
    """Whether the word opens with a capital, punctuation aside."""
    return word[:1].isupper() or word.lstrip(_OUTER)[:1].isupper()


def is_finite(word: str, low: str) -> bool:
    """Whether the word can be the verb of a clause: known, and not written as a name."""
    return (low in AUXILIARIES or low in PAST or low in THIRD) and word[:1].islower()


def name_length(words: Sequence[str], start: int = 0) -> int:
    """How many words from `start` on are one capitalised name ("University of Zurich" is 3).

    The name ends with a comma or other punctuation, but for the dot of an initial or a title.
    """
    length = 0
    at = start
    while at < len(words):
        word = words[at]
        if is_capital(word):
            length = at + 1 - start
            if word[-1] in ",;:)!?" or (word[-1] == "." and len(word) > 4):
                break
        elif not (length and word in NAME_PARTICLES):
            break
        at += 1
    return length


def content_words(text: str) -> list[str]:
    """The words that carry what a text says, lower case, in order."""
    return [word for word in CONTENT.findall(text.lower()) if word not in STOP_WORDS]
