"""Split a sentence into the claims it makes where that is safe, else keep it whole.

Rules over words, no parser: each knows one construction and applies only where nothing else could
be meant. No name and no number is lost: what a rule takes apart goes into one of its claims. What
counts as one claim follows the atomic facts that people wrote for FActScore (Min et al., 2023),
less the splits that only a reader who understands the sentence could make.
"""

import re
from typing import Final

from ufo.transforms.english.grammar import lower
from ufo.transforms.extraction.clause import Words, parse
from ufo.transforms.extraction.rules import RULES
from ufo.transforms.extraction.wording import Wording

# These rules were not made for longer sentences.
_MAX_WORDS: Final = 90
_MAX_DEPTH: Final = 8
_MIN_WORDS: Final = 5
_SAYS_SOMETHING: Final = re.compile(r"[^\W_]")
_ENDS: Final = re.compile(r"[.!?…]$|[.!?][\"”'’)]$")
_QUOTES: Final = "\"”'’"
_PAIRS: Final = (("(", ")"), ("[", "]"), ("“", "”"), ("«", "»"))


def split(sentence: Wording) -> list[Wording]:
    """Return the claims of one (resolved) sentence, in order; empty only if it says nothing."""
    pieces = _split(sentence, 0) if len(sentence.words) <= _MAX_WORDS else [sentence]
    if len(pieces) > 1 and all(map(_is_whole, pieces)):
        return pieces
    return [sentence] if _SAYS_SOMETHING.search(" ".join(sentence.words)) else []


def written(words: Words) -> str:
    """Return the words of a claim as a sentence, with a capital and a full stop."""
    text = " ".join(words).lstrip(" ,;:").rstrip(" ,;:—–-")
    if text[-2:-1] == "," and text[-1] in _QUOTES:
        text = text[:-2] + text[-1]  # the comma was that of the sentence
    if not _ENDS.search(text):
        text += "."
    return text[0].upper() + text[1:] if text[:2].islower() else text


def _split(clause: Wording, depth: int) -> list[Wording]:
    """Split a clause into claims by the first rule that applies, and the parts likewise."""
    parsed = parse(*clause) if depth < _MAX_DEPTH and len(clause.words) >= _MIN_WORDS else None
    parts = next((parts for rule in RULES if (parts := rule(parsed))), []) if parsed else []
    if not parts:
        return [clause]
    return [claim for part in parts for claim in _split(Wording(part, lower(part)), depth + 1)]


def _is_whole(piece: Wording) -> bool:
    """Return whether quotation marks and brackets are closed in the piece that opened them."""
    text = " ".join(piece.words)
    return text.count('"') % 2 == 0 and all(
        text.count(left) == text.count(right) for left, right in _PAIRS
    )
