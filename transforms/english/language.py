"""Detect whether a text is in English, the language of the offline judge.

No language identification model: a code that came with the text decides; else the script, and the
function words, which are the most frequent words of a language and mostly its own. A text that
shows no other language (a name, a formula) counts as English.
"""

import re
from typing import Final

from ufo.transforms.english.grammar import Lists, word_set

# A language is recognised from the start of the text; more would only cost time.
_SAMPLE: Final = 1000
# Compiled by `re` where a text may have many of them, for that takes long.
_NOT_LATIN: Final = r"[\u0370-\u1dff\u2c00-\ua7ff\ua840-\uabff\uac00-\ufaff\U00020000-\U0003ffff]"
_ENGLISH_CODES: Final = frozenset({"en", "eng", "english"})

# Words that two languages share count for both, so that "is", "in" and "a", English and Dutch or
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

    `language`, an ISO 639 code with or without a region ("en", "en-GB", "eng", "de"), decides where
    it is given. Constant time: the first 1,000 characters are looked at.
    """
    if language and language.strip():
        return re.split("[-_]", language.strip().lower(), maxsplit=1)[0] in _ENGLISH_CODES
    sample = text[:_SAMPLE]
    words = sample.split()
    if not words:
        return True
    plain = sample.isascii()
    if not plain:
        # One Greek letter in a formula, one foreign name in brackets: a fifth is more than that.
        # Each of them takes more than one byte, so that a few quotation marks need no search.
        most = (len(sample) - len(words)) / 5
        beyond = len(sample.encode("utf-8", "surrogatepass")) - len(sample)
        if beyond > most and len(re.findall(_NOT_LATIN, sample)) > most:
            return False
    # Most texts have no word that only other languages have: none of these has more than English.
    none_foreign = _FOREIGN.isdisjoint((words[0].lower(), *words))
    if none_foreign and (plain or not _ENGLISH.isdisjoint(words)):
        return True
    # A capital inside a sentence makes a name ("Rio de Janeiro", "La Scala"), which may come from
    # anywhere; the first word is written with one whatever it is.
    found = "".join([_LANGUAGES[word] for word in words if word in _LANGUAGES])
    running = [word for word in words if word[0].islower()]
    if running and len(words[0]) > 1 and not words[0][0].islower():
        found += _LANGUAGES.get(words[0].lower(), "")
    english = found.count("e")
    other = max([found.count(letter) for letter in set(found) if letter != "e"], default=0)
    if english == 0 and not plain:
        other += any(not word.isascii() and word.isalpha() for word in running)
    if english < other <= 2:
        other -= sum(
            particle in _NAME_PARTICLES and first[0].isupper() and last[0].isupper()
            for first, particle, last in zip(words, words[1:], words[2:], strict=False)
        )
    return english >= other
