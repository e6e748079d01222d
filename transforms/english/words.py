"""Parse a text into words that can be compared with another text: their weight and form.

Its quantities are found and compared in `quantities.py`. Function words show whether a text is
English.

Every distinct surface form is analysed once and kept in a bounded table, so that a text costs about
one dict look-up a word.
"""

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from importlib.resources import files
from itertools import chain
from typing import Final

import Stemmer

from ufo.transforms.english import numerals as n
from ufo.transforms.english.grammar import BASES, Lists, Memo, is_finite, word_set
from ufo.transforms.english.numerals import Numeral

# A language is recognised from the start of the text; more would only cost time.
_SAMPLE: Final = 1000
# Compiled only for a text that may have many such letters, since that takes long.
_NOT_LATIN: Final = r"[\u0370-\u1dff\u2c00-\ua7ff\ua840-\uabff\uac00-\ufaff\U00020000-\U0003ffff]"
_ENGLISH_CODES: Final = frozenset({"en", "eng", "english"})

# Words that two languages share count for both. So "is", "in" and "a", which are also Dutch or
# Portuguese, decide nothing by themselves.
_LISTS: Final = Lists("ufo.transforms.english", "languages.toml")
_NAME_PARTICLES: Final = word_set("da de del della der di do dos du la le van von")
_WORDS: Final = {letter: word_set(text) for letter, text in _LISTS.texts.items()}
_ENGLISH: Final = _WORDS["e"]
_FOREIGN: Final = frozenset[str]().union(*_WORDS.values()) - _ENGLISH
# Function word -> the letters of its languages.
_LANGUAGES: Final = {
    word: "".join(letter for letter, words in _WORDS.items() if word in words)
    for word in _ENGLISH | _FOREIGN
}


def is_english(text: str, language: str | None = None) -> bool:
    """Return whether the offline judge may read `text`.

    `language` decides if it is given: an ISO 639 code with or without a region ("en", "en-GB",
    "eng", "de"). Constant time: only the first 1,000 characters are read.
    """
    if language and language.strip():
        return re.split("[-_]", language.strip().lower())[0] in _ENGLISH_CODES
    sample = text[:_SAMPLE]
    words = sample.split()
    if not words:
        return True
    plain = sample.isascii()
    if not plain:
        # More than a fifth is more than a Greek letter in a formula or a foreign name in brackets.
        # Such letters take more than one byte, so a few quotation marks need no search.
        most = (len(sample) - len(words)) / 5
        beyond = len(sample.encode("utf-8", "surrogatepass")) - len(sample)
        if beyond > most and len(re.findall(_NOT_LATIN, sample)) > most:
            return False
    # Most texts have no word that is only in other languages; then English has the most.
    none_foreign = _FOREIGN.isdisjoint((words[0].lower(), *words))
    if none_foreign and (plain or not _ENGLISH.isdisjoint(words)):
        return True
    # A capital inside a sentence makes a name ("Rio de Janeiro", "La Scala"), which may be from any
    # language. The first word always has a capital.
    languages = "".join([_LANGUAGES[word] for word in words if word in _LANGUAGES])
    running = [word for word in words if word[0].islower()]
    if running and len(words[0]) > 1 and not words[0][0].islower():
        languages += _LANGUAGES.get(words[0].lower(), "")
    english = languages.count("e")
    other = max(map(languages.count, set(languages)), default=0)
    if english == 0:
        other += any(not word.isascii() and word.isalpha() for word in running)
    if english < other <= 2:
        other -= sum(
            particle in _NAME_PARTICLES and first[0].isupper() and last[0].isupper()
            for first, particle, last in zip(words, words[1:], words[2:], strict=False)
        )
    return english >= other


LISTS: Final[dict[str, str]] = tomllib.loads(
    (files("ufo.transforms.english") / "lexicon.toml").read_text(encoding="utf-8")
)
"""The text of each list, by its name."""

STOP_WORDS: Final = frozenset(LISTS["stop_words"].split())
NEGATORS: Final = frozenset(LISTS["negators"].split())
VERY_COMMON: Final = frozenset(LISTS["very_common"].split())
COUNTRIES: Final = {
    word: words[0] for words in map(str.split, LISTS["demonyms"].split("|")) for word in words
}
"""The name of a country, by its name or adjective."""

TOKEN: Final = re.compile(
    r"[a-z]++(?![^\W_]|['’])"  # most words, first because it is fast
    r"|\d{4}-\d\d-\d\d(?!\d)"  # an ISO date stays one token
    r"|\d++(?:[.,]\d++)*(?:st|nd|rd|th|s)?(?![^\W_])"
    r"|(?:[A-Z]\.){2,}"  # U.S.
    r"|[^\W_]+(?:['’][^\W_]+)*"
    r"|[%$€£¥°]"
)
"""A word, a number, or a sign that says what a number counts."""
_HAS_DIGIT: Final = re.compile(r"[\d¼-¾⅐-⅞]").search
# A number that is written with spaces: "1 200 000" (thin or several), "10 – 20", "5 × 10³".
_MAY_BE_SPACED: Final = re.compile(r"[0-9]\s[–±×0-9-]").search
_SPACED: Final = re.compile(
    r"(?<![\d.,])\d{1,3}(?:(?:[\u00a0\u2007\u2009\u202f]\d{3})+|(?: \d{3}){2,})(?!\d)"
    r"|(?<=\d) [–±×-] (?=\d)"
)
_LONGEST: Final = 64
_CLOSING: Final = frozenset(",;:.!?)]—–")
_CLOSED: Final = ","  # what marks the last word before such a character
COMMON: Final = 0.5
"""The weight of a word that is frequent in all prose; any other word weighs 1."""

_stemmer: Final = Stemmer.Stemmer("english", 0)
_stem: Final = _stemmer.stemWord
_SAME_WORD: Final = COUNTRIES | BASES
_VERY_COMMON: Final = frozenset(_stem(_SAME_WORD.get(word, word)) for word in VERY_COMMON)


class Word:
    """One surface form as written, folded (`lower`), and the `key` by which it is compared.

    A function word has no `weight`. `kind` is "" for words, else the kind of a number ("number",
    "ordinal", "decade", "date", "time" …), and `value` its value if it has one.

    - `numeral`: what it is if it is a number or part of one; "one", "half" and "GPT4", too.
    - `numeric`: a number or date can begin here.
    - `named`: it has a capital and is not a function word.
    - `plain`: it has weight, and is neither of the two.
    - `finite`: it can be the verb of a clause.
    - `closes`: a comma, a bracket or the like comes after it.
    - `joint`: the hyphen, dash or slash between it and the next word, else a space.
    """

    # Not a tuple or a dataclass: these attributes are read hundreds of times for every claim.
    __slots__ = ("closes", "finite", "joint", "key", "kind", "lower", "named", "numeral", "numeric",
                 "plain", "surface", "value", "weight")  # fmt: skip

    def __init__(self, token: str) -> None:
        self.closes = token[-1] == _CLOSED
        self.joint = token[-1] if token[-1] in n.JOINTS else " "
        surface = self.surface = token.rstrip(_CLOSED + n.JOINTS)
        self.lower = self.key = fold(surface)
        parsed = self.numeral = (
            n.numeral(self.lower if self.lower.isalpha() else surface) or n.NO_NUMERAL
        )
        self.kind = parsed.kind if _is_number(parsed, self.lower) else ""
        point = self.kind in (n.NUMBER, n.ORDINAL, n.DECADE) and parsed.low == parsed.high
        self.value = parsed.low if point else None
        stop = not self.kind and self.lower in STOP_WORDS and surface != "US"
        if self.value is not None:
            self.key = f"{self.value:g} {self.kind}"
        elif not self.kind and not stop:
            self.key = _stem(_SAME_WORD.get(self.lower, self.lower))
        common = self.key in _VERY_COMMON
        self.weight = 0.0 if stop else COMMON if common else 1.0
        capital = surface[0].isupper()
        month = self.lower in n.MONTHS
        self.numeric = month or parsed.kind != "" or surface.upper() in n.ROMAN
        self.named = capital and not stop and not self.kind and not month
        self.plain = self.weight > 0 and not self.kind and not self.named
        self.finite = is_finite(surface)


def _is_number(parsed: Numeral, low: str) -> bool:
    """Return whether a number is one by itself: not "one", a pronoun, nor "half" or "GPT4"."""
    if parsed.kind in (n.CODE, n.SERIES, n.SCALE, n.FRACTION) or low == "one":
        return False
    return not low.isalpha() or (parsed.kind in (n.NUMBER, n.ORDINAL) and parsed.low == parsed.high)


def fold(surface: str) -> str:
    """Return a word in lower case, without accents, possessive ending and the dots of "U.S."."""
    lower = surface.lower()
    if not lower.isascii():
        plain = unicodedata.normalize("NFKD", lower).replace("’", "'")
        lower = "".join([c for c in plain if not unicodedata.combining(c)]) or lower
    return lower.removesuffix("'s").replace(".", "") if lower[0].isalpha() else lower


_KEPT_WORDS: Final = Memo(Word).__getitem__


def _words_of(text: str) -> list[Word]:
    whole = _HAS_DIGIT(text) or not text.isalnum()
    parts = n.tokens_of(text, TOKEN) if whole else TOKEN.findall(text)
    tokens = [token if len(token) <= _LONGEST else token[:_LONGEST] for token in parts]
    if tokens and text[-1] in _CLOSING and tokens[-1][-1] != text[-1]:
        tokens[-1] += _CLOSED
    return list(map(_KEPT_WORDS, tokens))


_between_spaces: Final = Memo(_words_of).__getitem__


def read(text: str) -> list[Word]:
    """Return the words of a text, in order, punctuation left out."""
    if _MAY_BE_SPACED(text):
        text = _SPACED.sub(_join_digits, text)
    return list(chain.from_iterable(map(_between_spaces, text.split())))


def _join_digits(match: re.Match[str]) -> str:
    written = match[0]
    return written[1] if written[0] == " " else re.sub(r"\s", ",", written)


def as_written(words: Sequence[Word]) -> str:
    """Return words as they are written, punctuation left out but for what joins two words."""
    return "".join([word.surface + word.joint for word in words[:-1]]) + (
        words[-1].surface if words else ""
    )
