"""Detect whether a text is in English, the language of the offline judge.

No language identification model: a code that came with the text decides; else the script, and the
function words, which are the most frequent words of a language and mostly its own. A text that
shows no other language (a name, a formula) counts as English.
"""

import re
from typing import Final

from ufo.transforms.english.word_set import word_set

# A language is recognised from the start of the text; more would only cost time.
_SAMPLE: Final = 1000
# Compiled by `re` where a text may have many of them, for that takes long.
_NOT_LATIN: Final = r"[\u0370-\u1dff\u2c00-\ua7ff\ua840-\uabff\uac00-\ufaff\U00020000-\U0003ffff]"
_ENGLISH_CODES: Final = frozenset({"en", "eng", "english"})

# Function words by language, one letter a language. Words that two share count for both, so that
# "is", "in" and "a", English and Dutch or Portuguese, decide nothing by themselves.
_FUNCTION_WORDS: Final = {
    "e": "the of and to is was that it with as his are at this have from or had by they which were"
    " her all their there been has when who will out about than into only could these its then he"
    " she for not no but be an a in on how what where why does did your my we can known also born",
    "d": "der die das und ist nicht ein eine einer einen dem den mit von zu auf für sich auch als"
    " wurde wird sind bei oder aus hat er sie es ich wir im in an am über",
    "f": "le la les des et est un une du de dans pour que qui sur pas avec par sont au cette il elle"
    " ses son sa été était mais né née à a",
    "s": "el la los las de y es en un una por con del se su para como más pero fue al nació no hay",
    "i": "il lo la gli le di che è per non una un con del della nel era sono nato nacque e i in",
    "p": "os um uma do da dos das em no na não com é que para por foi mais ele nasceu de e o a se",
    "n": "het een en van zijn dat niet te op met aan bij door uit naar hij wordt werd de is in was",
    "l": "nie na się jest to że po od przez są oraz który która roku został do za w z i",
    "v": "och att det som på är av för med den till inte om ett han var har af ikke jeg hun en i",
    "t": "ve bir bu için ile olarak çok olan gibi",
    "m": "yang dan di dari untuk dengan ini itu adalah pada tidak",
    "r": "nu care din pe cu este pentru sunt sau fost și în la de",
    "u": "ja ei että hän joka ovat mutta kun",
    "h": "az és hogy nem egy volt meg van",
    "c": "je se na za su od kao koji v že byl jako jsou",
}
_NAME_PARTICLES: Final = word_set("da de del della der di do dos du la le van von")
_ENGLISH: Final = word_set(_FUNCTION_WORDS["e"])
_FOREIGN: Final = word_set(" ".join(_FUNCTION_WORDS.values())) - _ENGLISH
# Function word -> the letters of its languages.
_LANGUAGES: Final = {
    word: "".join(
        letter for letter, listed in _FUNCTION_WORDS.items() if f" {word} " in f" {listed} "
    )
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
