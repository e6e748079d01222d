"""Take off what stands around a statement: list markers, Markdown, citations, discourse words."""

import re
from typing import Final, NamedTuple

from ufo.transforms.english.grammar import lower

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
# Openings that say how a statement relates to the text, not what it says.
_DISCOURSE: Final = re.compile(
    r"""(?:
    (?:however|moreover|furthermore|additionally|therefore|thus|hence|consequently|accordingly
      |nevertheless|nonetheless|meanwhile|overall|finally|lastly|(?:first|second|third)(?:ly)?
      |similarly|likewise|conversely|instead|indeed|notably|interestingly|(?:more|most)?\s*importantly
      |specifically|ultimately|unfortunately|sadly|fortunately|also|besides|next|then|still|yes|no
      |well|sure|certainly|absolutely|actually|generally|essentially|basically|of\ course|after\ all
      |in\ (?:fact|short|general|particular|summary|conclusion|contrast|other\ words)
      |in\ addition(?:\ to\ (?:this|that|these|those))?|as\ (?:a\ result|such|well)|by\ contrast
      |by\ the\ way|on\ the\ other\ hand|at\ the\ same\ time|for\ (?:example|instance)|fun\ fact
      |that\ (?:being\ )?said|to\ (?:summarize|sum\ up)|contrary\ to\ popular\ belief
      |as\ (?:mentioned|noted|stated)\ (?:above|before|earlier)
      |(?:as\ of|based\ on|according\ to|up\ to|to)\ (?:the\ best\ of\ )?my\ [^,]{0,60}
    ),\s+
    |(?:please\ )?(?:note|(?:keep|bear)\ in\ mind)\ that\s+
    |(?:and|but|so|yet)\s+(?=[a-z])(?!far\b|called\b)
    |(?:it\ (?:is|was|(?:should|must|can)\ be)|it's)\ (?:also\ |generally\ |widely\ |often\ )*
      (?:(?:important|interesting|worth)\ (?:to\ )?)?
      (?:not(?:e|ing|ed)|(?:mention|remember)(?:ing|ed)?)\ that\s+
    |i\ (?:think|believe|know)\ (?:that\ )?
    |(?:the|my|a)\ (?:short\ |correct\ )?answer\ is\ that\s+
    )+""",
    re.IGNORECASE | re.VERBOSE,
)


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
    return Wording(words, lower(words))
