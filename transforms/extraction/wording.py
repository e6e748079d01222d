"""Take off what stands around a statement, and recognise sentences without a checkable claim.

Questions, greetings, refusals, instructions, opinions and hedges make no claim. Conservative: only
where the form of the sentence shows it. What is believed ("is believed to have been born in 1564")
can be checked and stays; what is no more than possible ("may have been born in 1564") is a hedge.
"""

import re
from typing import Final, NamedTuple

from ufo.transforms.english import grammar as en
from ufo.transforms.english.grammar import BE, PRESENT, is_participle, word_set
from ufo.transforms.extraction.clause import LISTS

_SYMBOLS: Final = r"\u2190-\u21ff\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_MARKER: Final = re.compile(
    r"\s*(?:(?:[-*+•‣◦–—]|\(?\d{1,3}[.)]|\(?[A-Za-z]\)|#{1,6}|>+"
    # An arrow or an emoji, with what joins and colours these.
    r"|[" + _SYMBOLS + r"][" + _SYMBOLS + r"\u200d\ufe0f]*)\s+)+"
)
_CITATION: Final = re.compile(r"\s?\[(?:\d+(?:\s*[,–-]\s*\d+)*|citation needed)\]")
_LINK: Final = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_MARKUP: Final = re.compile(r"[\[*_`~]")
_EMPHASIS: Final = re.compile(r"\*\*|__|~~|(?<!\w)[*_`](?=\S)|(?<=\S)[*_`](?!\w)|`")
_DISCOURSE: Final = re.compile(
    rf"(?:(?:{LISTS.phrases('openers')}),\s+|{LISTS.phrases('lead_ins')})+", re.IGNORECASE
)
_QUESTION_MARKS: Final = ("?", "？", "؟")
_POLITE: Final = word_set("please and but so also then next finally lastly first")
_DEMANDS: Final = re.compile(LISTS.phrases("demands"))
_TALK: Final = re.compile(LISTS.phrases("talk"), re.IGNORECASE)
_IMPERATIVES: Final = PRESENT | LISTS.words("imperatives")
_AFTER_IMPERATIVE: Final = en.DETERMINERS | LISTS.words("after_imperative")
_TASTE: Final = LISTS.words("taste")
_MATTERS: Final = frozenset({"subjective", "personal", "taste", "opinion"})
_VERY: Final = LISTS.words("very")
_SPECIFIC: Final = re.compile(r"\d|[a-z,] [A-Z]")
# "may have died" and "might be" leave it open; "may be used" and "may cause" tell what is usual.
_HEDGE: Final = re.compile(
    r"\b(?:(?:may|might|could)(?: (?:\w+ly|or|may|might|not|also|perhaps|well|very))* have"
    r"(?: \w+ly)*(?P<been> been)? (?P<done>\w+)|might be (?P<is>\w+))"
)
_OWN: Final = frozenset({"me", "myself"})
_OWN_VIEW: Final = re.compile(r'^[^"”]*\b(?:me|myself)\b[^"”]*$')
_VERB_LIKE: Final = re.compile(r"\b[a-z]{2,}(?:ed|[^s]s|ing|n't)\b|=")


class Wording(NamedTuple):
    """A statement's words, punctuation attached, and the same bare and in lower case.

    Shared between the steps that look at a sentence: the lists are not to be changed.
    """

    words: list[str]
    lows: list[str]


def wording(sentence: str) -> Wording:
    """Return a sentence's words without list markers, Markdown, citations and discourse words."""
    text = sentence
    if marker := _MARKER.match(text):
        text = text[marker.end() :]
    if _MARKUP.search(text):
        text = _EMPHASIS.sub("", _CITATION.sub("", _LINK.sub(r"\1", text)))
    words = text.split()
    text = " ".join(words)
    opening = _DISCOURSE.match(text)
    if opening and opening.end() < len(text):
        text = text[opening.end() :]
        words = (text[0].upper() + text[1:]).split()
    return Wording(words, en.lower(words))


def is_claim(sentence: str, said: Wording) -> bool:
    """Return whether a sentence with this wording makes a claim that can be checked."""
    text = sentence.strip()
    words, lows = said
    if text.startswith(("```", "~~~", "|")) or (text[:1] == "#" and re.match("#+ ", text)):
        return False  # code, a table, a heading
    if not words or not re.search(r"[^\W\d_]", text) or _asks(words):
        return False
    if words[0][-1] == ":" and len(words) > 1 and words[1][0].isupper():
        words, lows = words[1:], lows[1:]  # "Budget: Determine your budget."
    introduces = en.is_finite(words[-1]) or lows[-1] in ("following", "by", "as")
    if text[-1] == ":" and (introduces or not any(map(en.is_finite, words[1:]))):
        return False  # "The four presidents were:"
    # No word that could be its verb, and no formula: a fragment.
    verb = any(map(en.is_finite, words[1:])) or any(
        low in PRESENT and word[0].islower() for word, low in zip(words, lows, strict=True)
    )
    return (verb or _VERB_LIKE.search(" ".join(words)) is not None) and not is_talk(
        Wording(words, lows)
    )


def is_talk(said: Wording, opens: bool = True) -> bool:
    """Return whether the words of a sentence or part greet, instruct, judge or only suppose.

    `opens` is False for a part that begins as its sentence does, which makes a claim.
    """
    words, lows = said
    if lows[0] in _POLITE and len(words) > 1:
        words, lows = words[1:], lows[1:]
    text = " ".join(words)
    return bool(
        (opens and (_TALK.match(text) or _instructs(words, lows)))
        or ("should" in lows and _DEMANDS.search(text) is not None)
        or (_judges(lows) and not _SPECIFIC.search(text))
        or (not _OWN.isdisjoint(lows) and _OWN_VIEW.search(text) is not None)
        or _leaves_open(text, lows)
    )


def _judges(lows: list[str]) -> bool:
    """Return whether the words say what is beautiful, boring or a matter of taste."""
    for at, low in enumerate(lows) if not _TASTE.isdisjoint(lows) else ():
        be = at - 1
        while be > 0 and lows[be] in _VERY:
            be -= 1
        if low in _TASTE and lows[be] in BE:
            return True
    return lows[-1] in _MATTERS and not BE.isdisjoint(lows[-5:])


def _instructs(words: list[str], lows: list[str]) -> bool:
    """Return whether the words begin with an imperative ("Preheat the oven", "Mix well")."""
    low, following = lows[0], "".join(lows[1:2])
    if low == "to":  # "To reset your password, open the settings"
        at = next((at for at, word in enumerate(words[:-2], 1) if word[-1] == ","), 0)
        return at > 0 and lows[at] in _IMPERATIVES and lows[at + 1] in _AFTER_IMPERATIVE
    if low in _IMPERATIVES:
        return following in _AFTER_IMPERATIVE
    # "Ivan the Terrible", "Despite the rain", "Vitamin A", "Painted the wall" and "Is the" are not.
    return (
        following in ("the", "your", "a", "an")
        and words[1].islower()
        and len(words) > 2
        and words[2][0].islower()
        and en.is_noun(low)
        and not low.endswith(("ed", "ing", "ly", "s"))
    )


def _asks(words: list[str]) -> bool:
    """Ends with a question mark that is the sentence's own, not that of a title it quotes."""
    end = words[-1].rstrip("\"'”’»)_")
    return end.endswith(_QUESTION_MARKS) and (end == words[-1] or words[0][0] in "\"'“‘«(")


def _leaves_open(text: str, lows: list[str]) -> bool:
    """Return whether the words only say what may or might be: they have no other verb."""
    if "may" not in lows and "might" not in lows and "could" not in lows:
        return False
    hedge = _HEDGE.search(text)
    if hedge is None or not en.CLAUSE_OPENERS.isdisjoint(lows):
        return False
    done = (hedge["done"] or hedge["is"]).lower()
    participle = bool(hedge["been"]) or is_participle(done)
    if participle == bool(hedge["is"]) or done == "need":
        return False
    return not any(map(en.is_finite, (text[: hedge.start()] + text[hedge.end() :]).split()))
