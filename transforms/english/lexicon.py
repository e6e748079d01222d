"""Hold the word lists of `lexicon.toml`."""

import tomllib
from importlib.resources import files
from typing import Final

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
