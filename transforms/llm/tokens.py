"""Estimate how many tokens a text has, without any model's vocabulary; never for bills.

Byte-pair encodings first cut a text into words, short runs of digits and runs of signs (GPT-2's
rule, and that of most since); common words stay whole, longer ones become pieces.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

_PIECES = re.compile(r"[^\W\d_]+|\d{1,3}|[^\w\s]{1,2}|_+")
_LETTERS = 8  # of a word, for each of its tokens
_ASCII_TOKENS = re.compile(rf"[A-Za-z]{{1,{_LETTERS}}}|\d{{1,3}}|[^\w\s]{{1,2}}|_{{1,{_LETTERS}}}")
_OTHERS = 4  # characters outside ASCII, for each token that they are at least
_PER_MESSAGE = 4  # what stands around a message


@lru_cache(maxsize=256)  # the system message and the function are those of many requests
def count(text: str) -> int:
    """Return about how many tokens a text is.

    Letters outside ASCII are a token each, which errs on the upper side for most scripts.
    """
    if text.isascii():  # the same, much quicker
        return len(_ASCII_TOKENS.findall(text))
    return sum(_of_piece(piece) for piece in _PIECES.findall(text))


def at_least(body: Mapping[str, Any]) -> int:
    """Return the fewest tokens that the messages of a request's JSON can be, with the largest of
    vocabularies; functions are left out, since not every endpoint shows them to its model."""
    text = "\n".join(message["content"] for message in body["messages"])
    ascii_only = text.encode("ascii", "ignore").decode()
    return count(ascii_only) + (len(text) - len(ascii_only)) // _OTHERS


def _of_piece(piece: str) -> int:
    return 1 + (len(piece) - 1) // _LETTERS if piece.isascii() else len(piece)


def prompt_tokens(body: Mapping[str, Any]) -> int:
    """Return about how many tokens the prompt of a request's JSON is, functions included."""
    messages = body["messages"]
    total = sum(_PER_MESSAGE + count(message["content"]) for message in messages)
    for name in ("tools", "response_format"):
        if name in body:
            total += count(json.dumps(body[name], ensure_ascii=False))
    return total
