"""Analyse words for the offline judge: kind, stem, and how much a match of the word counts.

Every distinct surface form is analysed once, and every distinct run of characters between spaces
is cut into words once; both are cached in bounded tables, so that the cost of a text is about
one dict look-up a word.
"""

import re
import unicodedata
from itertools import chain
from typing import Final

import Stemmer

from ufo.transforms.english import frequency, lexicon, units
from ufo.transforms.english.grammar import Memo
from ufo.transforms.english.opposites import OPPOSITES
from ufo.transforms.english.verbs import AUXILIARIES, PARTICIPLES, PAST, THIRD

STOP: Final = 0
CONTENT: Final = 1
CARDINAL: Final = 2
ORDINAL: Final = 3
SPAN: Final = 4  # A decade: 1990s.

_MAX_CACHED: Final = 200_000
_MAX_WORD: Final = 64
_NONE: Final[frozenset[str]] = frozenset()
RARE: Final = 1.2
COMMON: Final = 0.8
VERY_COMMON: Final = 0.4
NUMBER: Final = 1.0

TOKEN: Final = re.compile(
    r"[a-z]++(?![^\W_]|['’])"  # most words, first because it is fast
    r"|\d{4}-\d\d-\d\d(?!\d)"  # an ISO date stays one token
    r"|\d++(?:[.,]\d++){0,8}(?:(?:st|nd|rd|th|s)?(?![^\W_])|(?=(?:[kcm]?m|[km]?g|lbs?|ft|%)\b))"
    r"|(?:[A-Z]\.){2,}"  # U.S.
    r"|°\s?[CFcf](?![^\W_])"
    r"|[A-Z](?:#|\+\+)"  # C++
    r"|[^\W_]+(?:['’][^\W_]+)*"
    r"|[%$€£¥]"
)
_ISO_DATE: Final = r"\d{4}-\d\d-\d\d"
_NUMBER: Final = re.compile(r"(\d+(?:[.,]\d+)*)(st|nd|rd|th|s)?")
_SCALED: Final = r"(\d+)(K|M|B|bn)"  # "a 7B model"; "5m" is a length
_THOUSANDS: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"

_stemmer: Final = Stemmer.Stemmer("english", 0)
_stem: Final = _stemmer.stemWord


class Word:
    """One surface form as written, folded (`lower`) and stemmed. Never changed.

    `value` is a number's value, None for all else; `ulp` the size of one unit in its last digit (1
    for "12", 0.1 for "1.4"). A number or date can start at a `numeric` word; a `negative` one turns
    the statement around; `opposites` are its antonyms. A `finite` one can be a clause's verb: an
    auxiliary or a form that is known or looks regular. A `named` one has a capital and is no
    function word and no month.
    """

    # No tuple and no dataclass: these attributes are read by the hundred for every claim.
    __slots__ = (
        "capital",
        "finite",
        "kind",
        "lower",
        "named",
        "negative",
        "numeric",
        "opposites",
        "stem",
        "surface",
        "ulp",
        "value",
        "weight",
    )

    def __init__(
        self,
        surface: str,
        lower: str,
        stem: str,
        kind: int,
        weight: float,
        capital: bool,
        value: float | None = None,
        ulp: float = 1.0,
    ) -> None:
        self.surface = surface
        self.lower = lower
        self.stem = stem
        self.kind = kind
        self.weight = weight
        self.capital = capital
        self.value = value
        self.ulp = ulp
        month = lower in units.MONTHS
        self.numeric = kind >= CARDINAL or month
        self.negative = lower in lexicon.NEGATORS or lower in lexicon.NEGATIVE_VERBS
        self.opposites = OPPOSITES.get(lower, _NONE)
        verb = kind == CONTENT and not capital and _is_verb(lower)
        self.finite = verb or (kind == STOP and lower in AUXILIARIES)
        self.named = capital and kind != STOP and not month


def _canonical_stems() -> dict[str, str]:
    """Words whose stem is given by a list instead of by suffix rules; the earlier line wins."""
    stems: dict[str, str] = {}
    lines = (lexicon.SYNONYMS + lexicon.DEMONYMS.replace("|", "\n")).split("\n")
    for words in filter(None, map(str.split, lines)):
        stem = _stem(words[0])
        for word in words:
            stems.setdefault(word, stem)
    for word, canonical in lexicon.ABBREVIATIONS.items():
        stems[word] = _stem(canonical)
    return stems


_VERBS: Final = PAST | PARTICIPLES | THIRD
_CANONICAL: Final = _canonical_stems()
_WEIGHTS: Final = {
    stem: weight
    for words, weight in ((frequency.COMMON, COMMON), (frequency.VERY_COMMON, VERY_COMMON))
    for stem in _stemmer.stemWords(list(words))
}


def fold(surface: str) -> str:
    """Lower case, without accents, possessive endings and the dots of an abbreviation."""
    lower = surface.lower()
    if not lower.isascii():
        lower = "".join(
            c for c in unicodedata.normalize("NFKD", lower) if not unicodedata.combining(c)
        ).replace("’", "'")
    if lower.endswith("'s"):
        lower = lower[:-2]
    return lower.replace(".", "") if lower.endswith(".") else lower


def _number(surface: str) -> Word | None:
    scaled = re.fullmatch(_SCALED, surface) if surface[-1].isalpha() else None
    if scaled:
        value = float(scaled[1]) * units.SUFFIXES[scaled[2]]
        return Word(surface, surface.lower(), f"{value:g}", CARDINAL, NUMBER, False, value)
    found = _NUMBER.fullmatch(surface)
    if not found:
        return None
    digits, suffix = found.groups()
    if "," in digits and re.fullmatch(_THOUSANDS, digits):
        digits = digits.replace(",", "")
    digits = digits.replace(",", ".")
    if digits.count(".") > 1 or len(digits) > 30:
        return None
    value = float(digits)
    decimals = len(digits.partition(".")[2])
    kind = {None: CARDINAL, "s": SPAN}.get(suffix, ORDINAL)
    stem = f"{value:g}" + {CARDINAL: "", SPAN: "s", ORDINAL: "th"}[kind]
    return Word(surface, surface.lower(), stem, kind, NUMBER, False, value, 10.0**-decimals)


def _recognise(surface: str) -> Word:
    if surface[0].isdecimal() and surface.isascii():
        if "-" in surface and re.fullmatch(_ISO_DATE, surface):
            return Word(surface, surface, surface, CARDINAL, NUMBER, False)
        number = _number(surface)
        if number:
            return number
    lower = fold(surface)
    if not lower:
        return Word(surface, surface, surface, STOP, 0.0, False)
    capital = surface[0].isupper()
    abbreviation = surface.isupper() and lower in lexicon.ABBREVIATIONS
    if lower in lexicon.STOP_WORDS and not abbreviation:
        return Word(surface, lower, lower, STOP, 0.0, capital)
    if lower in units.NUMBER_WORDS:
        value = units.NUMBER_WORDS[lower]
        return Word(surface, lower, f"{value:g}", CARDINAL, NUMBER, capital, value)
    if lower in units.ORDINAL_WORDS:
        value = units.ORDINAL_WORDS[lower]
        return Word(surface, lower, f"{value:g}th", ORDINAL, NUMBER, capital, value)
    stem = _stem(lower)
    weight = _WEIGHTS.get(stem, RARE)
    if abbreviation or lower != "us":
        stem = _CANONICAL.get(lower, stem)
    return Word(surface, lower, stem, CONTENT, weight, capital)


def _is_verb(lower: str) -> bool:
    regular = len(lower) > 4 and lower.endswith("ed") and lower not in ("hundred", "indeed")
    return lower in _VERBS or (regular and lower[-3] != "e")


def analyse(surface: str) -> Word:
    """Return the word that a surface form of at least one character stands for. Never raises."""
    return _recognise(surface[:_MAX_WORD])


class _CachedWords(dict[str, Word]):
    """Surface form -> Word; emptied when full, which is simpler and faster than evicting."""

    def __missing__(self, surface: str) -> Word:
        if len(self) >= _MAX_CACHED:
            self.clear()
        word = self[surface] = analyse(surface)
        return word


_WORDS: Final = _CachedWords()


def _words_of(text: str) -> list[Word]:
    return [_WORDS[token] for token in TOKEN.findall(text)]


_between_spaces: Final = Memo(_words_of).__getitem__


def read(text: str) -> list[Word]:
    """Return the words of a text, in order, punctuation left out."""
    if "°" in text:  # The only token that may have a space in it: "° C".
        return _words_of(text)
    return list(chain.from_iterable(map(_between_spaces, text.split())))
