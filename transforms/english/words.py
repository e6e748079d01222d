"""Read the words of a text for comparing it with another: what counts, and in which form.

Every distinct surface form is analysed once and kept in a bounded table, so that a text costs about
one dict look-up a word.
"""

import re
import tomllib
import unicodedata
from importlib.resources import files
from itertools import chain
from typing import Final

import Stemmer

from ufo.transforms.english.grammar import Memo, is_finite

LISTS: Final[dict[str, str]] = tomllib.loads(
    (files("ufo.transforms.english") / "lexicon.toml").read_text(encoding="utf-8")
)
"""Each list as it is written, by its name."""

STOP_WORDS: Final = frozenset(LISTS["stop_words"].split())
NEGATORS: Final = frozenset(LISTS["negators"].split())
VERY_COMMON: Final = frozenset(LISTS["very_common"].split())
COUNTRIES: Final = {
    word: words[0] for words in map(str.split, LISTS["demonyms"].split("|")) for word in words
}
"""A country's name or adjective -> its name."""

# "one" is left out: it is nearly always a pronoun ("one of the …").
NUMBER_WORDS: Final = (
    {word: float(value) for value, word in enumerate(LISTS["ones"].split()) if word != "one"}
    | {word: 10.0 * tens for tens, word in enumerate(LISTS["tens"].split(), 2)}
    | {"dozen": 12.0}
)
ORDINALS: Final = {word: float(value) for value, word in enumerate(LISTS["ordinals"].split(), 1)}
SCALES: Final = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
MONTHS: Final = {
    name: number
    for number, month in enumerate(LISTS["months"].split(), 1)
    for name in (month, month[:3])
} | {"sept": 9}

TOKEN: Final = re.compile(
    r"[a-z]++(?![^\W_]|['’])"  # most words, first because it is fast
    r"|\d{4}-\d\d-\d\d(?!\d)"  # an ISO date stays one token
    r"|\d++(?:[.,]\d++)*(?:st|nd|rd|th|s)?(?![^\W_])"
    r"|(?:[A-Z]\.){2,}"  # U.S.
    r"|[^\W_]+(?:['’][^\W_]+)*"
    r"|[%$€£¥°]"
)
"""A word, a number, or a sign that says what a number counts."""
_NUMBER: Final = re.compile(r"(\d+(?:[.,]\d+)*)(st|nd|rd|th|s)?")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_LONGEST: Final = 64
_CLOSING: Final = frozenset(",;:.!?)]—–")
_CLOSED: Final = ","  # what marks the last word before such a character
COMMON: Final = 0.5
"""What a match of a word counts that is frequent in all prose; of any other word it counts 1."""

_stemmer: Final = Stemmer.Stemmer("english", 0)
_stem: Final = _stemmer.stemWord
_VERY_COMMON: Final = frozenset(_stemmer.stemWords(list(VERY_COMMON)))


class Word:
    """One surface form as written, folded (`lower`), and the `key` by which it is compared.

    A function word has no `weight`. `value` is a number's, None for all else; `kind` is "" for
    words, else "number", "ordinal", "decade" or "date" (in ISO 8601). A number or date can begin at
    a `numeric` word. A `named` one has a capital and is no function word, a `plain` one is neither
    of these, and a `finite` one can be the verb of a clause. After one that `closes` comes a comma,
    a bracket or the like.
    """

    # No tuple and no dataclass: these attributes are read by the hundred for every claim.
    __slots__ = ("closes", "finite", "key", "kind", "lower", "named", "numeric", "plain", "surface",
                 "value", "weight")  # fmt: skip

    def __init__(self, token: str) -> None:
        self.closes = token[-1] == _CLOSED
        surface = self.surface = token.removesuffix(_CLOSED)
        self.lower = self.key = fold(surface)
        self.value, self.kind = _number(surface, self.lower)
        stop = not self.kind and self.lower in STOP_WORDS and surface != "US"
        if self.kind:
            self.key = f"{self.value:g} {self.kind}" if self.value is not None else surface
        elif not stop:
            self.key = _stem(COUNTRIES.get(self.lower, self.lower))
        common = self.key in _VERY_COMMON
        self.weight = 0.0 if stop else COMMON if common and not self.kind else 1.0
        capital = surface[0].isupper()
        month = self.lower in MONTHS
        self.numeric = month or self.kind != ""
        self.named = capital and not stop and not self.numeric
        self.plain = self.weight > 0 and not self.kind and not self.named
        self.finite = is_finite(surface)


def fold(surface: str) -> str:
    """Return a word in lower case, without accents, possessive ending and the dots of "U.S."."""
    lower = surface.lower()
    if not lower.isascii():
        plain = unicodedata.normalize("NFKD", lower).replace("’", "'")
        lower = "".join([c for c in plain if not unicodedata.combining(c)]) or lower
    return lower.removesuffix("'s").replace(".", "") if lower[0].isalpha() else lower


def _number(surface: str, lower: str) -> tuple[float | None, str]:
    if lower in NUMBER_WORDS:
        return NUMBER_WORDS[lower], "number"
    if lower in ORDINALS:
        return ORDINALS[lower], "ordinal"
    found = _NUMBER.fullmatch(surface) if surface.isascii() and surface[0].isdigit() else None
    if not found:
        return None, "date" if surface[0].isdigit() and "-" in surface else ""
    digits, suffix = found.groups()
    if _THOUSANDS.fullmatch(digits):
        digits = digits.replace(",", "")
    digits = digits.replace(",", ".")
    if digits.count(".") > 1 or len(digits) > 30:
        return None, ""
    return float(digits), {None: "number", "s": "decade"}.get(suffix, "ordinal")


_WORDS: Final = Memo(Word).__getitem__


def _words_of(text: str) -> list[Word]:
    tokens = [token[:_LONGEST] for token in TOKEN.findall(text)]
    if tokens and text[-1] in _CLOSING and tokens[-1][-1] != text[-1]:
        tokens[-1] += _CLOSED
    return list(map(_WORDS, tokens))


_between_spaces: Final = Memo(_words_of).__getitem__


def read(text: str) -> list[Word]:
    """Return the words of a text, in order, punctuation left out."""
    return list(chain.from_iterable(map(_between_spaces, text.split())))
