"""Recognise sentences without a checkable claim: questions, greetings, opinions, hedges, talk.

Conservative: only where the form of the sentence shows it. What is believed ("is believed to have
been born in 1564") can be checked and stays; what is no more than possible ("may have been born in
1564") is a hedge.
"""

import re
from typing import Final

from ufo.transforms.english.grammar import CLAUSE_OPENERS, is_finite
from ufo.transforms.english.verbs import PRESENT, is_participle
from ufo.transforms.english.word_set import word_set
from ufo.transforms.extraction.wording import Wording

_POLITE: Final = word_set("please and but so also then next finally lastly first")
_QUESTION_MARKS: Final = ("?", "？", "؟")
_HEADING: Final = re.compile(r"#+ ")
_HAS_LETTER: Final = re.compile(r"[^\W\d_]")
# How a sentence begins that greets, answers in person, advises, doubts or judges.
_TALK: Final = re.compile(
    r"""
    (?:(?:sure|certainly|of\ course|absolutely|definitely|great|sorry|yes|no|well|okay|ok)
       (?:[!.,]*$|!|[,]?\ (?=i\b|i'|here|let)))
    |(?:hello|hi(?!\ -)|hey|greetings|thanks(?!\ to\ )|thank\ you|goodbye|bye|congratulations|sorry
       |apologies|happy\ to\ help|welcome\ to|you'?re\ welcome|best\ (?:wishes|regards)
       |good\ (?:morning|afternoon|evening|day|luck)|(?:great|good|excellent)\ question)\b
    |i(?:['’](?:m|ve|d|ll))?,?\ (?-i:[a-z])|my\ (?!lai\b|fair\b)[a-z]|to\ me\b|personally\b
    |as\ an?\ (?:\w+\ )?(?:ai|language\ model|assistant|chatbot)\b
    |as\ (?:far\ as|per\ my|i)\b(?!.*\d)
    |we\ (?:hope|apologi[sz]e|recommend|suggest)\b|(?:hope|hoping)\ (?:this|that|it|you)\b
    |let\ (?:me|us)\b|let['’]s\b|allow\ me\b|(?:this\ is|that['’]?s)\ all\b|in\ my\ \w*\ ?(?:opin|v)
    |(?:the|this|my)\ (?:information|response|(?:answer|list|data)\ (?:provided|above|given))
      \ (?:(?:provided|above|given|here)\ )*(?:is|was|may|might|does|should|will)\b
    |feel\ free\b|do(?:\ not|n['’]t)\ (?:hesitate|forget|be)\b|keep\ in\ mind\b(?!\ that)
    |you\ (?:should|may\ want|might\ want|must|need|want|have\ to|are\ advised
      |(?:can|could|may|might)\ (?:also\ )?(?:ask|check|consider|follow|like|try|use|visit))\b
    |if\ you(?:['’](?:re|d)|\ (?:have|need|want|would|are|could|can|provide|let|like|wish|plan))\b
    |to\ \w+[^.]{0,80}?,\ (?:follow|use|try|make|you\ (?:can|should|need|must|may|will))\b
    |(?:see|refer\ to|click|visit|check\ out|read|(?:make|be)\ sure|be\ careful|remember)
      \ (?:the|this|that|to|your|with|out|here|below|our|their|it|https?:)
    |(?:it\ is|it['’]s)\ (?:\w+\ )?(?:important|essential|crucial|vital|necessary|critical|best
      |recommended|advisable|a\ good\ idea|better)\ (?:to\ (?!not|mention)|for|that\ (?:you|we|one))
    |(?:it|this|that)\ (?:\w+\ )?depends\b
    |it(?:\ is|'s|\ was|\ would\ be)\ (?:\w+\ )?(?:difficult|hard|impossible|not\ possible|tough
      |unclear|uncertain|unknown|not\ clear|not\ known|too\ early|not\ certain)
      \ (?:to\ (?!note)|(?:exactly\ )?(?:what|who|when|where|why|how|if|whether|which)\b)
    |(?:it\ (?:is|was)|it['’]s)\ (?:\w+\ )?possible\ that\b(?!.*,\ but\ (?!this\b|it\b|that\b))
    |there\ (?:is|was)\ (?:a|some)\ (?:\w+\ )?possibility\ that\b
    |there\ (?:is|are|was)\ (?:currently\ )?(?:no|not|insufficient|little|limited)\ (?:\w+\ ){0,2}
      (?:definitive|clear|single|enough|sufficient|simple|one|consensus|reliable|information|answer)
    |(?:here|below|above)\ (?:is|are|was|were)\b|here's\b|the\ following\ (?:is|are)\b
    |in\ (?:this|the\ following)\ (?:article|answer|response|section|essay)\b
    |there\ (?:is|are)\ .*\b(?:individuals|people)\ with\ (?:that|this|the\ same)\ name\b
    |(?:perhaps|maybe|possibly)\b(?!.*\d)
    |(?:we|one|people|everyone|society|governments?)\ (?:should|must|ought)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_IMPERATIVES: Final = PRESENT | word_set(
    "book browse buy check click compare cook cut download ensure evaluate fill gather install look"
    " mix monitor open organize pick plan pour prepare press prioritize pull put read remember"
    " repeat research review search select set shortlist stir stop store track try verify wait wash"
)
_AFTER_IMPERATIVE: Final = word_set(
    "the a an your you yourself these those this any all some it them each every whether online up"
    " out sure for into with from about multiple different as to one enough regular also here"
)
_TASTE: Final = re.compile(
    r"\b(?:is|are|was|were|'s) (?:(?:truly|really|very|so|such|quite|simply|absolutely|a|an|one of"
    r"|the|most|just) ){0,4}(?:amazing|awesome|beautiful|boring|breathtaking|charming|delicious"
    r"|delightful|enjoyable|fantastic|fascinating|fun|gorgeous|horrible|incredible|interesting"
    r"|lovel(?:y|iest)|magnificent|must-\w+|outstanding|pleasant|stunning|superb|terrible|wonderful"
    r"|worth \w+ing)\b|\bshould(?:n't| not| never| always)? (?:\w+ )?be (?:enjoyed|appreciated"
    r"|respected|celebrated|avoided|treated|considered|encouraged|taken)\b"
    r"|\b(?:is|are) (?:\w+ ){0,2}(?:subjective|personal|a matter of (?:\w+ )?(?:taste|opinion))\W*$"
)
_SPECIFIC: Final = re.compile(r"\d|[a-z,] [A-Z]")
# "may have died" and "might be" leave it open; "may be used" and "may cause" tell what is usual.
_HEDGE: Final = re.compile(
    r"\b(?:(?:may|might|could)(?: (?:\w+ly|or|may|might|not|also|perhaps|well|very))* have"
    r"(?: \w+ly)*(?P<been> been)? (?P<done>\w+)|might be (?P<is>\w+))"
)
_OWN_VIEW: Final = re.compile(r"\b(?:me|myself)\b(?!.*[”»])")
_VERB_LIKE: Final = re.compile(r"\b[a-z]{2,}(?:ed|[^s]s|ing|n't)\b|=")


def is_claim(sentence: str, said: Wording) -> bool:
    """Return whether a sentence with this wording makes a claim that can be checked."""
    text = sentence.strip()
    words, lows = said
    if text.startswith(("```", "~~~", "|")) or _HEADING.match(text):
        return False  # code, a table, a heading
    if not words or not _HAS_LETTER.search(text) or _asks(" ".join(words)):
        return False
    if words[0][-1] == ":" and len(words) > 1 and words[1][0].isupper():
        words, lows = words[1:], lows[1:]  # "Budget: Determine your budget."
    introduces = is_finite(words[-1]) or lows[-1] in ("include", "following", "by", "as")
    if text[-1] == ":" and (introduces or not any(map(is_finite, words[1:]))):
        return False  # "The four presidents were:"
    # No word that could be its verb, and no formula: a fragment.
    verb = any(
        (low in PRESENT or is_finite(words[at])) and words[at][0].islower()
        for at, low in enumerate(lows)
        if at
    )
    complete = verb or _VERB_LIKE.search(" ".join(words))
    return bool(complete) and not is_talk(Wording(words, lows))


def is_talk(said: Wording) -> bool:
    """Return whether the words of a sentence or part greet, instruct, judge or only suppose."""
    words, lows = said
    if lows[0] in _POLITE and len(words) > 1:
        words, lows = words[1:], lows[1:]
    text = " ".join(words)
    following = "".join(lows[1:2])
    return bool(
        _TALK.match(text)
        or (lows[0] in _IMPERATIVES and following in _AFTER_IMPERATIVE)
        or (_TASTE.search(text) and not _SPECIFIC.search(text))
        or (_OWN_VIEW.search(text) and '"' not in text)
        or _leaves_open(text, lows)
    )


def _asks(text: str) -> bool:
    """Ends with a question mark that is the sentence's own, not that of a title it quotes."""
    end = text.rstrip("\"'”’»)_ ")
    return end.endswith(_QUESTION_MARKS) and (len(end) == len(text) or text[0] in "\"'“‘«(")


def _leaves_open(text: str, lows: list[str]) -> bool:
    """Return whether the words only say what may or might be: they have no other verb."""
    hedge = _HEDGE.search(text)
    if hedge is None or not CLAUSE_OPENERS.isdisjoint(lows):
        return False
    done = (hedge["done"] or hedge["is"]).lower()
    participle = bool(hedge["been"]) or is_participle(done)
    if participle == bool(hedge["is"]) or done == "need":
        return False
    return not any(map(is_finite, (text[: hedge.start()] + text[hedge.end() :]).split()))
